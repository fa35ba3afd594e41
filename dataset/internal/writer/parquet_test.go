package writer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

func TestDefaultRowGroups(t *testing.T) {
	for _, test := range []struct {
		columns int
		rows    int64
	}{{1, 131072}, {256, 131072}, {1024, 32768}, {100000, 4096}} {
		var fields []arrow.Field
		for i := range test.columns {
			fields = append(fields, arrow.Field{Name: strconv.Itoa(i), Type: arrow.PrimitiveTypes.Float32})
		}
		e, err := NewParquet(t.Context(), io.Discard, arrow.NewSchema(fields, nil), ParquetOptions{})
		if err != nil {
			t.Fatal(err)
		}
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
	e, err := NewParquet(t.Context(), watch, schema, ParquetOptions{GroupRows: rows})
	if err != nil {
		t.Fatal(err)
	}
	for range groups {
		if err := e.Write(array.NewRecord(schema, same, rows)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
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
	e, err := NewParquet(t.Context(), watch, schema, ParquetOptions{GroupRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range groups {
		if err := e.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if got := watch.taken(); got > groups*size/4 {
		t.Errorf("%d bytes are in use after %d row groups of %d", got, groups, size)
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
}

// TestLongTextPages: pages of long texts are cut by their bytes, and short records are joined.
func TestLongTextPages(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	const size, rows = 100 << 10, 200
	out := &bytes.Buffer{}
	e, err := NewParquet(t.Context(), out, schema, ParquetOptions{Compression: "none"})
	if err != nil {
		t.Fatal(err)
	}
	write := func(lo, hi int) {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for i := lo; i < hi; i++ {
			b.Append(strings.Repeat(string(rune('A'+i)), size))
		}
		if err := e.Write(array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(hi-lo))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rows / 2 {
		write(i, i+1)
	}
	if n := len(e.(*Parquet).held); n > rows/8 {
		t.Errorf("%d parts of %d rows are held", n, rows/2)
	}
	write(rows/2, rows)
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	column, err := r.RowGroup(0).Column(0)
	if err != nil {
		t.Fatal(err)
	}
	values, row := make([]parquet.ByteArray, rows), 0
	for texts := column.(*file.ByteArrayColumnChunkReader); texts.HasNext(); {
		_, n, err := texts.ReadBatch(rows, values, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
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
	pages, err := r.RowGroup(0).GetColumnPageReader(0)
	if err != nil {
		t.Fatal(err)
	}
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
	e, err := NewParquet(ctx, io.Discard, schema, ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rec := array.NewRecord(schema, columns, 1)
	for range rows {
		if err := e.Write(rec); err != nil {
			t.Fatal(err)
		}
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
