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
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel/f64"
	"halfspace/train/internal/dualdescent"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
	"halfspace/train/svm"
)

// rows returns rows with a few features each that aren't zero, and labels of a plane with noise. Most labels are 1.
func rows(n, features int, bias bool) *block.Data {
	x, y := testproblems.FewElements(n, features)
	return testproblems.Dense(x, y, bias)
}

// task returns the task of logistic regression.
func task(opt learner.Options, rows block.Source, p optimize.Penalty) *optimize.Task {
	return &optimize.Task{Penalty: p, Options: opt, Rows: rows, Loss: f64.Logistic}
}

// solvers find the minimum for the hinge of many columns: svm takes one or the other by the number of rows.
func solvers() map[string]func(context.Context, learner.Options, block.Source, float64) (*optimize.Solution, error) {
	return map[string]func(context.Context, learner.Options, block.Source, float64) (*optimize.Solution, error){
		"by row": func(ctx context.Context, opt learner.Options, rows block.Source, l2 float64) (*optimize.Solution, error) {
			return dualdescent.Hinge(ctx, task(opt, rows, optimize.Penalty{L2: l2}), opt.Epochs)
		},
		"truncated": func(ctx context.Context, opt learner.Options, rows block.Source, l2 float64) (*optimize.Solution, error) {
			return task(opt, rows, optimize.Penalty{L2: l2}).Hinge(ctx, optimize.Tally{Start: time.Now()})
		},
	}
}

// tolerances are how close to an optimum a solution must be, relative to the objective.
type tolerances struct {
	gap   float64 // between the objective and its lower bound
	above float64 // of the objective that another method finds
}

// check holds a solution to the objective of another method.
func (o tolerances) check(t *testing.T, what string, got *optimize.Solution, want float64) {
	t.Helper()
	if got.Gap() > o.gap*got.Objective {
		t.Errorf("%s: the gap is %v of %v after %d passes", what, got.Gap(), got.Objective, got.Passes)
	}
	if got.Objective > want*(1+o.above) || got.Objective-got.Gap() > want*(1+1e-12) {
		t.Errorf("%s: the objective is %v, at most %v above the minimum, and the other method finds %v", what, got.Objective, got.Gap(), want)
	}
}

// TestHinge: the objective is that of the augmented Lagrangian method, which needs a Hessian, and at most the gap above
// it.
func TestHinge(t *testing.T) {
	ctx := context.Background()
	for _, bias := range []bool{false, true} {
		for _, c := range []struct {
			name string
			rows *block.Data
			l2   float64
		}{
			{"many rows", rows(4500, 30, bias), 300},
			{"many columns", rows(300, 400, bias), 1},
			{"small penalty", rows(100, 300, bias), 0.01}, // so the gap needs variables to 10 digits
			{"weighted", testproblems.Weighted(rows(300, 400, bias), func(row int) float64 { return float64(row % 3) }), 10},
		} {
			what, d, l2 := fmt.Sprintf("%s, bias %t", c.name, bias), c.rows, c.l2
			want := require.Value(svm.Train(ctx, d, svm.Settings{Options: svm.Options{L2: l2, Loss: svm.Hinge}}))(t)
			for name, solve := range solvers() {
				got, err := solve(ctx, learner.Options{Epochs: 10000, Run: learner.Run{Workers: 2}}, d, l2)
				if err != nil {
					t.Fatalf("%s, %s: %v", what, name, err)
				}
				tolerances{gap: 1e-6, above: 2e-6}.check(t, what+", "+name, got, want.Objective)
			}
		}
	}
}

// TestNoFeatures: rows without features have the bias of the greater class, whatever the penalty.
func TestNoFeatures(t *testing.T) {
	x, y := make([][]float64, 35), make([]float64, 35)
	for r := range x {
		x[r], y[r] = make([]float64, 3), math.Copysign(1, float64(r)-6.5)
	}
	for _, l2 := range []float64{0.01, 1, 100} {
		for name, solve := range solvers() {
			got, err := solve(t.Context(), learner.Options{Epochs: 1000}, testproblems.Dense(x, y, true), l2)
			if err != nil || math.Abs(got.Objective-14) > 1e-4 || math.Abs(got.W[3]-1) > 1e-4 {
				t.Errorf("%s, l2 %v: objective %v with weights %v, error %v", name, l2, got.Objective, got.W, err)
			}
		}
	}
}

// TestAlone: rows of one class, beside others with a sample weight of 0, have no loss with a bias alone.
func TestAlone(t *testing.T) {
	for _, class := range []float32{-1, 1} {
		d := testproblems.Weighted(rows(3000, 40, true), func(int) float64 { return 1 })
		for b, err := range d.Blocks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for r, y := range b.Y {
				if y != class {
					b.W[r] = 0
				}
			}
		}
		for name, solve := range solvers() {
			got, err := solve(t.Context(), learner.Options{Epochs: 1000}, d, 1)
			if err != nil || got.Objective != 0 || got.Gap() != 0 || got.Passes > 20 || got.W[40]*float64(class) < 1 {
				t.Errorf("%s, class %v: objective %v with the bias %v, a gap of %v after %d passes, error %v", name, class, got.Objective, got.W[40], got.Gap(), got.Passes, err)
			}
		}
	}
}

// TestHingePasses: few passes end the search before the gap is small, and the solution says so. Five passes are enough for a
// sweep of dual coordinate descent.
func TestHingePasses(t *testing.T) {
	d := rows(3000, 40, true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, solve := range solvers() {
		for _, passes := range []int64{3, 5, 6, 9} {
			s := require.Value(solve(t.Context(), learner.Options{Epochs: passes, Run: learner.Run{Workers: 2}}, d, 1e-3))(t)
			if !s.OutOfPasses || passes >= 5 && s.Steps == 0 && name == "by row" {
				t.Errorf("%s, at most %d passes: %d steps, out of passes %t", name, passes, s.Steps, s.OutOfPasses)
			}
			if s.Passes > passes || s.Gap() < 1e-5*s.Objective || math.IsInf(s.Gap(), 0) {
				t.Errorf("%s, at most %d passes: %d passes bring the gap to %v of %v", name, passes, s.Passes, s.Gap(), s.Objective)
			}
		}
		if _, err := solve(ctx, learner.Options{Epochs: 10, Run: learner.Run{Workers: 1}}, d, 1); err == nil {
			t.Errorf("%s: a cancelled search returns no error", name)
		}
	}
}

// TestResume: a search that stops after some passes, and goes on from its checkpoint, has the same weights: by rows, with all
// rows, and with a sample and near rows.
func TestResume(t *testing.T) {
	many := 20 * block.ChunkRows
	x, y := make([][]float64, many), make([]float64, many)
	rng := rand.New(rand.NewPCG(6, 6))
	for r := range x {
		x[r] = []float64{rng.NormFloat64(), rng.NormFloat64()}
		y[r] = math.Copysign(1, x[r][0]-x[r][1]/2+0.3+rng.NormFloat64())
	}
	for _, c := range []struct {
		name  string
		rows  *block.Data
		solve string
	}{{"by row", rows(600, 100, true), "by row"}, {"all rows", rows(600, 100, true), "truncated"},
		{"many columns", rows(600, 300, true), "truncated"}, {"near rows", testproblems.Dense(x, y, true), "truncated"}} {
		solve := func(ctx context.Context, run learner.Run) (*optimize.Solution, error) {
			return solvers()[c.solve](ctx, learner.Options{Epochs: 40, Run: run}, c.rows, 0.01)
		}
		want, stops := require.Value(solve(t.Context(), learner.Run{}))(t), 0
		for after := int64(1); after < want.Passes; after += 1 + after/4 {
			dir := t.TempDir()
			open := func() *checkpoint.Run {
				return require.Value(checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true, Epochs: 1}))(t)
			}
			run := open()
			ctx, cancel := context.WithCancel(t.Context())
			_, err := solve(ctx, learner.Run{Checkpoint: run.Part(0), Progress: func(p learner.Progress) {
				if p.Epoch >= after {
					cancel()
				}
			}})
			run.Close()
			if cancel(); err == nil {
				t.Fatalf("%s: a search that was cancelled after %d passes returns no error", c.name, after)
			}
			run = open()
			if run.HasCheckpoint() {
				stops++
			}
			got := require.Value(solve(t.Context(), learner.Run{Checkpoint: run.Part(0)}))(t)
			run.Close()
			if !slices.Equal(got.W, want.W) || got.Passes != want.Passes || got.Visits != want.Visits || got.Steps != want.Steps {
				t.Errorf("%s, stopped after %d passes: %d passes and %d steps, want %d and %d", c.name, after, got.Passes, got.Steps, want.Passes, want.Steps)
			}
		}
		if stops == 0 {
			t.Errorf("%s: no search went on from a checkpoint", c.name)
		}
	}
}
