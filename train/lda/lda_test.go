package lda

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

func mustTrain(t *testing.T, src block.Source) *Result {
	t.Helper()
	r := require.Value(Train(context.Background(), src, Settings{}))(t)
	return r
}

// draw returns rows of correlated features of two classes, away from zero by offset.
func draw(n, d int, offset float64, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	between := make([]float64, d)
	for i := range between {
		between[i] = rng.NormFloat64()
	}
	for range n {
		row, label, common := make([]float64, d), 1.0, rng.NormFloat64()
		if rng.IntN(3) > 0 {
			label = -1
		}
		for i := range row {
			row[i] = rng.NormFloat64() + common/2 + offset + label*between[i]/2
		}
		x, y = append(x, row), append(y, label)
	}
	return x, y
}

// TestScikitLearn has the weights, the intercepts and the probabilities of scikit-learn's
// LinearDiscriminantAnalysis(solver="lsqr"). testdata/sklearn_lda.py made the fixture.
func TestScikitLearn(t *testing.T) {
	var fixture struct {
		Cases []struct {
			Name        string
			Coef        []float64
			Intercept   float64
			Probability []float64
			X           [][]float64
			Y           []float64
		}
	}
	require.Fixture(t, "testdata/sklearn_lda.json", &fixture)
	if len(fixture.Cases) < 7 {
		t.Fatalf("the fixture has %d cases", len(fixture.Cases))
	}
	for _, c := range fixture.Cases {
		d := len(c.Coef)
		r := mustTrain(t, testproblems.Dense(c.X, c.Y, true))
		require.NearNumbers(t, c.Name, r.ExactWeights[:d], c.Coef, 1e-8)
		require.NearNumbers(t, c.Name+" intercept", r.ExactWeights[d:], []float64{c.Intercept}, 1e-8)
		for i, want := range c.Probability {
			z := r.ExactWeights[d]
			for k, v := range c.X[i] {
				z += v * r.ExactWeights[k]
			}
			if p := 1 / (1 + math.Exp(-z)); math.Abs(p-want) > 1e-6 { // far from zero, the intercept has errors of 1e-9 of about 1e3
				t.Errorf("%s: the probability of row %d is %v, want %v", c.Name, i, p, want)
			}
		}
		without := mustTrain(t, testproblems.Dense(c.X, c.Y, false))
		require.NearNumbers(t, c.Name+" without bias", without.ExactWeights, c.Coef, 1e-8)
		if passes := int64(1); strings.Contains(c.Name, "far from zero") != (r.Epochs == passes+1) {
			t.Errorf("%s: %d passes", c.Name, r.Epochs)
		}
	}
}

// TestSingular: a repeated column and a constant one don't change predictions.
func TestSingular(t *testing.T) {
	x, y := draw(300, 3, 0, 5)
	plain := mustTrain(t, testproblems.Dense(x, y, true))
	var more [][]float64
	for _, row := range x {
		more = append(more, []float64{row[0], row[1], row[2], row[1], 7})
	}
	r := mustTrain(t, testproblems.Dense(more, y, true))
	w := r.ExactWeights
	require.NearNumbers(t, "effect", []float64{w[0], w[1] + w[3], w[2], w[5] + 7*w[4]}, plain.ExactWeights, 1e-6)
	if r.Ridge == 0 || plain.Ridge != 0 {
		t.Errorf("ridge %v, and %v of what is regular", r.Ridge, plain.Ridge)
	}
}
