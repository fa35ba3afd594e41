package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// dictionaryTypes are those of features that a Parquet file can have a dictionary of.
var dictionaryTypes = []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int8,
	arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint8,
	arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Float16,
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
	arrow.FixedWidthTypes.Timestamp_us, &arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 18, Scale: 3},
	&arrow.Decimal128Type{Precision: 38, Scale: 1}}

// dictionaryColumn makes an array of small numbers, of which one in so many is odd: missing, or too long or too large for a
// float32, where the type has such.
func dictionaryColumn(tb testing.TB, rng *rand.Rand, typ arrow.DataType, rows, values, odd int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	for range rows {
		text := fmt.Sprint(rng.IntN(values) % 120)
		switch id := typ.ID(); {
		case odd == 0 || rng.IntN(odd) > 0:
			if id == arrow.FLOAT32 || id == arrow.FLOAT64 || id == arrow.DECIMAL128 {
				text += ".5"
			}
		case rng.IntN(4) == 0:
			text = ""
		case id == arrow.FLOAT16 || id == arrow.FLOAT32:
			text = []string{"NaN", "Inf", "-Inf", "-0"}[rng.IntN(4)]
		case id == arrow.FLOAT64:
			text = []string{"NaN", "Inf", "-Inf", "-0", "0.1", "16777217", "1e300", "1e-300"}[rng.IntN(8)]
		case id == arrow.DECIMAL128:
			text += ".1"
		case id == arrow.UINT64:
			text = "18446744073709551615"
		case id == arrow.INT64:
			text = "-9007199254740993"
		case id == arrow.INT32, id == arrow.UINT32:
			text = "16777217"
		}
		if text == "" {
			b.AppendNull()
		} else if err := b.AppendValueFromString(dictionaryText(typ, text)); err != nil {
			tb.Fatal(typ, text, err)
		}
	}
	return b.NewArray()
}

// dictionaryText spells a number as Arrow's builders of dates and times want it.
func dictionaryText(typ arrow.DataType, text string) string {
	layout := map[arrow.Type]string{arrow.DATE32: "1970-01-01", arrow.TIME32: "00:00:00", arrow.TIME64: "00:00:00",
		arrow.TIMESTAMP: "1970-01-01 00:00:00"}[typ.ID()]
	if layout == "" {
		return text
	}
	var n int
	fmt.Sscan(text, &n)
	if typ.ID() == arrow.DATE32 {
		return fmt.Sprintf("19%02d-01-02", n%100)
	}
	return strings.Replace(layout, ":00:00", fmt.Sprintf(":%02d:%02d", n/60, n%60), 1)
}

// TestDictionaries: a file with dictionaries, of which writers make no more where they get too large, is read like the
// record that was written: the same blocks, means, warnings and errors.
func TestDictionaries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	trials := 60
	if testing.Short() {
		trials = 12
	}
	for trial := range trials {
		const rows = 2*block.RunRows + 77
		var fields []arrow.Field
		var cols []arrow.Array
		for c := range 3 {
			typ := dictionaryTypes[(3*trial+c)%len(dictionaryTypes)]
			col := dictionaryColumn(t, rng, typ, rows, []int{1, 3, 16, 17, 119}[rng.IntN(5)], []int{0, 0, 2, 5000}[rng.IntN(4)])
			fields = append(fields, arrow.Field{Name: fmt.Sprint("x", c), Type: typ, Nullable: col.NullN() > 0 || trial%2 == 0})
			cols = append(cols, col)
		}
		meta := arrow.NewMetadata([]string{[]string{"int96", "none"}[trial%2]}, []string{""})
		rec := array.NewRecord(arrow.NewSchema(fields, &meta), cols, rows)
		opt := Options{Nulls: schema.AllNulls[rng.IntN(len(schema.AllNulls))], Standardize: rng.IntN(3) == 0}
		layout := []parquet.WriterProperty{parquet.WithDataPageSize([]int64{200, 1000, 1 << 20}[trial%3]), parquet.WithBatchSize(100),
			parquet.WithDictionaryPageSizeLimit([]int64{20, 100, 1 << 20}[rng.IntN(3)])}
		path := filepath.Join(t.TempDir(), "a.parquet")
		writeFile(t, path, rec, []int64{1000, 3000, rows}[rng.IntN(3)], layout...)
		what := fmt.Sprintf("trial %d, %v, %s, standardize %t", trial, rec.Schema().Fields(), opt.Nulls, opt.Standardize)
		sameAsRecord(t, what, path, rec, opt)
	}
}

func sameAsRecord(t *testing.T, what, path string, rec arrow.Record, opt Options) {
	t.Helper()
	var heard [2][]string
	opt.Warn = func(text string) { heard[0] = append(heard[0], text) }
	want, wantErr := fromRecord(t, rec, 1000, opt)
	for _, opt.Workers = range []int{1, 3} {
		heard[1] = nil
		opt.Warn = func(text string) { heard[1] = append(heard[1], text) }
		got, err := Load(context.Background(), []string{path}, opt)
		if wantErr != nil || err != nil {
			if err == nil || wantErr == nil || strings.TrimPrefix(err.Error(), path+": ") != wantErr.Error() {
				t.Errorf("%s: error %v, want %v", what, err, wantErr)
			}
			continue
		}
		if err := sameBlocks(blocksOf(t, got), blocksOf(t, want)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if !reflect.DeepEqual(got.Spec(), want.Spec()) {
			t.Errorf("%s: Spec %+v, want %+v", what, got.Spec(), want.Spec())
		}
		if !reflect.DeepEqual(heard[0], heard[1]) {
			t.Errorf("%s: warnings %q, want %q", what, heard[1], heard[0])
		}
	}
}

// TestDictionaryTypes: columns come as the blocks' type where a dictionary of theirs can be held exactly and no one
// else wants them, until the writer gave the dictionary up.
func TestDictionaryTypes(t *testing.T) {
	const rows = 5000
	p := arrow.PrimitiveTypes
	build := func(typ arrow.DataType, value func(i int) string) arrow.Array {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for i := range rows {
			if err := b.AppendValueFromString(value(i)); err != nil {
				t.Fatal(err)
			}
		}
		return b.NewArray()
	}
	small := func(i int) string { return fmt.Sprint(i % 10) }
	names := []string{"int", "byte", "long", "tenth", "far", "large", "late", "kept", "label"}
	cols := []arrow.Array{build(p.Int32, small), build(p.Uint8, small), build(p.Int64, small),
		build(p.Float64, func(i int) string { return fmt.Sprint(float64(i%10) / 10) }),
		build(p.Int32, func(i int) string { return fmt.Sprint(1<<24 + i%10) }),
		build(p.Float64, func(i int) string { return fmt.Sprint(math.Ldexp(1, 127+i%2)) }),
		build(p.Int32, func(i int) string { return fmt.Sprint(i % 10 * max(1, i-rows/2)) }),
		build(p.Int32, small), build(p.Int32, small)}
	var fields []arrow.Field
	for i, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: cols[i].DataType()})
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeFile(t, path, array.NewRecord(arrow.NewSchema(fields, nil), cols, rows), rows, parquet.WithDataPageSize(500),
		parquet.WithBatchSize(100), parquet.WithDictionaryPageSizeLimit(2000))
	want := map[string]string{"int": "[float32]", "byte": "[float32]", "long": "[float32]", "tenth": "[float64]", "far": "[int32]",
		"large": "[float64]", "late": "[float32 int32 float32 int32]", "kept": "[int32]", "label": "[int32]"}
	spec := &schema.Spec{Bias: true, Features: names, Label: "label", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	opt := Options{Spec: spec, Label: "label", Keep: []string{"kept"}, float: arrow.PrimitiveTypes.Float32}
	in, err := openInput(context.Background(), []string{path, path}, opt, frame.NewPool(1))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	read := int64(0)
	for b, err := range in.Batches(context.Background(), frame.NewPool(1), memory.DefaultAllocator) {
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range b.Columns {
			name := in.selection().Columns[i].Name
			if text := a.DataType().String(); len(got[name]) == 0 || got[name][len(got[name])-1] != text {
				got[name] = append(got[name], text)
			}
		}
		read += b.Rows
		b.Release()
	}
	for _, name := range names {
		if fmt.Sprint(got[name]) != want[name] {
			t.Errorf("column %q comes as %v, want %s", name, got[name], want[name])
		}
	}
	if read != 2*rows {
		t.Errorf("%d rows, want %d", read, 2*rows)
	}
}
