package train

import (
	"context"
	"iter"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/kernel"
)

// Scatter sets m to X' diag(s) X as gram.Scatter does, and computes other sums in the same pass. part gets a run, the
// weights s of its rows, and the elements f that m adds to each row. It sets s and f, and returns the sums of the run.
// merge takes these, one run at a time in row order, whatever the number of workers.
func Scatter[T kernel.Float, R any](ctx context.Context, m *gram.Symmetric[float64], src block.Source[T], workers int,
	part func(run block.Run[T], s, f []float64) R, merge func(R)) error {
	var results []R
	var first int64 // run
	begin := func(row, rows int64) {
		first, results = row/block.RunRows, make([]R, (rows+block.RunRows-1)/block.RunRows)
	}
	end := func() {
		for _, r := range results {
			merge(r)
		}
	}
	each := func(run block.Run[T], s, f []float64) { results[run.Number-first] = part(run, s, f) }
	if _, ok := src.(*block.Data[T]); !ok { // results of all rows could take much memory
		src = eachBlock[T]{src, func(b *block.Block[T]) { begin(b.First, int64(b.Len())) }, end}
		return gram.Scatter(ctx, m, src, each, workers)
	}
	begin(0, src.Rows())
	err := gram.Scatter(ctx, m, src, each, workers)
	if err == nil {
		end()
	}
	return err
}

// An eachBlock is a source that calls functions before and after each block is used.
type eachBlock[T kernel.Float] struct {
	block.Source[T]
	before func(*block.Block[T])
	after  func()
}

func (e eachBlock[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		for b, err := range e.Source.Blocks(ctx) {
			if err == nil {
				e.before(b)
			}
			if !yield(b, err) {
				return
			}
			if err == nil {
				e.after()
			}
		}
	}
}
