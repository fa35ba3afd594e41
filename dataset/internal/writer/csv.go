package writer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
)

// CSV writes a header, then a line for each row. A float has the shortest form that parses back to the same value. A
// null is an empty field. Text is in quotes if necessary, and always if it would be read as a null.
type CSV struct {
	lines
	before []string // the text before each value of a row
}

// NewCSV begins a CSV file with the given schema. Up to workers goroutines format a record.
func NewCSV(out io.Writer, schema *arrow.Schema, workers int) (Encoder, error) {
	e := &CSV{lines: lines{out: out, workers: workers}}
	for i, f := range schema.Fields() {
		if arrow.IsNested(f.Type.ID()) {
			return nil, fmt.Errorf("column %q is %s, and CSV has none: leave it out, or write .parquet or .arrow",
				f.Name, column.Describe(f.Type))
		}
		e.before = append(e.before, ","[:min(i, 1)])
		e.buf = appendText(append(e.buf, e.before[i]...), f.Name)
	}
	e.buf = append(e.buf, '\n')
	return e, nil
}

func (e *CSV) Write(rec arrow.Record) error {
	null := ""
	if rec.NumCols() == 1 {
		null = `""` // readers skip an empty line
	}
	return e.rows(rec, cellOf, e.before, null, "")
}

// A cell appends value i of a column to buf.
type cell func(buf []byte, i int) []byte

func cellOf(col arrow.Array) cell {
	switch col := col.(type) {
	case *array.Float64:
		values := col.Float64Values()
		return func(buf []byte, i int) []byte { return appendFloat(buf, values[i], 64) }
	case *array.Float32:
		values := col.Float32Values()
		return func(buf []byte, i int) []byte { return appendFloat32(buf, values[i]) }
	case *array.Float16:
		values := col.Values()
		return func(buf []byte, i int) []byte { return appendFloat32(buf, column.HalfFloat(values[i])) }
	case *array.Int64:
		values := col.Int64Values()
		return func(buf []byte, i int) []byte { return strconv.AppendInt(buf, values[i], 10) }
	case *array.Boolean:
		return func(buf []byte, i int) []byte { return strconv.AppendBool(buf, col.Value(i)) }
	case *array.String:
		return func(buf []byte, i int) []byte { return appendText(buf, col.Value(i)) }
	case *array.Timestamp:
		if typ := col.DataType().(*arrow.TimestampType); typ.TimeZone == "" { // Arrow's text ends in Z, as for UTC
			return func(buf []byte, i int) []byte { return appendText(buf, strings.TrimSuffix(col.ValueStr(i), "Z")) }
		}
	case *array.Dictionary:
		return dictionaryCell(col, cellOf)
	}
	if arrow.IsSignedInteger(col.DataType().ID()) {
		whole := column.Whole(col)
		return func(buf []byte, i int) []byte { return strconv.AppendInt(buf, whole(i), 10) }
	}
	return func(buf []byte, i int) []byte { return appendText(buf, col.ValueStr(i)) }
}

// dictionaryCell returns the cell of a column with a dictionary. It formats each value once if that is less work.
func dictionaryCell(col *array.Dictionary, of func(arrow.Array) cell) cell {
	values, value := col.Dictionary(), of(col.Dictionary())
	if values.Len() > col.Len() {
		return func(buf []byte, i int) []byte { return value(buf, col.GetValueIndex(i)) }
	}
	texts := make([][]byte, values.Len())
	for k := range texts {
		texts[k] = value(nil, k)
	}
	if short, is := col.Indices().(*array.Uint8); is {
		keys := short.Uint8Values()
		return func(buf []byte, i int) []byte { return append(buf, texts[keys[i]]...) }
	}
	return func(buf []byte, i int) []byte { return append(buf, texts[col.GetValueIndex(i)]...) }
}

// appendText appends s in the form of RFC 4180. A text with spaces at its ends is quoted too, because some readers
// trim it.
func appendText(buf []byte, s string) []byte {
	if !column.IsNull([]byte(s)) && !strings.ContainsAny(s, ",\"\r\n") && strings.TrimSpace(s) == s {
		return append(buf, s...)
	}
	buf = append(buf, '"')
	buf = append(buf, strings.ReplaceAll(s, `"`, `""`)...)
	return append(buf, '"')
}
