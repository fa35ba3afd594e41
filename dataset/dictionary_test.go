package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

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
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 14))
	trials := 60
	if require.Small() {
		trials = 9
	}
	for trial := range trials {
		const rows = 2*block.ChunkRows + 77
		var cols []testField
		for c := range 3 {
			typ := datatest.NumberTypes[(3*trial+c)%len(datatest.NumberTypes)]
			col := dictionaryColumn(t, rng, typ, rows, []int{1, 3, 16, 17, 119}[rng.IntN(5)], []int{0, 0, 2, 5000}[rng.IntN(4)])
			cols = append(cols, testField{Field: arrow.Field{Name: fmt.Sprint("x", c), Type: typ, Nullable: col.NullN() > 0 || trial%2 == 0}, Array: col})
		}
		meta := arrow.NewMetadata([]string{[]string{"int96", "none"}[trial%2]}, []string{""})
		rec := record(t, cols...)
		rec = array.NewRecord(arrow.NewSchema(rec.Schema().Fields(), &meta), rec.Columns(), rows)
		opt := Options{Nulls: schema.AllNulls[rng.IntN(len(schema.AllNulls))], Standardize: rng.IntN(3) == 0}
		layout := []parquet.WriterProperty{parquet.WithDataPageSize([]int64{200, 1000, 1 << 20}[trial%3]), parquet.WithBatchSize(100),
			parquet.WithDictionaryPageSizeLimit([]int64{20, 100, 1 << 20}[rng.IntN(3)])}
		want, err := fromRecord(t, rec, 1000, opt)
		if err == nil {
			everyWay(t, rec, opt, blocksOf(t, want), layout...)
			continue
		}
		path := filepath.Join(t.TempDir(), "a.parquet")
		writeFile(t, path, rec, []int64{1000, 3000, rows}[rng.IntN(3)], layout...)
		if _, again := Load(t.Context(), path, opt); again == nil || strings.TrimPrefix(again.Error(), path+": ") != err.Error() {
			t.Errorf("trial %d: error %v, want %v", trial, again, err)
		}
	}
}

// TestDictionaryTypes: columns come as the blocks' type where a dictionary of theirs can be held exactly and no one
// else wants them, until the writer gave the dictionary up.
func TestDictionaryTypes(t *testing.T) {
	t.Parallel()
	const rows = 5000
	p := arrow.PrimitiveTypes
	build := func(typ arrow.DataType, value func(i int) string) arrow.Array {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for i := range rows {
			require.NoError(t, b.AppendValueFromString(value(i)))
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
	opt := Options{Spec: spec, Label: "label", Keep: []string{"kept"}}
	table := require.Value(Examine(t.Context(), []string{path, path}, opt))(t)
	d := require.Value(draftOf(opt))(t)
	d.MakesBlocks = true
	in := require.Value(table.read(t.Context(), d))(t)
	got := map[string][]string{}
	read := int64(0)
	for b, err := range in.Batches(context.Background(), column.NewPool(1), memory.DefaultAllocator) {
		require.NoError(t, err)
		for i, a := range b.Columns {
			name := in.bound.Columns[i].Name
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

// TestRowsLikeFiles: rows from memory and from a CSV file of the same values give equal blocks and fingerprints.
func TestRowsLikeFiles(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, block.ChunkRows + 5} {
		likeFile(t, n, 5, []int{2, -7}, block.RowOptions{})
	}
	likeFile(t, block.ChunkRows+5, 300, []int{2, -7}, block.RowOptions{}) // two blocks
	likeFile(t, 300, 5, []string{"b", "a b", "c"}, block.RowOptions{})
	likeFile(t, 300, 5, []bool{true, false}, block.RowOptions{NoBias: true})
	likeFile(t, 300, 5, []float64{5, 90000, 3}, block.RowOptions{Label: "kind"})
	likeFile(t, 300, 5, []string{"yes!", "no!"}, block.RowOptions{Positive: "no!"})
	likeFile(t, 300, 5, []uint8{3, 250}, block.RowOptions{Features: []string{"a", "b", "c", "d", "e"}})
}

func likeFile[L block.Label](t *testing.T, n, width int, classes []L, opt block.RowOptions) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	with := Options{Label: "label", NoBias: opt.NoBias, Positive: opt.Positive, SampleWeight: "weight"}
	if opt.Label != "" {
		with.Label = opt.Label
	}
	var x [][]float64
	var flat []float64
	var y []L
	var text strings.Builder
	for i := range width {
		name := fmt.Sprint("c", i+1)
		if opt.Features != nil {
			name = opt.Features[i]
		}
		text.WriteString(name + ",")
	}
	text.WriteString("weight," + with.Label + "\n")
	for r := range n {
		row := make([]float64, width)
		for i := range row {
			if row[i] = rng.NormFloat64() * 1e3; width > 100 {
				row[i] = math.Round(row[i]) // to few digits
			}
			text.WriteString(strconv.FormatFloat(row[i], 'g', -1, 64) + ",")
		}
		weight, label := 1.0, classes[r*r%7%len(classes)]
		if n == 300 {
			weight = float64(rng.IntN(3))
			opt.Weights = append(opt.Weights, weight)
		}
		x, flat, y = append(x, row), append(flat, row...), append(y, label)
		fmt.Fprintf(&text, "%v,%v\n", weight, label)
	}
	if opt.Weights == nil {
		with.SampleWeight, with.Exclude = "", []string{"weight"}
	}
	want := require.Value(loadAll(t.Context(), []string{textFile(t, "rows.csv", text.String())}, with))(t)
	generated := require.Value(block.FromGenerator(t.Context(), func(yield func([]float64, L) bool) error {
		row := make([]float64, width) // reused
		for r := range x {
			if !yield(row[:copy(row, x[r])], y[r]) {
				return nil
			}
		}
		return nil
	}, opt))(t)
	for range 2 { // passes
		for _, got := range []block.Source{require.Value(block.FromRows(x, y, opt))(t), require.Value(block.FromFlat(flat, width, y, opt))(t), generated} {
			rows := require.Value(block.Collect(t.Context(), got))(t)
			if err := sameBlocks(blocksOf(t, rows), blocksOf(t, want)); err != nil || !reflect.DeepEqual(got.Spec(), want.Spec()) {
				t.Errorf("%v; %d rows of %+v, want %d of %+v", err, got.Rows(), got.Spec(), want.Rows(), want.Spec())
			}
			if a, b := require.Value(block.Fingerprint(t.Context(), got, 2))(t), require.Value(block.Fingerprint(t.Context(), want, 2))(t); a != b {
				t.Errorf("fingerprint %s, of the file %s", a, b)
			}
			if checked, err := block.Validate(t.Context(), got, 1); err != nil || checked != got {
				t.Errorf("Check returns another source, error %v", err)
			}
		}
	}
}
