package cli

import (
	"errors"
	"math"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/internal/memory"
)

// A byteSize is the value of a flag that takes a number of bytes.
type byteSize struct {
	text  string
	bytes int64 // 0 where none was given
}

var units = map[string]float64{"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "kb": 1e3, "m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9, "t": 1 << 40, "tib": 1 << 40, "tb": 1e12}

func (s *byteSize) String() string { return s.text }

func (s *byteSize) Type() string { return "size" }

func (s *byteSize) Set(text string) error {
	number := strings.TrimRight(text, "bBkKmMgGtTiI")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	unit, ok := units[strings.ToLower(text[len(number):])]
	if bytes := v * unit; err == nil && ok && bytes >= 1 && bytes < math.MaxInt64 {
		s.text, s.bytes = text, int64(bytes)
		return nil
	}
	return errors.New("use a size such as 256MiB or 8G")
}

// addTo adds the flag to a verb that reads the rows piece by piece.
func (s *byteSize) addTo(cmd *cobra.Command) {
	cmd.Flags().Var(s, "memory", "`SIZE` Most memory to use, such as 256MiB or 8G. (default 80 % of what is available)")
}

// hold has the garbage collector keep within the limit, which it returns, until that is undone.
func (s *byteSize) hold() (limit int64, undo func()) {
	limit = s.limit()
	before := debug.SetMemoryLimit(limit)
	return limit, func() { debug.SetMemoryLimit(before) }
}

// limit returns the bytes that the flag gives, and otherwise four fifths of the memory that is available.
func (s *byteSize) limit() int64 { return memory.Limit(s.bytes) }
