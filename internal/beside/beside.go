// Package beside runs calls that nothing can end, such as a read from a pipe to which nobody writes.
package beside

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// Run calls f on a goroutine of its own and tells whether f returned. If ctx ends before, or end is closed, Run leaves f
// behind: f may return much later, so what f uses is f's from then on. A nil end is never closed. Run panics where f does.
func Run(ctx context.Context, end <-chan struct{}, f func()) bool {
	done := make(chan any, 1)
	var left errgroup.Group
	left.Go(func() error {
		defer func() { done <- recover() }()
		f()
		return nil
	})
	select {
	case failed := <-done:
		return returned(failed)
	case <-ctx.Done():
	case <-end:
	}
	select {
	case failed := <-done: // that too
		return returned(failed)
	default:
		return false
	}
}

func returned(failed any) bool {
	if failed != nil {
		panic(failed)
	}
	return true
}

// Get returns what f returns, or ctx's error where ctx ends before. See Run.
func Get[R any](ctx context.Context, f func() (R, error)) (R, error) {
	type results struct {
		r   R
		err error
	}
	got := make(chan results, 1)
	if !Run(ctx, nil, func() {
		r, err := f()
		got <- results{r, err}
	}) {
		return *new(R), ctx.Err()
	}
	all := <-got
	return all.r, all.err
}

// After returns a context that ends a second after ctx does, or when end is called. The second is for what an interrupt
// leaves to do: a pass over the rows, or a reader that is slow. What isn't done by then is left out.
func After(ctx context.Context) (later context.Context, end func()) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, cancel) })
	return later, func() { stop(); cancel() }
}
