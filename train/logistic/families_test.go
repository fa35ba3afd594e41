package logistic

import (
	"math"
	"testing"

	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// TestFamilies: each solver that promises the optimum of hard problems finds it. It says so unless float32 is too
// coarse for the weights. A sample's start costs at most two passes more than zeros.
func TestFamilies(t *testing.T) {
	rows := 10 * 4096
	if require.Small() {
		rows = 400 // pure Go and emulators take minutes for more
	}
	for _, f := range testproblems.All() {
		d := testproblems.Rows(f, rows)
		for _, solver := range []Solver{Newton, LBFGS} {
			r := mustTrain(t, d, Settings{Options: Options{L2: 1e-3, Solver: solver}})
			if r.Converged == r.GapLostByRounding || r.Converged && !(r.Gap <= 1e-6*r.Objective) {
				t.Errorf("%s, %s, l2 0.001: converged %v, rounded %v, gap %v of %v", f.Name, solver, r.Converged, r.GapLostByRounding, r.Gap, r.Objective)
			}
		}
		best := math.Inf(1)
		for _, solver := range []Solver{Newton, LBFGS} {
			r := mustTrain(t, d, Settings{Options: Options{L2: 1, Solver: solver}})
			if r.Converged == r.GapLostByRounding || r.Converged && !(r.Gap <= 1e-6*r.Objective) {
				t.Errorf("%s, %s: converged %v, rounded %v, gap %v of %v", f.Name, solver, r.Converged, r.GapLostByRounding, r.Gap, r.Objective)
			}
			if best = min(best, r.Objective); r.Converged && r.Objective > best*(1+1e-6) {
				t.Errorf("%s, %s: objective %v, and %v is possible", f.Name, solver, r.Objective, best)
			}
			if solver == Newton {
				zeros := fromZeros(t, d, Options{Epochs: 100, L2: 1})
				if r := mustTrain(t, d, Settings{Options: Options{L1: 1}}); r.Converged == r.GapLostByRounding || r.Epochs > 50 {
					t.Errorf("%s, l1: converged %v, rounded %v, gap %v of %v in %d passes", f.Name, r.Converged, r.GapLostByRounding, r.Gap, r.Objective, r.Epochs)
				}
				if r.Epochs > zeros.Passes()+2 {
					t.Errorf("%s: %d passes with a sample, %d without", f.Name, r.Epochs, zeros.Passes())
				}
			}
		}
	}
}
