package block

import (
	"context"
	"errors"
	"iter"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"halfspace/kernel"
)

// A Source yields the blocks of a data set in row order, as often as it is asked: once for each pass. A block is valid
// until the next one is asked for, unless the source is a *Data.
type Source[T kernel.Float] interface {
	Spec() *Spec
	Rows() int64 // the number of rows, the same in every pass
	Blocks(ctx context.Context) iter.Seq2[*Block[T], error]
}

// A Seekable source isn't in memory, but reads its rows in any order too, a few at a time. Its rows are dense and have
// labels. Its methods may be called by several goroutines at once, and while a pass is under way.
type Seekable[T kernel.Float] interface {
	Source[T]
	// ReadChunk reads the rows of chunk c, those from c*kernel.ChunkRows on, to the front of x, of Stride elements for each,
	// and of y, which have room for kernel.ChunkRows rows.
	ReadChunk(c int, x, y []T) error
	// ReadRows reads the rows of those numbers, one after the other, into x and y.
	ReadRows(rows []uint32, x, y []T) error
}

// InFlight is how many blocks a source that isn't in memory holds during a pass: one is in use while the next ones are
// read.
const InFlight = 3

// ErrNoLabels is returned where rows are to be learned from that have no labels.
var ErrNoLabels = errors.New("the rows have no labels: load them with a label column")

// Data is a data set in memory: a Source whose blocks stay, and whose rows can be reached in any order.
type Data[T kernel.Float] struct {
	spec   *Spec
	blocks []*Block[T]
	rows   int64
}

// NewData returns the data set of those blocks, which follow each other from row 0.
func NewData[T kernel.Float](spec *Spec, blocks []*Block[T]) *Data[T] {
	d := &Data[T]{spec: spec, blocks: blocks}
	for _, b := range blocks {
		d.rows += int64(b.Len())
	}
	return d
}

// Spec says what the columns mean.
func (d *Data[T]) Spec() *Spec { return d.spec }

// Rows returns the number of rows.
func (d *Data[T]) Rows() int64 { return d.rows }

// Blocks yields the blocks in row order. It stops with the context's error once that is cancelled.
func (d *Data[T]) Blocks(ctx context.Context) iter.Seq2[*Block[T], error] {
	return func(yield func(*Block[T], error) bool) {
		for _, b := range d.blocks {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// Collect reads all of a source into memory.
func Collect[T kernel.Float](ctx context.Context, src Source[T]) (*Data[T], error) {
	var blocks []*Block[T]
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b.Clone())
	}
	return NewData(src.Spec(), blocks), nil
}

// Bytes returns how much memory the blocks of so many rows of cols columns take, labels included.
func Bytes[T kernel.Float](rows int64, cols int) int64 {
	return rows * int64(kernel.Stride[T](cols)+1) * int64(unsafe.Sizeof(T(0)))
}

// Run is the rows of one run as a block, and its number.
type Run[T kernel.Float] struct {
	*Block[T]
	Number int64
}

// EachRun calls do for every run of a block on up to workers goroutines, and returns when all calls have. It stops early
// with ctx's error.
func EachRun[T kernel.Float](ctx context.Context, b *Block[T], workers int, do func(Run[T])) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, workers))
	for lo := 0; lo < b.Len(); lo += RunRows {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			do(Run[T]{b.Slice(lo, min(b.Len(), lo+RunRows)), (b.First + int64(lo)) / RunRows})
			return nil
		})
	}
	return g.Wait()
}

// ReduceRuns computes part on every run of src on up to workers goroutines, and hands the results to merge one at a
// time in row order, whatever the number of workers.
func ReduceRuns[T kernel.Float, R any](ctx context.Context, src Source[T], workers int,
	part func(Run[T]) R, merge func(R)) error {
	var results []R
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
		results = append(results[:0], make([]R, (b.Len()+RunRows-1)/RunRows)...)
		if err := EachRun(ctx, b, workers, func(r Run[T]) { results[r.Number-b.First/RunRows] = part(r) }); err != nil {
			return err
		}
		for _, r := range results {
			merge(r)
		}
	}
	return nil
}
