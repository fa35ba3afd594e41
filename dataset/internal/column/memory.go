package column

import (
	"fmt"

	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/message"
)

// LeastReading is the smallest memory limit of reading, in bytes.
const LeastReading = 48 << 20

// Within limits the memory of later passes over an input. memory is the limit of Options. beside is the memory of
// everything except the input, such as blocks.
func Within(in Input, memory, beside int64) {
	if memory > 0 {
		in.Limit(max(LeastReading, memory-beside))
	}
}

// Limit returns given unless it is 0; then it returns four fifths of the memory that is available.
func Limit(given int64) int64 { return memory.Limit(given) }

type Budget = memory.Budget

// NewBudget returns a budget of the given number of bytes, at least LeastReading. For 0 it returns nil, which has no
// limit.
func NewBudget(bytes int64) *Budget {
	if bytes > 0 {
		bytes = max(LeastReading, bytes)
	}
	return memory.NewBudget(bytes)
}

// columnBytes is the approximate number of bytes that a column of a text file takes whether it is used or not: its name,
// its type and the results of examining the first rows.
const columnBytes = 1 << 10

// CheckColumns returns an error if n columns of the text file at path take more than a memory limit; 0 stands for no limit.
func CheckColumns(path string, n int, limit int64) error {
	if need := columnBytes * int64(n); limit > 0 && need > max(LeastReading, limit) {
		return Mark(message.Errorf("%s: %s take %s of memory, and the limit is %s: give more with --memory, or write fewer columns",
			path, humanize.Plural(int64(n), "column"), humanize.Size(need), humanize.Size(max(LeastReading, limit))), ErrMemory)
	}
	return nil
}

// AvailableMemory returns the number of bytes of memory that are available, or 8 GiB if the system doesn't report it.
func AvailableMemory() int64 {
	if bytes := memory.Available(); bytes > 0 {
		return bytes
	}
	return 8 << 30
}

// BytesText returns a number of bytes as text with a suitable unit.
func BytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
