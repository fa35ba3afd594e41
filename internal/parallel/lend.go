package parallel

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// A Leased is a buffer with a result. The caller owns it until Release is called, once, on any goroutine.
type Leased[B any] struct {
	Buffer  B
	Release func()
}

// PrefetchLeased is Prefetch for callers that work on several results at once. A buffer gets its next result after its release. The
// sequence ends once all buffers are released and all calls of prepare have returned.
func PrefetchLeased[B any](ctx context.Context, n int, buffers []B, prepare func(i int, b B) error) iter.Seq2[Leased[B], error] {
	return func(yield func(Leased[B], error) bool) {
		var g errgroup.Group
		var lent sync.WaitGroup
		var ended atomic.Bool
		done := make([]chan error, len(buffers))
		start := func(i int) {
			k := i % len(buffers)
			if i < n && !ended.Load() {
				g.Go(func() error {
					done[k] <- prepare(i, buffers[k])
					return nil
				})
			}
		}
		defer func() {
			ended.Store(true)
			lent.Wait()
			_ = g.Wait() // no error
		}()
		for i := range buffers {
			done[i] = make(chan error, 1)
			start(i)
		}
		for i := range n {
			k := i % len(buffers)
			err := <-done[k]
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Leased[B]{}, err)
				return
			}
			lent.Add(1)
			release := func() {
				start(i + len(buffers))
				lent.Done()
			}
			if !yield(Leased[B]{buffers[k], release}, nil) {
				return
			}
		}
	}
}
