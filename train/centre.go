package train

import (
	"context"
	"iter"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/schema"
)

const (
	pivotRows = 257  // of the first run, by which Pivots judges columns
	farOff    = 1e3  // a column is far from zero where its median is so many times its spread
	farStill  = 1e4  // a column that is constant in those rows is far from zero from here on
	centreMax = 1024 // columns of sparse rows that Centre makes dense
)

// Pivots returns a number for each column of src. It is near the column's values if they are far from zero for their spread,
// as Unix seconds are, and else 0. Pivots returns nil if no column is far from zero, or if there is no bias, whose weight
// would make up for the difference. It reads the first rows of src.
func Pivots[T kernel.Float](ctx context.Context, src block.Source[T]) ([]float64, error) {
	cols := src.Spec().Cols()
	if !src.Spec().Bias {
		return nil, nil
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse != nil && cols > centreMax {
			return nil, nil
		}
		return pivots(b.Slice(0, min(b.Len(), block.RunRows)), cols), nil
	}
	return nil, nil
}

func pivots[T kernel.Float](b *block.Block[T], cols int) (found []float64) {
	n := min(pivotRows, b.Len())
	rows, values := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i] = make([]float64, cols)
		widen(b, i*b.Len()/n, rows[i])
	}
	for c := range cols - 1 {
		for i, row := range rows {
			values[i] = row[c]
		}
		slices.Sort(values)
		median, spread := values[n/2], 0.0
		for _, v := range values {
			spread += math.Abs(v-median) / float64(n)
		}
		size := math.Abs(median)
		if far := size > farOff*spread && (spread > 0 || size >= farStill); far && !math.IsInf(size, 0) {
			if found == nil {
				found = make([]float64, cols)
			}
			found[c] = median
		}
	}
	return found
}

// widen writes row r of a block to out, which has an element for each column.
func widen[T kernel.Float](b *block.Block[T], r int, out []float64) {
	if b.Sparse != nil {
		clear(out)
		columns, values := b.Sparse.Row(r)
		for k, c := range columns {
			out[c] = float64(values[k])
		}
		return
	}
	for c, v := range b.X[r*b.Stride:][:len(out)] {
		out[c] = float64(v)
	}
}

// Centre returns the rows of src as float64 and dense, less pivots, which Pivots found. A float32 less its pivot is exact but for
// one rounding of float64. Weights w of the rows of src are those of the result, but for the bias: see Uncentre.
func Centre[T kernel.Float](src block.Source[T], pivots []float64, workers int) block.Source[float64] {
	return &centred[T]{src, pivots, workers}
}

// Uncentre turns weights for the rows of Centre into weights for the original rows: the bias, the last one, gets less by the
// product of the pivots with the others.
func Uncentre(w, pivots []float64) {
	last := len(pivots) - 1
	w[last] -= kernel.Dot(w[:last], pivots[:last])
}

// Recentre is the inverse of Uncentre.
func Recentre(w, pivots []float64) {
	last := len(pivots) - 1
	w[last] += kernel.Dot(w[:last], pivots[:last])
}

type centred[T kernel.Float] struct {
	src     block.Source[T]
	pivots  []float64
	workers int
}

func (c *centred[T]) Spec() *schema.Spec { return c.src.Spec() }

func (c *centred[T]) Rows() int64 { return c.src.Rows() }

// Blocks yields each run as a block of its own, so that sparse rows take little memory.
func (c *centred[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[float64], error] {
	return func(yield func(*block.Block[float64], error) bool) {
		var to *block.Block[float64]
		for b, err := range c.src.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for lo := 0; lo < b.Len(); lo += block.RunRows {
				part := b.Slice(lo, min(b.Len(), lo+block.RunRows))
				if to == nil || to.Len() < part.Len() {
					to = block.New[float64](0, part.Len(), len(c.pivots))
				}
				next, err := c.fill(ctx, part, to)
				if !yield(next, err) || err != nil {
					return
				}
			}
		}
	}
}

// fill returns the rows of a run, in the memory of a block that has room for them.
func (c *centred[T]) fill(ctx context.Context, from *block.Block[T], memory *block.Block[float64]) (*block.Block[float64], error) {
	to := *memory
	to.X, to.Y, to.First, to.W = to.X[:from.Len()*to.Stride], to.Y[:from.Len()], from.First, from.W
	if from.Y == nil {
		to.Y = nil
	}
	cols, chunks := len(c.pivots), (from.Len()+kernel.ChunkRows-1)/kernel.ChunkRows
	err := parallel.For(ctx, c.workers, chunks, func(_, chunk int) {
		for r := chunk * kernel.ChunkRows; r < min(from.Len(), (chunk+1)*kernel.ChunkRows); r++ {
			row := to.X[r*to.Stride:][:cols]
			widen(from, r, row)
			for i, p := range c.pivots {
				row[i] -= p
			}
			if from.Y != nil {
				to.Y[r] = float64(from.Y[r])
			}
		}
	})
	return &to, err
}
