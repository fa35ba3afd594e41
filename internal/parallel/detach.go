package parallel

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// Detach calls f on a new goroutine and tells whether f returned. If ctx ends or end is closed first, Detach returns without
// waiting for f. f may return much later, so the caller must not use the data of f any more. A nil end is never closed.
// If f panics, Detach panics with the same value.
func Detach(ctx context.Context, end <-chan struct{}, f func()) bool {
	done := make(chan any, 1)
	var left errgroup.Group
	left.Go(func() error {
		defer func() { done <- recover() }()
		f()
		return nil
	})
	select {
	case failed := <-done:
		return hasReturned(failed)
	case <-ctx.Done():
	case <-end:
	}
	select {
	case failed := <-done: // f returned as well
		return hasReturned(failed)
	default:
		return false
	}
}

func hasReturned(failed any) bool {
	if failed != nil {
		panic(failed)
	}
	return true
}

// DetachValue returns the results of f, or ctx's error if ctx ends first. See Detach.
func DetachValue[R any](ctx context.Context, f func() (R, error)) (R, error) {
	type results struct {
		r   R
		err error
	}
	got := make(chan results, 1)
	if !Detach(ctx, nil, func() {
		r, err := f()
		got <- results{r, err}
	}) {
		return *new(R), ctx.Err()
	}
	all := <-got
	return all.r, all.err
}

// Grace returns a context that ends one second after ctx does, or when end is called. The second is for work after an
// interrupt: a pass over the rows, or a write to a slow reader. Work that isn't done by then is left out.
func Grace(ctx context.Context) (later context.Context, end func()) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, cancel) })
	return later, func() { stop(); cancel() }
}
