package text

import (
	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
)

// keepLive sets the types of kept columns to types that later rows will fit too, because only the first few rows are
// known: numbers for features of integers, and text for columns that aren't features.
func keepLive(s *column.Roles) {
	feature := make([]bool, len(s.Columns))
	for _, k := range s.Features {
		feature[k] = true
	}
	for _, k := range s.Keep {
		c := &s.Columns[k]
		c.WidensToNumbers = false
		switch {
		case !feature[k]:
			c.Type = arrow.BinaryTypes.String
		case c.Type.ID() == arrow.INT64:
			c.Type, c.Integers = arrow.PrimitiveTypes.Float64, true
		}
		c.Desc = column.Describe(c.Type)
	}
}

// typed returns the columns of a file with the types of columns of the same names.
func (d dialect) typed(types map[string]column.Column) []column.Column {
	cols := make([]column.Column, len(d.names))
	for i, name := range d.names {
		cols[i] = types[name]
		cols[i].Index = i
	}
	return cols
}
