package parallel

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Prefetch yields n results in order, each in one of the buffers. Meanwhile it prepares the next results in the other
// buffers. The caller owns a buffer until it asks for the next result.
//
// Prefetch calls begin for each result, in order, on the caller's goroutine. It calls the function that begin returns on
// another goroutine; several of these calls run at a time. The first error in order ends the sequence, and so does the
// end of ctx. All calls have returned when the sequence ends.
func Prefetch[B any](ctx context.Context, n int, buffers []B, begin func(i int, b B) (prepare func() error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		var g errgroup.Group
		defer g.Wait()
		done := make([]chan error, len(buffers))
		start := func(i int) {
			if i >= n {
				return
			}
			k := i % len(buffers)
			prepare := begin(i, buffers[k])
			done[k] = make(chan error, 1)
			g.Go(func() error {
				done[k] <- prepare()
				return nil
			})
		}
		for i := range buffers {
			start(i)
		}
		for i := range n {
			k := i % len(buffers)
			err := <-done[k]
			if err == nil {
				err = ctx.Err()
			}
			if !yield(buffers[k], err) || err != nil {
				return
			}
			start(i + len(buffers))
		}
	}
}

// A LeasedBuffer is a buffer with a result. The caller owns it until Release is called, once, on any goroutine.
type LeasedBuffer[B any] struct {
	Buffer  B
	Release func()
}

// PrefetchLeased is Prefetch for callers that work on several results at once. A buffer gets its next result after its release. The
// sequence ends once all buffers are released and all calls of prepare have returned.
func PrefetchLeased[B any](ctx context.Context, n int, buffers []B, prepare func(i int, b B) error) iter.Seq2[LeasedBuffer[B], error] {
	return func(yield func(LeasedBuffer[B], error) bool) {
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
				yield(LeasedBuffer[B]{}, err)
				return
			}
			lent.Add(1)
			release := func() {
				start(i + len(buffers))
				lent.Done()
			}
			if !yield(LeasedBuffer[B]{buffers[k], release}, nil) {
				return
			}
		}
	}
}
