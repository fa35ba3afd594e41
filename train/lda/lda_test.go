package lda

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/internal/race"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
)

func mustTrain(t *testing.T, src block.Source) *Result {
	t.Helper()
	r, err := Train(context.Background(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// near fails unless each element of got is within tol of want's, relative to it, or to a thousandth of the largest.
func near(t *testing.T, name string, got, want []float64, tol float64) {
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
	file, err := os.ReadFile("testdata/sklearn_lda.json")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal(file, &fixture); err != nil {
		t.Fatal(err)
	}
	if len(fixture.Cases) < 7 {
		t.Fatalf("the fixture has %d cases", len(fixture.Cases))
	}
	for _, c := range fixture.Cases {
		d := len(c.Coef)
		r := mustTrain(t, testrows.Dense(c.X, c.Y, true))
		near(t, c.Name, r.Exact[:d], c.Coef, 1e-8)
		near(t, c.Name+" intercept", r.Exact[d:], []float64{c.Intercept}, 1e-8)
		for i, want := range c.Probability {
			z := r.Exact[d]
			for k, v := range c.X[i] {
				z += v * r.Exact[k]
			}
			if p := 1 / (1 + math.Exp(-z)); math.Abs(p-want) > 1e-6 { // far from zero, the intercept has errors of 1e-9 of about 1e3
				t.Errorf("%s: the probability of row %d is %v, want %v", c.Name, i, p, want)
			}
		}
		without := mustTrain(t, testrows.Dense(c.X, c.Y, false))
		near(t, c.Name+" without bias", without.Exact, c.Coef, 1e-8)
		if passes := int64(1); strings.Contains(c.Name, "far from zero") != (r.Epochs == passes+1) {
			t.Errorf("%s: %d passes", c.Name, r.Epochs)
		}
	}
}

// TestRegression: the direction is that of least squares on the labels (Hastie, Tibshirani and Friedman, "The Elements
// of Statistical Learning", exercise 4.2). Gauss's elimination solves the normal equations here.
func TestRegression(t *testing.T) {
	for seed := range uint64(5) {
		x, y := draw(400, 4, 1, seed)
		testrows.Round(x)
		r := mustTrain(t, testrows.Dense(x, y, true))
		a := make([][]float64, 5)
		for i := range a {
			a[i] = make([]float64, 6)
		}
		for r, row := range x {
			row = append(append([]float64{}, row...), 1)
			for i, v := range row {
				for j, u := range row {
					a[i][j] += v * u
				}
				a[i][5] += v * y[r]
			}
		}
		for i := range a {
			for k := range a {
				if f := a[k][i] / a[i][i]; k != i {
					for j := range a[k] {
						a[k][j] -= f * a[i][j]
					}
				}
			}
		}
		var ratios []float64
		for i := range 4 {
			ratios = append(ratios, a[i][5]/a[i][i]/r.Exact[i])
		}
		near(t, "ratio to the regression's", ratios[1:], []float64{ratios[0], ratios[0], ratios[0]}, 1e-9)
	}
}

// TestIdentity: the same bits on every instruction set, for every number of workers, in memory, streamed and sparse,
// also if the pass is repeated.
func TestIdentity(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, c := range []struct {
		n, d, classes int
		offset        float64
		opt           Options
	}{{50, 1, 2, 0, Options{}}, {9000, 5, 2, 0, Options{}}, {9000, 5, 2, 3000, Options{}}, {4200, 40, 2, 0, Options{Solver: Eigen}},
		{9000, 5, 4, 3000, Options{Shrinkage: LedoitWolf, Solver: Eigen}}, {500, 3, 40, 0, Options{Shrinkage: 0.1, Solver: Eigen}}} {
		x, y := draw(c.n, c.d, c.offset, 1)
		d := testrows.Dense(x, y, true)
		if c.classes > 2 {
			for i := range y {
				y[i] = float64(i * 7 % 41 % c.classes)
			}
			d = testrows.Classes(x, y, c.classes, true)
		}
		var want *Result
		levels := kernel.Levels()
		if race.Enabled { // for each level the kernels are to read and write the same
			levels = levels[len(levels)-1:]
		}
		for _, level := range levels {
			kernel.Use(level)
			for _, src := range []block.Source{d, testrows.Stream{Data: d}, testrows.Sparse(d)} {
				for _, workers := range []int{1, 2, 3, 8} {
					c.opt.Workers = workers
					got, err := Train(context.Background(), src, c.opt)
					if err != nil {
						t.Fatal(err)
					}
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

// TestInvariance: the order of rows and the zero of features change only rounding. A scaled column scales its weight.
// Swapped labels swap signs.
func TestInvariance(t *testing.T) {
	x, y := draw(300, 4, 0, 5)
	for _, row := range x {
		for i, v := range row {
			row[i] = math.Round(v*256) / 256 // float32 holds it when it is moved or scaled
		}
	}
	want := mustTrain(t, testrows.Dense(x, y, true)).Exact
	rng := rand.New(rand.NewPCG(1, 1))
	var permuted, moved, scaled [][]float64
	var permutedY, swapped []float64
	for _, i := range rng.Perm(len(x)) {
		permuted, permutedY = append(permuted, x[i]), append(permutedY, y[i])
	}
	for i, row := range x {
		moved = append(moved, []float64{row[0] + 1e4, row[1], row[2] - 4096, row[3]})
		scaled = append(scaled, []float64{row[0] * 0x1p20, row[1] * 0x1p-20, row[2], row[3]})
		swapped = append(swapped, -y[i])
	}
	train := func(x [][]float64, y []float64) []float64 {
		return mustTrain(t, testrows.Dense(x, y, true)).Exact
	}
	near(t, "permuted", train(permuted, permutedY), want, 1e-10)
	near(t, "moved", train(moved, y)[:4], want[:4], 1e-9)
	got := train(scaled, y)
	got[0], got[1] = got[0]*0x1p20, got[1]*0x1p-20
	near(t, "scaled", got, want, 1e-10)
	got = train(x, swapped)
	for i := range got {
		got[i] = -got[i]
	}
	near(t, "swapped", got, want, 1e-10)
}

// TestSingular: a repeated column and a constant one don't change predictions.
func TestSingular(t *testing.T) {
	x, y := draw(300, 3, 0, 5)
	plain := mustTrain(t, testrows.Dense(x, y, true))
	var more [][]float64
	for _, row := range x {
		more = append(more, []float64{row[0], row[1], row[2], row[1], 7})
	}
	r := mustTrain(t, testrows.Dense(more, y, true))
	w := r.Exact
	near(t, "effect", []float64{w[0], w[1] + w[3], w[2], w[5] + 7*w[4]}, plain.Exact, 1e-6)
	if r.Ridge == 0 || plain.Ridge != 0 {
		t.Errorf("ridge %v, and %v of what is regular", r.Ridge, plain.Ridge)
	}
}

// make01 returns labels of -1 and +1 as class numbers.
func make01(y []float64) (classes []float64) {
	for _, v := range y {
		classes = append(classes, (v+1)/2)
	}
	return classes
}

func TestErrors(t *testing.T) {
	x, y := draw(100, 2, 0, 1)
	with := func(spoil func(*block.Data)) *block.Data {
		d := testrows.Dense(x, y, true)
		spoil(d)
		return d
	}
	spoilt := func(f func(b *block.Block)) func(*block.Data) {
		return func(d *block.Data) {
			for b := range d.Blocks(context.Background()) {
				f(b)
			}
		}
	}
	same := func(*block.Data) {}
	for _, c := range []struct {
		want string
		src  *block.Data
		opt  Options
	}{
		{"workers is -1", with(same), Options{Options: train.Options{Workers: -1}}},
		{"there are no rows", block.NewData(with(same).Spec(), nil), Options{}},
		{"the only class", with(func(d *block.Data) { d.Spec().Classes = d.Spec().Classes[:1] }), Options{}},
		{"labels of 3 classes are the numbers 0 to 2", with(func(d *block.Data) { d.Spec().Classes = append(d.Spec().Classes, schema.IntClass(2)) }), Options{}}, // -1 isn't one
		{"no row is of the class 2, training takes 3 classes", testrows.Classes(x, make01(y), 3, true), Options{}},
		{`unknown solver "svd"`, with(same), Options{Solver: "svd"}},
		{"shrinkage is 1.5", with(same), Options{Shrinkage: 1.5}},
		{"shrinkage is NaN", with(same), Options{Shrinkage: math.NaN()}},
		{"no labels", with(spoilt(func(b *block.Block) { b.Y = nil })), Options{}},
		{"no row is of the class -1", with(spoilt(func(b *block.Block) {
			for i := range b.Y {
				b.Y[i] = 1
			}
		})), Options{}},
		{"not a finite number", with(spoilt(func(b *block.Block) { b.X[0] = float32(math.Inf(1)) })), Options{}},
		{"not a finite number", with(spoilt(func(b *block.Block) { b.X[0] = float32(math.NaN()) })), Options{}},
		{"no feature varies", testrows.Dense([][]float64{{1, 2}, {3, 4}}, []float64{1, -1}, true), Options{}},
		{"no row is of the class 1", testrows.Dense([][]float64{{1}}, []float64{-1}, true), Options{}},
	} {
		if _, err := Train(context.Background(), c.src, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Train(ctx, with(same), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context was cancelled", err)
	}
}
