// Compiling gonum with the race detector takes long, so make race leaves this file out.

//go:build !race

package logistic

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"halfspace/internal/testrows"
)

// TestGonum: the final objective is as small as that of gonum's L-BFGS. The gradient agrees with differences of the
// objective.
func TestGonum(t *testing.T) {
	x, _ := draw(300, 4, 3)
	testrows.Round(x)
	for _, classes := range []int{3, 5} {
		y := several(x, classes)
		const l2 = 0.5
		d := testrows.Classes(x, y, classes, true)
		r := mustTrain(t, d, Options{L2: l2})
		objective := func(w []float64) float64 {
			sum, _, _ := softmaxLoss(x, y, w, classes)
			for i, v := range w {
				if i%5 != 4 {
					sum += l2 / 2 * v * v
				}
			}
			return sum
		}
		p := newProblem(d, l2, 1)
		gradient := func(g, w []float64) {
			padded, at := p.zeros(), sums{}
			for k := range classes {
				copy(padded[k*p.stride:], w[k*5:][:5])
			}
			if err := p.pass(t.Context(), padded, false, &at); err != nil {
				t.Fatal(err)
			}
			for k := range classes {
				copy(g[k*5:][:5], at.gradient[k*p.stride:])
			}
		}
		w, g := make([]float64, 5*classes), make([]float64, 5*classes)
		for i := range w {
			w[i] = float64(i%7-3) / 2
		}
		gradient(g, w)
		for i := range w {
			const h = 1e-5
			at := slices.Clone(w)
			at[i] += h
			up := objective(at)
			at[i] -= 2 * h
			if want := (up - objective(at)) / (2 * h); math.Abs(g[i]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%d classes: element %d of the gradient is %v, want %v", classes, i, g[i], want)
			}
		}
		best, err := optimize.Minimize(optimize.Problem{Func: objective, Grad: gradient}, make([]float64, len(w)),
			&optimize.Settings{GradientThreshold: 1e-5}, &optimize.LBFGS{})
		if err != nil {
			t.Fatal(err)
		}
		if got := objective(testrows.Float64s(r.Weights)); got > best.F*(1+1e-12) {
			t.Errorf("%d classes: objective %v, gonum's %v", classes, got, best.F)
		}
	}
}
