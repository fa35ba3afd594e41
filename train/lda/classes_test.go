package lda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

func mustTrainWith(t *testing.T, src block.Source, opt Settings) *Result {
	t.Helper()
	r := require.Value(Train(context.Background(), src, opt))(t)
	return r
}

// rowsOf returns rows whose labels are class numbers.
func rowsOf(x [][]float64, classes []float64, k int, bias bool) *block.Data {
	if k > 2 {
		return testproblems.Classes(x, classes, k, bias)
	}
	var y []float64
	for _, c := range classes {
		y = append(y, 2*c-1)
	}
	return testproblems.Dense(x, y, bias)
}

// TestScikitLearnClasses: weights of any number of classes, shrunk or not, and directions, are those of scikit-learn's
// LinearDiscriminantAnalysis. testdata/sklearn_lda_classes.py made the fixture.
func TestScikitLearnClasses(t *testing.T) {
	var fixture struct {
		Cases []struct {
			Name       string
			Classes    int
			Shrinkage  any
			Coef       []float64
			Intercept  []float64
			Proba      []float64
			Projection [][]float64
			Explained  []float64
			X          [][]float64
			Y          []float64
		}
	}
	require.Fixture(t, "testdata/sklearn_lda_classes.json", &fixture)
	if len(fixture.Cases) < 13 {
		t.Fatalf("the fixture has %d cases", len(fixture.Cases))
	}
	for _, c := range fixture.Cases {
		opt := Settings{Options: Options{Solver: Eigen, Shrinkage: LedoitWolf}}
		if v, ok := c.Shrinkage.(float64); ok {
			opt.Shrinkage = v
		}
		r := mustTrainWith(t, rowsOf(c.X, c.Y, c.Classes, true), opt)
		d := len(c.X[0])
		var coef, intercept []float64
		for v := range slices.Chunk(r.ExactWeights, d+1) {
			coef, intercept = append(coef, v[:d]...), append(intercept, v[d])
		}
		require.NearNumbers(t, c.Name, coef, c.Coef, 1e-7)
		require.NearNumbers(t, c.Name+" intercept", intercept, c.Intercept, 1e-7)
		for i, row := range c.X[:3] {
			p := probabilities(r.ExactWeights, row, c.Classes)
			for k, v := range p {
				if want := c.Proba[i*c.Classes+k]; math.Abs(v-want) > 1e-6 {
					t.Errorf("%s: the probability of class %d of row %d is %v, want %v", c.Name, k, i, v, want)
				}
			}
		}
		passes := int64(1)
		if opt.Shrinkage == LedoitWolf {
			passes += int64(c.Classes) + 1
		}
		if strings.Contains(c.Name, "far from") {
			passes++
		}
		if r.Epochs != passes {
			t.Errorf("%s: %d passes, want %d", c.Name, r.Epochs, passes)
		}
		if c.Projection == nil {
			continue
		}
		if len(r.Projection) != len(c.Projection) {
			t.Fatalf("%s: %d directions", c.Name, len(r.Projection))
		}
		for i, want := range c.Projection {
			require.NearNumbers(t, fmt.Sprintf("%s direction %d", c.Name, i), r.Projection[i], want, 1e-6)
		}
		require.NearNumbers(t, c.Name+" explained", r.ExplainedShares, c.Explained, 1e-7)
	}
}

// probabilities returns the probabilities of the classes for a row.
func probabilities(w, row []float64, classes int) []float64 {
	var z []float64
	sum := 0.0
	for v := range slices.Chunk(w, len(row)+1) {
		s := v[len(row)]
		for i, x := range row {
			s += v[i] * x
		}
		z = append(z, s)
	}
	if classes == 2 {
		z = []float64{0, z[0]}
	}
	top := slices.Max(z)
	for i := range z {
		z[i] = math.Exp(z[i] - top)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
	return z
}

// TestProjection: with two classes, the direction is that of w. Collinear means have one direction. Without the solver
// there is none.
func TestProjection(t *testing.T) {
	x, y := draw(300, 4, 0, 3)
	r := mustTrainWith(t, testproblems.Dense(x, y, true), Settings{Options: Options{Solver: Eigen}})
	plain := mustTrainWith(t, testproblems.Dense(x, y, true), Settings{})
	if !slices.Equal(r.Weights, plain.Weights) || plain.Projection != nil || plain.ExplainedShares != nil {
		t.Errorf("weights %v, and by Cholesky %v with the projection %v", r.Weights, plain.Weights, plain.Projection)
	}
	if len(r.Projection) != 1 || r.ExplainedShares[0] != 1 {
		t.Fatalf("projection %v, explained %v", r.Projection, r.ExplainedShares)
	}
	var ratios []float64
	for i, v := range r.Projection[0] {
		ratios = append(ratios, r.ExactWeights[i]/v)
	}
	require.NearNumbers(t, "ratio to w", ratios, []float64{ratios[0], ratios[0], ratios[0], ratios[0]}, 1e-9)
	if ratios[0] <= 0 {
		t.Errorf("w is %v times the direction", ratios[0])
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var line [][]float64
	var classes []float64
	for i := range 300 { // pairs of rows are symmetric about their class's mean; the means are whole numbers on a line
		c := float64(i % 3)
		a, b := rng.Float64(), rng.Float64()
		a, b = math.Round(a*1024)/1024, math.Round(b*1024)/1024
		line, classes = append(line, []float64{c + a, 2*c + b}, []float64{c - a, 2*c - b}), append(classes, c, c)
	}
	r = mustTrainWith(t, testproblems.Classes(line, classes, 3, true), Settings{Options: Options{Solver: Eigen}})
	if len(r.Projection) != 1 {
		t.Errorf("collinear means have %d directions that explain %v", len(r.Projection), r.ExplainedShares)
	}
	same := mustTrainWith(t, testproblems.Classes([][]float64{{1}, {-1}, {1}, {-1}, {1}, {-1}}, []float64{0, 0, 1, 1, 2, 2}, 3, true), Settings{Options: Options{Solver: Eigen}})
	if len(same.Projection) != 0 {
		t.Errorf("equal means have directions %v", same.Projection)
	}
}

// TestLedoitWolf: the share is that of the paper's formulas in plain loops. Doubled rows need less shrinking, and many
// rows hardly any.
func TestLedoitWolf(t *testing.T) {
	x, y := draw(60, 10, 2, 3)
	testproblems.Round(x)
	d := testproblems.Dense(x, y, true)
	r := mustTrainWith(t, d, Settings{Options: Options{Shrinkage: LedoitWolf}})
	for class, label := range []float64{-1, 1} {
		if want := ledoitWolfShare(x, y, label); math.Abs(r.Shrinkage[class]-want) > 1e-10 || !(want > 0 && want < 1) {
			t.Errorf("class %v: share %v, want %v", label, r.Shrinkage[class], want)
		}
	}
	whole := 0
	for seed := range uint64(20) { // rows without correlation
		rng := rand.New(rand.NewPCG(seed, 2))
		var x [][]float64
		var y []float64
		for i := range 40 {
			x, y = append(x, []float64{rng.NormFloat64(), rng.NormFloat64()}), append(y, float64(i%2*2-1))
		}
		r := mustTrainWith(t, testproblems.Dense(testproblems.Round(x), y, true), Settings{Options: Options{Shrinkage: LedoitWolf}})
		want := ledoitWolfShare(x, y, 1)
		if math.Abs(r.Shrinkage[1]-want) > 1e-9 {
			t.Errorf("seed %d: share %v, want %v", seed, r.Shrinkage[1], want)
		}
		if want == 1 {
			whole++
		}
	}
	if whole == 0 {
		t.Error("no share is 1")
	}
	many, labels := draw(20000, 10, 2, 3)
	few := mustTrainWith(t, testproblems.Dense(many, labels, true), Settings{Options: Options{Shrinkage: LedoitWolf}})
	for class, v := range few.Shrinkage {
		if !(v < r.Shrinkage[class]/10) {
			t.Errorf("20,000 rows are shrunk by %v, 60 by %v", v, r.Shrinkage[class])
		}
	}
}

// ledoitWolfShare returns min(b^2, d^2)/d^2 of the standardised rows of a class. The norm is the paper's: |A|^2 =
// trace(A A')/p.
func ledoitWolfShare(x [][]float64, y []float64, label float64) float64 {
	var rows [][]float64
	for i, row := range x {
		if y[i] == label {
			rows = append(rows, slices.Clone(row))
		}
	}
	n, p := float64(len(rows)), len(x[0])
	for i := range p {
		mean, square := 0.0, 0.0
		for _, row := range rows {
			mean += row[i] / n
		}
		for _, row := range rows {
			square += (row[i] - mean) * (row[i] - mean) / n
		}
		for _, row := range rows {
			row[i] = (row[i] - mean) / math.Sqrt(square)
		}
	}
	at := func(i, j int) (s float64) {
		for _, row := range rows {
			s += row[i] * row[j] / n
		}
		return s
	}
	d2, b2 := 0.0, 0.0
	for i := range p {
		for j := range p {
			s, one := at(i, j), 0.0
			if i == j {
				one = 1 // m, the mean of the eigenvalues, is 1
			}
			d2 += (s - one) * (s - one) / float64(p)
			for _, row := range rows {
				b2 += (row[i]*row[j] - s) * (row[i]*row[j] - s) / float64(p) / n / n
			}
		}
	}
	return min(b2, d2) / d2
}
