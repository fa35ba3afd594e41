package flags

import (
	"errors"
	"math"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/internal/decimal"
	"halfspace/internal/memory"
)

// A Size is the value of a flag that takes a number of bytes, such as 8G.
type Size struct {
	text  string
	Bytes int64 // 0 if none was given
}

var units = map[string]float64{"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "kb": 1e3, "m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9, "t": 1 << 40, "tib": 1 << 40, "tb": 1e12}

// String returns the size as it was typed.
func (s *Size) String() string { return s.text }

// Type names the type for pflag.
func (s *Size) Type() string { return "size" }

// Set reads a size. It returns an error if the size is below 1 byte or too large for an int64.
func (s *Size) Set(text string) error {
	number := strings.TrimRight(text, "bBkKmMgGtTiI")
	v, err := decimal.Parse(strings.TrimSpace(number))
	unit, ok := units[strings.ToLower(text[len(number):])]
	if bytes := v * unit; err == nil && ok && bytes >= 1 && bytes < math.MaxInt64 {
		s.text, s.Bytes = text, int64(bytes)
		return nil
	}
	return errors.New("use a size such as 256MiB or 8G")
}

// AddTo adds --memory to a verb that reads the rows block by block.
func (s *Size) AddTo(cmd *cobra.Command) {
	cmd.Flags().Var(s, "memory", "`SIZE` Most memory to use, such as 256MiB or 8G. (default 80 % of what is available)")
}

// Hold sets the memory limit of the garbage collector to Limit. It returns the limit in bytes, and a function that
// restores the limit from before.
func (s *Size) Hold() (limit int64, undo func()) {
	limit = s.Limit()
	before := debug.SetMemoryLimit(limit)
	return limit, func() { debug.SetMemoryLimit(before) }
}

// Limit returns the bytes of the flag. Without the flag, it returns four fifths of the available memory.
func (s *Size) Limit() int64 { return memory.Limit(s.Bytes) }
