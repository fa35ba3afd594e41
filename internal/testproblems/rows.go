package testproblems

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/schema"
)

// Dense returns rows of features and labels as a data set, with a bias column if bias is set.
func Dense(x [][]float64, y []float64, bias bool) *block.Data {
	spec := &schema.Spec{Bias: bias, Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
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
			if bias {
				row[cols-1] = 1
			}
			b.Y[r] = float32(y[first+r])
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}

// RandomClasses returns normal rows with a bias. The label is the number of the greatest of some scores, except for a
// share wrong of the rows, whose label is random. If wrong is 0, planes separate the classes by a margin.
func RandomClasses(rows, features, classes int, wrong float64) *block.Data {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(classes)))
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r] = make([]float64, features)
		for i := range x[r] {
			x[r][i] = float64(float32(rng.NormFloat64()))
		}
		best := 0
		for c := range classes {
			if x[r][c%features]*float64(1+c/features) > x[r][best%features]*float64(1+best/features) {
				best = c
			}
		}
		x[r][best%features] += 0.25
		if rng.Float64() < wrong {
			best = rng.IntN(classes)
		}
		y[r] = float64(best)
	}
	return Classes(x, y, classes, true)
}

// Classes is Dense with class numbers as labels, each below classes.
func Classes(x [][]float64, y []float64, classes int, bias bool) *block.Data {
	d := Dense(x, y, bias)
	d.Spec().Classes = nil
	for c := range classes {
		d.Spec().Classes = append(d.Spec().Classes, schema.IntClass(int64(c)))
	}
	return d
}

// Logistic returns rows of normal features, with labels drawn from a logistic model.
func Logistic(rows, d int) *block.Data {
	rng := rand.New(rand.NewPCG(1, 1))
	spec := &schema.Spec{Features: make([]string, d), Bias: true, Classes: make([]schema.Class, 2), Positive: 1}
	var blocks []*block.Block
	for first, per := 0, block.Rows(d+1); first < rows; first += per {
		b := block.New(int64(first), min(per, rows-first), d+1)
		for r := range b.Len() {
			z := 0.3
			for c := range d {
				v := float32(rng.NormFloat64())
				b.X[r*b.Stride+c] = v
				z += float64(v) * float64(c%5-2) / 4
			}
			b.X[r*b.Stride+d], b.Y[r] = 1, -1
			if rng.Float64() < 1/(1+math.Exp(-z)) {
				b.Y[r] = 1
			}
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}

// Sparse returns the same rows in CSR form.
func Sparse(d *block.Data) *block.Data {
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

// Weighted returns the same rows with weights. weight returns the weight of a row by the row's number.
func Weighted(d *block.Data, weight func(row int) float64) *block.Data {
	spec := *d.Spec()
	spec.Weighted = true
	var blocks []*block.Block
	for b := range d.Blocks(context.Background()) {
		c := *b
		c.W = make([]float64, b.Len())
		for r := range c.W {
			c.W[r] = weight(int(b.First) + r)
		}
		blocks = append(blocks, &c)
	}
	return block.NewData(&spec, blocks)
}

// A Stream yields copies of the blocks of a data set, and overwrites them afterwards, as a source that reads a file
// would.
type Stream struct{ *block.Data }

// Blocks yields the copies.
func (s Stream) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b, err := range s.Data.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			c := b.Clone()
			more := yield(c, nil)
			for i := range c.X {
				c.X[i] = float32(math.NaN())
			}
			clear(c.Y)
			for i := range c.W {
				c.W[i] = math.NaN()
			}
			if !more {
				return
			}
		}
	}
}

// Float64s converts features, labels or weights to float64, which is exact.
func Float64s(x []float32) []float64 {
	all := make([]float64, len(x))
	for i, v := range x {
		all[i] = float64(v)
	}
	return all
}

// Round rounds the features to float32, as rows hold them, in place, and returns them. Plain loops then compute with
// the same numbers as the rows.
func Round(x [][]float64) [][]float64 {
	for _, row := range x {
		for i, v := range row {
			row[i] = float64(float32(v))
		}
	}
	return x
}

// A Countdown is a context that ends after it was asked some times.
type Countdown struct {
	context.Context
	left atomic.Int64
}

// NewCountdown returns a context within another one.
func NewCountdown(ctx context.Context, asked int64) *Countdown {
	c := &Countdown{Context: ctx}
	c.left.Store(asked)
	return c
}

// Err returns context.Canceled once the countdown is at its end.
func (c *Countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Factors returns rows of d features that are sums of a few factors, up to noise, or independent without factors. The
// label is the sign of the first feature plus noise.
func Factors(rng *rand.Rand, rows, d, factors int) (x [][]float64, y []float64) {
	sums := make([][]float64, factors)
	for k := range sums {
		for range d {
			sums[k] = append(sums[k], rng.NormFloat64())
		}
	}
	for range rows {
		row, noise := make([]float64, d), 1.0
		for _, sum := range sums {
			factor := rng.NormFloat64()
			for j, v := range sum {
				row[j] += float64(factor * v)
			}
			noise = 0.05
		}
		for j := range row {
			row[j] += float64(noise * rng.NormFloat64())
		}
		x, y = append(x, row), append(y, math.Copysign(1, row[0]+rng.NormFloat64()))
	}
	return x, y
}

// FewElements returns the features and labels of rows with a few features each that aren't zero, and labels of a plane
// with noise. Most labels are 1.
func FewElements(n, features int) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(features)))
	x, y = make([][]float64, n), make([]float64, n)
	for r := range x {
		x[r] = make([]float64, features)
		score := 1 + rng.NormFloat64()
		for range 10 {
			c := int(float64(features) * rng.Float64() * rng.Float64())
			x[r][c] = rng.NormFloat64()
			score += x[r][c] * float64(c%5-2)
		}
		y[r] = math.Copysign(1, score)
	}
	return x, y
}
