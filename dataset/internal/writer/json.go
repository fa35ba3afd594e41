package writer

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
)

// JSON writes JSON Lines: an object for each row, with all columns. Numbers have the form that they have in CSV, but NaN, Infinity and
// -Infinity, which JSON lacks, have the names that most readers take.
type JSON struct {
	lines
	keys []string // the text before each value of a row
}

// NewJSON begins a file of JSON Lines with the given schema. Up to workers goroutines format a record.
func NewJSON(out io.Writer, schema *arrow.Schema, workers int) (Encoder, error) {
	e := &JSON{lines: lines{out: out, workers: workers}}
	for i, f := range schema.Fields() {
		if arrow.IsNested(f.Type.ID()) {
			return nil, fmt.Errorf("column %q is %s, which is not read from JSON Lines: leave it out, or write "+
				".parquet or .arrow", f.Name, column.Describe(f.Type))
		}
		before := ","
		if i == 0 {
			before = "{"
		}
		e.keys = append(e.keys, string(append(appendJSON([]byte(before), f.Name), ':')))
	}
	return e, nil
}

func (e *JSON) Write(rec arrow.Record) error { return e.rows(rec, jsonCell, e.keys, "null", "}") }

func jsonCell(col arrow.Array) cell {
	switch col := col.(type) {
	case *array.Float64:
		return jsonNumbers(cellOf(col), func(i int) float64 { return col.Value(i) })
	case *array.Float32:
		return jsonNumbers(cellOf(col), func(i int) float64 { return float64(col.Value(i)) })
	case *array.Float16:
		return jsonNumbers(cellOf(col), func(i int) float64 { return float64(column.HalfFloat(col.Value(i))) })
	case *array.Boolean, *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Uint8, *array.Uint16, *array.Uint32, *array.Uint64:
		return cellOf(col)
	case *array.String:
		return func(buf []byte, i int) []byte { return appendJSON(buf, col.Value(i)) }
	case *array.Timestamp:
		plain := cellOf(col)
		return func(buf []byte, i int) []byte { return appendJSON(buf, string(plain(nil, i))) }
	case *array.Dictionary:
		return dictionaryCell(col, jsonCell)
	case *array.Decimal128, *array.Decimal256:
		return func(buf []byte, i int) []byte { return append(buf, col.ValueStr(i)...) }
	}
	return func(buf []byte, i int) []byte { return appendJSON(buf, col.ValueStr(i)) }
}

// jsonNumbers returns the cell of a column of floating-point numbers.
func jsonNumbers(finite cell, value func(i int) float64) cell {
	return func(buf []byte, i int) []byte {
		switch v := value(i); {
		case v != v:
			return append(buf, "NaN"...)
		case math.IsInf(v, 1):
			return append(buf, "Infinity"...)
		case math.IsInf(v, -1):
			return append(buf, "-Infinity"...)
		}
		return finite(buf, i)
	}
}

// appendJSON appends s as a text of JSON.
func appendJSON(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			buf = append(buf, '\\', b)
		case b < 0x20:
			buf = append(append(buf, `\u00`...), strconv.FormatUint(uint64(b)|0x100, 16)[1:]...)
		default:
			buf = append(buf, b)
		}
	}
	return append(buf, '"')
}
