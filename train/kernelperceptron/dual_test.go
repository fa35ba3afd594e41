package kernelperceptron

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

func mustTrain(t *testing.T, d *block.Data, opt Settings) *Result {
	t.Helper()
	r := require.Value(Train(context.Background(), d, opt))(t)
	return r
}

// noisyRows returns n rows of d small integers, so that every sum is exact. Labels follow a random plane, except for a
// share of flips.
func noisyRows(n, d int, flips float64, seed uint64) (x [][]float64, y []float64) {
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
	d := testproblems.Dense([][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1}, true)
	r := mustTrain(t, d, Settings{})
	if !slices.Equal(r.Mistakes, []int64{2, 0, 5}) || !slices.Equal(r.Bias, []float64{-3}) {
		t.Errorf("n is %v and b is %v, want 2, 0, 5 and -3", r.Mistakes, r.Bias)
	}
	if !slices.Equal(r.Weights, []float32{1, 1, -3}) || r.Updates != 7 || !r.Converged || r.Errors != 0 || r.Loss != 0 {
		t.Errorf("got %+v, want weights 1, 1, bias -3 after 7 updates", r)
	}
	if r.Radius != math.Sqrt(26) || r.Norm != math.Sqrt(11) || math.Abs(r.MistakeBound()-286) > 1e-9 {
		t.Errorf("radius %v, norm %v and bound %v, want the roots of 26 and 11, and 286", r.Radius, r.Norm, r.MistakeBound())
	}
	half := mustTrain(t, d, Settings{Options: Options{Eta: 0.5}})
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
		x, y := noisyRows(c.rows, c.features, c.flips, 3)
		for i, order := range learner.Orders {
			d := testproblems.Dense(x, y, i%2 == 0)
			if i%2 == 1 {
				d = testproblems.Sparse(d)
			}
			if c.weighted {
				d = testproblems.Weighted(d, wholeWeight)
			}
			for _, limit := range []int64{0, 1, 17} {
				opt := learner.Options{Order: order, Epochs: 6, MaxUpdates: limit, Run: learner.Run{Seed: 5}}
				if c.flips == 0 {
					opt.Epochs = 100
				}
				want := require.Value(perceptron.Train(ctx, d, perceptron.Settings{Options: perceptron.Options{Order: opt.Order, Epochs: opt.Epochs, MaxUpdates: opt.MaxUpdates}, Run: opt.Run}))(t)
				got := mustTrain(t, d, Settings{Options: Options{Order: opt.Order, Epochs: opt.Epochs, MaxUpdates: opt.MaxUpdates}, Run: opt.Run})
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
							v *= wholeWeight(r)
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

// wholeWeight returns sample weights, some of them 0.
func wholeWeight(r int) float64 { return float64(r * 7 % 5) }

// classes returns rows of three classes.
func classes(n int) (d *block.Data, x [][]float64, y []float64) {
	x, _ = noisyRows(n, 4, 0, 21)
	for _, row := range x {
		y = append(y, float64(int(math.Abs(row[0]+2*row[1]))%3))
	}
	d = testproblems.Dense(x, y, true)
	d.Spec().Classes = []schema.Class{schema.IntClass(0), schema.IntClass(1), schema.IntClass(2)}
	return d, x, y
}

// TestClasses: the binary classifiers of several classes, learned together, are those that are learned alone.
func TestClasses(t *testing.T) {
	d, x, y := classes(300)
	for _, opt := range []Settings{
		{Options: Options{Epochs: 4}}, {Options: Options{Epochs: 4, Order: learner.Shuffle, Form: learner.Averaged, Kernel: gram.Kernel{Kind: "rbf"}}},
		{Options: Options{Epochs: 50, Order: learner.Random, Form: learner.Voted, Kernel: gram.Kernel{Kind: "poly", Gamma: 1, Degree: 2, Coef0: 1}}},
		{Options: Options{Epochs: 3, MaxUpdates: 9, Kernel: gram.Kernel{Kind: "poly", Gamma: 1, Degree: 2, Coef0: 1}}},
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
			one := testproblems.Dense(x, sign, true)
			r := mustTrain(t, one, opt)
			for i := range n {
				n[i] += r.Mistakes[i]
			}
			alone = append(alone, testproblems.Float64s(scores(t, r, one.Spec(), x)[0]))
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

// TestUnfinished: a training that ends while the Gram matrix is computed says so.
func TestUnfinished(t *testing.T) {
	x, y := noisyRows(20, 2, 0, 1)
	l := require.Value(newLearner(context.Background(), testproblems.Dense(x, y, true), Settings{Options: Options{Eta: 1}, Run: learner.Run{Workers: 1}}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var u *learner.UnfinishedError
	if err := l.multiply(ctx); !errors.As(err, &u) || !errors.Is(err, context.Canceled) || !strings.Contains(u.Position, "no row was visited") {
		t.Errorf("error %v", err)
	}
}

// TestUncounted: a training that was interrupted, and had no time to count, has the weights so far and no figures.
func TestUncounted(t *testing.T) {
	x, y := noisyRows(60, 3, 0.2, 4)
	d := testproblems.Dense(x, y, true)
	for _, form := range learner.Forms {
		opt := Settings{Options: Options{Form: form}}
		require.NoError(t, mercerLearner.PrepareSettings(&opt))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l := require.Value(newLearner(ctx, d, opt))(t)
		require.NoError(t, l.Run(ctx))
		cancel()
		r, err := l.conclude(ctx, ctx, nil)
		if !errors.Is(err, context.Canceled) || !r.Interrupted || !r.NotEvaluated || r.Errors != 0 || r.Loss != 0 || r.Updates == 0 || r.Weights == nil && r.Expansion == nil {
			t.Errorf("%s: %+v, error %v", form, r, err)
		}
	}
}

// TestWideExpansion: an expansion that no file may hold is an error, before it takes memory.
func TestWideExpansion(t *testing.T) {
	const features = 1 << 24
	spec := &schema.Spec{Features: make([]string, features), Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	s, y := &kernel.SparseRows{Ptr: []int64{0}}, make([]float32, 8)
	for r := range y {
		s.Idx, s.Val, y[r] = append(s.Idx, uint32(r)), append(s.Val, 1), float32(2*(r%2)-1)
		s.Ptr = append(s.Ptr, int64(r+1))
	}
	data := block.NewData(spec, []*block.Block{{Cols: features, Stride: kernel.Stride(features), Sparse: s, Y: y}})
	_, err := Train(t.Context(), data, Settings{Options: Options{Kernel: gram.Kernel{Kind: gram.RBF, Gamma: 1}}, Run: learner.Run{Workers: 1}})
	if err == nil || !strings.Contains(err.Error(), "the model has 8 rows of 16,777,216 features, which take 512 MiB") {
		t.Errorf("error %v", err)
	}
}
