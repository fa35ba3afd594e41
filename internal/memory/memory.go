// Package memory bounds the memory that this process takes.
package memory

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// Available returns the number of bytes of memory that the process can use without taking memory from other processes,
// or 0 if it is unknown.
//
//   - Linux: the available memory, within the limits of the process's control groups and of the groups that contain them.
//   - macOS: the share of the physical memory that the system calls free.
//   - Windows: the free physical memory.
func Available() int64 { return available() }

// leastMemory is the smallest result of Available, except 0: less memory is of no use.
const leastMemory = 16 << 20

// share returns percent/100 × bytes, at least 16 MiB. It takes percent as 100 if it is 0 or above 100. It returns 0 if
// bytes is 0 or above 2^60 (unknown).
func share(bytes uint64, percent uint32) int64 {
	if percent == 0 || percent > 100 {
		percent = 100
	}
	if bytes == 0 || bytes > 1<<60 {
		return 0
	}
	return max(leastMemory, int64(bytes/100*uint64(percent)))
}

// Limit returns given if it is above 0. Otherwise it returns four fifths of Available, or math.MaxInt64 (no limit) if
// that is unknown.
func Limit(given int64) int64 {
	if given > 0 {
		return given
	}
	if free := Available(); free > 0 {
		return free / 5 * 4
	}
	return math.MaxInt64
}

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
			return b.excessError(n, used, what)
		}
		if b.used.CompareAndSwap(used, used+n) {
			return nil
		}
	}
}

// excessError returns the error of Take.
func (b *Budget) excessError(n, used int64, what string) error {
	beside := ""
	if used > 0 {
		beside = fmt.Sprintf(" beside %s in use", humanize.Size(used))
	}
	return limitError{message.Sprintf("%s takes %s of memory%s, and the limit is %s: give more with --memory, or leave columns out",
		what, humanize.Size(n), beside, humanize.Size(b.limit))}
}

// limitError is an error about memory with the text for the user.
type limitError struct{ text string }

func (e limitError) Error() string { return e.text }
func (e limitError) Unwrap() error { return ErrMemory }

// Give returns n bytes to the budget.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}
