package optimize

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	lnLastPenalty        = -9.210340371976182 // log 1e-4: the last penalty of a path is 1e-4 times the first
	lnLastPenaltyFewRows = -4.605170185988091 // log 1e-2: the same with fewer rows than features
	explainedLoss        = 0.999              // a path ends once the loss is below 1-explainedLoss times the bias's loss
)

// Path returns the minima for up to n falling penalties. Each search begins at the minimum for the penalty before. A
// pass over the rows computes the gradient of all columns, so no column needs to be screened. The first penalty is the
// least penalty with which all weights are 0. The last penalty is 1e-4 times the first, or 1e-2 times with fewer rows
// than features. The penalties between are evenly spaced logarithmically (Friedman, Hastie and Tibshirani 2010). Path
// ends early once the weights explain 99.9 % of the loss. If penalties isn't nil, Path uses these penalties and doesn't
// end early.
func (t *Task) Path(ctx context.Context, n int, penalties []float64) ([]*learner.PathMinimum, error) {
	rows, pivots, err := learner.CentredRows(ctx, t.Rows)
	if err != nil {
		return nil, err
	}
	one := *t
	one.Rows = rows
	follow := one.densePath
	if HasManyColumns(t.Rows.Spec().Cols()) {
		follow = one.columnsPath
	}
	minima, err := follow(ctx, n, penalties)
	if pivots != nil {
		for _, s := range minima {
			learner.Uncentre(s.W, pivots)
		}
	}
	return minima, err
}

// densePath is Path with a Hessian.
func (t *Task) densePath(ctx context.Context, n int, penalties []float64) ([]*learner.PathMinimum, error) {
	loss := t.Dense(t.Rows)
	s := t.search(loss, time.Now())
	s.MostPasses, s.HasRelaxed = math.MaxInt64, true // the path itself begins at greater penalties
	w, alone, err := t.biasAlone(ctx, t.Rows, loss)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx, w); err != nil {
		return nil, err
	}
	given := penalties != nil
	if !given {
		penalties = s.fallingPenalties(s.features(s.Point.Gradient), t.Rows.Rows(), n)
	}
	var minima []*learner.PathMinimum
	for _, l1 := range penalties {
		s.ChangePenalty(Penalty{l1, t.L2, t.NonNegative})
		s.MostPasses = s.Passes + min(t.Epochs, math.MaxInt64-s.Passes)
		if _, err := s.Minimise(ctx, ConvergedGap); err != nil {
			return nil, err
		}
		minima = append(minima, &learner.PathMinimum{L1: l1, W: slices.Clone(s.Point.W), Loss: s.Point.Loss,
			Objective: s.Objective(s.Point), Gap: s.Gap(), Passes: s.Passes})
		if !given && isExplained(s.Point.Loss, alone) {
			break
		}
	}
	return minima, nil
}

// columnsPath is Path by coordinate descent. A step leaves out columns whose weight is 0 and whose gradient shows that
// the weight stays 0. After the step, the gradient of all columns confirms or corrects that choice.
func (t *Task) columnsPath(ctx context.Context, n int, penalties []float64) ([]*learner.PathMinimum, error) {
	one := *t
	one.Epochs, one.Checkpoint = math.MaxInt64, nil
	s := newGLMNET(&one)
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	alone, given := s.loss, penalties != nil
	if !given {
		penalties = s.fallingPenalties(s.gradient[:s.features], s.Rows.Rows(), n)
	}
	var minima []*learner.PathMinimum
	for _, l1 := range penalties {
		one.L1, one.Epochs, s.LowerBound = l1, s.Passes+min(t.Epochs, math.MaxInt64-s.Passes), math.Inf(-1)
		s.resetPrecision()
		s.raiseLowerBound()
		if err := s.minimise(ctx); err != nil {
			return nil, err
		}
		minima = append(minima, &learner.PathMinimum{L1: l1, W: slices.Clone(s.W), Loss: s.loss, Objective: s.objective(),
			Gap: max(0, s.objective()-s.LowerBound), Passes: s.Passes})
		if !given && isExplained(s.loss, alone) {
			break
		}
	}
	return minima, nil
}

// isExplained tells whether a path ends at a loss. alone is the loss of the bias alone.
func isExplained(loss, alone float64) bool { return loss < (1-explainedLoss)*alone }

// fallingPenalties returns the n penalties of a path. gradient is the gradient of the loss by the features, at zero
// weights with the best bias.
func (p Penalty) fallingPenalties(gradient []float64, rows int64, n int) []float64 {
	largest, depth := 0.0, lnLastPenalty
	for _, g := range gradient {
		largest = max(largest, p.pull(-g))
	}
	if rows < int64(len(gradient)) {
		depth = lnLastPenaltyFewRows
	}
	all := make([]float64, n)
	for i := 1; i < n; i++ {
		all[i] = float64(depth*float64(i)) / float64(n-1)
	}
	f64.Exp(all, all)
	for i := range all {
		all[i] *= largest
	}
	return all
}
