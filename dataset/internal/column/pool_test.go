package column

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// TestPool checks that the error is that of the least number that fails, that all below it are done, and that no more
// calls run at once than there are places.
func TestPool(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		p := NewPool(workers)
		for trial := range 200 {
			const n = 50
			var done [n]atomic.Bool
			var running atomic.Int64
			fails := map[int]bool{trial % n: true, (trial*7 + 3) % n: true, (trial*11 + 5) % n: true}
			least := n
			for i := range fails {
				least = min(least, i)
			}
			err := p.Each(context.Background(), n, func(i int) error {
				if now := running.Add(1); now > int64(workers) {
					t.Errorf("%d calls at once, %d workers", now, workers)
				}
				defer running.Add(-1)
				done[i].Store(true)
				if fails[i] {
					return fmt.Errorf("%d", i)
				}
				return nil
			})
			if err == nil || err.Error() != fmt.Sprint(least) {
				t.Fatalf("%d workers: error %v, want %d", workers, err, least)
			}
			for i := range least {
				if !done[i].Load() {
					t.Fatalf("%d workers: %d is not done, %d failed", workers, i, least)
				}
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.Each(ctx, 3, func(int) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if err := p.Each(context.Background(), 0, func(int) error { return errors.New("stop") }); err != nil {
			t.Errorf("no calls: %v", err)
		}
	}
}
