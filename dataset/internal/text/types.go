package text

import (
	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// asModel sets the types of the columns that a model uses to the types that the model takes, where the first rows
// permit it: a column of digits may be text, and a column without values may be numbers.
func asModel(spec *schema.Spec, cols []column.Column) {
	if spec == nil {
		return
	}
	types := map[string]arrow.DataType{}
	ofValues := map[string]arrow.DataType{"": arrow.BinaryTypes.String, schema.Number.String(): arrow.PrimitiveTypes.Float64,
		schema.Bool.String(): arrow.FixedWidthTypes.Boolean}
	for _, in := range spec.Columns() {
		switch {
		case in.Derive == schema.Missing: // another input has the column, or any type will do
		case in.Derive != "":
			types[in.Name] = arrow.BinaryTypes.String
		case in.Kind == schema.NumberColumn:
			types[in.Name] = arrow.PrimitiveTypes.Float64
		case in.Kind == schema.OneHotColumn || in.Kind == schema.HashColumn:
			types[in.Name] = ofValues[in.Values]
		case in.Kind == schema.CrossColumn:
			for _, part := range in.Of {
				types[part.Name] = ofValues[part.Values]
			}
		}
	}
	for i := range cols {
		c := &cols[i]
		if typ := types[c.Name]; typ != nil && (c.Empty || typ.ID() == arrow.STRING) {
			c.Type, c.Desc = typ, column.Describe(typ)
		}
	}
}

// keepLive sets the types of kept columns to types that later rows will fit too, because only the first few rows are
// known: numbers for features of integers, and text for columns that aren't features.
func keepLive(s *column.Chosen) {
	feature := make([]bool, len(s.Columns))
	for _, k := range s.Features {
		feature[k] = true
	}
	for _, k := range s.Keep {
		c := &s.Columns[k]
		c.Widens = false
		switch {
		case !feature[k]:
			c.Type = arrow.BinaryTypes.String
		case c.Type.ID() == arrow.INT64:
			c.Type, c.Integers = arrow.PrimitiveTypes.Float64, true
		}
		c.Desc = column.Describe(c.Type)
	}
}

// typed returns the columns of another file. A column that the first file has too gets the same type.
func (d dialect) typed(first []column.Column) []column.Column {
	types := map[string]column.Column{}
	for _, c := range first {
		types[c.Name] = c
	}
	cols := make([]column.Column, len(d.names))
	for i, name := range d.names {
		cols[i] = types[name]
		cols[i].Name, cols[i].Index = name, i
	}
	return cols
}
