package flags

import (
	"testing"

	"halfspace/internal/block"
	"halfspace/train/learner"
)

// TestBudgetShards: each shard that learns needs memory for its windows. If there is too little, fewer learn at the same
// time. One always does.
func TestBudgetShards(t *testing.T) {
	const cols, chunks = 256, 100
	bytes := func(rows int64) int64 { return block.Bytes(rows, cols, false) }
	room := func(windows int64) int64 { return windows * bytes(block.ChunkRows) }
	for _, c := range []struct{ room, shards, want int64 }{{0, 4, 1}, {room(3), 1, 1}, {room(3), 4, 1}, {room(8), 4, 2}, {room(12), 4, 4}, {room(12), 0, 0}} {
		s := &Storage{Access: learner.AnyOrder, Shards: c.shards}
		took := s.budget().Passes(chunks*block.ChunkRows, 0, c.room, bytes)
		if want := learner.WindowBytes(chunks*block.ChunkRows, max(1, c.want), bytes); s.Shards != c.want || took != want {
			t.Errorf("%+v: %d shards in %d bytes, want %d", c, s.Shards, took, want)
		}
	}
}
