package memory

import (
	"errors"
	"math"
	"sync"
	"testing"
)

// TestBudget takes and gives, and refuses what is more than the limit in a line that says what to type.
func TestBudget(t *testing.T) {
	b := NewBudget(1 << 20)
	if err := b.Take(1<<20+1, "a block"); err == nil ||
		err.Error() != "a block takes 1 MiB of memory, and the limit is 1 MiB: give more with Memory, or leave columns out" {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := b.Take(3<<18, "a block"); err != nil {
		t.Error("within the limit:", err)
	}
	err := b.Take(1<<19, "another")
	if err == nil || !errors.Is(err, ErrMemory) ||
		err.Error() != "another takes 512 KiB of memory beside 768 KiB in use, and the limit is 1 MiB: give more with Memory, or leave columns out" {
		t.Errorf("beside what is in use: %v", err)
	}
	if left(b) != 1<<18 {
		t.Errorf("%d bytes are left", left(b))
	}
	if b.Give(3 << 18); left(b) != 1<<20 {
		t.Errorf("%d bytes are left after all was given back", left(b))
	}
	none := NewBudget(0)
	if none.Give(1); none != nil || none.Take(math.MaxInt64, "all") != nil {
		t.Error("no budget has a bound")
	}
}

// TestBudgetShared: takers side by side never have more than the limit together.
func TestBudgetShared(t *testing.T) {
	const takers, limit = 8, 3
	b := NewBudget(limit)
	var wg sync.WaitGroup
	for range takers {
		wg.Go(func() {
			for range 1000 {
				if b.Take(1, "one") == nil {
					if used := b.used.Load(); used > limit {
						t.Errorf("%d bytes are taken", used)
					}
					b.Give(1)
				}
			}
		})
	}
	wg.Wait()
	if left(b) != limit {
		t.Errorf("%d bytes are left", left(b))
	}
}

func left(b *Budget) int64 { return b.limit - b.used.Load() }
