package optimize_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

func squaredHinges(z, factor, curvature, loss, y []float64) {
	for i, label := range y {
		z[i] *= label
		u := max(0, 1-z[i])
		factor[i], loss[i], curvature[i] = -2*label*u, u*u, 0
		if u > 0 {
			curvature[i] = 2
		}
	}
}

// TestTruncated: the objective is that of Newton's method with a Hessian, and at most the gap above it.
func TestTruncated(t *testing.T) {
	ctx := context.Background()
	for _, bias := range []bool{false, true} {
		for _, l2 := range []float64{0.01, 10} {
			for weighted, d := range []*block.Data{rows(5000, 40, bias), testproblems.Weighted(rows(4500, 30, bias), func(row int) float64 { return float64(row % 3) })} {
				l := require.Value(logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{L2: l2, Solver: logistic.Newton}}))(t)
				s := require.Value(svm.Train(ctx, d, svm.Settings{Options: svm.Options{L2: l2}}))(t)
				for name, one := range map[string]struct {
					loss func(z, factor, curvature, loss, y []float64)
					want float64
				}{"logistic": {f64.Logistic, l.Objective}, "squared hinge": {squaredHinges, s.Objective}} {
					what := fmt.Sprintf("%s, bias %t, l2 %v, weighted %d", name, bias, l2, weighted)
					task := task(learner.Options{Epochs: 10000, Run: learner.Run{Workers: 2}}, d, optimize.Penalty{L2: l2})
					task.Loss = one.loss
					got, err := task.Truncated(ctx)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					tolerances{gap: 5e-7, above: 1e-7}.check(t, what, got, one.want)
				}
			}
		}
	}
}

// TestTruncatedPasses: few passes end the search before the gap is small, and the gap says so.
func TestTruncatedPasses(t *testing.T) {
	d := rows(3000, 40, true)
	var last float64
	for passes := int64(1); passes < 12; passes++ {
		s := require.Value(task(learner.Options{Epochs: passes, Run: learner.Run{Workers: 2}}, d, optimize.Penalty{L2: 1e-3}).Truncated(t.Context()))(t)
		if s.Passes > passes {
			t.Errorf("%d passes, at most %d are allowed", s.Passes, passes)
		}
		if last = s.Objective; s.Gap() < 1e-6*s.Objective && passes < 5 {
			t.Errorf("%d passes bring the gap to %v of %v", passes, s.Gap(), s.Objective)
		}
	}
	losses, err := task(learner.Options{Run: learner.Run{Workers: 3}}, d, optimize.Penalty{}).Losses(t.Context(), [][]float64{make([]float64, 41)})
	loss := losses[0]
	if want := 3000 * math.Ln2; err != nil || math.Abs(loss-want) > 1e-9*want || last >= want {
		t.Errorf("the loss at zeros is %v, want %v; the last objective is %v; error %v", loss, want, last, err)
	}
}

// wideRows returns sparse rows of many columns.
func wideRows(n, features int) *block.Data {
	rng := rand.New(rand.NewPCG(1, 2))
	spec := &schema.Spec{Features: make([]string, features), Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	for c := range spec.Features {
		spec.Features[c] = fmt.Sprint("x", c)
	}
	s, y := &kernel.SparseRows{Ptr: []int64{0}}, make([]float32, n)
	for r := range y {
		from, score := len(s.Idx), 0.0
		for range 20 {
			s.Idx = append(s.Idx, uint32(math.Pow(float64(features), rng.Float64()))-1)
		}
		slices.Sort(s.Idx[from:])
		s.Idx = append(s.Idx[:from+len(slices.Compact(s.Idx[from:]))], uint32(features))
		for _, c := range s.Idx[from:] {
			s.Val = append(s.Val, 1)
			score += math.Sin(float64(c))
		}
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		y[r] = float32(math.Copysign(1, score+rng.NormFloat64()))
	}
	cols := features + 1
	return block.NewData(spec, []*block.Block{{Cols: cols, Stride: kernel.Stride(cols), Sparse: s, Y: y}})
}

// TestTruncatedWide: the learners take more columns than a Hessian may have, and prove their optima.
func TestTruncatedWide(t *testing.T) {
	d, ctx := wideRows(4000, 20_000), context.Background()
	l := require.Value(logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{L2: 0.5, Solver: logistic.Newton}}))(t)
	other := require.Value(logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{L2: 0.5, Solver: logistic.LBFGS}}))(t)
	if !l.Converged || l.Solver != logistic.Truncated || l.StdErrors != nil {
		t.Errorf("converged %t by %s after %d passes, gap %v of %v", l.Converged, l.Solver, l.Epochs, l.Gap, l.Objective)
	}
	if math.Abs(l.Objective-other.Objective) > 1e-6*other.Objective || l.Objective-l.Gap > other.Objective {
		t.Errorf("the objective is %v with a gap of %v, and L-BFGS finds %v", l.Objective, l.Gap, other.Objective)
	}
	s := require.Value(svm.Train(ctx, d, svm.Settings{Options: svm.Options{L2: 0.5}}))(t)
	if !s.Converged || s.Gap > 1e-6*s.Objective {
		t.Errorf("squared hinge: converged %t after %d passes, gap %v of %v", s.Converged, s.Epochs, s.Gap, s.Objective)
	}
	h, err := svm.Train(ctx, d, svm.Settings{Options: svm.Options{L2: 1, Loss: svm.Hinge}})
	if err != nil {
		t.Fatal(err)
	}
	if !h.Converged || h.Gap > 1e-6*h.Objective {
		t.Errorf("hinge: converged %t after %d passes, gap %v of %v", h.Converged, h.Epochs, h.Gap, h.Objective)
	}
	for l1, learn := range map[float64]func(l1 float64) (converged bool, weights []float32, err error){
		2: func(l1 float64) (bool, []float32, error) {
			r, err := logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{L1: l1}})
			return r.Converged, r.Weights, err
		},
		20: func(l1 float64) (bool, []float32, error) {
			r, err := svm.Train(ctx, d, svm.Settings{Options: svm.Options{L1: l1}})
			return r.Converged, r.Weights, err
		},
	} {
		converged, weights, err := learn(l1)
		if err != nil || !converged || weights[1] == 0 || weights[10_000] != 0 {
			t.Errorf("l1 %v: converged %t, a frequent weight is %v, a rare one %v, error %v", l1, converged, weights[1], weights[10_000], err)
		}
	}
	if _, err := logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{NoPenalty: true, Solver: logistic.Newton}}); err == nil {
		t.Error("Newton's method takes as many columns without a penalty")
	}
}

// TestTruncatedChoice: logistic regression takes Task.Truncated by itself for more than 256 columns with a penalty. Its optimum and
// that of the squared hinge are those of Newton's method with a Hessian.
func TestTruncatedChoice(t *testing.T) {
	d, ctx := rows(3000, 300, true), context.Background()
	want := require.Value(logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{L2: 0.5, Solver: logistic.Newton}}))(t)
	got := require.Value(logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{L2: 0.5}}))(t)
	if got.Solver != logistic.Truncated || !got.Converged || got.Objective > want.Objective*(1+1e-6) || got.Objective-got.Gap > want.Objective {
		t.Errorf("%s finds %v with a gap of %v, and Newton's method %v", got.Solver, got.Objective, got.Gap, want.Objective)
	}
	if _, err := logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{NoPenalty: true, Solver: logistic.Truncated}}); err == nil {
		t.Error("truncated takes rows without a penalty")
	}
}

// TestDenseRows: rows with few zeros give the same bits however they are stored or read, by one worker or by several that
// share chunks, and the gap holds.
func TestDenseRows(t *testing.T) {
	for _, features := range []int{3, 40, 300} {
		rng, n := rand.New(rand.NewPCG(5, uint64(features))), 4500
		x, y := make([][]float64, n), make([]float64, n)
		for r := range x {
			score := rng.NormFloat64() * 3
			for c := range features {
				v := max(-1, rng.NormFloat64()) // the sums must not depend on zeros
				if rng.IntN(3) == 0 {
					v = 0
				}
				x[r], score = append(x[r], v), score+v*float64(c%5-2)/math.Sqrt(float64(features))
			}
			y[r] = math.Copysign(1, score)
		}
		d := testproblems.Weighted(testproblems.Dense(x, y, true), func(row int) float64 { return float64(row % 3) })
		hinge := func(t *optimize.Task, ctx context.Context) (*optimize.Solution, error) {
			return t.Hinge(ctx, optimize.Tally{Start: time.Now()})
		}
		for name, solve := range map[string]func(*optimize.Task, context.Context) (*optimize.Solution, error){
			"logistic": (*optimize.Task).Truncated, "hinge": hinge} {
			var want *optimize.Solution
			for i, src := range []block.Source{d, d, testproblems.Sparse(d), testproblems.Stream{Data: d}} {
				one := task(learner.Options{Epochs: 3000, Run: learner.Run{Workers: 1 + 2*min(1, i)}}, src, optimize.Penalty{L2: 1})
				got := require.Value(solve(one, t.Context()))(t)
				if want == nil {
					want = got
					if got.Gap() > 1e-6*got.Objective {
						t.Errorf("%s, %d features: the gap is %v of %v", name, features, got.Gap(), got.Objective)
					}
				}
				if !slices.Equal(got.W, want.W) || got.Passes != want.Passes || got.LowerBound != want.LowerBound {
					t.Errorf("%s, %d features, source %d: other bits", name, features, i)
				}
			}
		}
	}
}
