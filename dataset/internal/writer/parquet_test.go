package writer

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/internal/require"
)

// TestGroupMemory: a row group takes at most an eighth of the memory.
func TestGroupMemory(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32}}, nil)
	for memory, want := range map[int64]int64{0: 64 << 20, 1 << 30: 64 << 20, 256 << 20: 32 << 20, 64 << 20: 8 << 20, 1: 6 << 20} {
		e := require.Value(NewParquet(t.Context(), io.Discard, schema, ParquetOptions{Memory: memory}))(t)
		if got := e.(*Parquet).Groups.MaxBytes; got != want {
			t.Errorf("memory of %d bytes: row groups of %d bytes, not %d", memory, got, want)
		}
	}
}

func TestDefaultRowGroups(t *testing.T) {
	for _, test := range []struct {
		columns int
		rows    int64
	}{{1, 131072}, {256, 131072}, {1024, 32768}, {100000, 4096}} {
		var fields []arrow.Field
		for i := range test.columns {
			fields = append(fields, arrow.Field{Name: strconv.Itoa(i), Type: arrow.PrimitiveTypes.Float32})
		}
		e := require.Value(NewParquet(t.Context(), io.Discard, arrow.NewSchema(fields, nil), ParquetOptions{}))(t)
		if got := e.(*Parquet).Groups.maxRows; got != test.rows {
			t.Errorf("%d columns: row groups of %d rows, not %d", test.columns, got, test.rows)
		}
	}
}

// TestDecimalBytes: the numbers of the format's specification, the least bytes that hold 10^precision with a sign.
func TestDecimalBytes(t *testing.T) {
	for precision := int32(1); precision <= 76; precision++ {
		if got, want := decimalBytes(&arrow.Decimal256Type{Precision: precision}), int(pqarrow.DecimalSize(precision)); got != want {
			t.Errorf("%d digits: %d bytes, want %d", precision, got, want)
		}
	}
	if decimalBytes(&arrow.Decimal128Type{Precision: 18}) != 8 || math.Log10(math.MaxInt64) < 18 {
		t.Error("18 digits need 8 bytes")
	}
}

// heapWatch discards what is written, and notes the most memory in use from time to time.
type heapWatch struct {
	base, most uint64
	writes     int
}

func newHeapWatch() *heapWatch { return &heapWatch{base: heapInUse()} }

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (h *heapWatch) Write(p []byte) (int, error) {
	if h.writes++; h.writes%97 == 0 {
		h.most = max(h.most, heapInUse())
	}
	return len(p), nil
}

// taken returns how many bytes were in use at most since the watch was made.
func (h *heapWatch) taken() int64 { return int64(max(h.most, heapInUse())) - int64(h.base) }

// TestParquetMemory: a writer takes the memory of a row group's values and little more, however many columns it has.
func TestParquetMemory(t *testing.T) {
	const columns, rows, groups = 256, 8 << 10, 3
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	for i := range rows {
		b.Append(float32(i))
	}
	values := b.NewArray()
	fields, same := make([]arrow.Field, columns), make([]arrow.Array, columns)
	for i := range fields {
		fields[i], same[i] = arrow.Field{Name: strconv.Itoa(i), Type: values.DataType()}, values
	}
	schema := arrow.NewSchema(fields, nil)
	watch := newHeapWatch()
	e := require.Value(NewParquet(t.Context(), watch, schema, ParquetOptions{GroupRows: rows}))(t)
	for range groups {
		require.NoError(t, e.Write(array.NewRecord(schema, same, rows)))
	}
	require.NoError(t, e.Finish())
	if got, group := watch.taken(), int64(columns*rows*4); got > 2*group {
		t.Errorf("%d bytes were in use for row groups of %d", got, group)
	}
}

// TestLongTexts: what a writer keeps until the file ends doesn't depend on how long texts are.
func TestLongTexts(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	const size, groups = 256 << 10, 64
	b.Append(strings.Repeat("a", size))
	rec := array.NewRecord(schema, []arrow.Array{b.NewArray()}, 1)
	watch := newHeapWatch()
	e := require.Value(NewParquet(t.Context(), watch, schema, ParquetOptions{GroupRows: 1}))(t)
	for range groups {
		require.NoError(t, e.Write(rec))
	}
	if got := watch.taken(); got > groups*size/4 {
		t.Errorf("%d bytes are in use after %d row groups of %d", got, groups, size)
	}
	require.NoError(t, e.Finish())
}

// TestLongTextPages: pages of long texts are cut by their bytes, and short records are joined.
func TestLongTextPages(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	const size, rows = 100 << 10, 200
	out := &bytes.Buffer{}
	e := require.Value(NewParquet(t.Context(), out, schema, ParquetOptions{Compression: "none"}))(t)
	write := func(lo, hi int) {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for i := lo; i < hi; i++ {
			b.Append(strings.Repeat(string(rune('A'+i)), size))
		}
		require.NoError(t, e.Write(array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(hi-lo))))
	}
	for i := range rows / 2 {
		write(i, i+1)
	}
	if n := len(e.(*Parquet).held); n > rows/8 {
		t.Errorf("%d parts of %d rows are held", n, rows/2)
	}
	write(rows/2, rows)
	require.NoError(t, e.Finish())
	r := require.Value(file.NewParquetReader(bytes.NewReader(out.Bytes())))(t)
	column := require.Value(r.RowGroup(0).Column(0))(t)
	values, row := make([]parquet.ByteArray, rows), 0
	for texts := column.(*file.ByteArrayColumnChunkReader); texts.HasNext(); {
		_, n, err := texts.ReadBatch(rows, values, nil, nil)
		require.NoError(t, err)
		for _, v := range values[:n] {
			if string(v) != strings.Repeat(string(rune('A'+row)), size) {
				t.Fatalf("row %d is another text", row)
			}
			row++
		}
	}
	if row != rows {
		t.Fatalf("%d of %d rows", row, rows)
	}
	pages := require.Value(r.RowGroup(0).GetColumnPageReader(0))(t)
	for pages.Next() {
		if n := len(pages.Page().Data()); n > 2*pageBytes {
			t.Errorf("a page of %d bytes", n)
		}
	}
}

// TestWideRecords: short records of many columns are joined, since each of their columns takes more than its values. A writer fails once
// its context has ended.
func TestWideRecords(t *testing.T) {
	const width, rows = 6000, 32
	fields, columns := make([]arrow.Field, width), make([]arrow.Array, width)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.BinaryTypes.String}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		b.Append(strings.Repeat("x", 50))
		columns[i] = b.NewArray()
	}
	schema := arrow.NewSchema(fields, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := require.Value(NewParquet(ctx, io.Discard, schema, ParquetOptions{}))(t)
	rec := array.NewRecord(schema, columns, 1)
	for range rows {
		require.NoError(t, e.Write(rec))
	}
	if n := len(e.(*Parquet).held); n > 2 {
		t.Errorf("%d parts of %d rows are held", n, rows)
	}
	cancel()
	for what, err := range map[string]error{"Write": e.Write(rec), "Finish": e.Finish()} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v after the end", what, err)
		}
	}
}

// written returns the bytes of records in a format.
func written(t *testing.T, format func(io.Writer, *arrow.Schema) (Encoder, error), recs ...arrow.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	e := require.Value(format(&out, recs[0].Schema()))(t)
	for _, rec := range recs {
		require.NoError(t, e.Write(rec))
	}
	require.NoError(t, e.Finish())
	return out.Bytes()
}

// TestCSV: columns of every type come out as text that encoding/csv reads; a header stands over no rows; a null alone in its row isn't an
// empty line; only a time that is in UTC is written as one.
func TestCSV(t *testing.T) {
	p, text := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	words := &arrow.DictionaryType{IndexType: p.Int8, ValueType: text}
	second := func(zone string) arrow.DataType { return &arrow.TimestampType{Unit: arrow.Second, TimeZone: zone} }
	for _, c := range []struct {
		want    string
		columns []datatest.Field
	}{
		{"\"the \"\"text\"\", quoted\",value\nplain,0.1\n\"\",-0\n\"a,b\",1e+21\n\"\"\"\",5e-324\n\"two\nlines\",3\n\" space\",123456\nüber,1\n,\n", []datatest.Field{
			datatest.Values(`the "text", quoted`, text, `["plain", "", "a,b", "\"", "two\nlines", " space", "über", null]`),
			datatest.Values("value", p.Float64, "[0.1, -0.0, 1e21, 5e-324, 3, 123456, 1, null]")}},
		{"x.0,y,small,large,yes\n0,,0,0,true\n0.33333334,1,1,1099511627776,false\n", []datatest.Field{
			datatest.Column("x.0", []float32{0, 1.0 / 3}, nil), datatest.Values("y", p.Float64, "[null, 1]"), datatest.Values("small", p.Int8, "[0, 1]"),
			datatest.Values("large", p.Int64, "[0, 1099511627776]"), datatest.Values("yes", arrow.FixedWidthTypes.Boolean, "[true, false]")}},
		{"a,b\n", []datatest.Field{datatest.Values("a", p.Int8, "[]"), datatest.Values("b", text, "[]")}},
		{"name\n\"\"\nä\n", []datatest.Field{datatest.Values("name", text, `[null, "ä"]`)}},
		{"d\nb\n\"a,\"\nb\n\"\"\n", []datatest.Field{datatest.Values("d", words, `["b", "a,", "b", null]`)}},
		{"v,-Inf\n-Inf,0\nNaN,1\n", []datatest.Field{datatest.Column("v", []float64{math.Inf(-1), math.NaN()}, nil), datatest.Column("-Inf", []int8{0, 1}, nil)}},
		{"local,utc,us\n2024-01-01 10:00:00,2024-01-01 10:00:00Z,1970-01-01 00:00:00.000004Z\n", []datatest.Field{
			datatest.Values("local", second(""), `["2024-01-01 10:00:00"]`), datatest.Values("utc", second("UTC"), `["2024-01-01 10:00:00"]`),
			datatest.Values("us", arrow.FixedWidthTypes.Timestamp_us, `["1970-01-01 00:00:00.000004"]`)}},
	} {
		rec := datatest.Record(t, c.columns...)
		got := string(written(t, inText(NewCSV, 2), rec))
		if got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		lines := require.Value(csv.NewReader(strings.NewReader(got)).ReadAll())(t)
		for r, line := range lines[1:] {
			if col := rec.Column(0); c.columns[0].Type == text && col.IsValid(r) && line[0] != col.ValueStr(r) {
				t.Errorf("encoding/csv reads %q, not %q", line[0], col.ValueStr(r))
			}
		}
	}
}

// TestCSVFloats: floats of either size parse back to the same bits, in files of more than one flush.
func TestCSVFloats(t *testing.T) {
	const n = 1 << 13
	rng := rand.New(rand.NewPCG(1, 2))
	narrow, wide := make([]float32, n), make([]float64, n)
	for i := range n {
		for narrow[i] = float32(math.NaN()); narrow[i] != narrow[i]; {
			narrow[i] = math.Float32frombits(rng.Uint32())
		}
		for wide[i] = math.NaN(); math.IsNaN(wide[i]); {
			wide[i] = math.Float64frombits(rng.Uint64())
		}
	}
	text := written(t, inText(NewCSV, 2), datatest.Record(t, datatest.Column("narrow", narrow, nil), datatest.Column("wide", wide, nil)))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if len(lines) != n {
		t.Fatalf("%d lines, not %d", len(lines), n)
	}
	for i, line := range lines {
		a, b, _ := strings.Cut(line, ",")
		x, errX := strconv.ParseFloat(a, 32)
		y, errY := strconv.ParseFloat(b, 64)
		if errX != nil || errY != nil || math.Float32bits(float32(x)) != math.Float32bits(narrow[i]) || math.Float64bits(y) != math.Float64bits(wide[i]) {
			t.Fatalf("%v and %v are written as %q (%v, %v)", narrow[i], wide[i], line, errX, errY)
		}
	}
}

// TestHalfFloats: every half-precision number is written as its value, which is a float32.
func TestHalfFloats(t *testing.T) {
	b := array.NewFloat16Builder(memory.DefaultAllocator)
	for bits := range 1 << 16 {
		b.Append(float16.FromBits(uint16(bits)))
	}
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.FixedWidthTypes.Float16}}, nil), []arrow.Array{b.NewArray()}, 1<<16)
	for name, encoder := range map[string]func(io.Writer, *arrow.Schema) (Encoder, error){"CSV": inText(NewCSV, 2), "JSON": inText(NewJSON, 2)} {
		lines := strings.Split(strings.TrimSpace(string(written(t, encoder, rec))), "\n")
		for bits, line := range lines[len(lines)-1<<16:] {
			want := column.HalfFloat(float16.FromBits(uint16(bits)))
			text := strings.TrimSuffix(strings.TrimPrefix(line, `{"x":`), "}")
			if got, err := strconv.ParseFloat(text, 32); err != nil || float32(got) != want && want == want {
				t.Fatalf("%s: %x is written as %s, want %v", name, bits, line, want)
			}
		}
	}
}
