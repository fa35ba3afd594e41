package flags

import (
	"math"
	"runtime/debug"
	"testing"

	"halfspace/block"
	"halfspace/train/learner"
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
		fits, err := budget(s, c.rows, c.cols, func(rows int64) int64 { return rows * c.each })
		if got, least := debug.SetMemoryLimit(-1), c.rows*c.each+400*int64(c.cols); !fits || err != nil || got < least {
			t.Errorf("%+v: fits %t, error %v, limit %d, want %d or more", c, fits, err, got, least)
		}
	}
}

// TestBudgetShards: each shard that learns needs memory for its windows. If there is too little, fewer learn at the same time. One
// always does.
func TestBudgetShards(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	const cols, chunks = 256, 100 // a block is two chunks of 4 MiB
	bytes := func(rows int64) int64 { return block.Bytes(rows, cols, false) }
	chunk := bytes(block.ChunkRows)
	for _, c := range []struct {
		chunks       int64 // that fit in memory
		shards, want int64
		fits         bool
	}{{8, 4, 1, false}, {9, 1, 1, true}, {9, 4, 1, true}, {14, 4, 2, true}, {18, 4, 4, true}, {18, 0, 0, true}} {
		s := &Storage{Access: learner.AnyOrder, Shards: c.shards}
		s.Memory.Bytes = c.chunks * chunk
		inMemory, err := budget(s, chunks*block.ChunkRows, cols, bytes)
		if inMemory || (err == nil) != c.fits || s.Shards != c.want {
			t.Errorf("%+v: in memory %t, error %v, %d shards", c, inMemory, err, s.Shards)
		}
	}
}
