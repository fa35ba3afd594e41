package logistic

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"halfspace/internal/linalg"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestSingularErrors: columns that others determine have no standard errors, and the other columns have those without them, at
// any distance from zero.
func TestSingularErrors(t *testing.T) {
	x, y := draw(300, 3, 5)
	coarse := func(v float64) float64 { return math.Round(v*0x1p13) / 0x1p13 } // float32 holds it, with the offset, and sums of two
	for _, robust := range []bool{false, true} {
		for _, offset := range []float64{0, 1000} {
			var few, more [][]float64
			for _, row := range x {
				row = []float64{coarse(row[0]) + offset, coarse(row[1]) - offset, row[2]}
				few, more = append(few, row), append(more, []float64{row[0], row[1], row[2], row[1], 0, 1e17, row[0] + row[1]})
			}
			plain := mustTrain(t, testproblems.Dense(few, y, true), Settings{Options: Options{Robust: robust}}).StdErrors
			want := []float64{plain[0], plain[1], plain[2], 0, 0, 0, 0, plain[3]}
			require.NearNumbers(t, "standard errors", mustTrain(t, testproblems.Dense(more, y, true), Settings{Options: Options{Robust: robust}}).StdErrors, want, 1e-6)
		}
	}
}

// TestSingular: a repeated column, one that equals the bias, and one of zeros don't change predictions.
func TestSingular(t *testing.T) {
	x, y := draw(300, 3, 5)
	plain := mustTrain(t, testproblems.Dense(x, y, true), Settings{})
	var more [][]float64
	for _, row := range x {
		more = append(more, []float64{row[0], row[1], row[2], row[1], 0, 7})
	}
	r := mustTrain(t, testproblems.Dense(more, y, true), Settings{})
	want := []linalg.Dependence{{Column: 3, On: []int{1}}, {Column: 4}, {Column: 5, On: []int{6}}}
	if !r.Converged || !reflect.DeepEqual(r.DependentColumns, want) {
		t.Errorf("converged %v, dependent %v", r.Converged, r.DependentColumns)
	}
	w := r.ExactWeights
	require.NearNumbers(t, "effect", []float64{w[0], w[1] + w[3], w[2], w[6] + 7*w[5]}, plain.ExactWeights, 1e-6)
	if w[4] != 0 {
		t.Errorf("the weight of zeros is %v", w[4])
	}
	if math.Abs(r.Loss-plain.Loss) > 1e-9*plain.Loss {
		t.Errorf("loss %v, want %v", r.Loss, plain.Loss)
	}
}

// TestRoundedColumns: a column is left out if it differs from a combination of others by rounding errors that tell nothing
// about the classes, as the rounded sum of two columns does. It is kept if they tell the classes, as the difference of two
// Unix times does in float32, which has steps of 128 seconds there.
func TestRoundedColumns(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 37))
		var sums, times [][]float64
		var y, classes []float64
		for range 200 {
			a, b, noise := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			sums = append(sums, []float64{a, b, float64(float32(a)) + float64(float32(b))})
			start, apart := math.Round(1.7e9+1e7*rng.Float64()), math.Round(120*rng.NormFloat64())
			times = append(times, []float64{start, start + apart})
			y = append(y, math.Copysign(1, a+apart/120+noise/3))
			classes = append(classes, 1+math.Round(min(1, max(-1, apart/120))))
		}
		for _, solver := range []Solver{Newton, LBFGS} {
			r := mustTrain(t, testproblems.Dense(sums, y, true), Settings{Options: Options{Solver: solver}})
			if want := []linalg.Dependence{{Column: 2, On: []int{0, 1}}}; !r.Converged || !reflect.DeepEqual(r.DependentColumns, want) || !math.IsInf(r.Gap, 1) {
				t.Errorf("seed %d, %v, sums: converged %v, dependent %v, gap %v", seed, solver, r.Converged, r.DependentColumns, r.Gap)
			}
			r = mustTrain(t, testproblems.Dense(times, y, true), Settings{Options: Options{Solver: solver}})
			if r.DependentColumns != nil || r.Converged && math.IsInf(r.Gap, 1) {
				t.Errorf("seed %d, %v, times: converged %v, dependent %v, gap %v", seed, solver, r.Converged, r.DependentColumns, r.Gap)
			}
		}
		r := mustTrain(t, testproblems.Classes(times, classes, 3, true), Settings{Options: Options{Solver: LBFGS}})
		if r.DependentColumns != nil || r.Converged && math.IsInf(r.Gap, 1) {
			t.Errorf("seed %d, times of three classes: converged %v, dependent %v, gap %v", seed, r.Converged, r.DependentColumns, r.Gap)
		}
	}
}

// TestSeparable: without penalty, separable rows are an error. So are rows of both classes on the plane, and rows that
// the first steps don't separate.
func TestSeparable(t *testing.T) {
	many, labels := draw(200, 3, 8)
	for i, row := range many {
		labels[i] = math.Copysign(1, row[0]+1e-3*row[1])
	}
	for name, c := range map[string]struct {
		x    [][]float64
		y    []float64
		bias bool
	}{
		"two rows":  {[][]float64{{1}, {2}}, []float64{-1, 1}, true},
		"textbook":  {[][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1}, true},
		"narrow":    {many, labels, true},
		"no bias":   {[][]float64{{1}, {-2}}, []float64{1, -1}, false},
		"on a line": {[][]float64{{1}, {1}, {2}, {0}}, []float64{-1, 1, 1, -1}, true},
		"a dummy":   {[][]float64{{1, 3}, {1, 4}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}, []float64{1, 1, -1, 1, 1, -1}, true},
	} {
		if _, err := Train(context.Background(), testproblems.Dense(c.x, c.y, c.bias), Settings{Options: Options{NoPenalty: true}}); !errors.Is(err, ErrSeparable) {
			t.Errorf("%s: error %v", name, err)
		}
		if r := mustTrain(t, testproblems.Dense(c.x, c.y, c.bias), Settings{Options: Options{L2: 0.1}}); !r.Converged {
			t.Errorf("%s: with a penalty, %+v", name, r)
		}
	}
	x, y := draw(2000, 2, 9) // strong, but not separable
	for i, row := range x {
		y[i] = math.Copysign(1, row[0])
	}
	x[7][0], y[7], x[8][0], y[8] = 0.5, -1, -0.5, 1
	if r := mustTrain(t, testproblems.Dense(x, y, true), Settings{}); !r.Converged {
		t.Errorf("strong: %+v", r)
	}
}

// TestFew: one row, or one pass, gives a result, not an error.
func TestFew(t *testing.T) {
	one := mustTrain(t, testproblems.Dense([][]float64{{2}}, []float64{1}, false), Settings{Options: Options{L2: 1}})
	// w = p' x / l2 with p' = 1/(1 + e^(2w)): w = 2/(1 + e^(2w))
	if w := one.ExactWeights[0]; math.Abs(w*(1+math.Exp(2*w))-2) > 1e-7 || one.Errors != 0 {
		t.Errorf("weights %v, %d errors", one.ExactWeights, one.Errors)
	}
	for _, epochs := range []int64{1, 2, 100} { // the figures are those of the weights
		r := mustTrain(t, testproblems.Dense([][]float64{{2}, {1}, {3}}, []float64{1, 1, -1}, false), Settings{Options: Options{Epochs: epochs, L2: 1}})
		w := float64(r.Weights[0])
		loss, g, h := 0.0, w, 1.0
		for _, m := range []float64{2, 1, -3} {
			p := 1 / (1 + math.Exp(m*w))
			loss, g, h = loss-math.Log(1-p), g-m*p, h+m*m*p*(1-p)
		}
		if math.Abs(r.Loss-loss) > 1e-12 || math.Abs(r.Gradient-math.Abs(g)/math.Sqrt(h)) > 1e-14 || math.Abs(r.StdErrors[0]-1/math.Sqrt(h)) > 1e-12 {
			t.Errorf("%d passes: loss %v, gradient %v, standard error %v; want %v, %v, %v", epochs, r.Loss, r.Gradient, r.StdErrors, loss, g/math.Sqrt(h), 1/math.Sqrt(h))
		}
	}
	x, y := draw(500, 3, 1)
	var seen []learner.Progress
	r := mustTrain(t, testproblems.Dense(x, y, true), Settings{Options: Options{Epochs: 2}, Run: learner.Run{Progress: func(p learner.Progress) { seen = append(seen, p) }}})
	if r.Converged || r.Epochs != 2 || r.Updates != 1 || r.Visits != 1000 {
		t.Errorf("two passes give %+v", r)
	}
	if last := seen[len(seen)-1]; last.Epoch != 2 || last.Epochs != 2 || last.Rows != 500 {
		t.Errorf("progress %+v", seen)
	}
}
