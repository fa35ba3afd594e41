package writer

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
)

// svmlightEncoder writes a line for each row: its label, then the index and the value of each feature that isn't 0.
// If the names of all feature columns are f and a number, the number is the index. Otherwise the columns are numbered
// from 1.
type svmlightEncoder struct {
	lines
	label   int
	order   []int // the feature columns, by ascending index
	indices []int // the index of each column in order
	row     int64
}

// NewSvmlight begins an svmlight file. label is the name of the label column; "" means "label". Up to workers goroutines format a record.
func NewSvmlight(out io.Writer, schema *arrow.Schema, label string, workers int) (Encoder, error) {
	if label == "" {
		label = column.SvmlightLabel
	}
	e := &svmlightEncoder{lines: lines{out: out, workers: workers}, label: -1}
	for i, f := range schema.Fields() {
		switch {
		case !Numeric(f.Type) && f.Name == label:
			return nil, fmt.Errorf("column %q is %s, and a label of svmlight is a number: write .parquet or .csv, or "+
				"numbers in place of the classes", f.Name, column.Describe(f.Type))
		case !Numeric(f.Type):
			return nil, fmt.Errorf("column %q is %s, and svmlight holds numbers: leave it out", f.Name, column.Describe(f.Type))
		case f.Name == label:
			e.label = i
		default:
			e.order = append(e.order, i)
		}
	}
	if e.label < 0 {
		return nil, message.Errorf("no column %q for the labels: name it with --label", label)
	}
	indices := map[int]int{}
	for k, i := range e.order {
		indices[i] = k + 1
	}
	if named := namedIndices(schema, e.order); named != nil {
		indices = named
		slices.SortFunc(e.order, func(a, b int) int { return indices[a] - indices[b] })
	}
	for _, i := range e.order {
		e.indices = append(e.indices, indices[i])
	}
	return e, nil
}

// namedIndices returns the indices in the names of columns, or nil if some name has no index.
func namedIndices(schema *arrow.Schema, columns []int) map[int]int {
	indices := map[int]int{}
	for _, i := range columns {
		name := schema.Field(i).Name
		index, err := strconv.Atoi(name[min(1, len(name)):])
		if err != nil || index < 0 || name != fmt.Sprint("f", index) {
			return nil
		}
		indices[i] = index
	}
	return indices
}

func (e *svmlightEncoder) Write(rec arrow.Record) error {
	cells := make([]cell, rec.NumCols())
	views := make([]column.View[float64], rec.NumCols())
	for i, col := range rec.Columns() {
		if col.NullN() > 0 {
			return e.null(rec, i)
		}
		var err error
		if views[i], err = column.NewView64(col); err != nil {
			return err
		}
		cells[i] = numberCell(col)
	}
	e.row += rec.NumRows()
	return e.write(rec, func() rowsAppender {
		scratch := make([]float64, 1)
		return rowByRow(func(buf []byte, r int) []byte {
			buf = cells[e.label](buf, r)
			for k, i := range e.order {
				if values, _ := views[i].Read(r, r+1, scratch); values[0] != 0 {
					buf = append(strconv.AppendInt(append(buf, ' '), int64(e.indices[k]), 10), ':')
					buf = cells[i](buf, r)
				}
			}
			return buf
		})
	})
}

func (e *svmlightEncoder) null(rec arrow.Record, col int) error {
	r := 0
	for !rec.Column(col).IsNull(r) {
		r++
	}
	return fmt.Errorf("column %q, row %d: null, which svmlight can't hold: fill the value in, or leave the column out",
		rec.ColumnName(col), e.row+int64(r))
}

// numberCell is cellOf for numbers. It writes booleans as 0 and 1.
func numberCell(col arrow.Array) cell {
	b, ok := col.(*array.Boolean)
	if !ok {
		return cellOf(col)
	}
	return func(buf []byte, i int) []byte {
		if b.Value(i) {
			return append(buf, '1')
		}
		return append(buf, '0')
	}
}

// Numeric returns true if values of the type can be written as numbers unchanged: integers, floating-point numbers
// and booleans.
func Numeric(t arrow.DataType) bool {
	return t.ID() == arrow.BOOL || arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID())
}
