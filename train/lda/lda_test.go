package lda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/internal/block"
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

// TestCopiesOfDependentFeatures: a sample weight of k is k copies of the row where features depend on each other within
// the classes, whatever the order of the rows: rows fewer than features, and indicators that add up to 1. The weights
// have the digits that float32 holds.
func TestCopiesOfDependentFeatures(t *testing.T) {
	for seed := range uint64(10) {
		for _, classes := range []int{2, 3} {
			for _, solver := range Solvers {
				for name, dependent := range map[string]func(rng *rand.Rand) [][]float64{"few rows": fewRows, "indicators": indicatorRows} {
					rng := rand.New(rand.NewPCG(seed, uint64(classes)))
					x := dependent(rng)
					var y, weights, copiesY []float64
					var copies [][]float64
					for r, row := range x {
						label, weight := float64((r/2)%classes), float64(rng.IntN(5))
						if r < 2*classes {
							weight = float64(1 + r%3) // a row of each class counts
						}
						y, weights = append(y, label), append(weights, weight)
						for range int(weight) {
							copies, copiesY = append(copies, row), append(copiesY, label)
						}
					}
					rng.Shuffle(len(copies), func(i, j int) {
						copies[i], copies[j], copiesY[i], copiesY[j] = copies[j], copies[i], copiesY[j], copiesY[i]
					})
					weighted := testproblems.Weighted(labelled(x, y, classes), func(r int) float64 { return weights[r] })
					got := require.Value(Train(t.Context(), weighted, Settings{Options: Options{Solver: solver}}))(t)
					want := require.Value(Train(t.Context(), labelled(copies, copiesY, classes), Settings{Options: Options{Solver: solver}}))(t)
					if want.Ridge == 0 {
						t.Fatalf("%s: the features don't depend on each other", name)
					}
					require.NearNumbers(t, fmt.Sprintf("%s, seed %d, %d classes, %s", name, seed, classes, solver), got.ExactWeights, want.ExactWeights, 1e-9)
				}
			}
		}
	}
}

// fewRows returns 15 rows of 30 features.
func fewRows(rng *rand.Rand) (x [][]float64) {
	for range 15 {
		row := make([]float64, 30)
		for i := range row {
			row[i] = rng.Float64()
		}
		x = append(x, row)
	}
	return testproblems.Round(x)
}

// indicatorRows returns 60 rows of a number, and of two categories of four values that are indicators.
func indicatorRows(rng *rand.Rand) (x [][]float64) {
	for range 60 {
		row := make([]float64, 9)
		row[0], row[1+rng.IntN(4)], row[5+rng.IntN(4)] = rng.NormFloat64(), 1, 1
		x = append(x, row)
	}
	return testproblems.Round(x)
}

// labelled returns rows with class numbers as labels, or -1 and +1 for two classes.
func labelled(x [][]float64, y []float64, classes int) *block.Data {
	if classes > 2 {
		return testproblems.Classes(x, y, classes, true)
	}
	signs := make([]float64, len(y))
	for i, v := range y {
		signs[i] = 2*v - 1
	}
	return testproblems.Dense(x, signs, true)
}
