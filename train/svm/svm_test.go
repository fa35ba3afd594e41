package svm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/train"
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

// objective returns the loss and the penalty of weights with a bias, in plain loops.
func objective(x [][]float64, y, w []float64, loss Loss, l2 float64) (sum, penalty float64) {
	for _, v := range w[:len(w)-1] {
		penalty += l2 / 2 * v * v
	}
	for i, row := range x {
		z := w[len(w)-1]
		for c, v := range row {
			z += v * w[c]
		}
		u := max(0, 1-y[i]*z)
		if loss == SquaredHinge {
			u *= u
		}
		sum += u
	}
	return sum, penalty
}

func mustTrain(t *testing.T, src block.Source, opt Options) *Result {
	t.Helper()
	r, err := Train(context.Background(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nearly fails unless each element of got is within tol of want's, relative to the largest.
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
		if !(math.Abs(got[i]-v) <= tol*largest) {
			t.Errorf("%s: element %d is %v, want %v", name, i, got[i], v)
		}
	}
}

// TestScikitLearn: the optimum is that of scikit-learn, which runs LIBSVM and LIBLINEAR. testdata/sklearn_svm.py made
// the fixture.
func TestScikitLearn(t *testing.T) {
	file, err := os.ReadFile("testdata/sklearn_svm.json")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal(file, &fixture); err != nil {
		t.Fatal(err)
	}
	if len(fixture.Cases) < 22 {
		t.Fatalf("the fixture has %d cases", len(fixture.Cases))
	}
	for _, c := range fixture.Cases {
		opt := Options{Loss: c.Loss, L2: c.L2}
		r := mustTrain(t, reweighted(t, testrows.Dense(c.X, c.Y, c.FitIntercept), c.SampleWeight, c.ClassWeight), opt)
		above, below, apart := 1e-8, 1e-12, 1e-5
		if c.Loss == Hinge { // where LIBSVM and LIBLINEAR stop earlier
			above, below, apart = 1e-6, 1e-4, 2e-3
		}
		nearly(t, c.Name, r.Exact, c.Weights, apart)
		if !r.Converged {
			t.Errorf("%s: it didn't converge", c.Name)
		}
		if d := r.Objective/c.Objective - 1; d > above || d < -below || r.Gap > tolerance*r.Objective || r.Gap < 0 {
			t.Errorf("%s: objective %v is %.1e above, gap %v", c.Name, r.Objective, d, r.Gap)
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

// TestRepetition: a row with weight k counts as k rows, also if rows far from the kink of their loss are fixed. A row
// with weight 0 doesn't count. Scaling all weights is scaling the penalty. Weights of 1 change no bit.
func TestRepetition(t *testing.T) {
	x, y := draw(1500, 4, 9)
	var manyX [][]float64
	var manyY []float64
	times := func(r int) float64 { return float64(r * 7 % 5) }
	for r := range x {
		for range int(times(r)) {
			manyX, manyY = append(manyX, x[r]), append(manyY, y[r])
		}
	}
	for _, bias := range []bool{true, false} {
		d := testrows.Dense(x, y, bias)
		for _, loss := range Losses {
			name := fmt.Sprintf("%s, bias %t", loss, bias)
			opt := Options{Loss: loss, L2: 3}
			want := mustTrain(t, testrows.Dense(manyX, manyY, bias), opt)
			third := opt
			third.L2 /= 3
			few := newSolver(testrows.Weighted(d, times), opt)
			few.opt.Epochs, few.opt.Workers = 100, 2
			for name, got := range map[string]*Result{
				name:                  mustTrain(t, testrows.Weighted(d, times), opt),
				name + ", sparse":     mustTrain(t, testrows.Sparse(testrows.Weighted(d, times)), opt),
				name + ", by a third": mustTrain(t, testrows.Weighted(d, func(r int) float64 { return times(r) / 3 }), third),
			} {
				scale := 1.0
				if strings.HasSuffix(name, "third") {
					scale = 3
				}
				if apart := scale*got.Objective/want.Objective - 1; math.Abs(apart) > tolerance || !got.Converged || got.Updates != want.Updates {
					t.Errorf("%s: objective %v is %.1e apart after %d steps, not %d", name, got.Objective, apart, got.Updates, want.Updates)
				}
				if gap := scale * got.Gap; gap > tolerance*want.Objective || math.Abs(scale*got.Loss/want.Loss-1) > 1e-4 {
					t.Errorf("%s: gap %v, loss %v, want %v", name, gap, got.Loss, want.Loss)
				}
				nearly(t, name, got.Exact, want.Exact, 1e-4)
			}
			if loss == Hinge {
				copy(few.w, want.Exact)
				if err := few.nearby(context.Background(), 0.05/zone); err != nil {
					t.Fatal(err)
				}
				if apart := few.at.objective/want.Objective - 1; math.Abs(apart) > 2*tolerance || !few.converged || few.at.objective < few.lower || few.passes > 3 {
					t.Errorf("%s, shrunk: objective %v is %.1e apart, gap %v after %d passes", name, few.at.objective, apart, few.at.objective-few.lower, few.passes)
				}
			}
			got, plain := mustTrain(t, testrows.Weighted(d, func(int) float64 { return 1 }), opt), mustTrain(t, d, opt)
			got.Seconds, plain.Seconds = 0, 0
			if !reflect.DeepEqual(got, plain) {
				t.Errorf("%s: weights of 1 give %+v, and none %+v", name, got, plain)
			}
		}
	}
}

// TestOptimum checks the result by its definition: other weights have a greater objective, up to the gap, which is as
// small as promised.
func TestOptimum(t *testing.T) {
	for seed := range uint64(10) {
		x, y := draw(300, 5, seed)
		testrows.Round(x)
		l2 := 0.1 + float64(seed)
		for _, loss := range Losses {
			r := mustTrain(t, testrows.Dense(x, y, true), Options{Loss: loss, L2: l2})
			weights := testrows.Float64s(r.Weights)
			sum, penalty := objective(x, y, weights, loss, l2)
			if math.Abs(r.Loss-sum) > 1e-9*sum || math.Abs(r.Objective-sum-penalty) > 1e-9*sum || r.Gap > tolerance*r.Objective || !r.Converged {
				t.Errorf("%s, seed %d: loss %v and objective %v, want %v and %v; gap %v", loss, seed, r.Loss, r.Objective, sum, sum+penalty, r.Gap)
			}
			rng := rand.New(rand.NewPCG(seed, 1))
			for k := range 40 {
				w := slices.Clone(weights)
				for i := range w {
					w[i] += math.Pow(10, -float64(k%5)) * rng.NormFloat64()
				}
				if sum, penalty := objective(x, y, w, loss, l2); sum+penalty < r.Objective-max(0, r.Gap)-1e-12*sum {
					t.Errorf("%s, seed %d: objective %v, and %v elsewhere", loss, seed, r.Objective, sum+penalty)
				}
			}
		}
	}
}

// TestTextbook: a small penalty gives the maximal margin of separable rows. At (3,3), (4,3) and (1,1) that is the plane
// x1/2 + x2/2 - 2 (Li Hang, "Statistical Learning Methods", example 7.1).
func TestTextbook(t *testing.T) {
	d := testrows.Dense([][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1}, true)
	for _, loss := range Losses {
		r := mustTrain(t, d, Options{Loss: loss, L2: 1e-4})
		nearly(t, string(loss), testrows.Float64s(r.Weights), []float64{0.5, 0.5, -2}, 1e-3)
		if r.Errors != 0 {
			t.Errorf("%s: %d errors", loss, r.Errors)
		}
	}
}

// TestShrink: with rows fixed, the optimum is that of all rows, from any start.
func TestShrink(t *testing.T) {
	x, y := draw(5000, 4, 3)
	for name, src := range map[string]block.Source{"dense": testrows.Dense(x, y, true), "sparse": testrows.Sparse(testrows.Dense(x, y, true)),
		"streamed": testrows.Stream{Data: testrows.Dense(x, y, true)}, "no bias": testrows.Dense(x, y, false)} {
		if testing.Short() && name != "streamed" {
			continue
		}
		opt, err := Options{Loss: Hinge, L2: 2}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		want := mustTrain(t, src, opt)
		for _, from := range []float64{0, 0.9, 1, -1} {
			s := newSolver(src, opt)
			for i, v := range want.Exact {
				s.w[i] = from * v
			}
			if err := s.nearby(context.Background(), 0.05/zone); err != nil {
				t.Fatal(err)
			}
			if d := s.at.objective/want.Objective - 1; !s.converged || math.Abs(d) > 2*tolerance || s.at.objective < s.lower {
				t.Errorf("%s from %v: objective %v is %.1e above, gap %v after %d passes", name, from, s.at.objective, d, s.at.objective-s.lower, s.passes)
			}
			if from == 1 && s.passes > 3 {
				t.Errorf("%s: %d passes from the optimum", name, s.passes)
			}
		}
	}
}

// TestIdentity: the same bits on every instruction set, for every number of workers, in memory, streamed and sparse.
func TestIdentity(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, c := range []struct{ n, d int }{{50, 1}, {5000, 5}, {4200, 40}} {
		if testing.Short() && c.d > 5 {
			continue
		}
		x, y := draw(c.n, c.d, 1)
		d := testrows.Dense(x, y, true)
		if c.d == 5 {
			d = testrows.Weighted(d, func(r int) float64 { return float64(r%9) / 7 })
		}
		for _, loss := range Losses {
			var want *Result
			var shrunk []float64
			for _, level := range kernel.Levels() {
				kernel.Use(level)
				for k, src := range []block.Source{d, testrows.Stream{Data: d}, testrows.Sparse(d)} {
					for _, workers := range []int{1, 2, 3, 8} {
						if level != best && workers != 2+k {
							continue // slow in pure Go
						}
						opt := Options{Options: train.Options{Workers: workers}, Loss: loss, L2: 0.5}
						got := mustTrain(t, src, opt)
						got.Seconds = 0
						if want == nil {
							want = got
						}
						if !reflect.DeepEqual(got, want) {
							t.Fatalf("%d x %d, %s, %v, %T, %d workers: %+v, want %+v", c.n, c.d, loss, level, src, workers, got, want)
						}
						if loss != Hinge || workers != 2+k {
							continue
						}
						s := newSolver(src, opt)
						s.opt.Epochs = 100
						copy(s.w, want.Exact)
						if err := s.nearby(context.Background(), 0.1/zone); err != nil {
							t.Fatal(err)
						}
						if shrunk == nil {
							shrunk = s.w
						}
						if !slices.Equal(s.w, shrunk) {
							t.Fatalf("%d x %d shrunk, %v, %T, %d workers: %v, want %v", c.n, c.d, level, src, workers, s.w, shrunk)
						}
					}
				}
			}
		}
	}
}

// TestSample: with many rows, the first steps on a sample lead to the optimum, the same in memory and streamed.
func TestSample(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million rows")
	}
	src := testrows.Logistic(8*16*block.RunRows, 28)
	for _, loss := range Losses {
		got := mustTrain(t, src, Options{Loss: loss})
		if !got.Converged || got.Gap > tolerance*got.Objective || got.Epochs > 5 {
			t.Errorf("%s: converged %v, gap %v of %v, %d passes", loss, got.Converged, got.Gap, got.Objective, got.Epochs)
		}
		streamed := mustTrain(t, testrows.Stream{Data: src}, Options{Loss: loss, Options: train.Options{Workers: 1}})
		if !slices.Equal(streamed.Exact, got.Exact) {
			t.Errorf("%s: streamed rows give other weights", loss)
		}
	}
}

// TestInvariance: the order of rows changes only rounding. Twice the rows is half the penalty. Swapped labels swap
// signs. A second training gives the same.
func TestInvariance(t *testing.T) {
	x, y := draw(300, 4, 5)
	for _, loss := range Losses {
		fit := func(x [][]float64, y []float64, l2 float64) []float64 {
			return mustTrain(t, testrows.Dense(x, y, true), Options{Loss: loss, L2: l2}).Exact
		}
		want := fit(x, y, 1)
		if !slices.Equal(fit(x, y, 1), want) {
			t.Errorf("%s: a second training gives other weights", loss)
		}
		var px, twice [][]float64
		var py, twiceY, swapped []float64
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(x)) {
			px, py = append(px, x[i]), append(py, y[i])
		}
		for i := range x {
			twice, twiceY, swapped = append(twice, x[i], x[i]), append(twiceY, y[i], y[i]), append(swapped, -y[i])
		}
		nearly(t, string(loss)+" permuted", fit(px, py, 1), want, 1e-9)
		nearly(t, string(loss)+" twice", fit(twice, twiceY, 2), want, 1e-9)
		other := fit(x, swapped, 1)
		for i := range other {
			other[i] = -other[i]
		}
		nearly(t, string(loss)+" swapped", other, want, 1e-9)
	}
}
