package perceptron

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/train/learner"
)

// noisyPlane returns n rows of d features. Labels follow a random plane except for a share of flips. If whole is set,
// values are integers, so that every sum is exact.
func noisyPlane(n, d int, flips float64, whole bool, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	truth := make([]float64, d)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	for range n {
		row, s := make([]float64, d), 0.3
		for i := range row {
			row[i] = rng.NormFloat64()
			if whole {
				row[i] = math.Round(3 * row[i])
			}
			s += row[i] * truth[i]
		}
		label := math.Copysign(1, s)
		if rng.Float64() < flips {
			label = -label
		}
		x, y = append(x, row), append(y, label)
	}
	return x, y
}

func mustTrain(t *testing.T, src block.Source, opt Settings) *learner.Result {
	t.Helper()
	r := require.Value(Train(context.Background(), src, opt))(t)
	return r
}

// quarterWeight returns weights whose sums are exact, some of them 0.
func quarterWeight(r int) float64 { return float64(r*7%11) / 4 }
