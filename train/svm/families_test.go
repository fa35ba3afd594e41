package svm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/internal/optimize"
)

// measure trains. It fails unless training finds the optimum within that many passes, as the lower bound proves, its figures
// are true of its weights, and rounding these costs no more than it may.
func measure(t *testing.T, name string, d *block.Data, loss Loss, l2 float64, passes int64) {
	t.Helper()
	r := mustTrain(t, d, Settings{Options: Options{Loss: loss, L2: l2}})
	t.Logf("%-36s l2 %-5.3g %-13s %3d passes, visits of %5.1f, %3d steps, gap %.1e, objective %.10g, %.0f ms", name, l2, loss, r.Epochs,
		float64(r.Visits)/float64(d.Rows()), r.Updates, r.Gap/r.Objective, r.Objective, 1000*r.Seconds)
	name = fmt.Sprintf("%s, l2 %v, %s", name, l2, loss)
	if found, lower := exactObjective(d, r.ExactWeights, loss, l2), r.Objective-r.Gap; !(found-lower <= optimize.ConvergedGap*found) || r.Epochs > passes {
		t.Errorf("%s: exact weights with %v after %d passes, at least %v is possible, and at most %d passes are wanted", name, found, r.Epochs, lower, passes)
	}
	if objective := exactObjective(d, testproblems.Float64s(r.Weights), loss, l2); math.Abs(r.Objective-objective) > 1e-8*objective {
		t.Errorf("%s: objective %v, it is %v", name, r.Objective, objective)
	}
	if r.Converged != (r.Gap <= optimize.ConvergedGap*r.Objective) {
		t.Errorf("%s: converged %v with a gap of %v of %v", name, r.Converged, r.Gap, r.Objective)
	}
	if !r.Converged {
		most := math.Inf(1)
		for _, by := range append([]float64{0}, lengthFactors...) {
			w := slices.Clone(r.ExactWeights)
			for i := range w {
				w[i] *= 1 + by
			}
			most = min(most, objectiveBound(d, w, loss, l2, 0x1p-24)) // half of the distance of the float32 nearest to 1
		}
		if r.Objective > most*(1+1e-9) {
			t.Errorf("%s: rounded weights with %v, at most %v is right", name, r.Objective, most)
		}
	}
}

// TestFamilies: rows of all kinds take few passes.
func TestFamilies(t *testing.T) {
	for _, n := range []int{200, 2000, 40960} {
		if require.Small() && n > 200 {
			break
		}
		for _, f := range testproblems.All() {
			d, l2s := testproblems.Rows(f, n), []float64{1, 1e-3, 1e-6}
			if n > 2000 {
				l2s = l2s[:1]
			}
			for _, l2 := range l2s {
				name := fmt.Sprintf("%d x %s", n, f.Name)
				measure(t, name, d, SquaredHinge, l2, 70)
				measure(t, name, d, Hinge, l2, 150) // with passes over rows for a Hessian
			}
			if r := mustTrain(t, d, Settings{Options: Options{L1: 1}}); !r.Converged && !r.GapLostByRounding || r.Epochs > 40 {
				t.Errorf("%d x %s, l1: converged %v, gap %v of %v in %d passes", n, f.Name, r.Converged, r.Gap, r.Objective, r.Epochs)
			}
		}
	}
}

// TestSeparable: so do rows that a plane separates, with columns of unlike scales or dependent ones, with any penalty.
func TestSeparable(t *testing.T) {
	for _, n := range []int{200, 2000, 20000} {
		if require.Small() && n > 2000 {
			break
		}
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		x, y := draw(n, 8, uint64(n))
		for r := range x {
			for i := range x[r] { // move the row away from draw's plane, which the first normal numbers of its seed make
				x[r][i] = (x[r][i] + 0.1*y[r]) * math.Pow(10, float64(i)*6/7-3)
			}
		}
		scaled := testproblems.Dense(x, y, true)
		for r := range x {
			x[r] = append(x[r], x[r][0]+x[r][1], 2*x[r][6], rng.NormFloat64(), 1)
		}
		for _, l2 := range []float64{1e4, 1, 1e-3, 1e-6} {
			for _, loss := range Losses {
				measure(t, fmt.Sprintf("%d x scales", n), scaled, loss, l2, 100)
				measure(t, fmt.Sprintf("%d x dependent", n), testproblems.Dense(x, y, true), loss, l2, 100)
			}
		}
	}
}
