package frame

import (
	"fmt"

	"halfspace/internal/memory"
)

// LeastReading is the memory that reading may take in any case.
const LeastReading = 48 << 20

// Within bounds the memory of the passes over an input that follow. memory is that of Options. beside is what else
// takes memory, such as blocks.
func Within(in Input, memory, beside int64) {
	if memory > 0 {
		in.Limit(max(LeastReading, memory-beside))
	}
}

// Budget is that of package memory.
type Budget = memory.Budget

// NewBudget returns a budget of so many bytes, LeastReading at least, or nil for 0, which has no bound.
func NewBudget(bytes int64) *Budget {
	if bytes > 0 {
		bytes = max(LeastReading, bytes)
	}
	return memory.NewBudget(bytes)
}

// AvailableMemory returns how many bytes of memory there are to use, or a guess where the system doesn't tell.
func AvailableMemory() int64 {
	if bytes := memory.Available(); bytes > 0 {
		return bytes
	}
	return 8 << 30
}

// BytesText writes a number of bytes in the unit that fits.
func BytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
