package svm

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestFew: one row, one class, one feature, constant features or few passes give a result, not an error.
func TestFew(t *testing.T) {
	for _, loss := range Losses {
		// without a bias, 1/2 w^2 + (1-2w)+ is least at w = 1/2, and 1/2 w^2 + ((1-2w)+)^2 at w = 4/9
		one := mustTrain(t, testproblems.Dense([][]float64{{2}}, []float64{1}, false), Settings{Options: Options{Loss: loss}})
		if want := map[Loss]float64{Hinge: 0.5, SquaredHinge: 4.0 / 9}[loss]; math.Abs(one.ExactWeights[0]-want) > 1e-6 || one.Errors != 0 || !one.Converged {
			t.Errorf("%s: weights %v, want %v", loss, one.ExactWeights, want)
		}
		class := mustTrain(t, testproblems.Dense([][]float64{{2}, {3}}, []float64{1, 1}, true), Settings{Options: Options{Loss: loss}})
		if math.Abs(class.ExactWeights[0]) > 1e-3 || math.Abs(class.Loss) > 1e-6 || class.Errors != 0 || !class.Converged {
			t.Errorf("%s of one class: %+v", loss, class)
		}
		constant := mustTrain(t, testproblems.Dense([][]float64{{0}, {0}, {0}}, []float64{1, 1, -1}, true), Settings{Options: Options{Loss: loss}})
		if !constant.Converged || constant.Errors != 1 || constant.ExactWeights[0] != 0 {
			t.Errorf("%s of zeros: %+v", loss, constant)
		}
		x, y := draw(500, 3, 1)
		var seen []learner.Progress
		r := mustTrain(t, testproblems.Dense(x, y, true), Settings{Options: Options{Epochs: 3, Loss: loss}, Run: learner.Run{Progress: func(p learner.Progress) { seen = append(seen, p) }}})
		if r.Converged || r.Epochs > 3 || r.Visits != r.Epochs*500 {
			t.Errorf("%s: three passes give %+v", loss, r)
		}
		if last := seen[len(seen)-1]; last.Epoch != r.Epochs || last.Epochs != 3 || last.Rows != 500 {
			t.Errorf("%s: progress %+v", loss, seen)
		}
	}
}

// TestRareCategories has rows of categories, some of them rare. The rows near the kink of a sample's optimum don't
// balance the fixed ones, so the first weights are far off. Training still finds the optimum.
func TestRareCategories(t *testing.T) {
	if require.Small() {
		t.Skip("it takes seconds")
	}
	const groups, per, rows = 12, 10, 140_000
	rng := rand.New(rand.NewPCG(5, 6))
	truth := make([]float64, groups*per)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r] = make([]float64, groups*per)
		score := -0.8
		for g := range groups {
			i := g*per + min(per-1, int(rng.ExpFloat64()*1.2))
			x[r][i] = 1
			score += truth[i]
		}
		if y[r] = -1; score+2*rng.NormFloat64() > 0 {
			y[r] = 1
		}
	}
	d := testproblems.Dense(x, y, true)
	r := mustTrain(t, d, Settings{Options: Options{Loss: Hinge, L2: 1}})
	if !r.Converged || !(r.Gap <= 1e-6*r.Objective) {
		t.Errorf("after %d passes it converged: %v, with a gap of %v of %v", r.Epochs, r.Converged, r.Gap, r.Objective)
	}
}

// TestHessian: the Hessian is the sum of 2c times the products of the columns over the rows with a margin below 1, plus the
// penalty. A pass without it computes the same sums.
func TestHessian(t *testing.T) {
	x, y := draw(700, 5, 4)
	weight := func(r int) float64 { return float64(r%9) / 7 }
	for _, d := range []*block.Data{testproblems.Dense(x, y, true), testproblems.Weighted(testproblems.Dense(x, y, true), weight)} {
		p, w := newProblem(d, Settings{Options: Options{L2: 3}}), []float64{0.2, 0.1, -0.3, 0.1, 0.1, 0.2}
		var with, without sums
		h := require.Value(p.pass(t.Context(), w, true, &with))(t)
		require.Value(p.pass(t.Context(), w, false, &without))(t)
		if !reflect.DeepEqual(with, without) {
			t.Errorf("sums %+v, and %+v without the Hessian", with, without)
		}
		want := make([]float64, 21)
		for r, row := range x {
			row, margin, c := append(slices.Clone(row), 1), 0.0, 2.0
			for i, v := range row {
				row[i] = float64(float32(v))
				margin += y[r] * row[i] * w[i]
			}
			if d.Spec().Weighted {
				c *= weight(r)
			}
			for i := range row {
				for j := range i + 1 {
					if margin < 1 {
						want[i*(i+1)/2+j] += c * row[i] * row[j]
					}
				}
			}
		}
		for i := range 5 {
			want[i*(i+1)/2+i] += 3
		}
		requireNearly(t, "Hessian", h, want, 1e-12)
	}
}
