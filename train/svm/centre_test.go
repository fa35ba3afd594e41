package svm

import (
	"math"
	"slices"
	"testing"

	"halfspace/internal/testproblems"
	"halfspace/train/internal/optimize"
)

// offsetRows returns normal rows with labels. Some columns are far from zero, one is constant, and one is mostly 0.
func offsetRows(n int) (x [][]float64, y []float64) {
	x, y = draw(n, 6, 11)
	for r := range x {
		x[r][1] += 1e6
		x[r][2] = 3e5 - 20*x[r][2]
		x[r][3] = 7.7
		if r%9 > 0 {
			x[r][4] = 0
		}
		for i := range x[r] {
			x[r][i] = float64(float32(x[r][i]))
		}
	}
	return x, y
}

// TestFrame has columns far from zero. The optimum is that of rows less their means, except for the bias.
func TestFrame(t *testing.T) {
	x, y := offsetRows(5000)
	d := testproblems.Dense(x, y, true)
	for _, loss := range Losses {
		want := mustTrain(t, d, Settings{Options: Options{Loss: loss}})
		if other := centredOptimum(t, x, y, loss, 1); want.Objective-want.Gap > other*(1+1e-9) || want.Objective > other*(1+1e-3) {
			t.Errorf("%s: objective %v and gap %v, centred %v", loss, want.Objective, want.Gap, other)
		}
	}
}

// TestFrameWithoutBias: without a bias, columns that are far from zero are told apart.
func TestFrameWithoutBias(t *testing.T) {
	x, y := offsetRows(500)
	d := testproblems.Dense(x, y, false)
	for _, loss := range Losses {
		r := mustTrain(t, d, Settings{Options: Options{Loss: loss}})
		weights := testproblems.Float64s(r.Weights)
		if objective := exactObjective(d, weights, loss, 1); math.Abs(r.Objective-objective) > 1e-7*objective || !r.Converged {
			t.Errorf("%s: converged %v after %d passes, objective %v, it is %v, gap %v", loss, r.Converged, r.Epochs, r.Objective, objective, r.Gap)
		}
		for i := range weights { // a minimum along each axis, where the bound on the optimum holds
			for _, by := range []float64{1 + 1e-6, 1 - 1e-6} {
				w := slices.Clone(weights)
				w[i] *= by
				if other := exactObjective(d, w, loss, 1); other < r.Objective-r.Gap-1e-9*r.Objective {
					t.Errorf("%s: objective %v and gap %v, but %v elsewhere", loss, r.Objective, r.Gap, other)
				}
			}
		}
	}
}

// TestConstant: a constant column beside a bias is not far from zero.
func TestConstant(t *testing.T) {
	x, y := draw(500, 3, 2)
	plain := testproblems.Dense(x, y, true)
	for r := range x {
		x[r] = append(x[r], 0.1)
	}
	for _, loss := range Losses {
		want, r := mustTrain(t, plain, Settings{Options: Options{Loss: loss}}), mustTrain(t, testproblems.Dense(x, y, true), Settings{Options: Options{Loss: loss}})
		if math.Abs(r.Objective/want.Objective-1) > 2*optimize.ConvergedGap || !r.Converged || math.Abs(r.ExactWeights[3]) > 1e-3 {
			t.Errorf("%s: objective %v, want %v; weights %v", loss, r.Objective, want.Objective, r.ExactWeights)
		}
	}
}
