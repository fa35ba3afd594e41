package dataset

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
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
	reader, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := reader.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
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

// textRecord returns one column of text and one of floats, with a null each.
func textRecord(t *testing.T, texts []string, values []float64) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: `the "text", quoted`, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil))
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues(texts, nil)
	b.Field(1).(*array.Float64Builder).AppendValues(values, nil)
	b.Field(0).AppendNull()
	b.Field(1).AppendNull()
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

func TestWriteCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	texts := []string{"plain", "", "a,b", `"`, "two\nlines", " space", "über"}
	values := []float64{0.1, math.Copysign(0, -1), 1e21, 5e-324, math.Inf(-1), 3, 123456}
	if err := writeAll(path, WriterOptions{}, textRecord(t, texts, values)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	want := `"the ""text"", quoted",value
plain,0.1
"",-0
"a,b",1e+21
"""",5e-324
"two
lines",-Inf
" space",3
über,123456
,
`
	if err != nil || string(got) != want {
		t.Errorf("got (%v):\n%s\nwant:\n%s", err, got, want)
	}
	lines, err := csv.NewReader(strings.NewReader(string(got))).ReadAll()
	if err != nil || len(lines) != len(texts)+2 {
		t.Fatalf("encoding/csv reads %d lines (%v)", len(lines), err)
	}
	for i, text := range texts {
		if lines[i+1][0] != text {
			t.Errorf("encoding/csv reads %q, not %q", lines[i+1][0], text)
		}
	}
}

// Every column type comes out as text; a header stands over no rows; a null alone in its row isn't an empty line.
func TestWriteCSVTypes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	header := "x.0,y,small,large,yes,name,when\n"
	for _, test := range []struct {
		rec  arrow.Record
		want string
	}{
		{sampleRecord(t, 0, 0), header},
		{sampleRecord(t, 0, 2), header + "0,,0,0,true,,1970-01-01 00:00:00Z\n" +
			"0.33333334,1,1,1099511627776,false,ä,1970-01-01 00:00:00.000001Z\n"},
		{sampleRecord(t, 4, 1).NewSlice(0, 1), header + "1.3333334,2,4,4398046511104,false,\"\",1970-01-01 00:00:00.000004Z\n"},
	} {
		if err := writeAll(path, WriterOptions{}, test.rec); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != test.want {
			t.Errorf("got %q (%v), want %q", got, err, test.want)
		}
	}

	b := array.NewDictionaryBuilder(memory.DefaultAllocator,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String})
	defer b.Release()
	for _, s := range []string{"b", "a,", "b"} {
		if err := b.(*array.BinaryDictionaryBuilder).AppendString(s); err != nil {
			t.Fatal(err)
		}
	}
	b.AppendNull()
	col := b.NewArray()
	defer col.Release()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "d", Type: col.DataType(), Nullable: true}}, nil),
		[]arrow.Array{col}, 4)
	defer rec.Release()
	if err := writeAll(path, WriterOptions{}, rec); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "d\nb\n\"a,\"\nb\n\"\"\n" {
		t.Errorf("got %q (%v)", got, err)
	}
}

// Floats of either size parse back to the same bits, in files of more than one flush.
func TestWriteCSVFloats(t *testing.T) {
	const n = 1 << 14
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
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "narrow", Type: arrow.PrimitiveTypes.Float32}, {Name: "wide", Type: arrow.PrimitiveTypes.Float64}}, nil))
	defer b.Release()
	b.Field(0).(*array.Float32Builder).AppendValues(narrow, nil)
	b.Field(1).(*array.Float64Builder).AppendValues(wide, nil)
	rec := b.NewRecord()
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := writeAll(path, WriterOptions{}, rec); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if len(lines) != n {
		t.Fatalf("%d lines, not %d", len(lines), n)
	}
	for i, line := range lines {
		a, b, _ := strings.Cut(line, ",")
		x, errX := strconv.ParseFloat(a, 32)
		y, errY := strconv.ParseFloat(b, 64)
		if errX != nil || errY != nil || math.Float32bits(float32(x)) != math.Float32bits(narrow[i]) ||
			math.Float64bits(y) != math.Float64bits(wide[i]) {
			t.Fatalf("%v and %v are written as %q (%v, %v)", narrow[i], wide[i], line, errX, errY)
		}
	}
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	twice := arrow.NewSchema([]arrow.Field{writeSchema.Field(0), writeSchema.Field(1), writeSchema.Field(0)}, nil)
	for _, test := range []struct {
		name   string
		schema *arrow.Schema
		opt    WriterOptions
		want   string
	}{
		{"x.txt", writeSchema, WriterOptions{}, `extension ".txt" can't be written: use .parquet, .csv, .arrow or .svm, or - for CSV`},
		{"model", writeSchema, WriterOptions{}, "no extension tells which format to write: use .parquet, .csv"},
		{"x.parquet", writeSchema, WriterOptions{Compression: "lzma"}, `unknown compression "lzma": use snappy, none, zstd`},
		{"x.parquet", writeSchema, WriterOptions{RowGroupRows: -1}, "-1 rows in a row group: use 1 or more"},
		{"x.csv", twice, WriterOptions{}, `two columns are named "x.0": rename one`},
		{"none/x.csv", writeSchema, WriterOptions{}, "there is no directory"},
	} {
		path := filepath.Join(dir, test.name)
		w, err := Create(path, test.schema, test.opt)
		if err == nil {
			w.Abort()
			t.Errorf("%s: no error", test.name)
		} else if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %q doesn't say %q", test.name, err, test.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// brokenRecord returns a record whose text column has an offset far beyond its bytes, on which Arrow panics.
func brokenRecord(schema *arrow.Schema) arrow.Record {
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1000, 3}))
	data := array.NewData(arrow.BinaryTypes.String, 2,
		[]*memory.Buffer{nil, offsets, memory.NewBufferBytes([]byte("abc"))}, nil, 0, 0)
	return array.NewRecord(schema, []arrow.Array{array.NewStringData(data)}, 2)
}

func TestWriteErrors(t *testing.T) {
	text := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	other := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.PrimitiveTypes.Int8, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, other)
	defer b.Release()
	b.Field(0).AppendNull()
	null := b.NewRecord()
	defer null.Release()
	required := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.PrimitiveTypes.Int8}}, nil)
	for _, ext := range []string{".parquet", ".csv"} {
		for _, test := range []struct {
			schema *arrow.Schema
			rec    arrow.Record
			want   string
		}{
			{text, brokenRecord(text), "out of range"},
			{text, null, `column 0 of a record is "s" of type int8, in the file it is "s" of type utf8`},
			{text, sampleRecord(t, 0, 1), "a record has 7 columns, the file 1"},
			{required, null, `column "s" has nulls, and its type in the file allows none`},
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, "x"+ext)
			if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			w, err := Create(path, test.schema, WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			err = w.Write(test.rec)
			if err == nil || !strings.HasPrefix(err.Error(), path+" can't be written: ") ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: Write returns %v, not %q", ext, err, test.want)
			}
			if last := w.Close(); last != err {
				t.Errorf("%s: Close returns %v after %v", ext, last, err)
			}
			left, _ := os.ReadDir(dir)
			if got, _ := os.ReadFile(path); string(got) != "old" || len(left) != 1 {
				t.Errorf("%s: %q is left, among %v", ext, got, left)
			}
		}
	}
}

func TestAbortAndClose(t *testing.T) {
	for _, ext := range []string{".parquet", ".csv"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x"+ext)
		for _, closed := range []bool{false, true} {
			w, err := Create(path, writeSchema, WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(sampleRecord(t, 0, 10)); err != nil {
				t.Fatal(err)
			}
			if closed {
				if err := errors.Join(w.Close(), w.Close()); err != nil {
					t.Fatal(err)
				}
			}
			w.Abort()
			w.Abort()
			if err := w.Write(sampleRecord(t, 0, 1)); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Write afterwards returns %v", err)
			}
			if err := w.Close(); closed != (err == nil) {
				t.Errorf("Close after Abort returns %v; closed before: %v", err, closed)
			}
			left, _ := os.ReadDir(dir)
			if want := map[bool]int{true: 1}[closed]; len(left) != want {
				t.Errorf("closed: %v, and %v is left", closed, left)
			}
		}
	}
}

// A full disk is an error in either format, of Write or of Close.
func TestWriteFullDevice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is Linux's")
	}
	link := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.Symlink("/dev/full", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, "/dev/full"} {
		for _, n := range []int{1, 1 << 15} {
			rec := sampleRecord(t, 0, n)
			err := writeAll(path, WriterOptions{RowGroupRows: 1 << 12}, rec, rec, rec)
			if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), path+" can't be written: ") != 1 {
				t.Errorf("%s, %d rows: %v", path, n, err)
			}
		}
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

// TestTimestampsInCSV: only a time that is in UTC is written as one.
func TestTimestampsInCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	rec := record(t, field("local", &arrow.TimestampType{Unit: arrow.Second}, `["2024-01-01 10:00:00"]`),
		field("utc", &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, `["2024-01-01 10:00:00"]`))
	w, err := Create(path, rec.Schema(), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "local,utc\n2024-01-01 10:00:00,2024-01-01 10:00:00Z\n"; err != nil || string(got) != want {
		t.Errorf("%q, error %v, want %q", got, err, want)
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
