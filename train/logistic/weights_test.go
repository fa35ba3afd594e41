package logistic

import (
	"errors"
	"math"
	"testing"

	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestSGD: with rows for a few thousand steps, the objective comes within a thousandth of the optimum.
func TestSGD(t *testing.T) {
	for _, l2 := range []float64{0, 10} {
		for _, classes := range []int{2, 4} {
			x, y := draw(5000, 8, 2)
			for i := range x {
				x[i][3] = 1000 + 50*x[i][3] // the scaling is for this column
				x[i][4] *= 1e-3
			}
			d := testproblems.Dense(x, y, true)
			if classes > 2 {
				d = testproblems.Classes(x, severalClasses(x, classes), classes, true)
			}
			objective := func(r *Result) float64 {
				p, at := newProblem(d, l2, 1), sums{}
				w := p.zeros()
				for k := range p.vectors {
					copy(w[k*p.stride:], r.ExactWeights[k*p.cols:][:p.cols])
				}
				require.NoError(t, p.pass(t.Context(), w, false, &at))
				return at.Objective
			}
			best := objective(mustTrain(t, d, Settings{Options: Options{L2: l2, Solver: LBFGS}}))
			for _, epochs := range []int64{15, 100} {
				r := mustTrain(t, d, Settings{Options: Options{Epochs: epochs, L2: l2, Solver: SGD}})
				if over := objective(r)/best - 1; over > 1e-3 || over < 0 {
					t.Errorf("l2 %v, %d classes, %d epochs: %v above the optimum", l2, classes, r.Epochs, over)
				}
				if r.Updates != r.Epochs*157 || r.Epochs > epochs || r.Converged != (r.Epochs < epochs) {
					t.Errorf("%d updates in %d epochs, converged %v", r.Updates, r.Epochs, r.Converged)
				}
			}
		}
	}
}

// TestWeights: stochastic gradient descent counts a row of weight k as k rows. Rows without any weight are an error, and rows of weight 0
// don't matter for whether a plane separates the others.
func TestWeights(t *testing.T) {
	x, y := draw(400, 4, 6)
	var repeated [][]float64
	var repeatedY []float64
	for r := range x {
		for range r % 4 {
			repeated, repeatedY = append(repeated, x[r]), append(repeatedY, y[r])
		}
	}
	rows := testproblems.Dense(x, y, true)
	best := mustTrain(t, testproblems.Dense(repeated, repeatedY, true), Settings{Options: Options{L2: 2, Solver: LBFGS}})
	near := mustTrain(t, testproblems.Weighted(rows, func(r int) float64 { return float64(r % 4) }), Settings{Options: Options{L2: 2, Solver: SGD}})
	if over := near.Loss/best.Loss - 1; math.Abs(over) > 0.02 {
		t.Errorf("SGD's loss is %v above the optimum's", over)
	}
	for _, solver := range []Solver{Auto, SGD} {
		if _, err := Train(t.Context(), testproblems.Weighted(rows, func(int) float64 { return 0 }), Settings{Options: Options{NoPenalty: true, Solver: solver}}); err != learner.ErrWeightless {
			t.Errorf("%s: error %v without any weight", solver, err)
		}
	}
	three := testproblems.Classes([][]float64{{1, 0}, {0, 1}, {-1, -1}, {1, 0}}, []float64{0, 1, 2, 1}, 3, true)
	if _, err := Train(t.Context(), testproblems.Weighted(three, func(r int) float64 { return float64(1 - r/3) }), Settings{Options: Options{NoPenalty: true}}); !errors.Is(err, ErrSeparable) {
		t.Errorf("three classes: error %v", err)
	}
	line := testproblems.Weighted(testproblems.Dense([][]float64{{1}, {2}, {3}}, []float64{-1, 1, -1}, true), func(r int) float64 { return float64(1 - r/2) })
	for _, solver := range []Solver{Newton, LBFGS} {
		if _, err := Train(t.Context(), line, Settings{Options: Options{NoPenalty: true, Solver: solver}}); err != ErrSeparable {
			t.Errorf("%s: error %v", solver, err)
		}
	}
}
