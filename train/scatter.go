package train

import (
	"context"
	"iter"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/schema"
)

// A ScatterTask is what ScatterAs computes of a run, by a name. Other processes can compute it too.
type ScatterTask[A, R any] struct {
	*passes.PerRun[scatterArgs[A], scattered[R]]
}

// A ScatterPart returns the part of Scatter for the runs of a source.
type ScatterPart[T kernel.Float, A, R any] func(src block.Source[T], args A) func(run block.Run[T], s, f []float64) R

type scatterArgs[A any] struct {
	n    int // rows of the matrix
	args A
}

// scattered is what a run adds: to the matrix, in the order of gram.Packed, and to the other sums.
type scattered[R any] struct {
	products []float64
	sums     R
}

// NewScatterTask names a task for ScatterAs.
func NewScatterTask[A, R any](name string, of32 ScatterPart[float32, A, R], of64 ScatterPart[float64, A, R]) *ScatterTask[A, R] {
	return &ScatterTask[A, R]{passes.NewPerRun(name, scatterRun(of32), scatterRun(of64))}
}

// scatterRun returns what computes the sums of one run.
func scatterRun[T kernel.Float, A, R any](of ScatterPart[T, A, R]) func(block.Source[T], scatterArgs[A]) func(block.Run[T]) scattered[R] {
	return func(src block.Source[T], args scatterArgs[A]) func(block.Run[T]) scattered[R] {
		part := of(src, args.args)
		return func(run block.Run[T]) (s scattered[R]) {
			s.products = ScatterRun(src.Spec(), run, args.n, func(run block.Run[T], w, f []float64) { s.sums = part(run, w, f) })
			return s
		}
	}
}

// ScatterRun is gram.Scatter for one run of rows. It returns the elements of a matrix of n rows, in the order of gram.Packed. The
// caller has a matrix of that size.
func ScatterRun[T kernel.Float](spec *schema.Spec, run block.Run[T], n int, setWeights func(run block.Run[T], s, f []float64)) []float64 {
	m, err := gram.NewTriangle(n)
	if err == nil {
		one := block.Trust(block.Source[T](block.NewData(spec, []*block.Block[T]{run.Block})))
		err = gram.Scatter(context.Background(), m, one, setWeights, 1)
	}
	if err != nil {
		panic("train: " + err.Error())
	}
	return m.Data
}

// ScatterAs is Scatter, and makes the pass of a task if the rows have a cluster. part is what the task computes of a run. m is
// gram.Packed.
func ScatterAs[T kernel.Float, A, R any](ctx context.Context, m *gram.Triangle, src block.Source[T], workers int,
	t *ScatterTask[A, R], args A, part func(run block.Run[T], s, f []float64) R, merge func(R)) error {
	if cluster, _ := block.RemoteOf(src); cluster == nil {
		return Scatter(ctx, m, src, workers, part, merge)
	}
	clear(m.Data)
	return passes.Reduce(ctx, src, workers, t.PerRun, scatterArgs[A]{m.N, args}, nil, func(s scattered[R]) {
		kernel.Axpy(m.Data, 1, s.products)
		merge(s.sums)
	})
}

// Scatter sets m to X' diag(s) X as gram.Scatter does, and computes other sums in the same pass. part gets a run, the
// weights s of its rows, and the elements f that m adds to each row. It sets s and f, and returns the sums of the run.
// merge takes these, one run at a time in row order, whatever the number of workers.
func Scatter[T kernel.Float, R any](ctx context.Context, m *gram.Triangle, src block.Source[T], workers int,
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
