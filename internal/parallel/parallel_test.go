package parallel

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestWorkers: a number of workers that nobody has the memory for is no more than the largest useful one.
func TestWorkers(t *testing.T) {
	if n, err := Resolve(-1); err == nil || n != 0 {
		t.Errorf("-1 workers are %d, error %v", n, err)
	}
	if n, err := Resolve(0); err != nil || n != runtime.GOMAXPROCS(0) {
		t.Errorf("0 workers are %d, error %v, want every core", n, err)
	}
	most := max(256, runtime.NumCPU())
	for n, want := range map[int]int{-1: runtime.GOMAXPROCS(0), 0: runtime.GOMAXPROCS(0), 1: 1, 8: 8, most + 1: most, math.MaxInt: most} {
		if got := Workers(n); got != want {
			t.Errorf("%d for %d, want %d", got, n, want)
		}
	}
	sum := 0
	if err := MergeInOrder(context.Background(), math.MaxInt, 1000, func(i int) int { return i }, func(i int) { sum += i }); err != nil || sum != 499_500 {
		t.Errorf("sum %d, error %v", sum, err)
	}
}

// TestLine: results are merged in the order of Go, each once, and no more exist than there is room for. The end of the
// context ends the line; what began is merged.
func TestLine(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		for _, stop := range []int{-1, 0, 30} {
			ctx, cancel := context.WithCancel(t.Context())
			next, begun := 0, 0
			var waiting atomic.Int64
			l := NewLine(ctx, workers, 2*workers)
			for i := range 100 {
				if i == stop {
					cancel()
				}
				if l.Go(func() func() {
					if n := waiting.Add(1); n > int64(2*workers) {
						t.Errorf("%d workers: %d results at once", workers, n)
					}
					return func() {
						if waiting.Add(-1); i != next {
							t.Errorf("%d workers: result %d is merged after %d others", workers, i, next)
						}
						next++
					}
				}) {
					begun++
				}
			}
			if err := l.Wait(); (err != nil) != (stop >= 0) || next != begun || stop < 0 && next != 100 || stop >= 0 && next > stop {
				t.Errorf("%d workers, stopped at %d: %d of %d results, error %v", workers, stop, next, begun, err)
			}
			cancel()
		}
	}
}
