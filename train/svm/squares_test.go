package svm

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// TestSquares: the sums of the squared hinge and its Hessian have the same bits with sample weights of 1
// and without sample weights.
func TestSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 31, 5000} {
		d := testproblems.Logistic(n, 3)
		plain := newProblem(d, Settings{Options: Options{L2: 1, Loss: SquaredHinge}})
		weighted := newProblem(testproblems.Weighted(d, func(int) float64 { return 1 }), Settings{Options: Options{L2: 1, Loss: SquaredHinge}})
		for range 3 {
			w := make([]float64, plain.cols)
			for i := range w {
				w[i] = rng.NormFloat64()
			}
			var got, want sums
			of := require.Value(plain.pass(t.Context(), w, true, &got))(t)
			ones := require.Value(weighted.pass(t.Context(), w, true, &want))(t)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(of, ones) {
				t.Fatalf("%d rows: %+v, and %+v with sample weights", n, got, want)
			}
		}
	}
}
