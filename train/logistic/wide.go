package logistic

import (
	"context"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/train/internal/optimize"
)

const (
	quickTolerance    = 1e-5 // norm of the gradient at which learnWide's L-BFGS stops first, relative to the norm at zero weights
	mostQuickRestarts = 3    // most times that it continues to a tenth of the norm
	mostQuickColumns  = 1 << 13
	fewPasses         = 6 // conjugate gradients need at least this number of passes to begin and to gain
)

// learnWide trains two classes with a penalty above 0 on rows of more columns than Hessians are for. The objective is
// the one of Train. The method is optimize.Task.Truncated: Newton's method with steps by conjugate gradients. Dense
// rows begin with L-BFGS. It takes about half the passes if columns are nearly uncorrelated. If they aren't, it becomes
// slow, and conjugate gradients go on from its weights.
func learnWide(ctx context.Context, src block.Source, pivots []float64, opt Settings) (*Result, error) {
	start := time.Now()
	opt.Solver = LBFGS
	t := newTraining(src, pivots, opt)
	if opt.Checkpoint.SavedName() != optimize.StateOfTruncated && t.cols <= mostQuickColumns {
		if r, err := t.learn(ctx, opt, t.byQuickLBFGS); r != nil || err != nil {
			return r, err
		}
	}
	opt.Solver = Truncated
	task, quick := taskOf(src, opt), time.Since(start)
	r, err := learnTruncated(ctx, task, pivots, func(ctx context.Context) (*optimize.Solution, error) {
		return task.TruncatedFrom(ctx, t.Tally, t.w)
	})
	if r != nil {
		r.Seconds += quick.Seconds()
	}
	return r, err
}

// byQuickLBFGS finds the optimum by L-BFGS. There is no verdict if the rows aren't dense, or L-BFGS is slow.
func (t *training) byQuickLBFGS(ctx context.Context) error {
	change, err := t.scaling(ctx)
	if err != nil || !linalg.AreDense(change.Elements, t.src.Rows(), t.cols) {
		return err
	}
	s := &optimize.LBFGS{Function: objective{t.problem}, VariableChange: change, MostPasses: t.Epochs, IsQuick: true}
	s.Tally, s.Goal = t.Tally, quickTolerance
	defer func() { t.Tally, t.w = s.Tally, s.W }()
	if err := s.Begin(ctx, t.cols); err != nil {
		return err
	}
	zero := &zeroSums{total: change.ColumnSums}
	if s.Passes() == 1 {
		zero.gradient = t.spread(s.Last.Gradient)
	}
	for {
		reached, err := s.Minimise(ctx)
		isOver := s.Passes()+fewPasses > t.Epochs
		if err != nil || !reached && !isOver {
			return err
		}
		t.norm, t.found = s.RelativeNorm(), time.Since(s.Start)
		v, err := t.auditByDual(ctx, s.W, t.round(s.W), zero)
		if err != nil {
			return err
		}
		if v.isGapSmall() || v.gapLostByRounding || isOver {
			t.verdict = v
			return nil
		}
		if !s.Restart(mostQuickRestarts) {
			return nil
		}
	}
}
