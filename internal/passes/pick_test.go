package passes_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"reflect"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
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

// TestPickedTwice: other processes pick rows among picked rows that were changed, and gather some of them.
func TestPickedTwice(t *testing.T) {
	const rows = 5*block.ChunkRows + 77
	d := testproblems.Logistic(rows, 2)
	remote := testproblems.NewRemote(d, 6)
	double := func(src block.Source) block.Source { return learner.WithClassWeights(src, []float64{2, 3}) }
	allBut := func(src block.Source, every int) block.Source { // all rows but each row number every-1, 2 every-1, ...
		bits, n := make([]uint64, (src.Rows()+63)/64), int64(0)
		for row := range int(src.Rows()) {
			if row%every != every-1 {
				bits[row/64] |= 1 << (row % 64)
				n++
			}
		}
		return passes.Pick(src, n, block.ChunkRows, func() func(float32) bool {
			row := -1
			return func(float32) bool { row++; return row%every != every-1 }
		}, bits)
	}
	var fingerprints [2]string
	var gathered [2][]*block.Block
	for i, src := range []block.Source{testproblems.Stream{Data: d}, remote} {
		src = allBut(double(allBut(src, 3)), 5)
		fingerprints[i] = require.Value(passes.Fingerprint(t.Context(), src, 2))(t)
		gathered[i] = require.Value(passes.Gather(t.Context(), src, []int64{0, 7, block.ChunkRows - 1, 2*block.ChunkRows + 1, src.Rows() - 1}))(t)
	}
	if fingerprints[0] != fingerprints[1] || !reflect.DeepEqual(gathered[0], gathered[1]) || len(gathered[0]) != 2 || remote.Read() > 0 {
		t.Errorf("fingerprints %v, gathered %v, %d passes in this process", fingerprints, gathered, remote.Read())
	}
}

// A countedSource counts the blocks of its passes, and its whole passes.
type countedSource struct {
	*block.Data
	blocks, whole int
}

func (s *countedSource) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b, err := range s.Data.Blocks(ctx) {
			if s.blocks++; !yield(b, err) {
				return
			}
		}
		s.whole++
	}
}

// TestGatherEnds: a pass that finds its last row in the first half of the rows ends there. A later end makes the pass
// whole, so that the source may make a cache in it.
func TestGatherEnds(t *testing.T) {
	var chunks []*block.Block
	whole := testproblems.Logistic(4*block.ChunkRows, 2)
	for b := range whole.Blocks(t.Context()) {
		for lo := 0; lo < b.Len(); lo += block.ChunkRows {
			chunks = append(chunks, b.Slice(lo, lo+block.ChunkRows))
		}
	}
	for row, want := range map[int64][2]int{5: {1, 0}, block.ChunkRows + 5: {4, 1}, 3*block.ChunkRows - 1: {4, 1}} {
		src := &countedSource{Data: block.NewData(whole.Spec(), chunks)}
		blocks := require.Value(passes.Gather(t.Context(), src, []int64{2, row}))(t)
		if got := [2]int{src.blocks, src.whole}; got != want || len(blocks) != min(2, 1+int(row/block.ChunkRows)) {
			t.Errorf("row %d: %d blocks, %d whole passes, want %v; %d blocks of rows", row, got[0], got[1], want, len(blocks))
		}
	}
}
