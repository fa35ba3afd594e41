package logistic

import (
	"errors"
	"math"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/train"
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
			d := testrows.Dense(x, y, true)
			if classes > 2 {
				d = testrows.Classes(x, several(x, classes), classes, true)
			}
			objective := func(r *Result) float64 {
				p, at := newProblem(d, l2, 1), sums{}
				w := p.zeros()
				for k := range p.vectors {
					copy(w[k*p.stride:], r.Exact[k*p.cols:][:p.cols])
				}
				if err := p.pass(t.Context(), w, false, &at); err != nil {
					t.Fatal(err)
				}
				return at.objective
			}
			best := objective(mustTrain(t, d, Options{L2: l2, Solver: LBFGS}))
			for _, epochs := range []int64{15, 100} {
				r := mustTrain(t, d, Options{L2: l2, Solver: SGD, Options: train.Options{Epochs: epochs}})
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

// TestWeights: with every solver, a weight of k is k copies of the row, and 0 leaves it out.
func TestWeights(t *testing.T) {
	x, y := draw(400, 4, 6)
	weight := func(r int) float64 { return float64(r % 4) }
	for _, classes := range []int{2, 3} {
		labels, make := y, testrows.Dense
		if classes > 2 {
			labels = several(x, classes)
			make = func(x [][]float64, y []float64, bias bool) *block.Data {
				return testrows.Classes(x, y, classes, bias)
			}
		}
		var repeated [][]float64
		var repeatedY []float64
		for r := range x {
			for range r % 4 {
				repeated, repeatedY = append(repeated, x[r]), append(repeatedY, labels[r])
			}
		}
		for _, bias := range []bool{true, false} {
			weighted, rows := testrows.Weighted(make(x, labels, bias), weight), make(repeated, repeatedY, bias)
			for _, solver := range []Solver{Newton, LBFGS} {
				if solver == Newton && classes > 2 {
					continue
				}
				want := mustTrain(t, rows, Options{L2: 2, Solver: solver})
				for _, src := range []block.Source{weighted, testrows.Sparse(weighted), testrows.Stream{Data: weighted}} {
					r := mustTrain(t, src, Options{L2: 2, Solver: solver})
					nearly(t, string(solver), r.Exact, want.Exact, 1e-8)
					if solver == Newton {
						nearly(t, "standard errors", r.StdErrors, want.StdErrors, 1e-8)
					}
					if math.Abs(r.Loss/want.Loss-1) > 1e-9 {
						t.Errorf("%s: loss %v, want %v", solver, r.Loss, want.Loss)
					}
				}
			}
		}
		best := mustTrain(t, make(repeated, repeatedY, true), Options{L2: 2, Solver: LBFGS})
		near := mustTrain(t, testrows.Weighted(make(x, labels, true), weight), Options{L2: 2, Solver: SGD})
		if over := near.Loss/best.Loss - 1; math.Abs(over) > 0.02 {
			t.Errorf("SGD's loss is %v above the optimum's", over)
		}
		all := testrows.Weighted(make(x, labels, true), func(int) float64 { return 1 })
		if got, want := mustTrain(t, all, Options{L2: 2}), mustTrain(t, make(x, labels, true), Options{L2: 2}); !slices.Equal(got.Exact, want.Exact) {
			t.Error("weights of 1 change the result")
		}
		for _, solver := range []Solver{Auto, SGD} {
			if _, err := Train(t.Context(), testrows.Weighted(make(x, labels, true), func(int) float64 { return 0 }), Options{NoPenalty: true, Solver: solver}); err != errWeightless {
				t.Errorf("%s: error %v without any weight", solver, err)
			}
		}
	}
	three := testrows.Classes([][]float64{{1, 0}, {0, 1}, {-1, -1}, {1, 0}}, []float64{0, 1, 2, 1}, 3, true)
	if _, err := Train(t.Context(), testrows.Weighted(three, func(r int) float64 { return float64(1 - r/3) }), Options{NoPenalty: true}); !errors.Is(err, ErrSeparable) {
		t.Errorf("three classes: error %v", err)
	}
	// Rows of weight 0 don't matter for whether a plane separates the others.
	line := testrows.Weighted(testrows.Dense([][]float64{{1}, {2}, {3}}, []float64{-1, 1, -1}, true), func(r int) float64 { return float64(1 - r/2) })
	for _, solver := range []Solver{Newton, LBFGS} {
		if _, err := Train(t.Context(), line, Options{NoPenalty: true, Solver: solver}); err != ErrSeparable {
			t.Errorf("%s: error %v", solver, err)
		}
	}
}
