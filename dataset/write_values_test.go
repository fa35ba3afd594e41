package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"

	"halfspace/dataset/internal/writer"
)

// writableColumn returns random values of a type. One in so many is null, none if nulls is 0.
func writableColumn(tb testing.TB, rng *rand.Rand, typ arrow.DataType, rows, nulls int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	for range rows {
		appendWritable(tb, rng, b, nulls)
	}
	return b.NewArray()
}

func appendWritable(tb testing.TB, rng *rand.Rand, b array.Builder, nulls int) {
	if nulls > 0 && rng.IntN(nulls) == 0 {
		b.AppendNull()
		return
	}
	n := rng.IntN(50)
	var err error
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
		err = b.AppendValueFromString(fmt.Sprint(n))
	}
	if err != nil {
		tb.Fatal(b.Type(), err)
	}
}

// writableTypes are the types of flat columns that can be written to Parquet.
var writableTypes = slices.Concat(dictionaryTypes, []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String,
	arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, &arrow.FixedSizeBinaryType{ByteWidth: 5},
	arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Timestamp_s,
	arrow.FixedWidthTypes.Timestamp_ms, arrow.FixedWidthTypes.Timestamp_ns, &arrow.TimestampType{Unit: arrow.Microsecond},
	&arrow.Decimal256Type{Precision: 50, Scale: 2}})

// TestWriteLikeArrow: a file has the bytes that Arrow's own writer of records gives it. It has the same rows where that
// writer takes the greatest number for the least value of unsigned numbers.
func TestWriteLikeArrow(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 9))
	const rows = 3000 // more than a batch of Arrow's
	dir := t.TempDir()
	for _, element := range writableTypes {
		for trial, typ := range []arrow.DataType{element, element, element, arrow.ListOf(element), arrow.ListOf(element)} {
			nulls := []int{0, 0, 3, 0, 4}[trial]
			col := writableColumn(t, rng, typ, rows, nulls)
			f := arrow.Field{Name: "x.1", Type: typ, Nullable: trial == 1 || col.NullN() > 0}
			rec := array.NewRecord(arrow.NewSchema([]arrow.Field{f}, nil), []arrow.Array{col}, rows)
			parts := []arrow.Record{rec.NewSlice(0, 1), rec.NewSlice(1, 1700), rec.NewSlice(1700, rows)}
			path := filepath.Join(dir, "x.parquet")
			if err := writeAll(path, WriterOptions{}, parts...); err != nil {
				t.Fatal(typ, err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := arrowsFile(t, element, parts)
			if arrow.IsUnsignedInteger(element.ID()) {
				sameTables(t, typ, got, want)
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s, a null in %d: %d bytes that differ from Arrow's %d", typ, nulls, len(got), len(want))
			}
		}
	}
}

// sameTables compares what Arrow reads of two files.
func sameTables(t *testing.T, typ arrow.DataType, got, want []byte) {
	t.Helper()
	var tables [2]arrow.Table
	for i, data := range [][]byte{got, want} {
		f, err := file.NewParquetReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(typ, err)
		}
		tables[i] = readTable(t, f)
		defer tables[i].Release()
	}
	if !array.TableEqual(tables[0], tables[1]) || !tables[0].Schema().Equal(tables[1].Schema()) {
		t.Errorf("%s: read %v, want %v", typ, tables[0], tables[1])
	}
}

// TestWriteStatistics: the least and the greatest value of a column of unsigned numbers with nulls are right.
func TestWriteStatistics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := writeAll(path, WriterOptions{}, record(t, field("x", arrow.PrimitiveTypes.Uint32, "[7, null, 4000000000, 5]"))); err != nil {
		t.Fatal(err)
	}
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunk, err := f.MetaData().RowGroup(0).ColumnChunk(0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := chunk.Statistics()
	if err != nil || !s.HasMinMax() || s.NullCount() != 1 || binary.LittleEndian.Uint32(s.EncodeMin()) != 5 ||
		binary.LittleEndian.Uint32(s.EncodeMax()) != 4_000_000_000 {
		t.Errorf("statistics %v, error %v", s, err)
	}
}

// TestPlainValues: a dictionary stands for its values, of every type; a null key and a null value are null.
func TestPlainValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 5))
	for _, typ := range writableTypes {
		values := array.NewSlice(writableColumn(t, rng, typ, 9, 4), 2, 9)
		b := array.NewInt8Builder(memory.DefaultAllocator)
		b.AppendValues([]int8{6, 0, 0, 3, 5, 1, 2, 4}, []bool{true, true, false, true, true, true, true, true})
		keys := array.NewSlice(b.NewArray(), 1, 8)
		d := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: typ}, keys, values)
		got, err := writer.PlainValues(d)
		if err != nil {
			t.Fatal(typ, err)
		}
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
