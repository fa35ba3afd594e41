package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/kernel"
	"halfspace/schema"
)

// A mixedTable has features of every type, column by column, as float64s, and a label.
type mixedTable struct {
	rec    arrow.Record
	values [][]float64
	label  []bool
}

// newMixedTable has that many columns of each of the types; few values come often, so that dictionaries have a use.
func newMixedTable(tb testing.TB, rows, columns int, nullable bool) *mixedTable {
	rng := rand.New(rand.NewPCG(7, 11))
	m := &mixedTable{}
	var fields []arrow.Field
	var cols []arrow.Array
	p := arrow.PrimitiveTypes
	types := []arrow.DataType{p.Float32, p.Float64, p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32,
		p.Uint64, arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Boolean}
	for c := range columns {
		typ := types[c%len(types)]
		values := make([]float64, rows)
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for i := range values {
			values[i] = appendRandom(b, rng, c%3 == 0)
		}
		m.values = append(m.values, values)
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%03d", c), Type: typ, Nullable: nullable})
		cols = append(cols, b.NewArray())
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for range rows {
		yes := rng.IntN(3) == 0
		m.label = append(m.label, yes)
		b.Append(map[bool]string{false: "no", true: "yes"}[yes])
	}
	fields = append(fields, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String, Nullable: nullable})
	cols = append(cols, b.NewArray())
	m.rec = array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
	return m
}

// appendRandom appends a random value and returns it.
func appendRandom(b array.Builder, rng *rand.Rand, few bool) float64 {
	u := rng.Uint64()
	if few {
		u = (u % 7) * 0x1234567890abcdef
	}
	switch b := b.(type) {
	case *array.Float32Builder:
		v := float32(int32(u)) / 1000
		b.Append(v)
		return float64(v)
	case *array.Float64Builder:
		v := float64(int64(u)) / 1e15
		b.Append(v)
		return v
	case *array.Int8Builder:
		b.Append(int8(u))
		return float64(int8(u))
	case *array.Int16Builder:
		b.Append(int16(u))
		return float64(int16(u))
	case *array.Int32Builder:
		b.Append(int32(u))
		return float64(int32(u))
	case *array.Int64Builder:
		v := int64(u) >> 12 // float64 holds it
		b.Append(v)
		return float64(v)
	case *array.Uint8Builder:
		b.Append(uint8(u))
		return float64(uint8(u))
	case *array.Uint16Builder:
		b.Append(uint16(u))
		return float64(uint16(u))
	case *array.Uint32Builder:
		b.Append(uint32(u))
		return float64(uint32(u))
	case *array.Uint64Builder:
		b.Append(u >> 11)
		return float64(u >> 11)
	case *array.Float16Builder:
		v := float32(int(u%4096)-2048) / 64
		b.Append(float16.New(v))
		return float64(v)
	case *array.BooleanBuilder:
		b.Append(u&1 != 0)
		return float64(u & 1)
	}
	panic("no such type")
}

// blocks builds the table's blocks value by value.
func mixedBlocks[T kernel.Float](m *mixedTable, bias, labels bool) (blocks []*block.Block[T]) {
	cols := len(m.values)
	if bias {
		cols++
	}
	rows, per := int(m.rec.NumRows()), block.Rows[T](cols)
	for first := 0; first < rows; first += per {
		n := min(per, rows-first)
		b := block.New[T](int64(first), n, cols)
		for r := range n {
			for c, v := range m.values {
				b.X[r*b.Stride+c] = T(v[first+r])
			}
			if bias {
				b.X[r*b.Stride+cols-1] = 1
			}
			b.Y[r] = -1
			if m.label[first+r] {
				b.Y[r] = 1
			}
		}
		if !labels {
			b.Y = nil
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// layouts are ways to write the same rows.
var layouts = []struct {
	name     string
	group    int64
	nullable bool
	opts     []parquet.WriterProperty
}{
	{"plain", 20_000, false, []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
	{"dictionary snappy", 777, false, []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy)}},
	{"tiny pages gzip", 16_384, true, []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Gzip),
		parquet.WithDataPageSize(1000)}},
	{"v2 zstd", 12_000, true, []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDataPageVersion(parquet.DataPageV2)}},
	{"v2 required brotli", 100_000, false, []parquet.WriterProperty{parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithCompression(compress.Codecs.Brotli), parquet.WithCompressionLevel(1), parquet.WithDataPageSize(5000)}},
}

// TestSameBlocks reads the same rows from files of all layouts, in one file and in three, with several workers, and
// from records, into memory and block by block: the blocks are those built value by value.
func TestSameBlocks(t *testing.T) {
	const rows, columns = 45_001, 40 // two blocks of float32, three of float64
	for i, layout := range layouts {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(layout.name, func(t *testing.T) {
			m := newMixedTable(t, rows, columns, layout.nullable)
			dir := t.TempDir()
			whole := filepath.Join(dir, "whole.parquet")
			writeFile(t, whole, m.rec, layout.group, layout.opts...)
			var parts []string
			for i, cut := range [][2]int64{{0, 14_000}, {14_000, 14_001}, {14_001, rows}} {
				parts = append(parts, filepath.Join(dir, fmt.Sprintf("part%d.parquet", i)))
				writeFile(t, parts[i], m.rec.NewSlice(cut[0], cut[1]), layout.group/3+1, layout.opts...)
			}
			want32, want64 := mixedBlocks[float32](m, true, true), mixedBlocks[float64](m, true, true)
			if len(want32) != 2 || len(want64) != 3 {
				t.Fatalf("%d and %d blocks", len(want32), len(want64))
			}
			for _, workers := range []int{1, 2, 3, 8} {
				checkAll(t, []string{whole}, Options{Label: "label", Workers: workers}, m, want32)
			}
			checkAll(t, parts, Options{Label: "label", Workers: 2}, m, want32)
			checkAll(t, parts, Options{Label: "label", Workers: 3}, m, want64)
		})
	}
}

// checkAll reads paths in every way and compares the blocks.
func checkAll[T kernel.Float](t *testing.T, paths []string, opt Options, m *mixedTable, want []*block.Block[T]) {
	t.Helper()
	ctx := context.Background()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	d, err := load[T](ctx, paths, opt, mem)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameBlocks(blocksOf(t, d), want); err != nil {
		t.Errorf("Load of %d files, %d workers: %v", len(paths), opt.Workers, err)
	}
	in, err := open[T](ctx, paths, opt, mem)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := in.Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if stream.Rows() != d.Rows() || !reflect.DeepEqual(stream.Spec(), d.Spec()) {
		t.Errorf("Stream: %d rows, %v, want %d, %v", stream.Rows(), stream.Spec(), d.Rows(), d.Spec())
	}
	for pass := range 2 {
		copied, err := block.Collect(ctx, stream)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameBlocks(blocksOf(t, copied), want); err != nil {
			t.Errorf("Stream of %d files, %d workers, pass %d: %v", len(paths), opt.Workers, pass, err)
		}
	}
	opt.Spec, opt.Keep = d.Spec(), []string{"label", "x00[01]"}
	i, rows := 0, int64(0)
	err = scan(ctx, paths, opt, mem, func(spec *schema.Spec, b *block.Block[T], rec arrow.Record) error {
		if spec != opt.Spec {
			t.Error("Scan: another Spec")
		}
		if err := sameBlocks([]*block.Block[T]{b}, want[i:i+1]); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		kept, names := m.rec.NewSlice(rows, rows+int64(b.Len())), []string{"label", "x000", "x001"}
		for k, name := range names {
			if col := kept.Column(kept.Schema().FieldIndices(name)[0]); !array.Equal(rec.Column(k), col) {
				return fmt.Errorf("block %d: kept column %s differs", i, name)
			}
		}
		i, rows = i+1, rows+int64(b.Len())
		return nil
	})
	if err != nil {
		t.Errorf("Scan of %d files, %d workers: %v", len(paths), opt.Workers, err)
	}
	if i != len(want) {
		t.Errorf("Scan: %d blocks, want %d", i, len(want))
	}
}

// TestFromRecords gives the same blocks whatever the records' lengths, and from slices.
func TestFromRecords(t *testing.T) {
	const rows, columns = 9001, 275
	m := newMixedTable(t, rows, columns, true)
	want := mixedBlocks[float32](m, true, true)
	for _, size := range []int64{rows, 4096, 1000, 4097} {
		for _, workers := range []int{1, 3} {
			var recs []arrow.Record
			for lo := int64(0); lo < rows; lo += size {
				recs = append(recs, m.rec.NewSlice(lo, min(rows, lo+size)))
			}
			recs = append(recs, m.rec.NewSlice(5, 5))
			r, err := array.NewRecordReader(m.rec.Schema(), recs)
			if err != nil {
				t.Fatal(err)
			}
			d, err := FromRecords[float32](context.Background(), r, Options{Label: "label", Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if err := sameBlocks(blocksOf(t, d), want); err != nil {
				t.Errorf("records of %d rows, %d workers: %v", size, workers, err)
			}
			if d.Rows() != rows {
				t.Errorf("%d rows", d.Rows())
			}
		}
	}
}

// TestSpec checks names, order, bias and classes.
func TestSpec(t *testing.T) {
	dir, f := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("b", f.Int32, "[1, 2]"), field("a", f.Float64, "[3, 4]"),
		field("name", arrow.BinaryTypes.String, `["u", "v"]`), field("a[0]", arrow.FixedWidthTypes.Boolean, "[true, false]"),
		field("day", arrow.FixedWidthTypes.Date32, "[1, 2]"), field("y", f.Int8, "[1, 0]"), field("km/h", f.Uint8, "[5, 6]"))
	for _, c := range []struct {
		name     string
		opt      Options
		features []string
		first    []float64
	}{
		{"default", Options{Label: "y"}, []string{"b", "a", "a[0]", "day", "km/h"}, []float64{1, 3, 1, 1, 5, 1}},
		{"no label", Options{}, []string{"b", "a", "a[0]", "day", "y", "km/h"}, []float64{1, 3, 1, 1, 1, 5, 1}},
		{"named", Options{Label: "y", Features: []string{"a[0]", "b"}}, []string{"a[0]", "b"}, []float64{1, 1, 1}},
		{"pattern", Options{Label: "y", Features: []string{"a*"}, NoBias: true}, []string{"a", "a[0]"}, []float64{3, 1}},
		{"slash", Options{Label: "y", Features: []string{"k*"}}, []string{"km/h"}, []float64{5, 1}},
		{"name, then all", Options{Label: "y", Features: []string{"a", "*"}}, []string{"a", "b", "a[0]", "day", "km/h"},
			[]float64{3, 1, 1, 1, 5, 1}},
		{"pattern, then name", Options{Label: "y", Features: []string{"a*", "a"}}, []string{"a", "a[0]"}, []float64{3, 1, 1}},
		{"exclude", Options{Label: "y", Exclude: []string{"a*", "name"}}, []string{"b", "day", "km/h"}, []float64{1, 1, 5, 1}},
		{"exclude a name like a pattern", Options{Label: "y", Exclude: []string{"a[0]"}}, []string{"b", "a", "day", "km/h"},
			[]float64{1, 3, 1, 5, 1}},
		{"model", Options{Features: []string{"nothing"}, Spec: &schema.Spec{Features: []string{"a", "b"}, Bias: true}},
			[]string{"a", "b"}, []float64{3, 1, 1}},
		{"model without features", Options{Spec: &schema.Spec{Bias: true}}, nil, []float64{1}},
	} {
		d, err := Load[float64](context.Background(), []string{path}, c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		rows, y := rowsOf(t, d)
		if !slices.Equal(d.Spec().Features, c.features) || !slices.Equal(rows[0], c.first) || len(rows) != 2 {
			t.Errorf("%s: features %v, first row %v", c.name, d.Spec().Features, rows[0])
		}
		if d.Spec().Bias == c.opt.NoBias || d.Spec().Label != c.opt.Label || (y == nil) != (c.opt.Label == "") {
			t.Errorf("%s: spec %+v, labels %v", c.name, d.Spec(), y)
		}
	}
}

// TestLabels reads labels of every type.
func TestLabels(t *testing.T) {
	p, dict := arrow.PrimitiveTypes, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
		ValueType: arrow.BinaryTypes.String}
	for _, c := range []struct {
		typ      arrow.DataType
		values   string
		positive string
		classes  string
		y        []float64
	}{
		{p.Int8, "[-1, 1, 1]", "", "-1 1", []float64{-1, 1, 1}},
		{p.Int16, "[3, 2, 3]", "", "2 3", []float64{1, -1, 1}},
		{p.Int32, "[10, 9, 10]", "9", "9 10", []float64{-1, 1, -1}},
		{p.Int64, "[9007199254740993, 9007199254740992, 0]", "", "0 9007199254740992 9007199254740993", []float64{2, 1, 0}},
		{p.Int8, "[7, 7]", "", "7", []float64{1, 1}},
		{p.Int8, "[7, 7]", "7", "7", []float64{1, 1}},
		{p.Int8, "[7, 7]", "8", "", nil},
		{p.Float64, "[3, 1.5, 10, 3, -2]", "3", "-2 1.5 3 10", []float64{2, 1, 3, 2, 0}},
		{arrow.BinaryTypes.String, `["b", "c", "a", "c"]`, "", "a b c", []float64{1, 2, 0, 2}},
		{dict, `["x", "z", "y"]`, "y", "x y z", []float64{0, 2, 1}},
		{p.Int64, "[9007199254740993, 9007199254740992]", "", "9007199254740992 9007199254740993", []float64{1, -1}},
		{p.Int64, "[9007199254740993, 9007199254740992]", "9007199254740993", "9007199254740992 9007199254740993", []float64{1, -1}},
		{p.Int64, "[9007199254740993, 9007199254740992]", "+9007199254740993", "9007199254740992 9007199254740993", []float64{1, -1}},
		{p.Uint64, "[18446744073709551615, 18446744073709551614]", "0018446744073709551614", "18446744073709551614 18446744073709551615", []float64{-1, 1}},
		{p.Uint64, "[10000000000000000000, 0]", "1e19", "0 10000000000000000000", []float64{1, -1}},
		{p.Float64, "[1e19, -9223372036854775808]", "-9223372036854775808", "-9223372036854775808 10000000000000000000", []float64{-1, 1}},
		{p.Float32, "[123456792, 0.1]", "123456792", "0.1 123456792", []float64{1, -1}},
		{arrow.BinaryTypes.String, `["1", "1.0"]`, "1.0", "1 1.0", []float64{-1, 1}},
		{p.Uint8, "[255, 0]", "0", "0 255", []float64{-1, 1}},
		{p.Uint16, "[7, 8]", "8.0", "7 8", []float64{-1, 1}},
		{p.Uint32, "[4000000000, 0]", "4e9", "0 4000000000", []float64{1, -1}},
		{p.Uint64, "[18446744073709551615, 0]", "", "0 18446744073709551615", []float64{1, -1}},
		{p.Float32, "[0.1, 1, 0.1]", "", "0.1 1", []float64{-1, 1, -1}},
		{p.Float64, "[0, 1, -0.0]", "0", "0 1", []float64{1, -1, 1}},
		{arrow.FixedWidthTypes.Float16, "[0.5, 1]", "", "0.5 1", []float64{-1, 1}},
		{arrow.FixedWidthTypes.Boolean, "[true, false]", "", "false true", []float64{1, -1}},
		{arrow.FixedWidthTypes.Boolean, "[true, false]", "false", "false true", []float64{-1, 1}},
		{arrow.BinaryTypes.String, `["no", "yes", "no"]`, "", "no yes", []float64{-1, 1, -1}},
		{arrow.BinaryTypes.String, `["g", "", "g"]`, "", " g", []float64{1, -1, 1}},
		{arrow.BinaryTypes.Binary, `["YQ==", "Yg=="]`, "", "a b", []float64{-1, 1}},
		{arrow.BinaryTypes.LargeString, `["no", "yes"]`, "no", "no yes", []float64{1, -1}},
		{arrow.BinaryTypes.LargeBinary, `["YQ==", "Yg=="]`, "", "a b", []float64{-1, 1}},
		{dict, `["no", "yes", "no"]`, "", "no yes", []float64{-1, 1, -1}},
	} {
		rec := record(t, field("y", c.typ, c.values), field("x", p.Float32, "["+strings.Repeat("1, ", strings.Count(c.values,
			","))+"1]"))
		path := filepath.Join(t.TempDir(), "a.parquet")
		writeFile(t, path, rec, 1000)
		r, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Label: "y", Positive: c.positive}
		fromFile, err1 := Load[float64](context.Background(), []string{path}, opt)
		fromRecord, err2 := FromRecords[float64](context.Background(), r, opt)
		if c.y == nil {
			if err1 == nil || err2 == nil {
				t.Errorf("%s %s: no error", c.typ, c.values)
			}
			continue
		}
		for _, err := range []error{err1, err2} {
			if err != nil {
				t.Errorf("%s %s: %v", c.typ, c.values, err)
			}
		}
		if err1 != nil || err2 != nil {
			continue
		}
		for _, d := range []*block.Data[float64]{fromFile, fromRecord} {
			var classes []string
			for _, c := range d.Spec().Classes {
				classes = append(classes, c.Text)
			}
			if _, y := rowsOf(t, d); !slices.Equal(y, c.y) || strings.Join(classes, " ") != c.classes {
				t.Errorf("%s %s: labels %v, classes %q", c.typ, c.values, y, classes)
			}
		}
		if !reflect.DeepEqual(fromFile.Spec(), fromRecord.Spec()) {
			t.Errorf("%s: Specs differ", c.typ)
		}
	}
}

// endingReader ends with an error after its record.
type endingReader struct {
	array.RecordReader
	end error
}

func (r endingReader) Err() error { return r.end }

// TestEndOfRecords tells the end of a source, which some readers report as io.EOF, from an error about a cut file.
func TestEndOfRecords(t *testing.T) {
	rec := record(t, field("x", arrow.PrimitiveTypes.Float32, "[1, 2]"))
	for _, c := range []struct {
		end  error
		want string
	}{
		{io.EOF, ""},
		{fmt.Errorf("could not read a message: %w", io.EOF), "a record can't be read (could not read a message: EOF): check its source"},
		{io.ErrUnexpectedEOF, "a record can't be read (unexpected EOF): check its source"},
	} {
		r, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		_, err = FromRecords[float32](context.Background(), endingReader{r, c.end}, Options{})
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("after %q: error %v, want %q", c.end, err, c.want)
		}
	}
}

// TestTypesDiffer reads files whose columns are of other types, in another order, and with columns of their own.
func TestTypesDiffer(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	a := file1(t, dir, "a.parquet", field("x", p.Int32, "[1, 2]"), field("y", p.Int8, "[0, 1]"), field("z", p.Float32, "[5, 6]"))
	b := file1(t, dir, "b.parquet", field("extra", p.Int32, "[9]"), field("z", p.Float64, "[7]"), field("y", p.Float64,
		"[1.0]"), field("x", arrow.FixedWidthTypes.Boolean, "[true]"))
	d, err := Load[float32](context.Background(), []string{a, b}, Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	rows, y := rowsOf(t, d)
	if fmt.Sprint(rows, y) != "[[1 5 1] [2 6 1] [1 7 1]] [-1 1 1]" {
		t.Errorf("rows and labels %v %v", rows, y)
	}
}

// TestModelClasses checks that labels are read as a model's classes, also where only one of them occurs.
func TestModelClasses(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("x", p.Int32, "[1, 2]"), field("y", p.Float64, "[4, 4]"))
	for positive, want := range map[int]string{0: "[-1 -1]", 1: "[1 1]"} {
		spec := &schema.Spec{Features: []string{"x"}, Label: "other", Classes: []schema.Class{schema.IntClass(3), schema.IntClass(4)}}
		spec.SetPositive(positive)
		d, err := Load[float32](context.Background(), []string{path}, Options{Label: "y", Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		if rows, y := rowsOf(t, d); fmt.Sprint(y) != want || fmt.Sprint(rows) != "[[1] [2]]" || d.Spec() != spec {
			t.Errorf("positive %d: labels %v, rows %v", positive, y, rows)
		}
	}
}

// TestRounding: that numbers are narrowed is told where whole numbers become others, and where the last digits are much of a column's range; not
// of fractions, of which a part in 2^24 is lost.
func TestRounding(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	const n = 2_000
	values := map[string]func(i int) string{
		"fraction": func(i int) string { return fmt.Sprint(float64(i%97) / 10) },
		"price":    func(i int) string { return fmt.Sprint(100 + float64(i%89)/100) },
		"large":    func(i int) string { return fmt.Sprint(1e9 * (float64(i%83) + 0.123456789123)) },
		"sorted":   func(i int) string { return fmt.Sprint(float64(i) / n * 3) },
		"seconds":  func(i int) string { return fmt.Sprint(1700000000 + i) },
		"far":      func(i int) string { return fmt.Sprint(1e6 + float64(i%71)/1000) },
		"whole":    func(i int) string { return fmt.Sprint(16777216 + float64(i%61)) },
	}
	types := map[string]arrow.DataType{"seconds": p.Int64}
	var fields []testField
	var names []string
	text := make([]strings.Builder, n)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all := make([]string, n)
		for i := range all {
			all[i] = values[name](i)
			fmt.Fprintf(&text[i], "%s,", all[i])
		}
		typ := types[name]
		if typ == nil {
			typ = p.Float64
		}
		fields, names = append(fields, field(name, typ, "["+strings.Join(all, ",")+"]")), append(names, name)
	}
	lines := strings.Join(names, ",") + ",y\n"
	for i := range text {
		lines += text[i].String() + fmt.Sprintln(i%2)
	}
	csv := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(csv, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	want := `columns "far", "seconds", "whole": float32 can't hold every value exactly, they are rounded (use --dtype float64 to keep them)`
	for _, path := range []string{file1(t, dir, "a.parquet", fields...), csv} {
		for _, standardize := range []bool{false, true} {
			var notes []string
			opt := Options{Exclude: []string{"[y]*"}, Standardize: standardize, Warn: func(s string) {
				if strings.Contains(s, "exactly") {
					notes = append(notes, s)
				}
			}}
			if path != csv {
				opt.Exclude = nil
			}
			if _, err := Load[float32](context.Background(), []string{path}, opt); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(notes, "\n"); standardize && got != "" || !standardize && got != want {
				t.Errorf("%s, standardized: %v: %s", path, standardize, got)
			}
		}
	}
	svm := textFile(t, "a.svm", "1 1:0.1 2:16777217\n0 1:0.7 2:3\n")
	var notes []string
	if _, err := Load[float32](context.Background(), []string{svm}, Options{Label: "label", Warn: func(s string) { notes = append(notes, s) }}); err != nil ||
		len(notes) != 1 || !strings.HasPrefix(notes[0], `column "f2": float32`) {
		t.Errorf("svmlight: %q, %v", notes, err)
	}
}

func TestWarnings(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("exact", p.Float64, "[0.5, 16777216]"), field("tenth", p.Float64, "[0.5, 0.1]"),
		field("even", p.Int32, "[16777218, -33554436]"), field("odd", p.Int64, "[1, 16777217]"),
		field("least", p.Int64, "[-9223372036854775808, 0]"), field("most", p.Uint64, "[18446744073709551615, 0]"))
	for _, c := range []struct {
		exclude []string
		want32  string
		want64  string
	}{
		{nil, `columns "odd", "most": float32 can't hold every value exactly, they are rounded (use --dtype float64 ` +
			`to keep them)`, `column "most": float64 can't hold every value exactly, they are rounded`},
		{[]string{"tenth", "most"}, `column "odd": float32 can't hold every value exactly, they are rounded (use --dtype ` +
			`float64 to keep them)`, ""},
		{[]string{"tenth", "odd", "most"}, "", ""},
	} {
		var got []string
		opt := Options{Exclude: c.exclude, Warn: func(s string) { got = append(got, s) }}
		_, err := Load[float32](context.Background(), []string{path, path}, opt)
		if err != nil || strings.Join(got, "\n") != c.want32 {
			t.Errorf("float32: %v, warnings %q, want %q", err, got, c.want32)
		}
		got = nil
		err = Scan(context.Background(), []string{path}, opt, func(_ *schema.Spec, b *block.Block[float64], rec arrow.Record) error {
			if rec != nil || b.Y != nil || b.Len() != 2 {
				t.Errorf("record %v, labels %v, %d rows", rec, b.Y, b.Len())
			}
			return nil
		})
		if err != nil || strings.Join(got, "\n") != c.want64 {
			t.Errorf("float64: %v, warnings %q, want %q", err, got, c.want64)
		}
	}
}

// TestWarnsBriefly: many inexact columns aren't all named.
func TestWarnsBriefly(t *testing.T) {
	var fields []testField
	for i := range 7 {
		fields = append(fields, field(fmt.Sprintf("x%d", i), arrow.PrimitiveTypes.Float64, "[0.1]"))
	}
	got := ""
	opt := Options{Warn: func(s string) { got += s }}
	if _, err := Load[float32](context.Background(), []string{file1(t, t.TempDir(), "a.parquet", fields...)}, opt); err != nil {
		t.Fatal(err)
	}
	if want := `columns "x0", "x1", "x2", "x3" and 3 more: float32 can't`; !strings.HasPrefix(got, want) {
		t.Errorf("warning %q, want it to begin with %q", got, want)
	}
}

// TestWarnsOfColumnsLeftOut: a column that can't be a feature is mentioned, unless it is the label or was excluded.
func TestWarnsOfColumnsLeftOut(t *testing.T) {
	p := arrow.PrimitiveTypes
	path := file1(t, t.TempDir(), "a.parquet", field("x", p.Int8, "[1, 2]"), field("job", arrow.BinaryTypes.String, `["a", "b"]`),
		field("y", arrow.BinaryTypes.String, `["a", "b"]`), field("id", arrow.BinaryTypes.String, `["a", "b"]`))
	for want, opt := range map[string]Options{
		`columns "job" (string), "id" (string): left out, a feature is a number, a boolean or a list of numbers (use --categorical onehot or hash:BITS for text)`: {Label: "y"},
		`column "job" (string): left out, a feature is a number, a boolean or a list of numbers (use --categorical onehot or hash:BITS for text)`:                 {Label: "y", Exclude: []string{"id"}},
		"": {Label: "y", Features: []string{"x"}},
	} {
		got := ""
		opt.Warn = func(s string) { got += s }
		if _, err := Load[float32](context.Background(), []string{path}, opt); err != nil || got != want {
			t.Errorf("error %v, warning %q, want %q", err, got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	rec := record(t, field("x", arrow.PrimitiveTypes.Int32, "[1, 2, 3, 4, 5]"))
	writeFile(t, path, rec, 2)
	var got []string
	opt := Options{Progress: func(rows, total int64) { got = append(got, fmt.Sprint(rows, "/", total)) }}
	if _, err := Load[float32](context.Background(), []string{path}, opt); err != nil || fmt.Sprint(got) != "[2/5 4/5 5/5]" {
		t.Errorf("files: %v, %v", err, got)
	}
	got = nil
	r, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromRecords[float32](context.Background(), r, opt); err != nil || fmt.Sprint(got) != "[5/-1]" {
		t.Errorf("records: %v, %v", err, got)
	}
	got, opt.Standardize = nil, true
	if _, err := Load[float32](context.Background(), []string{path}, opt); err != nil || fmt.Sprint(got) != "[2/5 4/5 5/5 2/5 4/5 5/5]" {
		t.Errorf("two passes: %v, %v", err, got)
	}
}

// TestCancel cancels in the middle: the error is the context's, and no goroutine or memory is left behind.
func TestCancel(t *testing.T) {
	m := newMixedTable(t, 3000, 20, false)
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeFile(t, path, m.rec, 100)
	before := runtime.NumGoroutine()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	for _, workers := range []int{1, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		opt := Options{Workers: workers, Label: "label", Progress: func(rows, _ int64) {
			if rows == 500 {
				cancel()
			}
			if rows > 500 {
				t.Error("it went on")
			}
		}}
		if _, err := load[float32](ctx, []string{path}, opt, mem); !errors.Is(err, context.Canceled) {
			t.Errorf("Load: %v", err)
		}
		if _, err := load[float32](ctx, []string{path}, opt, mem); !errors.Is(err, context.Canceled) {
			t.Errorf("Load, cancelled before: %v", err)
		}
		opt = Options{Workers: workers, Keep: []string{"label"}}
		err := scan(context.Background(), []string{path}, opt, mem,
			func(*schema.Spec, *block.Block[float32], arrow.Record) error { return errStop })
		if err != errStop {
			t.Errorf("Scan: %v", err)
		}
		cancel()
	}
	for range 100 { // goroutines that have done their last statement may still be counted
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// countingAllocator knows the most bytes that were allocated at a time.
type countingAllocator struct {
	memory.Allocator
	now, most atomic.Int64
}

func (a *countingAllocator) Allocate(n int) []byte {
	a.count(n)
	return a.Allocator.Allocate(n)
}

func (a *countingAllocator) Reallocate(n int, b []byte) []byte {
	a.count(n - len(b))
	return a.Allocator.Reallocate(n, b)
}

func (a *countingAllocator) Free(b []byte) {
	a.count(-len(b))
	a.Allocator.Free(b)
}

func (a *countingAllocator) count(n int) {
	now := a.now.Add(int64(n))
	for most := a.most.Load(); now > most && !a.most.CompareAndSwap(most, now); most = a.most.Load() {
	}
}

// TestMemory reads a file of many row groups: pages and arrays of a few of them are in memory at a time.
func TestMemory(t *testing.T) {
	const rows, columns, group = 20_000, 4, 100
	m := newMixedTable(t, rows, columns, false)
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeFile(t, path, m.rec, group)
	for _, workers := range []int{1, 4} {
		mem := &countingAllocator{Allocator: memory.DefaultAllocator}
		_, err := load[float32](context.Background(), []string{path}, Options{Label: "label", Workers: workers}, mem)
		if err != nil {
			t.Fatal(err)
		}
		// A row has 4+8+1+2 bytes of features, and 4 of the label's offset and up to 3 of its text, in a page and in an array.
		if most := int64(workers+1) * 2 * (group*(15+4+3) + 64*(columns+3)); mem.most.Load() > most || mem.now.Load() != 0 {
			t.Errorf("%d workers: %d bytes at a time, %d at the end, want %d at most and 0", workers, mem.most.Load(),
				mem.now.Load(), most)
		}
	}
}

// TestHalfFloat compares every half-precision number with its definition.
func TestHalfFloat(t *testing.T) {
	for b := range 1 << 16 {
		want := math.Ldexp(float64(b&0x3ff|0x400), b>>10&0x1f-25)
		switch {
		case b>>10&0x1f == 0:
			want = math.Ldexp(float64(b&0x3ff), -24)
		case b&0x7fff == 0x7c00:
			want = math.Inf(1)
		case b&0x7c00 == 0x7c00:
			want = math.NaN()
		}
		if b>>15 != 0 {
			want = -want
		}
		got := frame.HalfFloat(float16.FromBits(uint16(b)))
		if math.Float32bits(got) != math.Float32bits(float32(want)) && !(math.IsNaN(want) && got != got) {
			t.Fatalf("%#04x is %v, want %v", b, got, want)
		}
	}
}

func TestFinite(t *testing.T) {
	testFinite(t, math.MaxFloat32, math.Float32frombits(1))
	testFinite(t, math.MaxFloat64, math.Float64frombits(1))
}

func testFinite[T kernel.Float](t *testing.T, most, least T) {
	inf := most * 2
	for n := range 20 {
		x := make([]T, n)
		for i := range x {
			x[i] = []T{0, -1, most, -most, least, -least}[i%6]
		}
		if !frame.Finite(x) {
			t.Errorf("%v is finite", x)
		}
		for i := range x {
			for _, bad := range []T{inf, -inf, inf - inf, -(inf - inf)} {
				was := x[i]
				x[i] = bad
				if frame.Finite(x) {
					t.Errorf("%v at %d of %d is not finite", bad, i, n)
				}
				x[i] = was
			}
		}
	}
}
