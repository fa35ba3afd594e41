package perceptron

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
)

// dense returns rows of features and labels as a data set, with a bias column.
func dense(x [][]float64, y []float64) *block.Data {
	spec := &schema.Spec{Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	for c := range x[0] {
		spec.Features = append(spec.Features, fmt.Sprintf("x%d", c))
	}
	cols, per := spec.Cols(), block.Rows(spec.Cols())
	var blocks []*block.Block
	for first := 0; first < len(x); first += per {
		b := block.New(int64(first), min(per, len(x)-first), cols)
		for r := range b.Len() {
			row := b.X[r*b.Stride:]
			for c, v := range x[first+r] {
				row[c] = float32(v)
			}
			row[cols-1] = 1
			b.Y[r] = float32(y[first+r])
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}

// sparse returns the same rows in CSR form.
func sparse(d *block.Data) *block.Data {
	var blocks []*block.Block
	for b := range d.Blocks(context.Background()) {
		s := &kernel.SparseRows{Ptr: []int64{0}}
		for r := range b.Len() {
			for c, v := range b.X[r*b.Stride : r*b.Stride+b.Cols] {
				if v != 0 {
					s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
				}
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		blocks = append(blocks, &block.Block{First: b.First, Cols: b.Cols, Stride: b.Stride, Sparse: s, Y: b.Y, W: b.W})
	}
	return block.NewData(d.Spec(), blocks)
}

// A stream overwrites its blocks, as a source that reads a file does.
type stream struct{ *block.Data }

func (s stream) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b, err := range s.Data.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			c := *b
			c.X, c.Y, c.W = slices.Clone(b.X), slices.Clone(b.Y), slices.Clone(b.W)
			goOn := yield(&c, nil)
			for i := range c.X {
				c.X[i] = float32(math.NaN())
			}
			clear(c.Y)
			clear(c.W)
			if !goOn {
				return
			}
		}
	}
}

// noisy returns n rows of d features. Labels follow a random plane except for a share of flips. If whole is set, values
// are integers, so that every sum is exact.
func noisy(n, d int, flips float64, whole bool, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	truth := make([]float64, d)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	for range n {
		row, s := make([]float64, d), 0.3
		for i := range row {
			row[i] = rng.NormFloat64()
			if whole {
				row[i] = math.Round(3 * row[i])
			}
			s += row[i] * truth[i]
		}
		label := math.Copysign(1, s)
		if rng.Float64() < flips {
			label = -label
		}
		x, y = append(x, row), append(y, label)
	}
	return x, y
}

func mustTrain(t *testing.T, src block.Source, opt Options) *train.Result {
	t.Helper()
	r, err := Train(context.Background(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inCache returns the rows in a cache file.
func inCache(t *testing.T, d *block.Data) *cache.File {
	t.Helper()
	f, err := cache.Temporary(context.Background(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// quarters are weights whose sums are exact, some of them 0.
func quarters(r int) float64 { return float64(r*7%11) / 4 }
