package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"halfspace/internal/require"
)

// TestRankFactor compares solutions with those by gonum's eigenvalues, for right sides within the range and beyond it.
func TestRankFactor(t *testing.T) {
	const ridge = 1e-10
	rng := rand.New(rand.NewPCG(3, 1))
	for _, size := range [][2]int{{1, 0}, {1, 1}, {5, 2}, {30, 12}, {30, 29}, {60, 60}} {
		n, rank := size[0], size[1]
		factors := mat.NewDense(n, max(1, rank), nil)
		varying := 0
		for i := range n {
			if i%7 == 3 && n != rank { // some features don't vary
				continue
			}
			varying++
			for j := range rank {
				factors.Set(i, j, rng.NormFloat64()*math.Pow(10, float64(i%3)))
			}
		}
		rank = min(rank, varying)
		var a mat.SymDense
		a.SymOuterK(1, factors)
		var triangle []float64
		scaled, scale := mat.NewSymDense(n, nil), make([]float64, n)
		for i := range n {
			if scale[i] = 1; a.At(i, i) > 0 {
				scale[i] = 1 / math.Sqrt(a.At(i, i))
			}
			for j := range i + 1 {
				triangle = append(triangle, a.At(i, j))
				scaled.SetSym(i, j, a.At(i, j)*scale[i]*scale[j])
			}
		}
		f := require.Value(FactoriseRank(t.Context(), triangle, n, ridge))(t)
		if len(f.q) != rank {
			t.Fatalf("%v: the rank is %d", size, len(f.q))
		}
		var eigen mat.EigenSym
		eigen.Factorize(scaled, true)
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		for _, isInRange := range []bool{true, false} {
			b := make([]float64, n)
			for i := range b {
				b[i] = rng.NormFloat64() / scale[i]
			}
			if isInRange {
				var image mat.VecDense
				image.MulVec(&a, mat.NewVecDense(n, b))
				copy(b, image.RawVector().Data)
			}
			want := make([]float64, n)
			for k, value := range eigen.Values(nil) {
				product := 0.0
				for i := range b {
					product += vectors.At(i, k) * b[i] * scale[i]
				}
				if k < n-rank {
					if value = ridge; isInRange {
						product = 0
					}
				}
				for i := range want {
					want[i] += vectors.At(i, k) * product / value * scale[i]
				}
			}
			got := f.Solve(b)
			for i := range want { // in units of the scaled features
				got[i], want[i] = got[i]/scale[i], want[i]/scale[i]
			}
			require.NearNumbers(t, fmt.Sprint(size, isInRange), got, want, 1e-8)
		}
	}
}
