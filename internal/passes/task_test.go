package passes

import (
	"testing"

	"halfspace/internal/block"
)

// TestConsecutive: pieces have every chunk once, in order, and there are not too many.
func TestConsecutive(t *testing.T) {
	for _, rows := range []int64{1, block.ChunkRows, block.ChunkRows + 1, 300 * block.ChunkRows, 100_000 * block.ChunkRows} {
		next := int64(0)
		pieces := Consecutive(rows)
		for _, p := range pieces {
			for _, chunk := range p {
				if chunk != next {
					t.Fatalf("%d rows: chunk %d follows chunk %d", rows, chunk, next-1)
				}
				next++
			}
		}
		if want := (rows + block.ChunkRows - 1) / block.ChunkRows; next != want || len(pieces) > mostPieces {
			t.Errorf("%d rows: %d chunks in %d pieces, want %d", rows, next, len(pieces), want)
		}
	}
}
