package online

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestEpoch: an epoch visits the rows that the seed and the number of the epoch say, in memory and in a cache, with one
// worker and with two.
func TestEpoch(t *testing.T) {
	const rows, seed, epoch = 70_000, 5, 3
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r], y[r] = []float64{float64(r)}, 1
	}
	data := testproblems.Dense(x, y, false)
	file := require.OpenFile(cache.Temporary(t.Context(), data, nil))(t)
	sparse := require.OpenFile(cache.Temporary(t.Context(), testproblems.Sparse(data), nil))(t)
	for _, order := range learner.Orders {
		var want []uint32
		permuted := func(epoch int64) {
			p := learner.NewPermutation(rows, seed, epoch)
			for k := range p.Windows() {
				want = p.Rows(want, k)
			}
		}
		switch order {
		case learner.Cyclic:
			for r := range uint32(rows) {
				want = append(want, r)
			}
		case learner.Shuffle:
			permuted(epoch)
		case learner.FixedShuffle:
			permuted(0)
		case learner.Random:
			want = drawRows(nil, rows, rand.NewPCG(seed, epoch), rows)
		}
		for i, src := range []block.Source{data, file, testproblems.Sparse(data), sparse} {
			for workers := 1; workers < 3; workers++ {
				if require.Small() && workers != 1+i%2 {
					continue
				}
				s := require.Value(NewPass(src, learner.Options{Order: order, Run: learner.Run{Seed: seed, Workers: workers}}, 0, func(*Pass) {}))(t)
				var got []uint32
				one := []float32{1, 0, 0, 0, 0, 0, 0, 0}
				visit := func(skip int64) error {
					for p, err := range s.Panels(t.Context(), epoch, skip) {
						if err != nil {
							return err
						}
						for p.Visits = range max(1, p.Len()-1) { // a visit may end before its panel
							b, r := p.At(p.Visits)
							got = append(got, uint32(b.Dot(r, one)))
						}
						p.Visits++
					}
					return nil
				}
				if err := visit(0); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %T, %d workers: other rows were visited", order, src, workers)
				}
				skips := []int{511, 65_536 + 3000, rows, 1, 4096, 5000, rows - 1}
				if require.Small() {
					skips = skips[:3]
				}
				for _, skip := range skips {
					got = got[:0]
					if err := visit(int64(skip)); err != nil || !slices.Equal(got, want[skip:]) {
						t.Errorf("%s, %T, %d workers: other rows were visited after %d (%v)", order, src, workers, skip, err)
					}
				}
				for range s.Panels(t.Context(), epoch, 0) { // one visit ends the epoch
					break
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				for p, err := range s.Panels(ctx, epoch, 0) {
					if p != nil || !errors.Is(err, context.Canceled) {
						t.Errorf("%s, %T: a panel %v, error %v", order, src, p != nil, err)
					}
				}
			}
		}
	}
}
