package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// writeSchema has a column of each kind that matters: required and nullable, numbers, booleans and text.
var writeSchema = arrow.NewSchema([]arrow.Field{
	{Name: "x.0", Type: arrow.PrimitiveTypes.Float32},
	{Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "small", Type: arrow.PrimitiveTypes.Int8},
	{Name: "large", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "yes", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "when", Type: arrow.FixedWidthTypes.Timestamp_us},
}, nil)

// sampleRecord returns n rows of writeSchema, the first of which has that number.
func sampleRecord(t *testing.T, first, n int) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, writeSchema)
	defer b.Release()
	for r := first; r < first+n; r++ {
		b.Field(0).(*array.Float32Builder).Append(float32(r) / 3)
		if r%7 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.Float64Builder).Append(math.Sqrt(float64(r)))
		}
		b.Field(2).(*array.Int8Builder).Append(int8(r % 100))
		b.Field(3).(*array.Int64Builder).Append(int64(r) << 40)
		b.Field(4).(*array.BooleanBuilder).Append(r%3 == 0)
		if r%5 == 0 {
			b.Field(5).AppendNull()
		} else {
			b.Field(5).(*array.StringBuilder).Append(strings.Repeat("ä", r%4))
		}
		b.Field(6).(*array.TimestampBuilder).Append(arrow.Timestamp(r))
	}
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

// writeAll writes the records to path.
func writeAll(path string, opt WriterOptions, recs ...arrow.Record) error {
	w, err := Create(path, recs[0].Schema(), opt)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			return err
		}
	}
	return w.Close()
}

// rowTexts returns the values of a record or a table as text, row by row.
func rowTexts(rec arrow.Record) []string {
	var all []string
	for r := range int(rec.NumRows()) {
		line := ""
		for _, col := range rec.Columns() {
			line += col.ValueStr(r) + "|"
		}
		all = append(all, line)
	}
	return all
}

func TestWriteParquet(t *testing.T) {
	codec := map[string]compress.Compression{
		"": compress.Codecs.Snappy, "snappy": compress.Codecs.Snappy, "none": compress.Codecs.Uncompressed,
		"zstd": compress.Codecs.Zstd, "gzip": compress.Codecs.Gzip,
	}
	for name, want := range codec {
		t.Run("compression="+name, func(t *testing.T) { testWriteParquet(t, name, want) })
	}
}

func testWriteParquet(t *testing.T, compression string, codec compress.Compression) {
	path := filepath.Join(t.TempDir(), "x.PARQUET")
	var recs []arrow.Record
	var want []string
	for _, n := range []int{1, 98, 1, 0, 250, 30} { // fills a group exactly, adds nothing, is more than two groups
		recs = append(recs, sampleRecord(t, len(want), n))
		want = append(want, rowTexts(recs[len(recs)-1])...)
	}
	opt := WriterOptions{Compression: compression, RowGroupRows: 100, Metadata: map[string]string{"k": "v", "a": ""}}
	if err := writeAll(path, opt, recs...); err != nil {
		t.Fatal(err)
	}
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	checkLayout(t, f, codec)
	for _, kv := range []struct{ key, value string }{{"k", "v"}, {"a", ""}} {
		if got := f.MetaData().KeyValueMetadata().FindValue(kv.key); got == nil || *got != kv.value {
			t.Errorf("the value of %q isn't %q", kv.key, kv.value)
		}
	}
	table := readTable(t, f)
	defer table.Release()
	batches := array.NewTableReader(table, 0)
	defer batches.Release()
	var got []string
	for batches.Next() {
		got = append(got, rowTexts(batches.Record())...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %d rows that aren't the %d written ones", len(got), len(want))
	}
	for i, f := range table.Schema().Fields() {
		if w := writeSchema.Field(i); f.Name != w.Name || !arrow.TypeEqual(f.Type, w.Type) || f.Nullable != w.Nullable {
			t.Errorf("column %v is read back as %v", w, f)
		}
	}
}

// checkLayout checks the row groups, the compression, the repetition and the encodings.
func checkLayout(t *testing.T, f *file.Reader, codec compress.Compression) {
	t.Helper()
	var groups []int64
	for g := range f.NumRowGroups() {
		groups = append(groups, f.RowGroup(g).NumRows())
	}
	if want := []int64{100, 100, 100, 80}; !slices.Equal(groups, want) {
		t.Errorf("row groups of %d rows, not %d", groups, want)
	}
	for i, field := range writeSchema.Fields() {
		node := f.MetaData().Schema.Column(i).SchemaNode()
		if required := node.RepetitionType() == parquet.Repetitions.Required; required == field.Nullable {
			t.Errorf("column %q is %v", field.Name, node.RepetitionType())
		}
		chunk, err := f.MetaData().RowGroup(0).ColumnChunk(i)
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Compression() != codec {
			t.Errorf("column %q is compressed with %v, not %v", field.Name, chunk.Compression(), codec)
		}
		dictionary := slices.Contains(chunk.Encodings(), parquet.Encodings.RLEDict)
		if floating := arrow.IsFloating(field.Type.ID()); dictionary && floating || !dictionary && field.Name == "name" {
			t.Errorf("column %q is encoded as %v", field.Name, chunk.Encodings())
		}
	}
}

func TestWriteParquetWithoutRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := writeAll(path, WriterOptions{}, sampleRecord(t, 0, 0)); err != nil {
		t.Fatal(err)
	}
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.NumRows() != 0 || f.MetaData().Schema.NumColumns() != 7 {
		t.Errorf("%d rows of %d columns", f.NumRows(), f.MetaData().Schema.NumColumns())
	}
}

// The same rows give the same bytes however they come in records.
func TestWriteParquetDeterministic(t *testing.T) {
	dir := t.TempDir()
	opt := WriterOptions{RowGroupRows: 64, Metadata: map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}}
	one, three := filepath.Join(dir, "1.parquet"), filepath.Join(dir, "3.parquet")
	if err := writeAll(one, opt, sampleRecord(t, 0, 200)); err != nil {
		t.Fatal(err)
	}
	if err := writeAll(three, opt, sampleRecord(t, 0, 64), sampleRecord(t, 64, 64), sampleRecord(t, 128, 72)); err != nil {
		t.Fatal(err)
	}
	a, errA := os.ReadFile(one)
	b, errB := os.ReadFile(three)
	if errA != nil || errB != nil || len(a) == 0 || !slices.Equal(a, b) {
		t.Errorf("%d and %d bytes that differ (%v, %v)", len(a), len(b), errA, errB)
	}
}

func TestWriteStandardOutput(t *testing.T) {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	if err := writeAll("-", WriterOptions{}, sampleRecord(t, 1, 1)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	got, err := io.ReadAll(r)
	r.Close()
	want := "x.0,y,small,large,yes,name,when\n0.33333334,1,1,1099511627776,false,ä,1970-01-01 00:00:00.000001Z\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}

	r, w, err = os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	os.Stdout = w
	rec := sampleRecord(t, 0, 1<<14)
	if err := writeAll("-", WriterOptions{}, rec); err == nil || runtime.GOOS == "linux" && !errors.Is(err, syscall.EPIPE) {
		t.Errorf("nobody reads: %v", err)
	}
}

func BenchmarkWriteParquet(b *testing.B) {
	const n, columns = 1 << 17, 28
	rng := rand.New(rand.NewPCG(1, 2))
	var fields []arrow.Field
	var cols []arrow.Array
	for i := range columns {
		values := array.NewFloat32Builder(memory.DefaultAllocator)
		for range n {
			values.Append(rng.Float32())
		}
		cols = append(cols, values.NewArray())
		fields = append(fields, arrow.Field{Name: fmt.Sprint("x", i), Type: arrow.PrimitiveTypes.Float32})
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), cols, n)
	path := filepath.Join(b.TempDir(), "x.parquet")
	b.SetBytes(4 * n * columns)
	for b.Loop() {
		if err := writeAll(path, WriterOptions{}, rec); err != nil {
			b.Fatal(err)
		}
	}
}

// TestListEncoding: floats are written without a dictionary, in lists too.
func TestListEncoding(t *testing.T) {
	p := arrow.PrimitiveTypes
	rec := record(t, field("x", p.Float32, "[1, 1]"), field("l", arrow.ListOf(p.Float64), "[[1, 1], [1]]"),
		field("fixed", arrow.FixedSizeListOf(2, p.Float32), "[[1, 1], [1, 2]]"), field("i", arrow.ListOf(p.Int32), "[[1, 1], [1]]"))
	path := filepath.Join(t.TempDir(), "a.parquet")
	w, err := Create(path, rec.Schema(), WriterOptions{})
	if err == nil {
		err = errors.Join(w.Write(rec), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	info, err := Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range info.Columns {
		if got, want := slices.Contains(c.Encodings, "RLE_DICTIONARY"), strings.HasPrefix(c.Name, "i."); got != want {
			t.Errorf("column %s: %v", c.Name, c.Encodings)
		}
	}
}
