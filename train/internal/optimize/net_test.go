package optimize_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
	"halfspace/train/logistic"
)

// TestNet: the objective is that of proximal Newton with a Hessian, and at most the gap above it.
func TestNet(t *testing.T) {
	ctx := context.Background()
	for _, bias := range []bool{false, true} {
		for penalty, name := range map[optimize.Penalty]string{{L1: 3}: "l1", {L1: 1, L2: 2}: "elastic net", {L1: 2, NonNegative: true}: "nonnegative", {L2: 1, NonNegative: true}: "nonnegative with l2"} {
			for weighted, d := range []*block.Data{rows(4500, 50, bias), testproblems.Weighted(rows(300, 200, bias), func(row int) float64 { return float64(row % 3) })} {
				what := fmt.Sprintf("%s, bias %t, weighted %d", name, bias, weighted)
				want := require.Value(logistic.Train(ctx, d, logistic.Settings{Options: logistic.Options{L1: penalty.L1, L2: penalty.L2, NoPenalty: true, NonNegative: penalty.NonNegative}}))(t)
				got, err := optimize.ByColumns(task(learner.Options{Epochs: 1000, Run: learner.Run{Workers: 2}}, d, penalty), ctx)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if got.Gap() > 1e-6*got.Objective {
					t.Errorf("%s: the gap is %v of %v after %d passes", what, got.Gap(), got.Objective, got.Passes)
				}
				if math.Abs(got.Objective-want.Objective) > 1e-6*want.Objective || got.Objective-got.Gap() > want.Objective*(1+1e-12) {
					t.Errorf("%s: the objective is %v, at most %v above the minimum, and the other method finds %v", what, got.Objective, got.Gap(), want.Objective)
				}
				if penalty.NonNegative && slices.Min(got.W[:len(d.Spec().Features)]) < 0 {
					t.Errorf("%s: a weight is below 0", what)
				}
			}
		}
	}
}

// TestNetPasses: conjugate gradients save more than half of the passes if columns are correlated: without them, the passes are
// 1,594 and 2,161.
func TestNetPasses(t *testing.T) {
	x, y := testproblems.FewElements(600, 200)
	for r := range x {
		for j := 1; j < len(x[r]); j++ {
			x[r][j] = 0.9*x[r][j-1] + 0.1*x[r][j]
		}
	}
	for _, c := range []struct {
		loss func(z, factor, curvature, loss, y []float64)
		most int64
	}{{f64.Logistic, 700}, {squaredHinge, 1100}} {
		task := task(learner.Options{Epochs: 3000, Run: learner.Run{Workers: 2}}, testproblems.Dense(x, y, false), optimize.Penalty{L1: 0.1})
		task.Loss = c.loss
		s := require.Value(optimize.ByColumns(task, t.Context()))(t)
		if s.Passes > c.most || s.Gap() > 1e-6*s.Objective {
			t.Errorf("%d passes bring the gap to %v of %v, want at most %d", s.Passes, s.Gap(), s.Objective, c.most)
		}
	}
}

// squaredHinge is the loss max(0, 1-m)^2 for Task.Loss.
func squaredHinge(z, factor, curvature, loss, y []float64) {
	for i, label := range y {
		z[i] *= label
		u := max(0, 1-z[i])
		factor[i], curvature[i], loss[i] = -2*u*label, 0, u*u
		if u > 0 {
			curvature[i] = 2
		}
	}
}

// TestLargeValues: a column of large values, up to the greatest float32, takes at least as much from the objective as a column
// of the same values in a smaller unit, whose weight has a greater penalty.
func TestLargeValues(t *testing.T) {
	losses := map[string]func(z, factor, curvature, loss, y []float64){"logistic": f64.Logistic, "squared hinge": squaredHinge}
	for _, every := range []int{3, 1000} {
		for name, loss := range losses {
			solve := func(unit float64) *optimize.Solution {
				x, y := testproblems.FewElements(1000, 300)
				for r := range x {
					if x[r][7] = 0; r%every == 1 {
						x[r][7] = unit * (1 + float64(r%10)/20)
					}
				}
				task := task(learner.Options{Epochs: 1000, Run: learner.Run{Workers: 2}}, testproblems.Dense(x, y, true), optimize.Penalty{L1: 1})
				task.Loss = loss
				return require.Value(optimize.ByColumns(task, t.Context()))(t)
			}
			most := solve(1).Objective * (1 + 1e-6)
			for _, unit := range []float64{1e9, 1e18, 2e38} {
				if got := solve(unit); !(got.Objective <= most) {
					t.Errorf("%s, %v in every %d rows: objective %v after %d passes, want at most %v", name, unit, every, got.Objective, got.Passes, most)
				}
			}
		}
	}
}

// TestNetLimit: the limit of passes includes a pass that measures the rounded weights. The solution says whether the limit
// ended the search.
func TestNetLimit(t *testing.T) {
	for _, bias := range []bool{false, true} {
		d := rows(600, 100, bias)
		for limit := int64(4); ; limit++ {
			s := require.Value(optimize.ByColumns(task(learner.Options{Epochs: limit}, d, optimize.Penalty{L1: 0.1}), t.Context()))(t)
			if s.Passes >= limit || s.OutOfPasses && s.Passes+4 < limit || limit >= 7 && s.Steps == 0 || s.OutOfPasses == (s.Gap() <= 5e-7*s.Objective) {
				t.Errorf("bias %t, at most %d passes: %d passes, %d steps, gap %v of %v, out of passes %t", bias, limit, s.Passes, s.Steps, s.Gap(), s.Objective, s.OutOfPasses)
			}
			if !s.OutOfPasses {
				break
			}
		}
	}
}

// TestLargeWeights: sample weights near the greatest float32, with a penalty as many times as large, multiply the objective
// alone.
func TestLargeWeights(t *testing.T) {
	solve := func(weight float64) *optimize.Solution {
		d := testproblems.Weighted(rows(600, 100, true), func(int) float64 { return weight })
		task := task(learner.Options{Epochs: 1000}, d, optimize.Penalty{L1: weight / 10})
		task.Loss = squaredHinge
		return require.Value(optimize.ByColumns(task, t.Context()))(t)
	}
	const large = 1 << 126
	if got, want := solve(large), solve(1); !(math.Abs(got.Objective/large-want.Objective) <= 1e-6*want.Objective) || got.Passes > 2*want.Passes {
		t.Errorf("objective %v in %d passes, want %v in about %d", got.Objective/large, got.Passes, want.Objective, want.Passes)
	}
}
