package elastic

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/kernel/f64"
	"halfspace/train"
)

const (
	lnDeep    = -9.210340371976182 // log 1e-4: the last penalty of a path relative to the first
	lnShallow = -4.605170185988091 // log 1e-2: the same with fewer rows than features
	explained = 0.999              // a path ends when the loss is at most 1 less this part of that of the bias alone
)

// A Stage is the minimum for one penalty of a path.
type Stage struct {
	Penalty
	W              []float64 // a weight for each column
	Loss           float64
	Objective, Gap float64
	Passes         int64 // over the rows so far
}

// Nonzero returns how many weights without the bias aren't 0.
func (s *Stage) Nonzero(features int) (n int) {
	for _, v := range s.W[:features] {
		if v != 0 {
			n++
		}
	}
	return n
}

// Path returns the minima for falling penalties, each search beginning at the minimum before. A pass over the rows gives
// the gradient of all columns, so that no column needs to be screened. The first penalty is the least with which all
// weights are 0, and the last is 1e-4 of it, or 1e-2 with fewer rows than features. Those between are evenly spaced
// logarithmically. They are those of Friedman, Hastie and Tibshirani (2010). A path ends early when the weights explain 99.9
// % of the loss. If penalties is given, it is the path's.
func (t *Task) Path(ctx context.Context, n int, penalties []float64) ([]*Stage, error) {
	loss := t.Of(t.Rows)
	s := t.search(loss, time.Now())
	s.Most = math.MaxInt64
	w, alone, err := t.alone(ctx, t.Rows, loss)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx, w); err != nil {
		return nil, err
	}
	given := penalties != nil
	if !given {
		penalties = s.Ladder(s.Point.Gradient[:s.features()], t.Rows.Rows(), n)
	}
	var stages []*Stage
	for _, l1 := range penalties {
		s.Change(Penalty{l1, t.L2, t.NonNegative})
		s.Most = s.Passes + min(t.Epochs, math.MaxInt64-s.Passes)
		if _, err := s.Minimise(ctx, converges); err != nil {
			return nil, err
		}
		stages = append(stages, &Stage{Penalty: s.Penalty, W: slices.Clone(s.Point.W), Loss: s.Point.Loss, Objective: s.Objective(s.Point), Gap: s.Gap(), Passes: s.Passes})
		if !given && Explained(s.Point.Loss, alone) {
			break
		}
	}
	return stages, nil
}

// Centred follows a path over rows, less pivots if columns are far from zero; see train.Pivots. It returns weights for
// the original rows.
func Centred(ctx context.Context, src block.Source, follow func(block.Source) ([]*Stage, error)) ([]*Stage, error) {
	pivots, err := train.Pivots(ctx, src)
	if err != nil {
		return nil, err
	}
	if pivots == nil {
		return follow(src)
	}
	stages, err := follow(train.Centre(src, len(pivots)-1, pivots))
	for _, s := range stages {
		train.Uncentre(s.W, pivots)
	}
	return stages, err
}

// Explained tells whether a path ends at a loss, given that of the bias alone.
func Explained(loss, alone float64) bool { return loss < (1-explained)*alone }

// Ladder returns the n penalties of a path, given the gradient of the loss for the features at weights of 0 with the best
// bias.
func (p Penalty) Ladder(gradient []float64, rows int64, n int) []float64 {
	largest, depth := 0.0, lnDeep
	for _, g := range gradient {
		largest = max(largest, p.pull(-g))
	}
	if rows < int64(len(gradient)) {
		depth = lnShallow
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
