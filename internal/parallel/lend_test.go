package parallel

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// TestLend: results come in order, a buffer keeps its result until it is released, in any order and by any goroutine, and
// nothing runs after the end.
func TestLend(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 50} {
		for _, k := range []int{1, 2, 3, 8} {
			buffers := make([]*atomic.Int64, k)
			for i := range buffers {
				buffers[i] = new(atomic.Int64)
			}
			var running atomic.Int64
			var users sync.WaitGroup
			next := 0
			for l, err := range PrefetchLeased(t.Context(), n, buffers, func(i int, b *atomic.Int64) error {
				running.Add(1)
				defer running.Add(-1)
				b.Store(int64(i))
				return nil
			}) {
				want := int64(next)
				if next++; err != nil || l.Buffer.Load() != want {
					t.Fatalf("n=%d, %d buffers: result %d, error %v", n, k, want, err)
				}
				users.Add(1)
				go func() {
					defer users.Done()
					for range rand.IntN(1000) {
						if got := l.Buffer.Load(); got != want {
							t.Errorf("n=%d, %d buffers: result %d became %d", n, k, want, got)
						}
					}
					l.Release()
				}()
			}
			users.Wait()
			if next != n || running.Load() != 0 {
				t.Errorf("n=%d, %d buffers: %d results, %d still running", n, k, next, running.Load())
			}
		}
	}
}

// TestLendEnd: the first error in order, the end of the context, and a break end the sequence once buffers are released.
func TestLendEnd(t *testing.T) {
	failed := errors.New("failed")
	for _, name := range []string{"error", "cancel", "break"} {
		ctx, cancel := context.WithCancel(t.Context())
		var running atomic.Int64
		results, last := 0, error(nil)
		for l, err := range PrefetchLeased(ctx, 100, make([]struct{}, 3), func(i int, _ struct{}) error {
			running.Add(1)
			defer running.Add(-1)
			if name == "error" && i >= 3 {
				return failed
			}
			return nil
		}) {
			if last = err; err != nil {
				continue
			}
			go l.Release()
			if results++; results == 3 && name == "cancel" {
				cancel()
			} else if results == 3 && name == "break" {
				break
			}
		}
		cancel()
		if want := map[string]error{"error": failed, "cancel": context.Canceled}[name]; results != 3 || !errors.Is(last, want) || running.Load() != 0 {
			t.Errorf("%s: %d results, error %v, %d still running", name, results, last, running.Load())
		}
	}
}
