// Package datatest makes Arrow records for tests.
package datatest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"halfspace/dataset/internal/column"
	"halfspace/internal/require"
)

// A Field is a column of a record: values as JSON, or an array.
type Field struct {
	arrow.Field
	Values string
	Array  arrow.Array
}

// Values makes a column of values in JSON. It is nullable if one of them is null.
func Values(name string, typ arrow.DataType, values string) Field {
	return Field{Field: arrow.Field{Name: name, Type: typ, Nullable: strings.Contains(values, "null")}, Values: values}
}

// Column makes a column of values, of which those that aren't valid are null. None are if valid is nil.
func Column[T float32 | float64 | int8 | int32 | int64 | string](name string, values []T, valid []bool) Field {
	p := arrow.PrimitiveTypes
	typ := map[any]arrow.DataType{float32(0): p.Float32, 0.0: p.Float64, int8(0): p.Int8, int32(0): p.Int32,
		int64(0): p.Int64, "": arrow.BinaryTypes.String}[any(*new(T))]
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	b.(interface{ AppendValues([]T, []bool) }).AppendValues(values, valid)
	return Field{Field: arrow.Field{Name: name, Type: typ, Nullable: valid != nil}, Array: b.NewArray()}
}

// Built makes a column of a builder's values.
func Built(name string, b array.Builder, nullable bool) Field {
	return Field{Field: arrow.Field{Name: name, Type: b.Type(), Nullable: nullable}, Array: b.NewArray()}
}

// Record makes a record of columns.
func Record(tb testing.TB, fields ...Field) arrow.Record {
	tb.Helper()
	var schema []arrow.Field
	var cols []arrow.Array
	for _, f := range fields {
		if f.Array == nil {
			f.Array = require.Value(fromJSON(f.Type, f.Values))(tb)
		}
		schema, cols = append(schema, f.Field), append(cols, f.Array)
	}
	return array.NewRecord(arrow.NewSchema(schema, nil), cols, int64(cols[0].Len()))
}

// fromJSON makes an array. Arrow's own function takes large integers through float64.
func fromJSON(typ arrow.DataType, values string) (arrow.Array, error) {
	var signed []int64
	var unsigned []uint64
	switch {
	case typ.ID() == arrow.INT64 && json.Unmarshal([]byte(values), &signed) == nil && !strings.Contains(values, "null"):
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(signed, nil)
		return b.NewArray(), nil
	case typ.ID() == arrow.UINT64 && json.Unmarshal([]byte(values), &unsigned) == nil:
		b := array.NewUint64Builder(memory.DefaultAllocator)
		b.AppendValues(unsigned, nil)
		return b.NewArray(), nil
	}
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(values))
	return a, err
}

// AppendRandom appends a random number of the builder's type, one of few or any, and returns it.
func AppendRandom(b array.Builder, rng *rand.Rand, few bool) float64 {
	u := rng.Uint64()
	if few {
		u = (u % 7) * 0x1234567890abcdef
	}
	switch b := b.(type) {
	case *array.Float32Builder:
		return appendNumber(b, float32(int32(u))/1000)
	case *array.Float64Builder:
		return appendNumber(b, float64(int64(u))/1e15)
	case *array.Int8Builder:
		return appendNumber(b, int8(u))
	case *array.Int16Builder:
		return appendNumber(b, int16(u))
	case *array.Int32Builder:
		return appendNumber(b, int32(u))
	case *array.Int64Builder:
		return appendNumber(b, int64(u)>>12) // float64 holds it
	case *array.Uint8Builder:
		return appendNumber(b, uint8(u))
	case *array.Uint16Builder:
		return appendNumber(b, uint16(u))
	case *array.Uint32Builder:
		return appendNumber(b, uint32(u))
	case *array.Uint64Builder:
		return appendNumber(b, u>>11)
	case *array.Float16Builder:
		v := float32(int(u%4096)-2048) / 64
		b.Append(float16.New(v))
		return float64(v)
	}
	b.(*array.BooleanBuilder).Append(u&1 != 0)
	return float64(u & 1)
}

func appendNumber[T float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](
	b interface{ Append(T) }, v T) float64 {
	b.Append(v)
	return float64(v)
}

// AppendMissing appends a null, or a number that isn't finite.
func AppendMissing(b array.Builder, rng *rand.Rand) {
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
	if finite := rng.IntN(2) == 0; !finite {
		switch b := b.(type) {
		case *array.Float32Builder:
			b.Append(float32(bad))
			return
		case *array.Float64Builder:
			b.Append(bad)
			return
		case *array.Float16Builder:
			b.Append(float16.New(float32(bad)))
			return
		}
	}
	b.AppendNull()
}

// NumberTypes are the number types that Parquet can store with a dictionary.
var NumberTypes = []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int8,
	arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint8,
	arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Float16,
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
	arrow.FixedWidthTypes.Timestamp_us, &arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 18, Scale: 3},
	&arrow.Decimal128Type{Precision: 38, Scale: 1}}

// TextFile writes text to a file of that name in a new directory, compressed if the name says so.
func TextFile(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	require.NoError(tb, os.WriteFile(path, Compressed(tb, name, text), 0o600))
	return path
}

// Compressions are the extensions of compressed files. The program bzip2 makes the last, if it is there.
func Compressions() []string {
	all := []string{".gz", ".zst", ".xz", ".zip"}
	if _, err := exec.LookPath("bzip2"); err == nil {
		all = append(all, ".bz2")
	}
	return all
}

// Compressed returns the text compressed as the extension of a file name says.
func Compressed(tb testing.TB, name, text string) []byte {
	tb.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser
	var err error
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&buf)
	case ".zst":
		w, err = zstd.NewWriter(&buf)
	case ".xz":
		w, err = xz.NewWriter(&buf)
	case ".zip":
		z := zip.NewWriter(&buf)
		into := require.Value(z.Create("text/" + strings.TrimSuffix(filepath.Base(name), ".zip")))(tb)
		require.Value(io.WriteString(into, text))(tb)
		require.NoError(tb, z.Close())
		return buf.Bytes()
	case ".bz2":
		c := exec.Command("bzip2")
		c.Stdin, c.Stdout = strings.NewReader(text), &buf
		require.NoError(tb, c.Run())
		return buf.Bytes()
	default:
		return []byte(text)
	}
	require.NoError(tb, err)
	require.Value(io.WriteString(w, text))(tb)
	require.NoError(tb, w.Close())
	return buf.Bytes()
}

// Gzip returns the text compressed by gzip.
func Gzip(tb testing.TB, text string) []byte { return Compressed(tb, ".gz", text) }

// JSONLines returns a table in CSV, whose first line is the header, as JSON Lines: numbers, booleans, texts, and empty fields as nulls or
// absent keys.
func JSONLines(tb testing.TB, text string) string {
	tb.Helper()
	rows := require.Value(csv.NewReader(strings.NewReader(text)).ReadAll())(tb)
	var s strings.Builder
	for n, row := range rows[1:] {
		sep := "{"
		for i, field := range row {
			if field == "" && n > 0 && (n+i)%2 == 0 {
				continue
			}
			value := field
			if value == "" {
				value = "null"
			}
			if field != "true" && field != "false" && field != "" && !json.Valid([]byte(field)) {
				value = string(require.Value(json.Marshal(field))(tb))
			}
			fmt.Fprintf(&s, "%s%q: %s", sep, rows[0][i], value)
			sep = ", "
		}
		if sep == "{" {
			s.WriteString(sep)
		}
		s.WriteString("}\n")
	}
	return s.String()
}

// Show writes a table as its columns: name, type and values.
func Show(t arrow.Table) string {
	var s strings.Builder
	for i, f := range t.Schema().Fields() {
		fmt.Fprintf(&s, "%s %s", f.Name, column.Describe(f.Type))
		for _, a := range t.Column(i).Data().Chunks() {
			for r := range a.Len() {
				text := "null"
				if !a.IsNull(r) {
					text = fmt.Sprintf("%q", a.ValueStr(r))
				}
				s.WriteString(" " + strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`))
			}
		}
		s.WriteString("; ")
	}
	return strings.TrimSuffix(s.String(), "; ")
}

// WantError compares an error's text, in which DIR stands for dir.
func WantError(tb testing.TB, err error, dir, want string) {
	tb.Helper()
	if err == nil {
		tb.Errorf("no error, want %q", want)
		return
	}
	if got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "DIR/"); got != want {
		tb.Errorf("error\n%s\nwant\n%s", got, want)
	}
}
