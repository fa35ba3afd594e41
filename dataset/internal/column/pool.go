package column

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/parallel"
)

// A Pool limits the number of goroutines that compute at the same time, whoever started them.
type Pool chan struct{}

// NewPool returns a pool that lets up to workers goroutines compute at the same time.
func NewPool(workers int) Pool { return make(Pool, workers) }

// PoolOf returns the pool for the option Workers: 0 means GOMAXPROCS.
func PoolOf(workers int) (Pool, error) {
	workers, err := parallel.Resolve(workers)
	if err != nil {
		return nil, err
	}
	return NewPool(workers), nil
}

// Each calls f with 0 to n-1, in order, with up to cap(p) calls at the same time. It returns the error of the lowest
// number that failed. After an error it begins no further calls, but the calls for all lower numbers are completed.
func (p Pool) Each(ctx context.Context, n int, f func(i int) error) error {
	if cap(p) == 1 || n < 2 {
		return p.InTurn(ctx, n, f)
	}
	errs := make([]error, n)
	var next, failed atomic.Int64
	var g errgroup.Group
	for range min(n, cap(p)) {
		g.Go(func() error {
			for failed.Load() == 0 {
				i := int(next.Add(1)) - 1
				if i >= n {
					break
				}
				if errs[i] = p.Run(ctx, func() error { return f(i) }); errs[i] != nil {
					failed.Add(1)
				}
			}
			return nil
		})
	}
	g.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// InTurn is Each on the calling goroutine. It is for work that takes less time than goroutines take to start.
func (p Pool) InTurn(ctx context.Context, n int, f func(i int) error) error {
	for i := range n {
		if err := p.Run(ctx, func() error { return f(i) }); err != nil {
			return err
		}
	}
	return nil
}

// Run calls f when a place of the pool is free.
func (p Pool) Run(ctx context.Context, f func() error) error {
	select {
	case p <- struct{}{}:
		defer func() { <-p }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}
