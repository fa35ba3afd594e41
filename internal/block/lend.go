package block

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"halfspace/internal/parallel"
)

// A Lease is a block that stays valid until Release is called. Any goroutine may call Release, exactly once.
type Lease struct {
	*Block
	Release func()
}

// A Leaser is a source that isn't in memory and leases several blocks at the same time. Workers need several blocks if
// a block has fewer chunks than there are workers.
type Leaser interface {
	Source
	// Lend is Blocks with leases in place of blocks. The pass ends when all leases are released. So before the caller
	// asks for the next lease or leaves the loop, it must make sure that other goroutines release the leases they hold.
	Lend(ctx context.Context) iter.Seq2[Lease, error]
}

// EachLease yields the blocks of leases. It releases each block when the next block is requested.
func EachLease(leases iter.Seq2[Lease, error]) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		for lease, err := range leases {
			if err != nil {
				yield(nil, err)
				return
			}
			more := func() bool {
				defer lease.Release() // also if the caller panics
				return yield(lease.Block, nil)
			}()
			if !more {
				return
			}
		}
	}
}

// lend returns leases of any source. A source that is neither a Leaser nor in memory leases one block at a time: the
// pass waits for its release.
func lend(ctx context.Context, src Source) iter.Seq2[Lease, error] {
	switch src := src.(type) {
	case Leaser:
		return src.Lend(ctx)
	case *Data:
		return src.lend(ctx)
	case *checkedSource:
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
			more := yield(Lease{b, func() { close(released) }}, nil)
			<-released
			if !more {
				return
			}
		}
	}
}

// lend yields the blocks as leases. Release does nothing, because the blocks stay in memory.
func (d *Data) lend(ctx context.Context) iter.Seq2[Lease, error] {
	return func(yield func(Lease, error) bool) {
		for b, err := range d.Blocks(ctx) {
			if !yield(Lease{b, func() {}}, err) {
				return
			}
		}
	}
}

// Map passes each block of src to change and leases the block that change returns. It leases as many blocks at the
// same time as src does. change gets a block b of src and a spare: a block that change returned before and that was
// released, or nil. change may overwrite the spare and return it. The first error of src or change ends the pass.
func Map(ctx context.Context, src Source,
	change func(b, spare *Block) (*Block, error)) iter.Seq2[Lease, error] {
	return func(yield func(Lease, error) bool) {
		var mu sync.Mutex
		var spares []*Block
		for lease, err := range lend(ctx, src) {
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
			to, err := change(lease.Block, spare)
			if err != nil {
				lease.Release()
				yield(Lease{}, err)
				return
			}
			if !yield(Lease{to, func() {
				mu.Lock()
				spares = append(spares, to)
				mu.Unlock()
				lease.Release()
			}}, nil) {
				return
			}
		}
	}
}

// MergeChunks is ReduceChunks without a type parameter, so it is compiled once. part computes a chunk and returns the
// function that merges the chunk's result. If src leases several blocks at the same time, their chunks are computed at
// the same time. A block is released when the results of all its chunks are merged.
func MergeChunks(ctx context.Context, src Source, workers int, part func(Chunk) (merge func())) error {
	workers, err := parallel.Resolve(workers)
	if err != nil {
		return err
	}
	follows, err := passCheck(src)
	if err != nil {
		return err
	}
	line := parallel.NewLine(ctx, workers, 2*workers)
	for lease, err := range lend(ctx, src) {
		if err == nil {
			if err = follows(lease.Block); err != nil {
				lease.Release()
			}
		}
		if err != nil {
			_ = line.Wait() // err takes precedence over its error
			return err
		}
		chunks := lease.chunks(nil)
		var left atomic.Int64
		left.Store(int64(len(chunks)) + 1)
		done := func() {
			if left.Add(-1) == 0 {
				lease.Release()
			}
		}
		for _, chunk := range chunks {
			started := line.Go(func() func() {
				merge := part(chunk)
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
