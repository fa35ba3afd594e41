package perceptron

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// classLiteral is the perceptron on several classes as in the papers, one row and one class at a time.
type classLiteral struct {
	x                      [][]float32
	y                      []int
	weights                []float64
	w                      [][]float32
	sum                    [][]float64 // of w over the visits
	updates, visits, quiet int64
}

func newClassLiteral(d *block.Data) *classLiteral {
	l := &classLiteral{}
	for b := range d.Blocks(context.Background()) {
		for r, y := range b.Y {
			l.x, l.y, l.weights = append(l.x, b.X[r*b.Stride:(r+1)*b.Stride]), append(l.y, int(y)), append(l.weights, b.Weight(r))
		}
	}
	for range d.Spec().Classes {
		l.w, l.sum = append(l.w, make([]float32, len(l.x[0]))), append(l.sum, make([]float64, len(l.x[0])))
	}
	return l
}

// rival returns the other class with the greatest score, and whether that is at least the score of the row's own class.
func (l *classLiteral) rival(i int) (rival int, wrong bool) {
	rival = -1
	for c := range l.w {
		if c != l.y[i] && (rival < 0 || kernel.Dot(l.x[i], l.w[c]) > kernel.Dot(l.x[i], l.w[rival])) {
			rival = c
		}
	}
	return rival, l.weights[i] > 0 && kernel.Dot(l.x[i], l.w[rival]) >= kernel.Dot(l.x[i], l.w[l.y[i]])
}

func (l *classLiteral) visit(i int, eta float32) {
	l.visits++
	l.quiet++
	if rival, wrong := l.rival(i); wrong {
		eta = float32(float64(eta) * l.weights[i])
		kernel.Axpy(l.w[l.y[i]], eta, l.x[i])
		kernel.Axpy(l.w[rival], -eta, l.x[i])
		l.updates++
		l.quiet = 0
	}
	for c, w := range l.w {
		for k, v := range w {
			l.sum[c][k] += float64(v)
		}
	}
}

func (l *classLiteral) train(order learner.Order, seed uint64, epochs int, eta float32, maxUpdates int64) (converged bool) {
	n := len(l.x)
	for e := range epochs {
		before := l.updates
		for _, i := range visitedRows(n, order, seed, uint64(e)) {
			l.visit(int(i), eta)
			if maxUpdates > 0 && l.updates == maxUpdates {
				return false
			}
			if order == learner.Shuffle || l.quiet < int64(n) {
				continue
			}
			all := true
			for i := range l.x {
				_, wrong := l.rival(i)
				all = all && !wrong
			}
			if all {
				return true
			}
			l.quiet = 0
		}
		if order == learner.Shuffle && l.updates == before {
			return true
		}
	}
	return false
}

// TestClasses compares weights, updates and visits with the literal algorithm, and averaged weights with the mean after
// all visits, in every order, on rows in memory and in one other form.
func TestClasses(t *testing.T) {
	const tolerance = 1e-5
	for i, c := range []struct {
		rows, features, classes int
		wrong                   float64
		epochs                  int
		updates                 int64
		weighted                bool
	}{{600, 3, 3, 0, 200, 0, false}, {1500, 5, 4, 0.1, 3, 0, false}, {5000, 9, 26, 0.2, 2, 0, false}, {1500, 40, 7, 0, 5, 333, false},
		{1500, 6, 3, 0.1, 2, 0, true}} {
		if require.Small() && c.rows != 1500 {
			continue
		}
		d := testproblems.RandomClasses(c.rows, c.features, c.classes, c.wrong)
		if c.weighted {
			d = testproblems.Weighted(d, func(row int) float64 { return float64(row%4) / 2 })
		}
		for k, order := range learner.Orders {
			sources := map[string]block.Source{"memory": d}
			switch n := (i + k) % 4; {
			case order == learner.Cyclic && i%2 == 0:
				sources["stream"] = testproblems.Stream{Data: d}
			case n < 2:
				sources["sparse"] = testproblems.Sparse(d)
			case n == 2:
				sources["cache"] = require.OpenFile(cache.Temporary(t.Context(), d, nil))(t)
			default:
				sources["sparse cache"] = require.OpenFile(cache.Temporary(t.Context(), testproblems.Sparse(d), nil))(t)
			}
			want := newClassLiteral(d)
			converged := want.train(order, 5, c.epochs, 0.5, c.updates)
			if c.wrong == 0 && c.updates == 0 && !converged {
				t.Fatalf("%s: %d classes don't converge", order, c.classes)
			}
			opt := Settings{Options: Options{Order: order, Epochs: int64(c.epochs), Eta: 0.5, MaxUpdates: c.updates}, Run: learner.Run{Seed: 5, Workers: 2}}
			for name, src := range sources {
				what := fmt.Sprintf("%d classes, %s, %s", c.classes, order, name)
				opt.Form = learner.Last
				got := mustTrain(t, src, opt)
				if got.Updates != want.updates || got.Visits != want.visits || got.Converged != converged {
					t.Fatalf("%s: %d updates in %d visits, converged %v; want %d, %d, %v", what, got.Updates, got.Visits, got.Converged,
						want.updates, want.visits, converged)
				}
				cols := d.Spec().Cols()
				for k, w := range want.w {
					if !slices.Equal(got.Weights[k*cols:(k+1)*cols], w[:cols]) {
						t.Fatalf("%s: class %d has weights %v, want %v", what, k, got.Weights[k*cols:(k+1)*cols], w)
					}
				}
				if converged && (got.Errors != 0 || got.Loss != 0 || float64(got.Updates) > got.MistakeBound()) || !converged && got.Errors == 0 {
					t.Errorf("%s: converged %v with %d errors, loss %v, %d updates of %v", what, converged, got.Errors, got.Loss, got.Updates, got.MistakeBound())
				}
				opt.Form = learner.Averaged
				mean := mustTrain(t, src, opt)
				for k, sum := range want.sum {
					for i, v := range mean.Weights[k*cols : (k+1)*cols] {
						if m := sum[i] / float64(want.visits); math.Abs(float64(v)-m) > tolerance*(1+math.Abs(m)) {
							t.Fatalf("%s: class %d has the mean %v at %d, want %v", what, k, v, i, m)
						}
					}
				}
			}
		}
	}
}

// TestClassesMargin: with a margin, rows that are right by less also update the weights. Converged weights have all
// rows right by it.
func TestClassesMargin(t *testing.T) {
	d := testproblems.RandomClasses(400, 3, 3, 0)
	a, b := mustTrain(t, d, Settings{Options: Options{Epochs: 10000}}), mustTrain(t, d, Settings{Options: Options{Epochs: 10000, Margin: 0.5}})
	if !a.Converged || !b.Converged || b.Updates <= a.Updates || b.Margin*b.Norm*math.Sqrt2 <= 1 {
		t.Errorf("converged %v, %v; %d and %d updates, %v apart", a.Converged, b.Converged, a.Updates, b.Updates, b.Margin*b.Norm*math.Sqrt2)
	}
}

// TestClassesValidation: the weights after the epoch with the fewest errors on other rows are kept. Training ends after
// some epochs without fewer errors.
func TestClassesValidation(t *testing.T) {
	d, v := testproblems.RandomClasses(1000, 4, 5, 0.2), testproblems.RandomClasses(999, 4, 5, 0.2)
	for _, form := range learner.Forms[:2] {
		fewest, at, stale, epochs := int64(math.MaxInt64), 0, 0, 0
		var want []float32
		for e := 1; stale < 3; e++ {
			r := mustTrain(t, d, Settings{Options: Options{Order: learner.Shuffle, Epochs: int64(e), Form: form}})
			on := &learner.Result{Weights: r.Weights}
			require.NoError(t, learner.Evaluate(context.Background(), v, 1, on))
			if stale++; on.Errors < fewest {
				fewest, at, stale, want = on.Errors, e, 0, r.Weights
			}
			epochs = e
		}
		r := require.Value(TrainValidated(context.Background(), d, v, Settings{Options: Options{Order: learner.Shuffle, EarlyStop: 3, Form: form}}))(t)
		if last := r.Curve[len(r.Curve)-1]; r.Epochs != int64(epochs) || last.Errors != fewest || last.Visits != int64(at*1000) || form == learner.Last && !slices.Equal(r.Weights, want) {
			t.Errorf("%s: %d epochs, best %+v; want %d, %d errors after epoch %d", form, r.Epochs, last, epochs, fewest, at)
		}
	}
}

// TestOneVersusRest: each class has the weights that it gets alone, in memory and from a cache.
func TestOneVersusRest(t *testing.T) {
	d := testproblems.RandomClasses(3000, 12, 5, 0.1)
	sources := []block.Source{d, require.OpenFile(cache.Temporary(t.Context(), d, nil))(t), testproblems.Sparse(d), require.OpenFile(cache.Temporary(t.Context(), testproblems.Sparse(d), nil))(t)}
	rng := rand.New(rand.NewPCG(1, 1))
	for k, order := range learner.Orders {
		opt := Settings{Options: Options{Order: order, Epochs: 3}, Run: learner.Run{Seed: rng.Uint64(), Workers: 1}}
		var want [][]float32
		for class := range 5 {
			var x [][]float64
			var y []float64
			for b := range d.Blocks(context.Background()) {
				for r := range b.Len() {
					row := make([]float64, 12)
					for i := range row {
						row[i] = float64(b.X[r*b.Stride+i])
					}
					x, y = append(x, row), append(y, map[bool]float64{true: 1, false: -1}[int(b.Y[r]) == class])
				}
			}
			want = append(want, mustTrain(t, testproblems.Dense(x, y, true), opt).Weights)
		}
		src, workers := sources[k], 1+k%3
		got, err := learner.OneVersusRest(context.Background(), src, workers, true, func(ctx context.Context, class, workers int) ([]float32, error) {
			r, err := Train(ctx, learner.VersusRest(src, class), opt)
			return r.Weights, err
		})
		if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
			t.Errorf("%s, %d workers: error %v, weights %v, want %v", order, workers, err, got, want)
		}
	}
}
