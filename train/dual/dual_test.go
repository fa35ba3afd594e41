package dual

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/internal/race"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/perceptron"
)

func mustTrain(t *testing.T, d *block.Data, opt Options) *Result {
	t.Helper()
	r, err := Train(context.Background(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// noisy returns n rows of d small integers, so that every sum is exact. Labels follow a random plane, except for a
// share of flips.
func noisy(n, d int, flips float64, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	truth := make([]float64, d)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	for range n {
		row, s := make([]float64, d), 0.3
		for i := range row {
			row[i] = math.Round(2 * rng.NormFloat64())
			s += row[i] * truth[i]
		}
		if rng.Float64() < flips {
			s = -s
		}
		x, y = append(x, row), append(y, math.Copysign(1, s))
	}
	return x, y
}

// TestTextbook is the dual run of the text books: alpha = (2, 0, 5), b = -3 (Li Hang, "Statistical Learning Methods",
// 2012, example 2.2).
func TestTextbook(t *testing.T) {
	d := testrows.Dense([][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1}, true)
	r := mustTrain(t, d, Options{})
	if !slices.Equal(r.Mistakes, []int64{2, 0, 5}) || !slices.Equal(r.Bias, []float64{-3}) {
		t.Errorf("n is %v and b is %v, want 2, 0, 5 and -3", r.Mistakes, r.Bias)
	}
	if !slices.Equal(r.Weights, []float32{1, 1, -3}) || r.Updates != 7 || !r.Converged || r.Errors != 0 || r.Loss != 0 {
		t.Errorf("got %+v, want weights 1, 1, bias -3 after 7 updates", r)
	}
	if r.Radius != math.Sqrt(26) || r.Norm != math.Sqrt(11) || math.Abs(r.MistakeBound()-286) > 1e-9 {
		t.Errorf("radius %v, norm %v and bound %v, want the roots of 26 and 11, and 286", r.Radius, r.Norm, r.MistakeBound())
	}
	half := mustTrain(t, d, Options{Options: train.Options{Eta: 0.5}})
	if !slices.Equal(half.Mistakes, r.Mistakes) || half.Bias[0] != -1.5 || half.Weights[0] != 0.5 {
		t.Errorf("with eta 0.5 n is %v, b %v, w %v", half.Mistakes, half.Bias, half.Weights)
	}
}

// TestPrimal: on integers the dual form makes the primal form's mistakes, visit for visit. w is the sum of alpha_i y_i
// x_i to the last bit.
func TestPrimal(t *testing.T) {
	testPrimal(t)
}

func testPrimal(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		rows, features int
		flips          float64
		weighted       bool
	}{{1, 1, 0, false}, {300, 4, 0, false}, {700, 6, 0.1, false}, {4500, 3, 0.02, false}, {300, 4, 0, true}, {700, 6, 0.1, true}} {
		x, y := noisy(c.rows, c.features, c.flips, 3)
		for i, order := range train.Orders {
			d := testrows.Dense(x, y, i%2 == 0)
			if i%2 == 1 {
				d = testrows.Sparse(d)
			}
			if c.weighted {
				d = testrows.Weighted(d, wholes)
			}
			for _, limit := range []int64{0, 1, 17} {
				opt := train.Options{Order: order, Epochs: 6, MaxUpdates: limit, Seed: 5}
				if c.flips == 0 {
					opt.Epochs = 100
				}
				want, err := perceptron.Train(ctx, d, perceptron.Options{Options: opt})
				if err != nil {
					t.Fatal(err)
				}
				got := mustTrain(t, d, Options{Options: opt})
				what := fmt.Sprintf("%v %s limit %d", c, order, limit)
				if !slices.Equal(got.Weights, want.Weights) || got.Updates != want.Updates || got.Converged != want.Converged ||
					got.Visits != want.Visits || got.Epochs != want.Epochs {
					t.Fatalf("%s: dual %+v, primal %+v", what, got.Result, want)
				}
				if got.Errors != want.Errors || got.Radius != want.Radius || got.Norm != want.Norm || got.Margin != want.Margin ||
					math.Abs(got.Loss-want.Loss) > 1e-9*want.Loss {
					t.Errorf("%s: dual %+v, primal %+v", what, got.Result, want)
				}
				sums := make([]float64, d.Spec().Cols())
				for r, n := range got.Mistakes {
					for k := range sums {
						v := 1.0
						if k < c.features {
							v = x[r][k]
						}
						if c.weighted {
							v *= wholes(r)
						}
						sums[k] += float64(n) * y[r] * v
					}
				}
				for k, s := range sums {
					if s != float64(got.Weights[k]) {
						t.Errorf("%s: weight %d is %v, the sum of alpha y x is %v", what, k, got.Weights[k], s)
					}
				}
			}
		}
	}
}

// wholes are sample weights, some of them 0.
func wholes(r int) float64 { return float64(r * 7 % 5) }

// classes returns rows of three classes.
func classes(n int) (d *block.Data, x [][]float64, y []float64) {
	x, _ = noisy(n, 4, 0, 21)
	for _, row := range x {
		y = append(y, float64(int(math.Abs(row[0]+2*row[1]))%3))
	}
	d = testrows.Dense(x, y, true)
	d.Spec().Classes = []schema.Class{schema.IntClass(0), schema.IntClass(1), schema.IntClass(2)}
	return d, x, y
}

// TestClasses: the binary classifiers of several classes, learned together, are those that are learned alone.
func TestClasses(t *testing.T) {
	d, x, y := classes(300)
	for _, opt := range []Options{
		{Options: train.Options{Epochs: 4}}, {Options: train.Options{Epochs: 4, Order: train.Shuffle}, Form: train.Averaged, Kernel: model.Kernel{Kind: "rbf"}},
		{Options: train.Options{Epochs: 50, Order: train.Random}, Form: train.Voted, Kernel: model.Kernel{Kind: "poly", Gamma: 1, Degree: 2, Coef0: 1}},
		{Options: train.Options{Epochs: 3, MaxUpdates: 9}, Kernel: model.Kernel{Kind: "poly", Gamma: 1, Degree: 2, Coef0: 1}},
	} {
		all := mustTrain(t, d, opt)
		got := scores(t, all, d.Spec(), x)
		n, errors := make([]int64, len(x)), int64(0)
		var alone [][]float64
		for c := range 3 {
			sign := make([]float64, len(y))
			for i := range y {
				sign[i] = -1
				if int(y[i]) == c {
					sign[i] = 1
				}
			}
			one := testrows.Dense(x, sign, true)
			r := mustTrain(t, one, opt)
			for i := range n {
				n[i] += r.Mistakes[i]
			}
			alone = append(alone, testrows.Float64s(scores(t, r, one.Spec(), x)[0]))
			for i, want := range alone[c] {
				if math.Abs(float64(got[c][i])-want) > 1e-5*max(1, math.Abs(want)) {
					t.Fatalf("%+v: class %d, row %d scores %v, and %v alone", opt, c, i, got[c][i], want)
				}
			}
		}
		for i := range y {
			best := 0
			for c := range alone {
				if got[c][i] > got[best][i] {
					best = c
				}
			}
			if best != int(y[i]) {
				errors++
			}
		}
		if !slices.Equal(all.Mistakes, n) || all.Errors != errors {
			t.Errorf("%+v: n is %v, alone %v; %d errors, %d found", opt, all.Mistakes, n, all.Errors, errors)
		}
	}
}

// TestSame: the result is the same for every instruction set, number of workers and memory limit.
func TestSame(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	const row = 200 * 4 // bytes of a row of the matrix
	d, _, _ := classes(200)
	for _, opt := range []Options{
		{Form: train.Averaged},
		{Kernel: model.Kernel{Kind: "rbf"}},
		{Form: train.Voted, Kernel: model.Kernel{Kind: "poly", Coef0: 1}, Options: train.Options{Order: train.Shuffle}},
		{Kernel: model.Kernel{Kind: "poly"}, Options: train.Options{Order: train.Random}},
	} {
		opt.Epochs = 3
		var want *Result
		levels := kernel.Levels()
		if race.Enabled { // for each level the kernels are to read and write the same
			levels = levels[len(levels)-1:]
		}
		for _, level := range levels {
			kernel.Use(level)
			for workers, memory := range map[int]int64{1: 0, 2: row, 3: 40 * row, 8: 8 * row, 4: 1 << 30} {
				opt.Workers, opt.Memory = workers, memory
				got := mustTrain(t, d, opt)
				if cached := memory > 0 && memory < Bytes(200); cached == (got.Computed == 200) && memory != 40*row {
					t.Errorf("%d bytes: %d rows computed", memory, got.Computed)
				}
				got.Seconds, got.GramSeconds, got.Computed = 0, 0, 0
				if want == nil {
					want = got
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%+v on %v: %+v, want %+v", opt, level, got.Result, want.Result)
				}
			}
		}
	}
}

// TestWindows: scores of rows outside of the window get their pending updates in the order of mistakes. In the end they
// are those of a cache of rows, where all are always up to date, to the last bit.
func TestWindows(t *testing.T) {
	const n = fewRows + 300
	d, _, _ := classes(n)
	orders, workers := []train.Order{train.Cyclic, train.Shuffle}, []int{1, 2, 3}
	if testing.Short() {
		orders, workers = orders[:1], workers[1:2]
	}
	for _, order := range orders {
		want := walked(t, d, order, 1, Bytes(n)-1)
		if want.cache == nil {
			t.Fatal("all rows were computed at once")
		}
		for _, w := range workers {
			got := walked(t, d, order, w, 0)
			for c, m := range got.binaries {
				if !slices.Equal(m.mistakes, want.binaries[c].mistakes) || !slices.Equal(m.scores, want.binaries[c].scores) {
					t.Errorf("%s, %d workers, class %d: other mistakes or scores", order, w, c)
				}
			}
		}
	}
}

// walked returns a learner after two epochs.
func walked(t *testing.T, d *block.Data, order train.Order, workers int, memory int64) *learner {
	t.Helper()
	opt := Options{Options: train.Options{Order: order, Epochs: 2, Eta: 1, Workers: workers}, Memory: memory,
		Kernel: model.Kernel{Kind: "poly", Gamma: 0.1, Degree: 2}}
	l, err := newLearner(context.Background(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestErrors has rows and options that can't be learned with.
func TestErrors(t *testing.T) {
	x, y := noisy(20, 2, 0, 1)
	d := testrows.Dense(x, y, true)
	huge := testrows.Dense([][]float64{{1e30}, {-1e30}, {2e30}}, []float64{1, -1, -1}, true)
	unlabelled := testrows.Dense(x, y, true)
	for b := range unlabelled.Blocks(context.Background()) {
		b.Y = nil
	}
	single := testrows.Dense(x, y, true)
	single.Spec().Classes = single.Spec().Classes[:1]
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		want string
		ctx  context.Context
		data *block.Data
		opt  Options
	}{
		{"no rows", nil, block.NewData(d.Spec(), nil), Options{}},
		{"only class", nil, single, Options{}},
		{"no labels", nil, unlabelled, Options{}},
		{"unknown form", nil, d, Options{Form: "first"}},
		{"unknown kernel", nil, d, Options{Kernel: model.Kernel{Kind: "spline"}}},
		{"gamma is -1", nil, d, Options{Kernel: model.Kernel{Kind: "rbf", Gamma: -1}}},
		{"epochs is -1", nil, d, Options{Options: train.Options{Epochs: -1}}},
		{"take 96", nil, d, Options{Memory: 95}},
		{"too large for float32", nil, huge, Options{}},
		{"too large for float32", nil, huge, Options{Kernel: model.Kernel{Kind: "poly"}}},
		{"eta is 1e-300", nil, d, Options{Options: train.Options{Eta: 1e-300}}},
		{"canceled", cancelled, d, Options{}},
	} {
		if c.ctx == nil {
			c.ctx = context.Background()
		}
		r, err := Train(c.ctx, c.data, c.opt)
		if err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
		if c.ctx == cancelled && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
	}
}

// TestUnfinished: a training that ends while the Gram matrix is computed says so.
func TestUnfinished(t *testing.T) {
	x, y := noisy(20, 2, 0, 1)
	l, err := newLearner(context.Background(), testrows.Dense(x, y, true), Options{Options: train.Options{Eta: 1, Workers: 1}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var u *train.Unfinished
	if err := l.multiply(ctx); !errors.As(err, &u) || !errors.Is(err, context.Canceled) || !strings.Contains(u.Far, "no row was visited") {
		t.Errorf("error %v", err)
	}
}

// TestUncounted: a training that was interrupted, and had no time to count, has the weights so far and no figures.
func TestUncounted(t *testing.T) {
	x, y := noisy(60, 3, 0.2, 4)
	d := testrows.Dense(x, y, true)
	for _, form := range train.Forms {
		opt, err := Options{Form: form}.withDefaults(3)
		if err != nil {
			t.Fatal(err)
		}
		if opt.Options, err = opt.Options.WithDefaults(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l, err := newLearner(ctx, d, opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.run(ctx); err != nil && err != errStop {
			t.Fatal(err)
		}
		cancel()
		r, err := l.conclude(ctx, ctx, nil)
		if !errors.Is(err, context.Canceled) || !r.Interrupted || !r.Uncounted || r.Errors != 0 || r.Loss != 0 || r.Updates == 0 || r.Weights == nil && r.Expansion == nil {
			t.Errorf("%s: %+v, error %v", form, r, err)
		}
	}
}
