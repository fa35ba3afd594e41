package perceptron

import (
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
)

// TestRepeat: repeat gives the same weights as add, update by update, also for a row that comes twice. Positions are in
// a block and in an index.
func TestRepeat(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, cols := range []int{1, 28, 40} {
		x, y := noisy(3000, cols, 0.05, false, 3)
		d := dense(x, y)
		for name, d := range map[string]*block.Data{"dense": d, "sparse": testrows.Sparse(d),
			"weighted": testrows.Weighted(d, func(row int) float64 { return float64(row%3) / 2 })} {
			b := blockOf(t, d)
			index, err := d.Index()
			if err != nil {
				t.Fatal(err)
			}
			u := &rule{eta: 1, weighted: d.Spec().Weighted, stride: b.Stride}
			for n := range 10 {
				rows, idx, at, a := make([]uint32, n), make([]uint32, b.Len()), make([]uint32, n), make([]float32, n)
				for i := range idx {
					idx[i] = uint32(rng.IntN(b.Len()))
				}
				want := block.Alloc[float32](b.Stride)
				for k := range n {
					at[k], a[k] = uint32(rng.IntN(len(idx))), float32(rng.NormFloat64())
					rows[k] = idx[at[k]]
					u.add(want, a[k], b, int(rows[k]), 0)
				}
				for what, c := range map[string]struct {
					s  stretch
					at []uint32
				}{
					"block": {stretch{block: b, hi: b.Len()}, rows},
					"index": {stretch{index: index, rows: idx}, at},
				} {
					got := block.Alloc[float32](b.Stride)
					if u.repeat(got, a, &c.s, 0, c.at); !slices.Equal(got, want) {
						t.Fatalf("%s %s, %d columns, %d rows: %v, want %v", name, what, cols, n, got, want)
					}
				}
			}
		}
	}
}

func blockOf(t *testing.T, d *block.Data) *block.Block {
	for b := range d.Blocks(t.Context()) {
		return b
	}
	t.Fatal("there is no block")
	return nil
}
