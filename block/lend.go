package block

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"halfspace/internal/parallel"
)

// A Loan is a block that stays valid until Release is called. Any goroutine may call Release, exactly once.
type Lease struct {
	*Block
	Release func()
}

// A Lender is a source that isn't in memory and lends several blocks at the same time. Workers need several blocks if
// a block has fewer runs than there are workers.
type Leaser interface {
	Source
	// Lend is Blocks with loans in place of blocks. The pass ends when all loans are released. So before the caller
	// asks for the next loan or leaves the loop, it must make sure that other goroutines release the loans they hold.
	Lend(ctx context.Context) iter.Seq2[Lease, error]
}

// EachLease yields the blocks of loans. It releases each block when the next block is requested.
func EachLease(loans iter.Seq2[Lease, error]) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		for loan, err := range loans {
			if err != nil {
				yield(nil, err)
				return
			}
			goOn := func() bool {
				defer loan.Release() // also if the caller panics
				return yield(loan.Block, nil)
			}()
			if !goOn {
				return
			}
		}
	}
}

// lend returns loans of any source. A source that is neither a Lender nor in memory lends one block at a time: the
// pass waits for its release.
func lend(ctx context.Context, src Source) iter.Seq2[Lease, error] {
	switch src := src.(type) {
	case Leaser:
		return src.Lend(ctx)
	case *Data:
		return src.lend(ctx)
	case *checked:
		return src.lend(ctx)
	case checkedFile:
		return src.lend(ctx)
	}
	return func(yield func(Lease, error) bool) {
		for b, err := range src.Blocks(ctx) {
			if err != nil {
				yield(Lease{}, err)
				return
			}
			released := make(chan struct{})
			goOn := yield(Lease{b, func() { close(released) }}, nil)
			<-released
			if !goOn {
				return
			}
		}
	}
}

// lend yields the blocks as loans. Release does nothing, because the blocks stay in memory.
func (d *Data) lend(ctx context.Context) iter.Seq2[Lease, error] {
	return func(yield func(Lease, error) bool) {
		for b, err := range d.Blocks(ctx) {
			if !yield(Lease{b, func() {}}, err) {
				return
			}
		}
	}
}

// Map passes each block of src to change and lends the block that change returns. It lends as many blocks at the
// same time as src does. change gets a block b of src and a spare: a block that change returned before and that was
// released, or nil. change may overwrite the spare and return it. The first error of src or change ends the pass.
func Map(ctx context.Context, src Source,
	change func(b, spare *Block) (*Block, error)) iter.Seq2[Lease, error] {
	return func(yield func(Lease, error) bool) {
		var mu sync.Mutex
		var spares []*Block
		for loan, err := range lend(ctx, src) {
			if err != nil {
				yield(Lease{}, err)
				return
			}
			var spare *Block
			mu.Lock()
			if n := len(spares); n > 0 {
				spare, spares = spares[n-1], spares[:n-1]
			}
			mu.Unlock()
			to, err := change(loan.Block, spare)
			if err != nil {
				loan.Release()
				yield(Lease{}, err)
				return
			}
			if !yield(Lease{to, func() {
				mu.Lock()
				spares = append(spares, to)
				mu.Unlock()
				loan.Release()
			}}, nil) {
				return
			}
		}
	}
}

// reduceLoans is MergeRuns for a source that isn't in memory. If the source lends several blocks at the same time,
// their runs are computed at the same time. A block is released when the results of all its runs are merged.
func reduceLoans(ctx context.Context, src Source, workers int, part func(Chunk) (merge func())) error {
	follows, err := follow(src)
	if err != nil {
		return err
	}
	line := parallel.NewLine(ctx, workers)
	for loan, err := range lend(ctx, src) {
		if err == nil {
			if err = follows(loan.Block); err != nil {
				loan.Release()
			}
		}
		if err != nil {
			_ = line.Wait() // err takes precedence over its error
			return err
		}
		runs := loan.runs(nil)
		var left atomic.Int64
		left.Store(int64(len(runs)) + 1)
		done := func() {
			if left.Add(-1) == 0 {
				loan.Release()
			}
		}
		for _, run := range runs {
			started := line.Go(func() func() {
				merge := part(run)
				return func() {
					merge()
					done()
				}
			})
			if !started {
				done()
			}
		}
		done()
	}
	return line.Wait()
}
