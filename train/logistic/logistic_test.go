package logistic

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
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

// severalClasses returns labels of more classes that depend on the rows, with exceptions.
func severalClasses(x [][]float64, classes int) (y []float64) {
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

func mustTrain(t *testing.T, src block.Source, opt Settings) *Result {
	t.Helper()
	opt.NoPenalty = true // an L2 of 0 is none
	r := require.Value(Train(context.Background(), src, opt))(t)
	return r
}

// reweightedRows returns the rows of a fixture with its weights.
func reweightedRows(t *testing.T, d *block.Data, rows, classes []float64) block.Source {
	t.Helper()
	if rows != nil {
		d = testproblems.Weighted(d, func(r int) float64 { return rows[r] })
	}
	if classes == nil {
		return d
	}
	balanced := require.Value(learner.BalancedWeights(context.Background(), d, 2))(t)
	require.NearNumbers(t, "class weights", balanced, classes, 1e-15)
	return learner.WithClassWeights(d, balanced)
}

// TestScikitLearn: the optimum and its standard errors are those of scikit-learn and NumPy.
// testdata/sklearn_logistic.py made the fixture.
func TestScikitLearn(t *testing.T) {
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
	require.Fixture(t, "testdata/sklearn_logistic.json", &fixture)
	if len(fixture.Cases) < 11 {
		t.Fatalf("the fixture has %d cases", len(fixture.Cases))
	}
	for _, c := range fixture.Cases {
		rows := testproblems.Dense(c.X, c.Y, c.FitIntercept)
		src := reweightedRows(t, rows, c.SampleWeight, c.ClassWeight)
		newton := mustTrain(t, src, Settings{Options: Options{L2: c.L2}})
		for _, d := range []*block.Data{rows, testproblems.Sparse(rows)} {
			d := reweightedRows(t, d, c.SampleWeight, c.ClassWeight)
			r := mustTrain(t, d, Settings{Options: Options{L2: c.L2, Solver: LBFGS}})
			require.NearNumbers(t, c.Name+", L-BFGS", r.ExactWeights, c.Weights, 1e-7)
			if !r.Converged || r.Gradient > 1e-10 || r.StdErrors != nil {
				t.Errorf("%s, L-BFGS: converged %v, gradient %v, standard errors %v", c.Name, r.Converged, r.Gradient, r.StdErrors)
			}
			if math.Abs(r.Loss/newton.Loss-1) > 1e-9 {
				t.Errorf("%s, L-BFGS: loss %v, want %v", c.Name, r.Loss, newton.Loss)
			}
		}
		require.NearNumbers(t, c.Name, newton.ExactWeights, c.Weights, 1e-7)
		require.NearNumbers(t, c.Name, newton.StdErrors, c.StdErrors, 1e-6) // of the weights as they are written
		if !newton.Converged || newton.Gradient > optimize.NormGoal+normOfRounding(src, newton.ExactWeights, c.L2) || newton.Ridge != 0 {
			t.Errorf("%s: converged %v, gradient %v, ridge %v", c.Name, newton.Converged, newton.Gradient, newton.Ridge)
		}
		for i, w := range newton.ExactWeights {
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
	r := mustTrain(t, testproblems.Dense(x, y, true), Settings{})
	round := func(v float64) float64 { return math.Round(v*1e4) / 1e4 }
	if round(r.ExactWeights[0]) != -0.2322 || round(r.ExactWeights[1]) != 15.0429 || round(r.StdErrors[0]) != 0.1082 || round(r.StdErrors[1]) != 7.3786 {
		t.Errorf("weights %v, standard errors %v", r.ExactWeights, r.StdErrors)
	}
	if math.Abs(2*r.Loss-20.315) > 1e-3 { // the residual deviance
		t.Errorf("loss %v", r.Loss)
	}
}

// fromZeros is a training by Newton's method that doesn't begin at a sample's optimum.
func fromZeros(t *testing.T, src block.Source, opt Options) *training {
	zeros := newTraining(src, nil, Settings{Options: opt, Run: learner.Run{Workers: 2}})
	require.NoError(t, zeros.newton(t.Context(), nil))
	return zeros
}

// TestSample: with many rows, the sample's start leads in few passes to the optimum that zeros lead to, the same in
// memory and streamed. Rows sorted by label still have a sample.
func TestSample(t *testing.T) {
	if require.Small() {
		t.Skip("half a million rows")
	}
	const n, d = 8 * 16 * block.ChunkRows, 28
	src := testproblems.Logistic(n, d)
	sample, err := learner.Sample(context.Background(), src)
	if err != nil || sample == nil || sample.Rows() != 16*block.ChunkRows {
		t.Fatalf("sample %v, error %v", sample, err)
	}
	got := mustTrain(t, src, Settings{Options: Options{L2: 3}})
	zeros := fromZeros(t, src, Options{Epochs: 100, L2: 3})
	require.NearNumbers(t, "with a sample", got.ExactWeights, zeros.w, 1e-7)
	if got.Epochs >= zeros.Passes() || !got.Converged {
		t.Errorf("%d passes with a sample, %d without", got.Epochs, zeros.Passes())
	}
	streamed := mustTrain(t, testproblems.Stream{Data: src}, Settings{Options: Options{L2: 3}})
	if !slices.Equal(streamed.ExactWeights, got.ExactWeights) {
		t.Error("streamed rows give other weights")
	}
	for b := range src.Blocks(context.Background()) { // the sample's rows have the other labels
		for r := range b.Y {
			if (b.First+int64(r))/block.ChunkRows%8 == 0 {
				b.Y[r] = -b.Y[r]
			}
		}
	}
	zeros = fromZeros(t, src, Options{Epochs: 100})
	if got := mustTrain(t, src, Settings{}); got.Epochs != zeros.Passes()+1 || !slices.Equal(got.ExactWeights, zeros.w) {
		t.Errorf("%d passes after one from an unlike sample, %d without; weights %v, want %v", got.Epochs, zeros.Passes(), got.ExactWeights, zeros.w)
	}
	for b := range src.Blocks(context.Background()) { // the first class is in rows that no sample has
		for r := range b.Y {
			b.Y[r] = 1
			if n := (b.First + int64(r)) / block.ChunkRows % 8; n == 3 {
				b.Y[r] = -1
			}
		}
	}
	if r := mustTrain(t, src, Settings{}); !r.Converged {
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
	src := testproblems.Dense(x, y, true)
	for _, l2 := range []float64{0, 1e-3, 10} {
		r := mustTrain(t, src, Settings{Options: Options{L2: l2, Solver: Newton}})
		if !r.Converged || r.Epochs > 45 || r.Epochs == r.Updates+1 {
			t.Errorf("l2 %v: %d passes, %d steps, converged %v", l2, r.Epochs, r.Updates, r.Converged)
		}
	}
}
