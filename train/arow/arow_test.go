package arow

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// TestLiteral compares with the paper's algorithm by whole matrices (figure 1 of Crammer, Kulesza and Dredze), of which only the diagonal
// is kept after each row, for two classes.
func TestLiteral(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	const n, d = 300, 4
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = make([]float64, d), math.Copysign(1, rng.NormFloat64()+0.5)
		for c := range x[i] {
			x[i][c] = float64(float32(rng.NormFloat64() + y[i]*float64(c)/4))
		}
	}
	data := testproblems.Dense(x, y, true)
	weightOf := func(r int) float64 { return float64(r % 3) }
	for _, src := range []*block.Data{data, testproblems.Weighted(data, weightOf), testproblems.Sparse(data)} {
		for _, r := range []float64{0.1, 1, 20} {
			w, sigma, updates := make([]float64, d+1), [d + 1][d + 1]float64{}, int64(0)
			for c := range sigma {
				sigma[c][c] = 1
			}
			for range 2 {
				for i, row := range x {
					row, weight := append(append([]float64{}, row...), 1), 1.0
					if src.Spec().Weighted {
						weight = weightOf(i)
					}
					score, v := 0.0, 0.0
					var sx [d + 1]float64
					for c := range w {
						score += w[c] * row[c]
						for k := range w {
							sx[c] += sigma[c][k] * row[k]
						}
						v += row[c] * sx[c]
					}
					loss := max(0, 1-y[i]*score)
					if loss == 0 || weight == 0 {
						continue
					}
					updates++
					beta := 1 / (v + r/weight)
					for c := range w {
						w[c] += loss * beta * y[i] * sx[c]
						sigma[c][c] -= beta * sx[c] * sx[c]
					}
				}
			}
			got := require.Value(Train(t.Context(), src, Settings{Options: Options{Epochs: 2, R: r}}))(t)
			for c, v := range w {
				if math.Abs(float64(got.Weights[c])-v) > 1e-4*(1+math.Abs(v)) {
					t.Fatalf("r %v: weight %d is %v, want %v", r, c, got.Weights[c], v)
				}
			}
			if diff := got.Updates - updates; diff > 2 || diff < -2 { // losses near 0 are rounded in another way
				t.Errorf("r %v: %d updates, want %d", r, got.Updates, updates)
			}
		}
	}
}

// TestClasses: three classes of which nine tenths of the rows can be separated are learned, and the vectors of the
// classes nearly cancel, since an update changes two of them in opposite directions.
func TestClasses(t *testing.T) {
	data := testproblems.RandomClasses(500, 4, 3, 0.1)
	r := require.Value(Train(t.Context(), data, Settings{Options: Options{Epochs: 5}}))(t)
	if share := float64(r.Errors) / 500; share > 0.25 {
		t.Errorf("%.3f of the rows are wrong", share)
	}
	sums := make([]float64, data.Spec().Cols())
	for i, w := range r.Weights {
		sums[i%len(sums)] += float64(w)
	}
	for c := range sums { // the variances of the classes differ, so the sums needn't be 0; they stay small
		if math.Abs(sums[c]) > 0.5 {
			t.Errorf("column %d: the weights of the classes have the sum %v", c, sums[c])
		}
	}
}
