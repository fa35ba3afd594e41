package memory

import (
	"errors"
	"fmt"
	"sync/atomic"

	"halfspace/internal/humanize"
)

// ErrMemory is in the chain of errors about work that needs more memory than the limit.
var ErrMemory = errors.New("more memory than the limit")

// A Budget bounds the memory of work whose size depends on the input. Code takes memory from the budget before it
// allocates the memory. A nil Budget has no bound. The methods are safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a budget of limit bytes, or nil (no bound) if limit is 0 or less.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		return nil
	}
	return &Budget{limit: limit}
}

// Take takes n bytes for what, such as "a block of 4,096 rows". If the budget has less than n bytes left, Take takes
// nothing and returns an error that begins with what.
func (b *Budget) Take(n int64, what string) error {
	if b == nil {
		return nil
	}
	for {
		used := b.used.Load()
		if n > b.limit-used {
			return b.tooMuch(n, used, what)
		}
		if b.used.CompareAndSwap(used, used+n) {
			return nil
		}
	}
}

// tooMuch returns the error of Take.
func (b *Budget) tooMuch(n, used int64, what string) error {
	beside := ""
	if used > 0 {
		beside = fmt.Sprintf(" beside %s in use", humanize.Size(used))
	}
	return exceeded{fmt.Sprintf("%s takes %s of memory%s, and the limit is %s: give more with --memory, or leave columns out",
		what, humanize.Size(n), beside, humanize.Size(b.limit))}
}

// exceeded is an error about memory with the text for the user.
type exceeded struct{ text string }

func (e exceeded) Error() string { return e.text }
func (e exceeded) Unwrap() error { return ErrMemory }

// Give returns n bytes to the budget.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}
