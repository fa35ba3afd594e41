package learner

import (
	"context"
	"iter"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/schema"
)

// A ScatterPass is a pass that sums X' diag(s) X as gram.Scatter does, and other sums of type R.
type ScatterPass[A, R any] struct {
	of   func(src block.Source, args A) func(chunk block.Chunk, s, f []float64) R
	pass *passes.Pass[scatterArgs[A], chunkScatter[R]]
}

type scatterArgs[A any] struct {
	N    int // rows of the matrix
	Args A
}

// chunkScatter is the result of one chunk: its terms of the matrix, in the order of gram.Triangle, and its terms of the
// other sums.
type chunkScatter[R any] struct {
	Products []float64
	Sums     R
}

// NewScatterPass registers a pass under a name; see passes.New. of returns the function that gets a chunk, the weights s of
// its rows, and the elements f that the matrix appends to each row. That function sets s and f, and returns the other sums
// of the chunk.
func NewScatterPass[A, R any](name string, of func(src block.Source, args A) func(chunk block.Chunk, s, f []float64) R) *ScatterPass[A, R] {
	return &ScatterPass[A, R]{of, passes.New(name, func(src block.Source, args scatterArgs[A]) func(block.Chunk) chunkScatter[R] {
		part := of(src, args.Args)
		return func(chunk block.Chunk) (s chunkScatter[R]) {
			s.Products = ScatterChunk(src.Spec(), chunk, args.N, func(chunk block.Chunk, w, f []float64) { s.Sums = part(chunk, w, f) })
			return s
		}
	})}
}

// ScatterChunk is gram.Scatter for one chunk of rows. It returns the elements of a symmetric matrix of n rows, in the order
// of gram.Triangle. n must be the size of a valid gram.Triangle: ScatterChunk panics otherwise.
func ScatterChunk(spec *schema.Spec, chunk block.Chunk, n int, setWeights func(chunk block.Chunk, s, f []float64)) []float64 {
	m, err := gram.NewTriangle(n)
	if err == nil {
		one := block.AssumeValid(block.Source(block.NewData(spec, []*block.Block{chunk.Block})))
		err = gram.Scatter(context.Background(), m, one, setWeights, 1)
	}
	if err != nil {
		panic("learner: " + err.Error())
	}
	return m.Data
}

// Reduce makes the pass over the rows of src, and sets m to X' diag(s) X. merge gets the other sums of one chunk at a time,
// in row order for any number of workers.
func (p *ScatterPass[A, R]) Reduce(ctx context.Context, m *gram.Triangle, src block.Source, workers int, args A, merge func(R)) error {
	if passes.InProcess(src) {
		part := p.of(src, args)
		return scatter(ctx, m, src, workers, func(chunk block.Chunk, s, f []float64) func() {
			r := part(chunk, s, f)
			return func() { merge(r) }
		})
	}
	clear(m.Data)
	return p.pass.Reduce(ctx, src, workers, scatterArgs[A]{m.N, args}, func(s chunkScatter[R]) {
		f64.Axpy(m.Data, 1, s.Products)
		merge(s.Sums)
	})
}

// scatter is ScatterPass.Reduce in this process, for sums of any type: part returns a function that merges the sums of
// its chunk.
func scatter(ctx context.Context, m *gram.Triangle, src block.Source, workers int,
	part func(chunk block.Chunk, s, f []float64) (merge func())) error {
	var merges []func()
	var first int64 // number of the first chunk of the block
	begin := func(row, rows int64) {
		first, merges = row/block.ChunkRows, make([]func(), (rows+block.ChunkRows-1)/block.ChunkRows)
	}
	end := func() {
		for _, merge := range merges {
			merge()
		}
	}
	each := func(chunk block.Chunk, s, f []float64) { merges[chunk.Number-first] = part(chunk, s, f) }
	if _, ok := src.(*block.Data); !ok { // block by block: results of all chunks at once could take much memory
		src = hookedSource{src, func(b *block.Block) { begin(b.First, int64(b.Len())) }, end}
		return gram.Scatter(ctx, m, src, each, workers)
	}
	begin(0, src.Rows())
	err := gram.Scatter(ctx, m, src, each, workers)
	if err == nil {
		end()
	}
	return err
}

// A hookedSource is a source that calls functions before and after each block is used.
type hookedSource struct {
	block.Source
	beforeBlock func(*block.Block)
	afterBlock  func()
}

func (e hookedSource) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b, err := range e.Source.Blocks(ctx) {
			if err == nil {
				e.beforeBlock(b)
			}
			if !yield(b, err) {
				return
			}
			if err == nil {
				e.afterBlock()
			}
		}
	}
}
