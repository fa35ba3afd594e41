package logistic

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/train"
)

// draw returns rows whose labels follow a logistic model.
func draw(n, d int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	truth := make([]float64, d)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	for range n {
		row, z := make([]float64, d), 0.3
		for i := range row {
			row[i] = rng.NormFloat64()
			z += row[i] * truth[i]
		}
		label := -1.0
		if rng.Float64() < 1/(1+math.Exp(-z)) {
			label = 1
		}
		x, y = append(x, row), append(y, label)
	}
	return x, y
}

// several returns labels of more classes that depend on the rows, with exceptions.
func several(x [][]float64, classes int) (y []float64) {
	rng := rand.New(rand.NewPCG(uint64(classes), 7))
	for _, row := range x {
		class := rng.IntN(classes)
		if c := int(math.Abs(row[0]) * 2); c < classes && rng.IntN(3) > 0 {
			class = c
		}
		y = append(y, float64(class))
	}
	return y
}

func mustTrain(t *testing.T, src block.Source, opt Options) *Result {
	t.Helper()
	opt.NoPenalty = true // an L2 of 0 is none
	r, err := Train(context.Background(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nearly fails unless each element of got is within tol of want's, relative to it, or to a thousandth of the largest.
func nearly(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", name, len(got), len(want))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= tol*max(math.Abs(v), largest/1000)) {
			t.Errorf("%s: element %d is %v, want %v", name, i, got[i], v)
		}
	}
}

// reweighted returns the rows of a fixture with its weights.
func reweighted(t *testing.T, d *block.Data, rows, classes []float64) block.Source {
	t.Helper()
	if rows != nil {
		d = testrows.Weighted(d, func(r int) float64 { return rows[r] })
	}
	if classes == nil {
		return d
	}
	balanced, err := train.BalancedWeights(context.Background(), d, 2)
	if err != nil {
		t.Fatal(err)
	}
	nearly(t, "class weights", balanced, classes, 1e-15)
	return train.WithClassWeights(d, balanced)
}

// TestScikitLearn: the optimum and its standard errors are those of scikit-learn and NumPy.
// testdata/sklearn_logistic.py made the fixture.
func TestScikitLearn(t *testing.T) {
	file, err := os.ReadFile("testdata/sklearn_logistic.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Cases []struct {
			Name         string
			L2           float64
			FitIntercept bool `json:"fit_intercept"`
			Weights      []float64
			StdErrors    []float64 `json:"std_errors"`
			X            [][]float64
			Y            []float64
			SampleWeight []float64 `json:"sample_weight"`
			ClassWeight  []float64 `json:"class_weight"`
		}
	}
	if err := json.Unmarshal(file, &fixture); err != nil {
		t.Fatal(err)
	}
	if len(fixture.Cases) < 11 {
		t.Fatalf("the fixture has %d cases", len(fixture.Cases))
	}
	for _, c := range fixture.Cases {
		rows := testrows.Dense(c.X, c.Y, c.FitIntercept)
		src := reweighted(t, rows, c.SampleWeight, c.ClassWeight)
		newton := mustTrain(t, src, Options{L2: c.L2})
		for _, d := range []*block.Data{rows, testrows.Sparse(rows)} {
			d := reweighted(t, d, c.SampleWeight, c.ClassWeight)
			r := mustTrain(t, d, Options{L2: c.L2, Solver: LBFGS})
			nearly(t, c.Name+", L-BFGS", r.Exact, c.Weights, 1e-7)
			if !r.Converged || r.Gradient > relative || r.StdErrors != nil {
				t.Errorf("%s, L-BFGS: converged %v, gradient %v, standard errors %v", c.Name, r.Converged, r.Gradient, r.StdErrors)
			}
			if math.Abs(r.Loss/newton.Loss-1) > 1e-9 {
				t.Errorf("%s, L-BFGS: loss %v, want %v", c.Name, r.Loss, newton.Loss)
			}
		}
		nearly(t, c.Name, newton.Exact, c.Weights, 1e-7)
		nearly(t, c.Name, newton.StdErrors, c.StdErrors, 1e-6) // of the weights as they are written
		if !newton.Converged || newton.Gradient > tolerance+normOfRounding(src, newton.Exact, c.L2) || newton.Ridge != 0 {
			t.Errorf("%s: converged %v, gradient %v, ridge %v", c.Name, newton.Converged, newton.Gradient, newton.Ridge)
		}
		for i, w := range newton.Exact {
			if newton.Weights[i] != float32(w) {
				t.Errorf("%s: weight %d is %v, not %v rounded", c.Name, i, newton.Weights[i], w)
			}
		}
	}
}

// normOfRounding returns a bound on the norm at an optimum's weights as float32 holds them. A score changes by 2^-24 of the sizes
// of its terms at most, and so does the product of the Hessian, whose factors are at most 1/4, with the change.
func normOfRounding(src block.Source, w []float64, l2 float64) float64 {
	square := 0.0
	for _, v := range w[:len(src.Spec().Features)] {
		square += l2 * v * v
	}
	for b := range src.Blocks(context.Background()) {
		for r := range b.Len() {
			terms := 0.0
			for i, v := range b.X[r*b.Stride:][:b.Cols] {
				terms += math.Abs(float64(v) * w[i])
			}
			square += b.Weight(r) * terms * terms / 4
		}
	}
	return 0x1p-24 * math.Sqrt(square)
}

// TestShuttle has figures of 23 flights of the space shuttle: temperature (F), and whether an O-ring was in distress.
// The log odds are 15.0429 - 0.2322 temperature, with standard errors of 7.3786 and 0.1082 (Dalal, Fowlkes and Hoadley,
// "Risk Analysis of the Space Shuttle", JASA 84, 1989).
func TestShuttle(t *testing.T) {
	temperatures := []float64{66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58}
	distress := []float64{0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1}
	var x [][]float64
	var y []float64
	for i, v := range temperatures {
		x, y = append(x, []float64{v}), append(y, 2*distress[i]-1)
	}
	r := mustTrain(t, testrows.Dense(x, y, true), Options{})
	round := func(v float64) float64 { return math.Round(v*1e4) / 1e4 }
	if round(r.Exact[0]) != -0.2322 || round(r.Exact[1]) != 15.0429 || round(r.StdErrors[0]) != 0.1082 || round(r.StdErrors[1]) != 7.3786 {
		t.Errorf("weights %v, standard errors %v", r.Exact, r.StdErrors)
	}
	if math.Abs(2*r.Loss-20.315) > 1e-3 { // the residual deviance
		t.Errorf("loss %v", r.Loss)
	}
}

// TestIdentity: the same bits on every instruction set, for every number of workers, in memory, streamed and sparse.
func TestIdentity(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, c := range []struct {
		n, d, classes int
		l2            float64
		solver        Solver
	}{{50, 1, 2, 0.1, Newton}, {9000, 5, 2, 0, Newton}, {4200, 40, 2, 1, Newton}, {4200, 70, 2, 1, Newton}, {9000, 5, 2, 0, LBFGS},
		{4200, 70, 2, 1, LBFGS}, {9000, 5, 3, 1, LBFGS}, {300, 5, 40, 1, LBFGS}, {9000, 5, 2, 1, SGD}, {4200, 70, 3, 1, SGD}} {
		if testing.Short() && c.d > 5 {
			continue
		}
		x, y := draw(c.n, c.d, 1)
		d := testrows.Dense(x, y, true)
		if c.classes > 2 {
			d = testrows.Classes(x, several(x, c.classes), c.classes, true)
		}
		var want *Result
		for _, level := range kernel.Levels() {
			kernel.Use(level)
			for _, src := range []block.Source{d, testrows.Stream{Data: d}, testrows.Sparse(d)} {
				for _, workers := range []int{1, 2, 3, 8} {
					if level != best && c.d > 5 && (workers == 1 || workers == 3) {
						continue // slow in pure Go
					}
					got := mustTrain(t, src, Options{Options: train.Options{Workers: workers, Epochs: 8}, L2: c.l2, Solver: c.solver})
					got.Seconds = 0
					if want == nil {
						want = got
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("%+v, %v, %T, %d workers: %+v, want %+v", c, level, src, workers, got, want)
					}
				}
			}
		}
	}
}

// TestSample: with many rows, the sample's start leads in few passes to the optimum that zeros lead to, the same in
// memory and streamed. Rows sorted by label still have a sample.
func TestSample(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million rows")
	}
	const n, d = 8 * 16 * block.RunRows, 28
	src := testrows.Logistic(n, d)
	sample, err := train.Sample(context.Background(), src)
	if err != nil || sample == nil || sample.Rows() != 16*block.RunRows {
		t.Fatalf("sample %v, error %v", sample, err)
	}
	got := mustTrain(t, src, Options{L2: 3})
	s := newSolver(src, Options{Options: train.Options{Epochs: 100, Workers: 2}, L2: 3})
	if _, err := s.minimise(context.Background()); err != nil {
		t.Fatal(err)
	}
	nearly(t, "with a sample", got.Exact, s.w[:s.cols], 1e-7)
	if got.Epochs >= s.passes || !got.Converged {
		t.Errorf("%d passes with a sample, %d without", got.Epochs, s.passes)
	}
	streamed := mustTrain(t, testrows.Stream{Data: src}, Options{L2: 3})
	if !slices.Equal(streamed.Exact, got.Exact) {
		t.Error("streamed rows give other weights")
	}
	for b := range src.Blocks(context.Background()) { // the sample's rows have the other labels
		for r := range b.Y {
			if (b.First+int64(r))/block.RunRows%8 == 0 {
				b.Y[r] = -b.Y[r]
			}
		}
	}
	s = newSolver(src, Options{Options: train.Options{Epochs: 100, Workers: 2}})
	if _, err := s.minimise(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := mustTrain(t, src, Options{}); got.Epochs != s.passes+1 || !slices.Equal(got.Exact, s.w[:s.cols]) {
		t.Errorf("%d passes after one from an unlike sample, %d without; weights %v, want %v", got.Epochs, s.passes, got.Exact, s.w[:s.cols])
	}
	for b := range src.Blocks(context.Background()) { // the first class is in rows that no sample has
		for r := range b.Y {
			b.Y[r] = 1
			if n := (b.First + int64(r)) / block.RunRows % 8; n == 3 {
				b.Y[r] = -1
			}
		}
	}
	if r := mustTrain(t, src, Options{}); !r.Converged {
		t.Errorf("result %+v", r)
	}
}

// TestDamped has rows of very different lengths, on which Newton's steps overshoot by far. So there are fewer steps
// than passes.
func TestDamped(t *testing.T) {
	const n, d = 20_000, 12
	rng := rand.New(rand.NewPCG(5, 5))
	x, y := make([][]float64, n), make([]float64, n)
	for r := range x {
		x[r] = make([]float64, d)
		score := -2.0
		for c := range d {
			if rng.IntN(4) == 0 {
				x[r][c] = math.Exp(float64(c/2) * rng.NormFloat64())
			}
			score += x[r][c] * float64(c%3-1)
		}
		y[r] = 1
		if score+rng.NormFloat64() < 0 {
			y[r] = -1
		}
	}
	src := testrows.Dense(x, y, true)
	for _, l2 := range []float64{0, 1e-3, 10} {
		r := mustTrain(t, src, Options{L2: l2, Solver: Newton})
		if !r.Converged || r.Epochs > 45 || r.Epochs == r.Updates+1 {
			t.Errorf("l2 %v: %d passes, %d steps, converged %v", l2, r.Epochs, r.Updates, r.Converged)
		}
	}
}

// TestOptimum checks the result by its definition, with sums in plain loops. The objective's gradient in each weight is
// nearly 0, and any other weights have a greater objective.
func TestOptimum(t *testing.T) {
	for seed := range uint64(10) {
		x, y := draw(500, 6, seed)
		testrows.Round(x)
		l2 := float64(seed) / 3
		r := mustTrain(t, testrows.Dense(x, y, true), Options{L2: l2})
		weights := testrows.Float64s(r.Weights)
		at := objective(x, y, weights, l2)
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 20 {
			w := slices.Clone(weights)
			for i := range w {
				w[i] += 1e-4 * rng.NormFloat64()
			}
			if other := objective(x, y, w, l2); !(other > at) {
				t.Errorf("seed %d: objective %v, and %v nearby", seed, at, other)
			}
		}
		penalty := 0.0
		for _, v := range weights[:6] {
			penalty += l2 / 2 * v * v
		}
		if math.Abs(r.Loss+penalty-at) > 1e-10*at {
			t.Errorf("seed %d: loss %v and penalty %v, objective %v", seed, r.Loss, penalty, at)
		}
	}
}

func objective(x [][]float64, y, w []float64, l2 float64) (sum float64) {
	for _, v := range w[:len(w)-1] {
		sum += l2 / 2 * v * v
	}
	for i, row := range x {
		z := w[len(w)-1]
		for c, v := range row {
			z += v * w[c]
		}
		sum += math.Log1p(math.Exp(-y[i] * z))
	}
	return sum
}

// TestInvariance: the order of rows changes only rounding. So does a row with weight 0. Twice the rows is half the
// penalty. A scaled column scales its weight. Swapped labels swap signs.
func TestInvariance(t *testing.T) {
	x, y := draw(300, 4, 5)
	want := mustTrain(t, testrows.Dense(x, y, true), Options{L2: 1})
	rng := rand.New(rand.NewPCG(1, 1))
	order := rng.Perm(len(x))
	var px, twice, scaled [][]float64
	var py, twiceY, swapped []float64
	for _, i := range order {
		px, py = append(px, x[i]), append(py, y[i])
	}
	for i := range x {
		twice, twiceY = append(twice, x[i], x[i]), append(twiceY, y[i], y[i])
		scaled = append(scaled, []float64{x[i][0] * 0x1p20, x[i][1] * 0x1p-20, x[i][2], x[i][3]})
		swapped = append(swapped, -y[i])
	}
	nearly(t, "permuted", mustTrain(t, testrows.Dense(px, py, true), Options{L2: 1}).Exact, want.Exact, 1e-10)
	nearly(t, "twice", mustTrain(t, testrows.Dense(twice, twiceY, true), Options{L2: 2}).Exact, want.Exact, 1e-10)
	other := mustTrain(t, testrows.Dense(x, swapped, true), Options{L2: 1}).Exact
	for i := range other {
		other[i] = -other[i]
	}
	nearly(t, "swapped", other, want.Exact, 1e-10)
	plain := mustTrain(t, testrows.Dense(x, y, true), Options{})
	other = mustTrain(t, testrows.Dense(scaled, y, true), Options{}).Exact
	other[0], other[1] = other[0]*0x1p20, other[1]*0x1p-20
	nearly(t, "scaled", other, plain.Exact, 1e-8)
	again := mustTrain(t, testrows.Dense(x, y, true), Options{})
	if !slices.Equal(again.Exact, plain.Exact) {
		t.Error("a second training gives other weights")
	}
}
