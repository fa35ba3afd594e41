package svm

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

// draw returns rows whose labels follow a plane, with noise.
func draw(n, d int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	truth := make([]float64, d)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	for range n {
		row, z := make([]float64, d), 0.3+rng.NormFloat64()
		for i := range row {
			row[i] = rng.NormFloat64()
			z += row[i] * truth[i]
		}
		x, y = append(x, row), append(y, math.Copysign(1, z))
	}
	return x, y
}

func mustTrain(t *testing.T, src block.Source, opt Settings) *Result {
	t.Helper()
	r := require.Value(Train(context.Background(), src, opt))(t)
	return r
}

// requireNearly fails unless each element of got is within tol of want's, relative to the largest.
func requireNearly(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", name, len(got), len(want))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= tol*largest) {
			t.Errorf("%s: element %d is %v, want %v", name, i, got[i], v)
		}
	}
}

// TestScikitLearn: the optimum is that of scikit-learn, which runs LIBSVM and LIBLINEAR. testdata/sklearn_svm.py made
// the fixture.
func TestScikitLearn(t *testing.T) {
	var fixture struct {
		Cases []struct {
			Name         string
			Loss         Loss
			L2           float64
			FitIntercept bool `json:"fit_intercept"`
			Weights      []float64
			Objective    float64
			X            [][]float64
			Y            []float64
			SampleWeight []float64 `json:"sample_weight"`
			ClassWeight  []float64 `json:"class_weight"`
		}
	}
	require.Fixture(t, "testdata/sklearn_svm.json", &fixture)
	if len(fixture.Cases) < 22 {
		t.Fatalf("the fixture has %d cases", len(fixture.Cases))
	}
	for _, c := range fixture.Cases {
		opt := Settings{Options: Options{Loss: c.Loss, L2: c.L2}}
		r := mustTrain(t, reweightedRows(t, testproblems.Dense(c.X, c.Y, c.FitIntercept), c.SampleWeight, c.ClassWeight), opt)
		above, below, apart := 1e-8, 1e-12, 1e-5
		if c.Loss == Hinge { // where LIBSVM and LIBLINEAR stop earlier
			above, below, apart = 1e-6, 1e-4, 2e-3
		}
		requireNearly(t, c.Name, r.ExactWeights, c.Weights, apart)
		if !r.Converged {
			t.Errorf("%s: it didn't converge", c.Name)
		}
		if d := r.Objective/c.Objective - 1; d > above || d < -below || r.Gap > optimize.ConvergedGap*r.Objective || r.Gap < 0 {
			t.Errorf("%s: objective %v is %.1e above, gap %v", c.Name, r.Objective, d, r.Gap)
		}
	}
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
	requireNearly(t, "class weights", balanced, classes, 1e-15)
	return learner.WithClassWeights(d, balanced)
}

// TestTextbook: a small penalty gives the maximal margin of separable rows. At (3,3), (4,3) and (1,1) that is the plane
// x1/2 + x2/2 - 2 (Li Hang, "Statistical Learning Methods", example 7.1).
func TestTextbook(t *testing.T) {
	d := testproblems.Dense([][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1}, true)
	for _, loss := range Losses {
		r := mustTrain(t, d, Settings{Options: Options{Loss: loss, L2: 1e-4}})
		requireNearly(t, string(loss), testproblems.Float64s(r.Weights), []float64{0.5, 0.5, -2}, 1e-3)
		if r.Errors != 0 {
			t.Errorf("%s: %d errors", loss, r.Errors)
		}
	}
}

// TestForms: every form of the same rows has the same bits, and a proven optimum.
func TestForms(t *testing.T) {
	x, y := draw(5000, 4, 3)
	d := testproblems.Dense(x, y, true)
	weighted := testproblems.Weighted(d, func(r int) float64 { return float64(r * 7 % 5) })
	for _, loss := range Losses {
		for k, forms := range [][]block.Source{{d, testproblems.Sparse(d), testproblems.Stream{Data: d}},
			{weighted, testproblems.Stream{Data: weighted}}, {testproblems.Dense(x, y, false)}} {
			var want *Result
			for i, src := range forms {
				got := mustTrain(t, src, Settings{Options: Options{Loss: loss, L2: 2}, Run: learner.Run{Workers: 1 + i}})
				if want == nil {
					want = got
				}
				if !got.Converged || !slices.Equal(got.ExactWeights, want.ExactWeights) || got.Visits != want.Visits || got.Gap != want.Gap {
					t.Errorf("%s, rows %d in form %d: weights %v with a gap of %v, another form has %v", loss, k, i, got.ExactWeights, got.Gap, want.ExactWeights)
				}
			}
		}
	}
}

// TestMisleadingSample: rows whose sample has other labels than most rows have a proven optimum. So do a sample of one class, rows
// sorted by their labels, duplicated rows, rows that contradict each other, and sample weights of 0 and 1e6.
func TestMisleadingSample(t *testing.T) {
	const chunks = 20
	n := chunks * block.ChunkRows
	x, y := draw(n, 3, 9)
	isSampled := func(r int) bool { return r/block.ChunkRows == 0 || r/block.ChunkRows == chunks/2 }
	for name, label := range map[string]func(r int) float64{
		"plain":      func(r int) float64 { return y[r] },
		"flipped":    func(r int) float64 { return map[bool]float64{true: -1, false: 1}[isSampled(r)] * y[r] },
		"one class":  func(r int) float64 { return map[bool]float64{true: 1, false: y[r]}[isSampled(r)] },
		"sorted":     func(r int) float64 { return math.Copysign(1, float64(n/3-r)) },
		"contradict": func(r int) float64 { return float64(1 - 2*(r%2)) },
	} {
		labels, x := make([]float64, n), slices.Clone(x)
		for r := range labels {
			if labels[r] = label(r); name == "contradict" {
				x[r] = x[r-r%2]
			}
		}
		d := testproblems.Dense(x, labels, true)
		for _, src := range []*block.Data{d, testproblems.Weighted(d, func(r int) float64 { return []float64{1, 0, 1e6}[min(2, r%50)] })} {
			for _, l2 := range []float64{1e-3, 1, 1e3} {
				r := mustTrain(t, src, Settings{Options: Options{Loss: Hinge, L2: l2}})
				if w := testproblems.Float64s(r.Weights); !r.Converged || math.Abs(exactObjective(src, w, Hinge, l2)/r.Objective-1) > 1e-8 {
					t.Errorf("%s, weighted %t, l2 %v: converged %v after %d passes, gap %v of %v, which is %v", name, src != d, l2, r.Converged, r.Epochs, r.Gap,
						r.Objective, exactObjective(src, w, Hinge, l2))
				}
			}
		}
	}
}

// TestSample: with many rows, the first steps on a sample lead to the optimum, the same in memory and streamed.
func TestSample(t *testing.T) {
	if require.Small() {
		t.Skip("half a million rows")
	}
	src := testproblems.Logistic(8*16*block.ChunkRows, 28)
	for _, loss := range Losses {
		got := mustTrain(t, src, Settings{Options: Options{Loss: loss}})
		if !got.Converged || got.Gap > optimize.ConvergedGap*got.Objective || got.Epochs > 5 {
			t.Errorf("%s: converged %v, gap %v of %v, %d passes", loss, got.Converged, got.Gap, got.Objective, got.Epochs)
		}
		streamed := mustTrain(t, testproblems.Stream{Data: src}, Settings{Options: Options{Loss: loss}, Run: learner.Run{Workers: 1}})
		if !slices.Equal(streamed.ExactWeights, got.ExactWeights) {
			t.Errorf("%s: streamed rows give other weights", loss)
		}
	}
}
