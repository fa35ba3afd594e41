package passes_test

import (
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/internal/testproblems"
)

// TestPicked: a cluster has the same chosen rows as this process, also where chunks have none, or all.
func TestPicked(t *testing.T) {
	const rows = 9*block.ChunkRows + 77
	d := testproblems.Logistic(rows, 2)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, share := range []float64{0, 0.0001, 0.01, 0.3, 0.8, 1} {
		bits, n := make([]uint64, (rows+63)/64), int64(0)
		for row := range rows {
			if chunk := row / block.ChunkRows; chunk%4 == 3 && share > 0.1 || chunk%4 != 2 && rng.Float64() < share {
				bits[row/64] |= 1 << (row % 64)
				n++
			}
		}
		remote := testproblems.NewRemote(d, 5)
		keep := func() func(float32) bool {
			row := -1
			return func(float32) bool { row++; return bits[row/64]>>(row%64)&1 > 0 }
		}
		want, err := block.Fingerprint(t.Context(), passes.Pick(d, n, block.ChunkRows, keep, bits), 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := passes.Fingerprint(t.Context(), passes.Pick(remote, n, block.ChunkRows, keep, bits), 1)
		if err != nil || got != want || remote.Read() > 0 {
			t.Errorf("a share of %v: %s, want %s, error %v, %d passes in this process", share, got, want, err, remote.Read())
		}
	}
}
