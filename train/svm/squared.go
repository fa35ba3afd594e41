package svm

import (
	"context"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// A squared is the objective with the squared hinge, as optimize.Newton sees it.
type squared struct{ *problem }

// At makes a pass over the rows. The lower bound is the dual objective of the rows' dual variables.
func (s squared) At(ctx context.Context, w []float64, hessian bool) (*optimize.Evaluation, error) {
	var at sums
	h, err := s.pass(ctx, w, hessian, &at)
	if err == nil && at.Weight == 0 {
		err = learner.ErrWeightless
	}
	if err != nil {
		return nil, err
	}
	penalty := optimize.Penalty{L2: s.l2}
	e := &optimize.Evaluation{Objective: at.Loss + penalty.Value(w[:s.src.Spec().Width()]), AtZero: at.Weight, Gradient: at.gradient,
		Lower: penalty.Bound(s.dual(&at))}
	if h == nil || e.Objective-e.Objective != 0 {
		return e, nil
	}
	if e.Factor, e.Ridge, err = linalg.Factorise(ctx, h, s.cols); e.Factor == nil && err == nil {
		err = learner.OverflowError()
	}
	return e, err
}

// Suspect does nothing: the penalty makes a minimum.
func (s squared) Suspect(context.Context, []float64) error { return nil }

// solveSquared finds the minimum of 1/2 l2 |w|^2 + sum of c max(0, 1 - y (w.x))^2 by optimize.Newton, with a proven gap
// (Mangasarian 2002; see Train). If a Hessian is nearly singular, or a step fails, the proximal Newton method finds
// it.
func solveSquared(ctx context.Context, task *optimize.Task, opt Settings) (*optimize.Solution, error) {
	if task.Checkpoint.SavedName() == optimize.StateOfProximal {
		return task.Elastic(ctx)
	}
	n := &optimize.Newton{Function: squared{newProblem(task.Rows, opt)}, MustProve: true}
	n.Goal, n.Tally, n.W = optimize.NormGoal, optimize.Tally{Task: task, Start: time.Now()}, make([]float64, task.Rows.Spec().Cols())
	err := n.Begin(ctx, func(sample *block.Data, share float64) optimize.Function {
		few := opt
		few.L2 *= share
		return squared{newProblem(sample, few)}
	})
	proved := false
	if err == nil {
		proved, err = n.Minimise(ctx)
	}
	if err == nil && !proved && n.Passes() < task.Epochs {
		return task.Elastic(ctx)
	}
	s := &optimize.Solution{W: n.W, LowerBound: n.Lower, Passes: n.Passes(), Visits: n.VisitedRows, Steps: n.Steps,
		OutOfPasses: n.Passes() >= task.Epochs}
	if n.Last != nil {
		s.Objective = n.Last.Objective
	}
	return s, err
}
