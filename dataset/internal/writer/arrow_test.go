package writer

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/dataset/internal/datatest"
	"halfspace/internal/require"
)

// inParquet returns what makes writers with those options.
func inParquet(opt ParquetOptions) func(io.Writer, *arrow.Schema) (Encoder, error) {
	return func(out io.Writer, schema *arrow.Schema) (Encoder, error) {
		return NewParquet(context.Background(), out, schema, opt)
	}
}

// openParquet reads a file's metadata by Arrow, and readParquet its rows.
func openParquet(t *testing.T, data []byte) *file.Reader {
	t.Helper()
	return require.Value(file.NewParquetReader(bytes.NewReader(data)))(t)
}

func readParquet(t *testing.T, data []byte) arrow.Table {
	t.Helper()
	reader := require.Value(pqarrow.NewFileReader(openParquet(t, data), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator))(t)
	return require.Value(reader.ReadTable(t.Context()))(t)
}

// rowTexts returns the values of records as text, row by row.
func rowTexts(recs ...arrow.Record) (all []string) {
	for _, rec := range recs {
		for r := range int(rec.NumRows()) {
			line := ""
			for _, col := range rec.Columns() {
				line += col.ValueStr(r) + "|"
			}
			all = append(all, line)
		}
	}
	return all
}

// sample returns rows of a column of each kind that matters: required and nullable, numbers, booleans and text.
func sample(t *testing.T, rows int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "x.0", Type: arrow.PrimitiveTypes.Float32}, {Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "small", Type: arrow.PrimitiveTypes.Int8}, {Name: "yes", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "when", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Nullable: true}, {Name: "pair", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)}}, nil))
	rng := rand.New(rand.NewPCG(1, 9))
	for r := range rows {
		for i, f := range b.Fields() {
			if b.Schema().Field(i).Nullable && r%(5+i) == 0 {
				f.AppendNull()
			} else {
				appendWritable(t, rng, f, 0)
			}
		}
	}
	return b.NewRecord()
}

// TestParquet: row groups, compression, repetition, encodings and metadata are what was asked for, and Arrow reads the rows. However these
// come in records, the bytes are the same.
func TestParquet(t *testing.T) {
	rec := sample(t, 380)
	cuts := []arrow.Record{rec.NewSlice(0, 1), rec.NewSlice(1, 99), rec.NewSlice(99, 100), rec.NewSlice(100, 100), rec.NewSlice(100, 350), rec.NewSlice(350, 380)}
	for name, codec := range map[string]string{"": "SNAPPY", "snappy": "SNAPPY", "none": "UNCOMPRESSED", "zstd": "ZSTD", "gzip": "GZIP"} {
		format := inParquet(ParquetOptions{Compression: name, GroupRows: 100, Metadata: map[string]string{"k": "v", "a": "", "c": "3"}})
		data := written(t, format, cuts...)
		if !bytes.Equal(data, written(t, format, rec)) {
			t.Errorf("%s: other bytes of the same rows", name)
		}
		f := openParquet(t, data)
		var groups []int64
		for g := range f.NumRowGroups() {
			groups = append(groups, f.RowGroup(g).NumRows())
		}
		if want := []int64{100, 100, 100, 80}; !slices.Equal(groups, want) {
			t.Errorf("row groups of %d rows, not %d", groups, want)
		}
		for _, kv := range [][2]string{{"k", "v"}, {"a", ""}} {
			if got := f.MetaData().KeyValueMetadata().FindValue(kv[0]); got == nil || *got != kv[1] {
				t.Errorf("the value of %q isn't %q", kv[0], kv[1])
			}
		}
		for i := range f.MetaData().Schema.NumColumns() {
			chunk := require.Value(f.MetaData().RowGroup(0).ColumnChunk(i))(t)
			dictionary, typ := slices.Contains(chunk.Encodings(), parquet.Encodings.RLEDict), rec.Schema().Field(i).Type
			if list, ok := typ.(arrow.ListLikeType); ok {
				typ = list.Elem()
			}
			if chunk.Compression().String() != codec || dictionary && arrow.IsFloating(typ.ID()) || !dictionary && typ.ID() == arrow.STRING {
				t.Errorf("column %d is compressed with %v and encoded as %v", i, chunk.Compression(), chunk.Encodings())
			}
		}
		table := readParquet(t, data)
		var got []string
		for r := array.NewTableReader(table, 0); r.Next(); {
			got = append(got, rowTexts(r.Record())...)
		}
		if !slices.Equal(got, rowTexts(rec)) {
			t.Errorf("read %d rows that aren't the written ones", len(got))
		}
		for i, f := range table.Schema().Fields() {
			if w := rec.Schema().Field(i); f.Name != w.Name || f.Nullable != w.Nullable || i < 6 && !arrow.TypeEqual(f.Type, w.Type) {
				t.Errorf("column %v is read back as %v", w, f)
			}
		}
	}
	if f := openParquet(t, written(t, inParquet(ParquetOptions{}), sample(t, 0))); f.NumRows() != 0 || f.MetaData().Schema.NumColumns() != 8 {
		t.Errorf("%d rows of %d columns", f.NumRows(), f.MetaData().Schema.NumColumns())
	}
}

func appendWritable(tb testing.TB, rng *rand.Rand, b array.Builder, nulls int) {
	if nulls > 0 && rng.IntN(nulls) == 0 {
		b.AppendNull()
		return
	}
	n := rng.IntN(50)
	switch b := b.(type) {
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			appendWritable(tb, rng, b.ValueBuilder(), nulls)
		}
	case array.ListLikeBuilder:
		b.Append(true)
		for range n % 4 {
			appendWritable(tb, rng, b.ValueBuilder(), nulls)
		}
	case *array.Date32Builder:
		b.Append(arrow.Date32(n))
	case *array.Date64Builder:
		b.Append(arrow.Date64(n * 24 * 60 * 60 * 1000))
	case *array.Time32Builder:
		b.Append(arrow.Time32(n))
	case *array.Time64Builder:
		b.Append(arrow.Time64(n))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(n - 25))
	case *array.BooleanBuilder:
		b.Append(n%2 == 0)
	case *array.BinaryBuilder:
		b.Append(bytes.Repeat([]byte{'b'}, n))
	case *array.FixedSizeBinaryBuilder:
		b.Append(bytes.Repeat([]byte{byte(n)}, b.Type().(*arrow.FixedSizeBinaryType).ByteWidth))
	default:
		require.NoError(tb, b.AppendValueFromString(fmt.Sprint(n)))
	}
}

// writableColumn returns random values of a type. One value in nulls is null on average; with 0 no value is null.
func writableColumn(tb testing.TB, rng *rand.Rand, typ arrow.DataType, rows, nulls int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	for range rows {
		appendWritable(tb, rng, b, nulls)
	}
	return b.NewArray()
}

// writableTypes are the types of flat columns that can be written to Parquet.
var writableTypes = slices.Concat(datatest.NumberTypes, []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String,
	arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, &arrow.FixedSizeBinaryType{ByteWidth: 5},
	arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Timestamp_s,
	arrow.FixedWidthTypes.Timestamp_ms, arrow.FixedWidthTypes.Timestamp_ns, &arrow.TimestampType{Unit: arrow.Microsecond},
	&arrow.Decimal256Type{Precision: 50, Scale: 2}})

// TestLikeArrow: a file has the bytes that Arrow's own writer of records gives it. It has the same rows where that
// writer takes the greatest number for the least value of unsigned numbers.
func TestLikeArrow(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 9))
	rows := int64(3000)
	if require.Small() {
		rows = 1100 // more than a batch of Arrow's
	}
	for _, element := range writableTypes {
		for trial, typ := range []arrow.DataType{element, element, element, arrow.ListOf(element), arrow.ListOf(element)} {
			nulls := []int{0, 0, 3, 0, 4}[trial]
			col := writableColumn(t, rng, typ, int(rows), nulls)
			rec := datatest.Record(t, datatest.Field{Field: arrow.Field{Name: "x.1", Type: typ, Nullable: trial == 1 || col.NullN() > 0}, Array: col})
			parts := []arrow.Record{rec.NewSlice(0, 1), rec.NewSlice(1, rows/2), rec.NewSlice(rows/2, rows)}
			got := written(t, inParquet(ParquetOptions{}), parts...)
			var out bytes.Buffer
			props := parquet.NewWriterProperties(parquet.WithCompression(WriteCodecs["snappy"]), parquet.WithDictionaryDefault(!arrow.IsFloating(element.ID())))
			w := require.Value(pqarrow.NewFileWriter(rec.Schema(), &out, props, pqarrow.DefaultWriterProps()))(t)
			for _, rec := range parts {
				require.NoError(t, w.WriteBuffered(rec))
			}
			require.NoError(t, w.Close())
			if arrow.IsUnsignedInteger(element.ID()) {
				if a, b := readParquet(t, got), readParquet(t, out.Bytes()); !array.TableEqual(a, b) || !a.Schema().Equal(b.Schema()) {
					t.Errorf("%s: read %v, want %v", typ, a, b)
				}
			} else if !bytes.Equal(got, out.Bytes()) {
				t.Errorf("%s, a null in %d: %d bytes that differ from Arrow's %d", typ, nulls, len(got), out.Len())
			}
		}
	}
}

// TestStatistics: the least and the greatest value of a column of unsigned numbers with nulls are right.
func TestStatistics(t *testing.T) {
	f := openParquet(t, written(t, inParquet(ParquetOptions{}), datatest.Record(t, datatest.Values("x", arrow.PrimitiveTypes.Uint32, "[7, null, 4000000000, 5]"))))
	s, err := require.Value(f.MetaData().RowGroup(0).ColumnChunk(0))(t).Statistics()
	if err != nil || !s.HasMinMax() || s.NullCount() != 1 || binary.LittleEndian.Uint32(s.EncodeMin()) != 5 || binary.LittleEndian.Uint32(s.EncodeMax()) != 4_000_000_000 {
		t.Errorf("statistics %v, error %v", s, err)
	}
}

// TestPlainValues: a dictionary stands for its values, of every type; a null key and a null value are null.
func TestPlainValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 5))
	for _, typ := range writableTypes {
		values := array.NewSlice(writableColumn(t, rng, typ, 9, 4), 2, 9)
		keys := datatest.Column("", []int8{6, 0, 0, 3, 5, 1, 2, 4}, []bool{true, true, false, true, true, true, true, true}).Array
		d := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: typ}, array.NewSlice(keys, 1, 8), values)
		got := require.Value(PlainValues(d))(t)
		for i := range d.Len() {
			null := d.IsNull(i) || values.IsNull(d.GetValueIndex(i))
			if got.IsNull(i) != null || !null && got.ValueStr(i) != values.ValueStr(d.GetValueIndex(i)) {
				t.Errorf("%s: value %d of %v is %v", typ, i, d, got)
			}
		}
		if !arrow.TypeEqual(got.DataType(), typ) || got.Len() != 7 || got.NullN() == 0 {
			t.Errorf("%s: got %v of type %s", typ, got, got.DataType())
		}
	}
}

// TestGroupBytes: groups are as large as their bytes allow, whatever records the rows come in, and hold what was written.
func TestGroupBytes(t *testing.T) {
	const rows, bound = 1000, 5000
	number := arrow.PrimitiveTypes.Float64
	list, pair := array.NewListBuilder(memory.DefaultAllocator, number), array.NewFixedSizeListBuilder(memory.DefaultAllocator, 2, number)
	x, texts, valid := make([]float64, rows), make([]string, rows), make([]bool, rows)
	for r := range rows {
		if x[r], valid[r] = float64(r), r%7 != 3; valid[r] {
			texts[r] = strings.Repeat("t", r*31%300)
		}
		if list.Append(r%5 != 2); r%5 != 2 {
			list.ValueBuilder().(*array.Float64Builder).AppendValues(make([]float64, r%4), nil)
		}
		pair.Append(true)
		pair.ValueBuilder().(*array.Float64Builder).AppendValues([]float64{x[r], -x[r]}, nil)
	}
	rec := datatest.Record(t, datatest.Column("x", x, nil), datatest.Column("text", texts, valid), datatest.Built("list", list, true), datatest.Built("pair", pair, false))
	size := func(lo, hi int) (n int64) { // by the definition: 4 bytes for each text and list, and what is in them
		for r := lo; r < hi; r++ {
			from, to := rec.Column(2).(*array.List).ValueOffsets(r)
			n += 8 + 4 + int64(len(texts[r])) + 4 + 8*(to-from) + 4 + 16
		}
		return n
	}
	want := []int64{}
	for lo, hi := 0, 0; hi < rows; lo = hi {
		for hi = lo + 1; hi < rows && size(lo, hi+1) <= bound; hi++ {
		}
		want = append(want, int64(hi-lo))
	}
	if len(want) < 30 || slices.Max(want) < 20 {
		t.Fatalf("groups of %d rows say little", want)
	}
	bounded := func(bytes int64) func(out io.Writer, schema *arrow.Schema) (Encoder, error) {
		return func(out io.Writer, schema *arrow.Schema) (Encoder, error) {
			e, err := inParquet(ParquetOptions{})(out, schema)
			e.(*Parquet).Groups.MaxBytes = bytes
			return e, err
		}
	}
	records := func(out io.Writer, schema *arrow.Schema) (Encoder, error) {
		e, err := NewIPC(out, schema)
		file := e.(IPC)
		file.MaxBytes = bound
		return file, err
	}
	cuts := []arrow.Record{rec.NewSlice(0, 1), rec.NewSlice(1, 1), rec.NewSlice(1, 700), rec.NewSlice(700, rows)}
	groups := func(data []byte) (all []int64) {
		for f, g := openParquet(t, data), 0; g < f.NumRowGroups(); g++ {
			all = append(all, f.RowGroup(g).NumRows())
		}
		return all
	}
	whole := written(t, bounded(bound), rec)
	if got := groups(whole); !slices.Equal(got, want) || !bytes.Equal(whole, written(t, bounded(bound), cuts...)) {
		t.Errorf("groups of %d rows, not %d, or other ones of other records", got, want)
	}
	if got := groups(written(t, bounded(1), cuts[2])); len(got) != 699 || slices.Max(got) != 1 {
		t.Errorf("%d groups of up to %d rows, where none fits", len(got), slices.Max(got))
	}
	for _, recs := range [][]arrow.Record{{rec}, cuts} {
		f := require.Value(ipc.NewFileReader(bytes.NewReader(written(t, records, recs...))))(t)
		var got []int64
		var texts []string
		for i := range f.NumRecords() {
			rec := require.Value(f.Record(i))(t)
			got, texts = append(got, rec.NumRows()), append(texts, rowTexts(rec)...)
		}
		if len(recs) == 1 && !slices.Equal(got, want) || !slices.Equal(texts, rowTexts(rec)) {
			t.Errorf("Arrow: records of %d rows, not %d, or other rows", got, want)
		}
	}
}
