package rows

import (
	"math"
	"runtime/debug"
	"testing"
)

// TestBudget: the limit of the garbage collector leaves room for the descriptions of the columns. Of a few sparse rows with many
// columns these are most of the memory.
func TestBudget(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	s := &Storage{}
	s.Memory.Bytes = 1 << 40
	for _, c := range []struct {
		rows, each int64
		cols       int
	}{{1000, 1000, 10}, {1000, 1000, 1 << 20}, {1 << 20, 1000, 1 << 10}} {
		debug.SetMemoryLimit(math.MaxInt64)
		fits, err := budget[float32](s, c.rows, c.cols, func(rows int64) int64 { return rows * c.each })
		if got, least := debug.SetMemoryLimit(-1), c.rows*c.each+400*int64(c.cols); !fits || err != nil || got < least {
			t.Errorf("%+v: fits %t, error %v, limit %d, want %d or more", c, fits, err, got, least)
		}
	}
}
