package logistic

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/learner"
)

// TestMultinomial: the optimum is scikit-learn's. testdata/sklearn_multinomial.py made the fixture.
func TestMultinomial(t *testing.T) {
	var fixture struct {
		Cases []struct {
			Name         string
			L2           float64
			FitIntercept bool `json:"fit_intercept"`
			Classes      int
			Weights      []float64
			Proba        []float64
			X            [][]float64
			Y            []float64
		}
	}
	require.Fixture(t, "testdata/sklearn_multinomial.json", &fixture)
	if len(fixture.Cases) < 8 {
		t.Fatalf("the fixture has %d cases", len(fixture.Cases))
	}
	for _, c := range fixture.Cases {
		opt := Settings{Options: Options{L2: c.L2}}
		rows := testproblems.Classes(c.X, c.Y, c.Classes, c.FitIntercept)
		r := mustTrain(t, rows, opt)
		require.NearNumbers(t, c.Name, r.ExactWeights, c.Weights, 1e-6)
		require.NearNumbers(t, c.Name+", sparse", mustTrain(t, testproblems.Sparse(rows), opt).ExactWeights, c.Weights, 1e-6)
		if !r.Converged || r.Solver != LBFGS {
			t.Errorf("%s: converged %v, gradient %v, by %s", c.Name, r.Converged, r.Gradient, r.Solver)
		}
		loss, errors, p := softmaxLoss(c.X, c.Y, testproblems.Float64s(r.Weights), c.Classes)
		if math.Abs(r.Loss/loss-1) > 1e-10 || r.Errors != errors {
			t.Errorf("%s: loss %v and %d errors, want %v and %d", c.Name, r.Loss, r.Errors, loss, errors)
		}
		for k, want := range c.Proba {
			if math.Abs(p[k]-want) > 1e-6 {
				t.Errorf("%s: probability %d of row 0 is %v, want %v", c.Name, k, p[k], want)
			}
		}
		cols := len(r.Weights) / c.Classes
		for i := range cols {
			sum := 0.0
			for k := range c.Classes {
				sum += r.ExactWeights[k*cols+i]
			}
			if math.Abs(sum) > 1e-9 {
				t.Errorf("%s: weights of column %d sum to %v over the classes", c.Name, i, sum)
			}
		}
	}
}

// softmaxLoss returns the loss and the errors of weights, in plain loops, and the probabilities of row 0.
func softmaxLoss(x [][]float64, y, w []float64, classes int) (loss float64, errors int64, first []float64) {
	cols := len(w) / classes
	for i, row := range x {
		z, sum := make([]float64, classes), 0.0
		for k := range z {
			w := w[k*cols:][:cols]
			for c, v := range row {
				z[k] += v * w[c]
			}
			if cols > len(row) {
				z[k] += w[cols-1]
			}
			sum += math.Exp(z[k])
		}
		loss += math.Log(sum) - z[int(y[i])]
		if slices.Index(z, slices.Max(z)) != int(y[i]) {
			errors++
		}
		if i == 0 {
			for _, v := range z {
				first = append(first, math.Exp(v)/sum)
			}
		}
	}
	return loss, errors, first
}

// TestConstant: a column beside the bias that is constant up to rounding changes no score.
func TestConstant(t *testing.T) {
	x, y := draw(300, 3, 5)
	plain := mustTrain(t, testproblems.Dense(x, y, true), Settings{Options: Options{Solver: LBFGS}})
	for i := range x {
		x[i] = append(x[i], 0.1)
	}
	r := mustTrain(t, testproblems.Dense(x, y, true), Settings{Options: Options{Solver: LBFGS}})
	w := r.ExactWeights
	require.NearNumbers(t, "effect", []float64{w[0], w[1], w[2], w[4] + float64(float32(0.1))*w[3]}, plain.ExactWeights, 1e-7)
	if !r.Converged || math.Abs(w[3]) > 1e-3 {
		t.Errorf("converged %v, the constant's weight is %v", r.Converged, w[3])
	}
}

// wideRows returns sparse rows of ones in a few of many columns. The first columns tell the label.
func wideRows(rows, cols int, seed uint64) *block.Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	spec := &schema.Spec{Features: make([]string, cols-1), Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	s := &kernel.SparseRows{Ptr: []int64{0}}
	var y []float32
	for range rows {
		label := float32(2*rng.IntN(2) - 1)
		var columns []uint32
		for range 10 {
			columns = append(columns, uint32(rng.IntN(cols-1)))
		}
		if rng.IntN(3) > 0 {
			columns = append(columns, uint32(label+1))
		}
		slices.Sort(columns)
		for _, c := range append(slices.Compact(columns), uint32(cols-1)) {
			s.Idx, s.Val = append(s.Idx, c), append(s.Val, 1)
		}
		s.Ptr, y = append(s.Ptr, int64(len(s.Idx))), append(y, label)
	}
	return block.NewData(spec, []*block.Block{{Cols: cols, Stride: kernel.Stride(cols), Sparse: s, Y: y}})
}

// TestWide: with 200,000 columns, an optimum is found in the memory of a few vectors. Small tests have 40,000.
func TestWide(t *testing.T) {
	cols := 200_000
	if require.Small() {
		cols = 40_000
	}
	d := wideRows(3000, cols, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := mustTrain(t, d, Settings{Options: Options{L2: 1, Solver: LBFGS}})
	runtime.ReadMemStats(&after)
	if r.Solver != LBFGS || !r.Converged {
		t.Errorf("%s, converged %v", r.Solver, r.Converged)
	}
	auto := mustTrain(t, d, Settings{Options: Options{L2: 1}})
	if auto.Solver != Truncated || !auto.Converged || math.Abs(auto.Objective-r.Objective) > 1e-6*r.Objective {
		t.Errorf("%s, converged %v, objective %v, not %v", auto.Solver, auto.Converged, auto.Objective, r.Objective)
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 8*uint64(cols)*uint64(r.Epochs)*20 {
		t.Errorf("%d bytes were allocated in %d passes", bytes, r.Epochs)
	}
	p := newProblem(d, 1, 2) // the gradient vanishes
	at, w := sums{}, p.zeros()
	copy(w, r.ExactWeights)
	require.NoError(t, p.pass(t.Context(), w, false, &at))
	if g := learner.Norm(at.Gradient); g > 1e-6 {
		t.Errorf("the gradient's norm is %v", g)
	}
}

// TestFewFactors: columns that are sums of a few factors let the first steps of L-BFGS gain much, and the next ones
// little. Conjugate gradients then find the optimum.
func TestFewFactors(t *testing.T) {
	for _, l2 := range []float64{1, 1e-4} {
		x, y := testproblems.Factors(rand.New(rand.NewPCG(1, 5)), 2000, 300, 5)
		r := mustTrain(t, testproblems.Dense(x, y, true), Settings{Options: Options{L2: l2}})
		if !r.Converged || r.Epochs > 200 {
			t.Errorf("l2 %v: converged %t after %d passes", l2, r.Converged, r.Epochs)
		}
	}
}
