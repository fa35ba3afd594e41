package perceptron

import (
	"math"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/schema"
	"halfspace/train/learner"
)

// TestScikitLearn trains ten epochs in file order on integers, whose sums are exact. The weights are those of
// scikit-learn's Perceptron(shuffle=False, max_iter=10, tol=None), and averaged its SGDClassifier's.
// testdata/sklearn_perceptron.py made the fixture.
func TestScikitLearn(t *testing.T) {
	var fixture struct {
		Sklearn string
		MaxIter int64 `json:"max_iter"`
		Cases   []struct {
			Name         string
			Eta          float64
			FitIntercept bool `json:"fit_intercept"`
			Updates      int64
			Coef         []float64
			Intercept    float64
			Mean         []float64
			X            [][]float64
			Y            []float64
			Weights      []float64
		}
	}
	require.Fixture(t, "testdata/sklearn_perceptron.json", &fixture)
	if len(fixture.Cases) == 0 || fixture.MaxIter != 10 {
		t.Fatalf("the fixture has %d cases of %d epochs", len(fixture.Cases), fixture.MaxIter)
	}
	averaged := 0
	for _, c := range fixture.Cases {
		opt := Settings{Options: Options{Epochs: fixture.MaxIter, Eta: c.Eta}}
		want := c.Coef
		if c.FitIntercept {
			want = append(slices.Clone(want), c.Intercept)
		}
		compareFixture(t, c.Name, mustTrain(t, fixtureData(c.X, c.Y, c.Weights, c.FitIntercept), opt), want, c.Updates)
		opt.Form = learner.Averaged
		if r := mustTrain(t, fixtureData(c.X, c.Y, c.Weights, c.FitIntercept), opt); !r.Converged { // scikit-learn doesn't stop
			compareMean(t, c.Name, testproblems.Float64s(r.Weights), c.Mean)
			averaged++
		}
	}
	if averaged < 6 {
		t.Errorf("%d averaged cases", averaged)
	}
}

// fixtureData returns the rows as a data set, with a bias column only if bias is set.
func fixtureData(x [][]float64, y, weights []float64, bias bool) *block.Data {
	if weights != nil {
		return testproblems.Weighted(fixtureData(x, y, nil, bias), func(r int) float64 { return weights[r] })
	}
	if bias {
		return testproblems.Dense(x, y, true)
	}
	b := block.New(0, len(x), len(x[0]))
	for r, row := range x {
		for c, v := range row {
			b.X[r*b.Stride+c] = float32(v)
		}
		b.Y[r] = float32(y[r])
	}
	return block.NewData(&schema.Spec{Features: make([]string, len(x[0])), Classes: make([]schema.Class, 2)}, []*block.Block{b})
}

func compareFixture(t *testing.T, name string, got *learner.Result, want []float64, updates int64) {
	t.Helper()
	for i, v := range want {
		if len(got.Weights) != len(want) || float64(got.Weights[i]) != v {
			t.Fatalf("%s: weights %v, scikit-learn has %v", name, got.Weights, want)
		}
	}
	if got.Updates != updates {
		t.Errorf("%s: %d updates, scikit-learn makes %d", name, got.Updates, updates)
	}
}

// compareMean compares averaged weights with scikit-learn's, whose intercept is 0 if there is none.
func compareMean(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i, v := range got {
		if math.Abs(v-want[i]) > 1e-6*(1+math.Abs(want[i])) {
			t.Fatalf("%s, averaged: weights %v, scikit-learn has %v", name, got, want)
		}
	}
}
