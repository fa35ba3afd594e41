package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"

	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// everyWay reads a record from one file, from three and from records, loaded and streamed, as dense and as sparse rows, by any number of
// workers and with its own Spec. It compares the blocks, with each other if none are wanted, the Specs and the notes, and returns the data.
func everyWay(t *testing.T, rec arrow.Record, opt Options, want []*block.Block, layout ...parquet.WriterProperty) *block.Data {
	t.Helper()
	dir, rows := t.TempDir(), rec.NumRows()
	whole := filepath.Join(dir, "whole.parquet")
	writeFile(t, whole, rec, min(3000, rows), layout...)
	var parts []string
	for i, cut := range [][2]int64{{0, rows / 3}, {rows / 3, rows/3 + 1}, {rows/3 + 1, rows}} {
		parts = append(parts, filepath.Join(dir, fmt.Sprintf("part%d.parquet", i)))
		writeFile(t, parts[i], rec.NewSlice(cut[0], cut[1]), 40_000, layout...)
	}
	var first *block.Data
	var notes, heard []string
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	check := func(what string, d *block.Data, err error) {
		t.Helper()
		what = fmt.Sprintf("%s, nulls %s, standardize %t, %s", opt.Categorical, opt.Nulls, opt.Standardize, what)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got := blocksOf(t, d)
		if got[0].Sparse != nil {
			got = denseOf(t, got)
		}
		if first == nil {
			first, notes = d, heard
			if want == nil {
				want = got
			}
		}
		if err := sameBlocks(got, want); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if !reflect.DeepEqual(d.Spec(), first.Spec()) || !slices.Equal(heard, notes) && opt.Spec == nil {
			t.Errorf("%s: Spec %+v and notes %q, want %+v and %q", what, d.Spec(), heard, first.Spec(), notes)
		}
		mem.AssertSize(t, 0)
		heard = nil
	}
	opt.Warn = func(s string) { heard = append(heard, s) }
	d, err := fromRecord(t, rec, 1001, opt)
	check("records", d, err)
	workers := []int{1, 2, 3, 8}
	if require.Small() {
		workers = []int{1, 3}
	}
	for _, opt.Workers = range workers {
		d, err = load(t.Context(), []string{whole}, opt, mem)
		check(fmt.Sprint(opt.Workers, " workers"), d, err)
	}
	s := mustStream(t, mem, opt, whole)
	for range 2 {
		d, err = block.Collect(t.Context(), s)
		heard = s.Warnings()
		check("streamed", d, err)
	}
	d, err = load(t.Context(), parts, opt, mem)
	check("three files", d, err)
	opt.Storage = Sparse
	d, err = load(t.Context(), parts, opt, mem)
	check("sparse", d, err)
	opt.Spec = first.Spec()
	var all [][]*block.Block // rows without labels, which all stay
	for _, storage := range []Storage{Dense, Sparse} {
		d := require.Value(load(t.Context(), parts, Options{Spec: opt.Spec, Storage: storage}, mem))(t)
		if all = append(all, blocksOf(t, d)); storage == Sparse {
			all[1] = denseOf(t, all[1])
		}
	}
	if err := sameBlocks(all[1], all[0]); err != nil || opt.Nulls == schema.NullsDrop && opt.Label == "" {
		if err != nil {
			t.Errorf("nulls %s, without labels, sparse: %v", opt.Nulls, err)
		}
		return first
	}
	for _, opt.Storage = range []Storage{Dense, Sparse} {
		d, err = load(t.Context(), parts, opt, mem)
		check("with its own Spec", d, err)
	}
	return first
}

// A gappyTable has numbers of every type, of which some come often and some are missing: as null, NaN or infinity.
type gappyTable struct {
	rec    arrow.Record // x0, x1..., emb (lists of that width, if it isn't 0) and label
	values [][]float64  // of each feature; NaN where missing
	label  []float64    // -1 and 1; NaN where missing
}

func newGappyTable(tb testing.TB, rows int, rate float64, width int, labelGaps bool) *gappyTable {
	p, f := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	rng := rand.New(rand.NewPCG(17, 19))
	g := &gappyTable{}
	var cols []testField
	for i, typ := range []arrow.DataType{p.Float32, p.Float64, p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32, p.Uint64, f.Float16, f.Boolean} {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		values := make([]float64, rows)
		for r := range values {
			if i != 3 && rng.Float64() < rate {
				values[r] = nan
				datatest.AppendMissing(b, rng)
			} else {
				values[r] = datatest.AppendRandom(b, rng, i%3 == 0)
			}
		}
		g.values, cols = append(g.values, values), append(cols, built(fmt.Sprint("x", i), b, rate > 0))
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
					datatest.AppendMissing(b.ValueBuilder(), rng)
				default:
					e[r] = datatest.AppendRandom(b.ValueBuilder(), rng, false)
				}
			}
		}
		g.values, cols = append(g.values, elements...), append(cols, built("emb", b, true))
	}
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	for range rows {
		y := float64(rng.IntN(2))
		if labelGaps && rng.Float64() < rate {
			datatest.AppendMissing(b, rng)
			y = nan
		} else {
			b.Append(y)
		}
		g.label = append(g.label, 2*y-1)
	}
	g.rec = record(tb, append(cols, built("label", b, labelGaps))...)
	return g
}

// blocks builds the table's blocks value by value: fill of a feature is what its missing values become, rows without a
// label aren't kept, nor are those with a missing value where drop says so.
func (g *gappyTable) blocks(drop bool, fill func(feature int) float64) []*block.Block {
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

// TestNulls reads tables with missing values in every mode: the blocks are those built value by value, which the same table without the
// rows or with the values filled in would give.
func TestNulls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows  int
		rate  float64
		width int // of lists
		drops bool
	}{{block.ChunkRows + 9, 0, 0, true}, {block.ChunkRows + 9, 0.1, 3, false}, {9001, 0.05, 0, true}, {block.ChunkRows + 999, 0.0005, 260, true}} { // the last one has blocks of a chunk
		g := newGappyTable(t, c.rows, c.rate, c.width, c.drops)
		if c.drops {
			want := g.blocks(true, nil)
			if d := everyWay(t, g.rec, Options{Label: "label", Nulls: schema.NullsDrop}, want); d.Rows() < 1000 || c.width > 250 && len(want) < 2 {
				t.Errorf("%d rows, %d blocks", d.Rows(), len(want))
			}
			continue
		}
		everyWay(t, g.rec, Options{Label: "label", Nulls: schema.NullsZero}, g.blocks(false, func(int) float64 { return 0 }))
		d := everyWay(t, g.rec, Options{Label: "label", Nulls: schema.NullsMean}, nil)
		var means []float64
		for _, c := range d.Spec().Preprocessing.Columns {
			means = append(means, c.Means...)
		}
		if err := sameBlocks(blocksOf(t, d), g.blocks(false, func(f int) float64 { return means[f] })); err != nil {
			t.Error(err)
		}
		for f, v := range g.values {
			if want := mean(v); math.Abs(means[f]-want) > 1e-12*math.Abs(want) {
				t.Errorf("mean of feature %d is %v, want %v", f, means[f], want)
			}
		}
	}
}

// TestStandardize compares features with (x - mean) / deviation of a plain computation in two passes.
func TestStandardize(t *testing.T) {
	t.Parallel()
	for _, nulls := range schema.AllNulls {
		rate := 0.01
		if nulls == schema.NullsError {
			rate = 0
		}
		g := newGappyTable(t, block.ChunkRows+99, rate, 2, nulls == schema.NullsDrop)
		d := everyWay(t, g.rec, Options{Label: "label", Nulls: nulls, Standardize: true}, nil)
		plain := g.blocks(nulls == schema.NullsDrop, func(f int) float64 {
			if nulls == schema.NullsMean {
				return mean(g.values[f])
			}
			return 0
		})[0]
		got, f := blocksOf(t, d)[0], 0
		if got.Len() != plain.Len() {
			t.Fatalf("%s: %d rows, want %d", nulls, got.Len(), plain.Len())
		}
		for _, c := range d.Spec().Preprocessing.Columns {
			for k := range c.Center {
				var column []float64 // in float64, unlike plain
				for r, v := range g.values[f] {
					gone := math.IsNaN(g.label[r])
					for _, other := range g.values {
						gone = gone || math.IsNaN(other[r]) && nulls == schema.NullsDrop
					}
					switch {
					case gone:
						continue
					case math.IsNaN(v) && nulls == schema.NullsMean:
						v = mean(g.values[f])
					case math.IsNaN(v):
						v = 0
					}
					column = append(column, v)
				}
				mean, deviation := twoPasses(column)
				if math.Abs(c.Center[k]-mean) > 1e-12*(math.Abs(mean)+deviation) || math.Abs(c.Scale[k]-deviation) > 1e-12*deviation {
					t.Errorf("%s: feature %d is centered by %v and scaled by %v, want %v and %v", nulls, f, c.Center[k], c.Scale[k], mean, deviation)
				}
				for r, v := range column {
					z := (v - mean) / deviation
					// half a unit in the last place of float32, and the rounding of the moments
					if got := float64(got.X[r*got.Stride+f]); math.Abs(got-z) > 0x1p-24*math.Abs(z)*1.01+1e-11 {
						t.Fatalf("%s: feature %d of row %d is %v, want %v", nulls, f, r, got, z)
					}
				}
				f++
			}
		}
	}
}

func twoPasses(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(values)))
}

// TestStandardizeLists standardizes the elements of lists where none comes before the second batch.
func TestStandardizeLists(t *testing.T) {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float64)
	var flat [2][]float64
	for r := range 10_000 {
		b.Append(r >= 6100)
		for k := range flat {
			v := 0.0
			if r >= 6100 {
				v = float64(r*(k+1)%17*(4*k+1)) + 0.25
				b.ValueBuilder().(*array.Float64Builder).Append(v)
			}
			flat[k] = append(flat[k], v)
		}
	}
	d := everyWay(t, record(t, built("emb", b, true)), Options{Nulls: schema.NullsZero, Standardize: true}, nil)
	c, x := d.Spec().Preprocessing.Columns[0], blocksOf(t, d)[0]
	for k, column := range flat {
		mean, deviation := twoPasses(column)
		if math.Abs(c.Center[k]-mean) > 1e-13*mean || math.Abs(c.Scale[k]-deviation) > 1e-13*deviation {
			t.Errorf("element %d by %v and %v, want %v and %v", k, c.Center[k], c.Scale[k], mean, deviation)
		}
		for r, v := range column {
			if got, want := x.X[r*x.Stride+k], float32((v-c.Center[k])/c.Scale[k]); got != want {
				t.Fatalf("element %d of row %d is %v, want %v", k, r, got, want)
			}
		}
	}
}

// denseOf returns the rows of sparse blocks in dense ones.
func denseOf(t *testing.T, blocks []*block.Block) (all []*block.Block) {
	t.Helper()
	for _, b := range blocks {
		if b.Sparse == nil {
			t.Fatal("a block is dense")
		}
		require.NoError(t, b.CheckShape(b.Cols))
		d := block.New(b.First, b.Len(), b.Cols)
		if copy(d.Y, b.Y); b.Y == nil {
			d.Y = nil
		}
		d.W = b.W
		for r := range b.Len() {
			columns, values := b.Sparse.Row(r)
			for k, c := range columns {
				d.X[r*d.Stride+int(c)] = values[k]
			}
		}
		all = append(all, d)
	}
	return all
}
