package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/schema"
)

// A gappyTable has numbers of several types of which some are missing, as null, NaN or infinity.
type gappyTable struct {
	rec    arrow.Record // x0, x1..., emb (lists of that width, if it isn't 0) and label
	values [][]float64  // of each feature; NaN where missing
	label  []float64    // -1 and 1; NaN where missing
}

func newGappyTable(tb testing.TB, rows int, rate float64, width int, labelGaps bool) *gappyTable {
	p := arrow.PrimitiveTypes
	rng := rand.New(rand.NewPCG(17, 19))
	g := &gappyTable{}
	var fields []arrow.Field
	var cols []arrow.Array
	add := func(name string, b array.Builder) {
		fields = append(fields, arrow.Field{Name: name, Type: b.Type(), Nullable: true})
		cols = append(cols, b.NewArray())
	}
	for i, typ := range []arrow.DataType{p.Float32, p.Float64, p.Int16, p.Uint64, arrow.FixedWidthTypes.Float16,
		arrow.FixedWidthTypes.Boolean, p.Float32} {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		values := make([]float64, rows)
		for r := range values {
			if i == 6 || rng.Float64() >= rate {
				values[r] = appendRandom(b, rng, i == 0)
				continue
			}
			values[r] = nan
			appendMissing(b, rng)
		}
		g.values = append(g.values, values)
		add(fmt.Sprint("x", i), b)
	}
	if width > 0 {
		b := array.NewBuilder(memory.DefaultAllocator, arrow.ListOf(p.Float64)).(*array.ListBuilder)
		elements := make([][]float64, width)
		for i := range elements {
			elements[i] = make([]float64, rows)
		}
		for r := range rows {
			whole := r == 0 || rng.Float64() >= rate
			b.Append(whole)
			for _, e := range elements {
				switch {
				case !whole:
					e[r] = nan
				case rng.Float64() < rate:
					e[r] = nan
					appendMissing(b.ValueBuilder(), rng)
				default:
					e[r] = appendRandom(b.ValueBuilder(), rng, false)
				}
			}
		}
		g.values = append(g.values, elements...)
		add("emb", b)
	}
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	for range rows {
		y := float64(rng.IntN(2))
		if labelGaps && rng.Float64() < rate {
			appendMissing(b, rng)
			y = nan
		} else {
			b.Append(y)
		}
		g.label = append(g.label, 2*y-1)
	}
	add("label", b)
	g.rec = array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
	return g
}

// appendMissing appends a null, or a number that isn't finite.
func appendMissing(b array.Builder, rng *rand.Rand) {
	bad := []float64{nan, inf, -inf}[rng.IntN(3)]
	switch b := b.(type) {
	case *array.Float32Builder:
		if rng.IntN(2) == 0 {
			b.Append(float32(bad))
			return
		}
	case *array.Float64Builder:
		if rng.IntN(2) == 0 {
			b.Append(bad)
			return
		}
	case *array.Float16Builder:
		if rng.IntN(2) == 0 {
			b.Append(float16.New(float32(bad)))
			return
		}
	}
	b.AppendNull()
}

// blocks builds the table's blocks value by value: fill of a feature is what its missing values become, rows without a
// label aren't kept, nor are those with a missing value where drop says so.
func gappyBlocks(g *gappyTable, drop bool, fill func(feature int) float64) []*block.Block {
	var keep []int
	for r := range g.label {
		missing := math.IsNaN(g.label[r])
		for _, v := range g.values {
			missing = missing || drop && math.IsNaN(v[r])
		}
		if !missing {
			keep = append(keep, r)
		}
	}
	cols := len(g.values) + 1
	var blocks []*block.Block
	for first := 0; first < len(keep); first += block.Rows(cols) {
		n := min(block.Rows(cols), len(keep)-first)
		b := block.New(int64(first), n, cols)
		for i := range n {
			r := keep[first+i]
			row := b.X[i*b.Stride:]
			for f, v := range g.values {
				if row[f] = float32(v[r]); math.IsNaN(v[r]) {
					row[f] = float32(fill(f))
				}
			}
			row[cols-1], b.Y[i] = 1, float32(g.label[r])
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// mean is the plain mean of what isn't missing.
func mean(values []float64) float64 {
	sum, n := 0.0, 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}

// TestNulls reads a table with missing values in every mode, from one file, from three and from records, with any number
// of workers: the blocks are those built value by value, which the same table without the rows or with the values filled
// in would give.
func TestNulls(t *testing.T) {
	const rows = 20_001
	rates := []float64{0.2, 0.0003}
	if testing.Short() {
		rates = rates[:1]
	}
	for _, rate := range rates {
		g := newGappyTable(t, rows, rate, 0, false)
		drop := newGappyTable(t, rows, rate, 0, true)
		zero := func(int) float64 { return 0 }
		checkNulls(t, drop, schema.NullsDrop, gappyBlocks(drop, true, nil))
		checkNulls(t, g, schema.NullsZero, gappyBlocks(g, false, zero))
		spec := checkNulls(t, g, schema.NullsMean, nil)
		means := func(f int) float64 { return spec.Preprocessing.Columns[f].Means[0] }
		for f, v := range g.values {
			want := mean(v)
			if math.Abs(means(f)-want) > 1e-12*math.Abs(want) {
				t.Errorf("mean of feature %d is %v, want %v", f, means(f), want)
			}
		}
		checkNulls(t, g, schema.NullsMean, gappyBlocks(g, false, means))
	}
}

func checkNulls(t *testing.T, g *gappyTable, nulls schema.Nulls, want []*block.Block) *schema.Spec {
	t.Helper()
	return checkEveryWay(t, g, Options{Label: "label", Nulls: nulls}, want)
}

// checkEveryWay loads a table in every way and compares the blocks, with each other if there are none wanted, and the
// Specs, one of which it returns.
func checkEveryWay(t *testing.T, g *gappyTable, opt Options, want []*block.Block) *schema.Spec {
	t.Helper()
	dir, rows := t.TempDir(), g.rec.NumRows()
	whole := filepath.Join(dir, "whole.parquet")
	writeFile(t, whole, g.rec, 10_007)
	var parts []string
	for i, cut := range [][2]int64{{0, 14_000}, {14_000, 14_001}, {14_001, rows}} {
		parts = append(parts, filepath.Join(dir, fmt.Sprintf("part%d.parquet", i)))
		writeFile(t, parts[i], g.rec.NewSlice(cut[0], cut[1]), 40_000)
	}
	var first *schema.Spec
	check := func(what string, d *block.Data, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if first == nil {
			first = d.Spec()
		}
		if want == nil {
			want = blocksOf(t, d)
		}
		if err := sameBlocks(blocksOf(t, d), want); err != nil {
			t.Errorf("%s, %s: %v", opt.Nulls, what, err)
		}
		if !reflect.DeepEqual(d.Spec(), first) {
			t.Errorf("%s, %s: Spec %+v, want %+v", opt.Nulls, what, d.Spec(), first)
		}
	}
	for _, opt.Workers = range []int{1, 2, 3, 8} {
		d, err := Load(context.Background(), []string{whole}, opt)
		check(fmt.Sprint(opt.Workers, " workers"), d, err)
	}
	d, err := Load(context.Background(), parts, opt)
	check("three files", d, err)
	d, err = fromRecord(t, g.rec, 1001, opt)
	check("records", d, err)
	opt.Spec = first
	d, err = Load(context.Background(), parts, opt)
	check("with its own Spec", d, err)
	return first
}

// TestNullLists fills in missing lists and elements.
func TestNullLists(t *testing.T) {
	wide := newGappyTable(t, 20_000, 0.001, 200, true)
	blocks, err := fromRecord(t, wide.rec, 3000, Options{Label: "label", Nulls: schema.NullsDrop})
	if err != nil {
		t.Fatal(err)
	}
	if want := gappyBlocks(wide, true, nil); len(want) < 2 {
		t.Errorf("%d blocks", len(want))
	} else if err := sameBlocks(blocksOf(t, blocks), want); err != nil {
		t.Error(err)
	}
	g := newGappyTable(t, 20_000, 0.1, 3, false)
	opt := Options{Label: "label", Nulls: schema.NullsMean}
	d, err := fromRecord(t, g.rec, 3000, opt)
	if err != nil {
		t.Fatal(err)
	}
	means := slices.Clone(d.Spec().Preprocessing.Columns[7].Means)
	for k, m := range means {
		if want := mean(g.values[7+k]); math.Abs(m-want) > 1e-12*math.Abs(want) {
			t.Errorf("mean of element %d is %v, want %v", k, m, want)
		}
	}
	fill := func(f int) float64 {
		if f < 7 {
			return d.Spec().Preprocessing.Columns[f].Means[0]
		}
		return means[f-7]
	}
	if err := sameBlocks(blocksOf(t, d), gappyBlocks(g, false, fill)); err != nil {
		t.Error(err)
	}
	opt.Nulls = schema.NullsDrop
	d, err = fromRecord(t, g.rec, 3000, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameBlocks(blocksOf(t, d), gappyBlocks(g, true, nil)); err != nil {
		t.Error(err)
	}
}

// TestNullMessages has the errors and notes about missing values.
func TestNullMessages(t *testing.T) {
	p := arrow.PrimitiveTypes
	x, y := field("x", p.Float64, "[1, null, null, 4]"), field("y", p.Int8, "[0, 1, 0, null]")
	for _, c := range []struct {
		fields []testField
		opt    Options
		want   string
	}{
		{[]testField{x, y}, Options{Label: "y", Nulls: "zero"}, `column "y", row 3: null (fill the label in, or use --nulls drop)`},
		{[]testField{x, y}, Options{Label: "y", Nulls: "mean"}, `column "y", row 3: null (fill the label in, or use --nulls drop)`},
		{[]testField{x}, Options{Nulls: "none"}, `nulls is "none": use one of [error drop zero mean]`},
		{[]testField{field("x", p.Float64, "[null, null]")}, Options{Nulls: "mean"},
			`column "x": every value is missing, so that there is no mean: leave it out with --exclude`},
		{[]testField{field("x", p.Float64, "[1.7e308, -1.7e308]")}, Options{Nulls: "mean"},
			`column "x": its numbers are too large for a mean: leave it out with --exclude`},
		{[]testField{field("x", p.Float64, "[null, null]")}, Options{Nulls: "drop"},
			`no rows are left of 2, each has a missing value: exclude columns, or fill them in`},
		{[]testField{field("c", arrow.BinaryTypes.String, "[null, null]")}, Options{Nulls: "drop", Categorical: "onehot"},
			`no rows are left of 2, each has a missing value: exclude columns, or fill them in`},
		{[]testField{field("x", p.Float64, "[]"), field("emb", arrow.ListOf(p.Float64), "[]")}, Options{Nulls: "mean"}, `no rows: give some`},
		{[]testField{field("x", p.Float64, "[null, 1e300]")}, Options{Nulls: "zero"},
			`column "x", row 1: 1e+300 is too large for float32 (divide the column, or train with --standardize)`},
		{[]testField{field("x", p.Float64, "[null, 1, 1e300]")}, Options{Nulls: "drop"},
			`column "x", row 2: 1e+300 is too large for float32 (divide the column, or train with --standardize)`},
		{[]testField{field("x", p.Float64, "[1, null, 3]")}, Options{Spec: &schema.Spec{Features: []string{"x"}}},
			`column "x", row 1: null (fill the value in, or train the model with --nulls zero or mean)`},
	} {
		_, err := fromRecord(t, record(t, c.fields...), 2, c.opt)
		wantError(t, err, "", c.want)
	}
	var notes []string
	opt := Options{Nulls: "drop", Warn: func(s string) { notes = append(notes, s) }}
	d, err := fromRecord(t, record(t, x, field("z", p.Float64, "[0.1, 0.5, 0.1, 0.5]")), 2, opt)
	if err != nil || d.Rows() != 2 {
		t.Fatalf("%v, %v", d, err)
	}
	if want := "[2 of 4 rows left out: a feature or the label is null, NaN or infinite there column \"z\": float32 can't hold " +
		"every value exactly, they are rounded (use --standardize, which subtracts the mean before it rounds)]"; fmt.Sprint(notes) != want {
		t.Errorf("notes %s, want %s", notes, want)
	}
}

// TestMissingIsExact: a missing value doesn't count as one that float32 can't hold.
func TestMissingIsExact(t *testing.T) {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues([]float64{0.5, nan, 0.1, inf}, []bool{true, true, false, true})
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: b.Type(), Nullable: true}}, nil), []arrow.Array{b.NewArray()}, 4)
	for _, nulls := range []schema.Nulls{schema.NullsZero, schema.NullsDrop} {
		_, err := fromRecord(t, rec, 4, Options{Nulls: nulls, Warn: func(s string) {
			if nulls != schema.NullsDrop || s != "3 of 4 rows left out: a feature or the label is null, NaN or infinite there" {
				t.Errorf("%s: %s", nulls, s)
			}
		}})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestKeepRows: with a Spec that drops rows and no label, all rows stay, with NaN for what is missing; with a label they
// are left out, and so are their kept columns.
func TestKeepRows(t *testing.T) {
	p := arrow.PrimitiveTypes
	path := file1(t, t.TempDir(), "a.parquet", field("x", p.Float64, "[1, null, 3]"), field("z", p.Int8, "[4, 5, null]"),
		field("y", p.Int8, "[0, 1, 1]"), field("id", p.Int8, "[7, 8, 9]"))
	spec := &schema.Spec{Features: []string{"x", "z"}, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)},
		Positive: 1, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsDrop,
			Columns: []schema.Column{{Name: "x", Kind: schema.NumberColumn}, {Name: "z", Kind: schema.NumberColumn}}}}
	for label, want := range map[string]string{"": "3 [[1 4] [NaN 5] [3 NaN]] [] [7 8 9]", "y": "1 [[1 4]] [-1] [7]"} {
		err := Scan(context.Background(), []string{path}, Options{Spec: spec, Label: label, Keep: []string{"id"}},
			func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
				var rows [][]float32
				for r := range b.Len() {
					rows = append(rows, b.X[r*b.Stride:][:2])
				}
				if got := fmt.Sprint(b.Len(), rows, b.Y, rec.Column(0)); got != want {
					t.Errorf("label %q: %s, want %s", label, got, want)
				}
				return nil
			})
		if err != nil {
			t.Error(err)
		}
	}
}
