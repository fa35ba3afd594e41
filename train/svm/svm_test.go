package svm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
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
		if d := r.Objective/c.Objective - 1; d > above || d < -below || r.Gap > tolerance*r.Objective || r.Gap < 0 {
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

// TestShrink: with rows fixed, the optimum is that of all rows, from any start. Every form of the same rows has the same bits.
func TestShrink(t *testing.T) {
	x, y := draw(5000, 4, 3)
	d, same := testproblems.Dense(x, y, true), map[float64][]float64{}
	for name, src := range map[string]block.Source{"dense": d, "sparse": testproblems.Sparse(d), "streamed": testproblems.Stream{Data: d}, "no bias": testproblems.Dense(x, y, false),
		"weighted": testproblems.Weighted(d, func(r int) float64 { return float64(r * 7 % 5) })} {
		opt := Settings{Options: Options{Loss: Hinge, L2: 2}}
		require.Value(begin(t.Context(), src, &opt))(t)
		want := mustTrain(t, src, opt)
		for _, from := range []float64{0, 0.9, 1, -1} {
			s := newSolver(src, opt)
			for i, v := range want.ExactWeights {
				s.w[i] = from * v
			}
			require.NoError(t, s.solveNearby(context.Background(), 0.05/kinkErrors))
			if d := s.at.objective/want.Objective - 1; !s.converged || math.Abs(d) > 2*tolerance || s.at.objective < s.lowerBound {
				t.Errorf("%s from %v: objective %v is %.1e above, gap %v after %d passes", name, from, s.at.objective, d, s.at.objective-s.lowerBound, s.passes)
			}
			if from == 1 && s.passes > 3 {
				t.Errorf("%s: %d passes from the optimum", name, s.passes)
			}
			if name == "no bias" || name == "weighted" {
				continue
			}
			if same[from] == nil {
				same[from] = s.w
			}
			if !slices.Equal(s.w, same[from]) {
				t.Errorf("%s from %v: weights %v, another form has %v", name, from, s.w, same[from])
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
		if !got.Converged || got.Gap > tolerance*got.Objective || got.Epochs > 5 {
			t.Errorf("%s: converged %v, gap %v of %v, %d passes", loss, got.Converged, got.Gap, got.Objective, got.Epochs)
		}
		streamed := mustTrain(t, testproblems.Stream{Data: src}, Settings{Options: Options{Loss: loss}, Run: learner.Run{Workers: 1}})
		if !slices.Equal(streamed.ExactWeights, got.ExactWeights) {
			t.Errorf("%s: streamed rows give other weights", loss)
		}
	}
}
