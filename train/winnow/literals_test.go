package winnow

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// conjunction returns rows of d features, false or true, with the label of a conjunction of x0, not x1 and x2, and a share of wrong labels:
// as features of two numbers, and as those features of 0 and 1 with their negations.
func conjunction(rows, d int, no, yes, flips float64) (own, both *block.Data) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, explicit, y := make([][]float64, rows), make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r], explicit[r] = make([]float64, d), make([]float64, 2*d)
		for c := range d {
			x[r][c], explicit[r][d+c] = no, 1
			if rng.IntN(2) == 1 {
				x[r][c], explicit[r][c], explicit[r][d+c] = yes, 1, 0
			}
		}
		if y[r] = -1; x[r][0] == yes && x[r][1] == no && x[r][2] == yes {
			y[r] = 1
		}
		if rng.Float64() < flips {
			y[r] = -y[r]
		}
	}
	return testproblems.Dense(x, y, true), testproblems.Dense(explicit, y, true)
}

// TestLiterals: literals of columns of 0 and 1, and of -1 and 1, are learned as features of their own are, from dense and sparse rows. With
// an alpha of 2 every number is exact.
func TestLiterals(t *testing.T) {
	const d = 9
	ctx := context.Background()
	for _, variant := range Variants {
		opt := Settings{Options: Options{Epochs: 3, Variant: variant, Alpha: 2}}
		for _, no := range []float64{0, -1} {
			own, both := conjunction(200, d, no, 1, 0.05)
			want := require.Value(Train(ctx, both, opt))(t)
			folded := make([]float32, d+1)
			folded[d] = want.Weights[2*d]
			for c := range d {
				is, not := want.Weights[c], want.Weights[d+c]
				folded[c] = (is - not) / (1 - float32(no))
				folded[d] += not - float32(no)*folded[c]
			}
			opt := opt
			opt.Literals = true
			for _, src := range []*block.Data{own, testproblems.Sparse(own)} {
				r := require.Value(Train(ctx, src, opt))(t)
				if !slices.Equal(r.Weights, folded) || r.Updates != want.Updates || r.Errors != want.Errors || r.Updates == 0 {
					t.Errorf("%s, %v and 1: weights %v, %d updates, %d errors, want %v, %d, %d", variant, no, r.Weights, r.Updates, r.Errors, folded, want.Updates, want.Errors)
				}
			}
		}
	}
}
