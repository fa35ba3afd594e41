package svm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/block"
	"halfspace/internal/families"
	"halfspace/internal/testrows"
	"halfspace/kernel"
)

// measure trains. It fails unless training converges within that many passes and its figures are true of its weights.
func measure[T kernel.Float](t *testing.T, name string, d *block.Data[T], loss Loss, l2 float64, passes int64) {
	t.Helper()
	r := mustTrain(t, d, Options{Loss: loss, L2: l2})
	t.Logf("%-36s l2 %-5.3g %-13s %3d passes, visits of %5.1f, %3d steps, gap %.1e, objective %.10g, %.0f ms", name, l2, loss, r.Epochs,
		float64(r.Visits)/float64(d.Rows()), r.Updates, r.Gap/r.Objective, r.Objective, 1000*r.Seconds)
	if !r.Converged || !(r.Gap <= tolerance*r.Objective) || r.Epochs > passes {
		t.Errorf("%s, l2 %v, %s: converged %v with a gap of %v of %v after %d passes, at most %d are wanted", name, l2, loss, r.Converged, r.Gap, r.Objective,
			r.Epochs, passes)
	}
	if objective := exactly(d, r.Weights, loss, l2); math.Abs(r.Objective-objective) > 1e-8*objective {
		t.Errorf("%s, l2 %v, %s: objective %v, it is %v", name, l2, loss, r.Objective, objective)
	}
}

// TestFamilies: rows of all kinds take few passes.
func TestFamilies(t *testing.T) {
	for _, n := range []int{200, 2000, 40960} {
		if testing.Short() && n > 200 {
			break
		}
		for _, f := range families.All() {
			d, l2s := families.Rows[float64](f, n), []float64{1, 1e-3, 1e-6}
			if n > 2000 {
				l2s = l2s[:1]
			}
			for _, l2 := range l2s {
				name := fmt.Sprintf("%d x %s", n, f.Name)
				measure(t, name, d, SquaredHinge, l2, 70)
				measure(t, name, d, Hinge, l2, 130)
			}
			if r := mustTrain(t, d, Options{L1: 1}); !r.Converged || r.Epochs > 40 {
				t.Errorf("%d x %s, l1: converged %v, gap %v of %v in %d passes", n, f.Name, r.Converged, r.Gap, r.Objective, r.Epochs)
			}
		}
	}
}

// TestSeparable: so do rows that a plane separates, with columns of unlike scales or dependent ones, with any penalty.
func TestSeparable(t *testing.T) {
	for _, n := range []int{200, 2000, 20000} {
		if testing.Short() && n > 2000 {
			break
		}
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		x, y := draw(n, 8, uint64(n))
		for r := range x {
			for i := range x[r] { // move the row away from draw's plane, which the first normal numbers of its seed make
				x[r][i] = (x[r][i] + 0.1*y[r]) * math.Pow(10, float64(i)*6/7-3)
			}
		}
		scaled := testrows.Dense[float64](x, y, true)
		for r := range x {
			x[r] = append(x[r], x[r][0]+x[r][1], 2*x[r][6], rng.NormFloat64(), 1)
		}
		for _, l2 := range []float64{1e4, 1, 1e-3, 1e-6} {
			for _, loss := range Losses {
				measure(t, fmt.Sprintf("%d x scales", n), scaled, loss, l2, 100)
				measure(t, fmt.Sprintf("%d x dependent", n), testrows.Dense[float64](x, y, true), loss, l2, 100)
			}
		}
	}
}
