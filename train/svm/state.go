package svm

import (
	"context"
	"errors"
	"fmt"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/train/learner"
)

// The stages of solve. A checkpoint has the stage in which it was taken.
const (
	stageNewton = iota
	stageNearby // in the first call of shrink
	stageShrink // in shrink, called by hinge
)

// A trace is the fields that are kept from one pass to the next, for checkpoints.
type trace struct {
	resumed bool // the next method continues from a checkpoint
	stage   int

	stuckTimes  int       // hinge: consecutive times that rounding errors stopped Newton's method
	stepsBefore int64     // hinge: number of steps before the current slope
	bestW       []float64 // shrink: weights with the least objective
	bestAt      sums
}

// takeResumed tells whether the state comes from a checkpoint. It returns true at most once.
func (t *trace) takeResumed() bool {
	resumed := t.resumed
	t.resumed = false
	return resumed
}

// resume continues from a checkpoint. It returns false if there is none.
func (s *solver) resume(ctx context.Context) (done bool, err error) {
	if s.opt.Checkpoint == nil {
		return false, nil
	}
	s.loss.base = block.Alloc[float64](int(s.src.Rows()))
	if s.resumed, err = s.opt.Checkpoint.Load(s.state); err != nil || !s.resumed {
		return err != nil, err
	}
	if s.stage == stageNearby {
		return true, s.resumeNearby(ctx)
	}
	return true, s.hinge(ctx)
}

func (s *solver) mark(stage int) {
	s.stage = stage
	s.opt.Checkpoint.Pass(s.passes, s.visits, s.state)
}

// state saves or restores the state of the solver before a step, or before a pass of shrink.
func (s *solver) state(w *checkpoint.Walk) {
	learner.State(w, &s.start, &s.stage, &s.stuckTimes, &s.stepsBefore, &s.passes, &s.visits, &s.steps, &s.halvedPasses,
		&s.lowerBound, &s.ridge, &s.halfGap, &s.leastSlope, &s.loss.slope, &s.factorIsFresh, &s.nearRowsMisled, s.w)
	vectors := []*[]float64{&s.hessian.w, &s.hessian.mostDiagonal, &s.bestW}
	for _, at := range []*sums{&s.at, &s.bestAt} {
		learner.State(w, &at.Loss, &at.DualPart, &at.Weight, &at.ActiveWeight, &at.objective, &at.dual, &at.NearRows,
			&at.A[0], &at.Squares[0], &at.A[1], &at.Squares[1])
		vectors = append(vectors, &at.gradient, &at.Ax[0], &at.Ax[1])
	}
	for _, v := range vectors {
		checkpoint.Slice(w, v)
		if n := len(*v); n != 0 && n != s.src.Spec().Width() && n != s.cols && n != len(s.w) {
			w.Fail(fmt.Errorf("it has a vector of %d elements, and there are %d columns", n, s.cols))
		}
	}
	if checkpoint.Slice(w, &s.hessian.rows); len(s.hessian.rows) != 0 && len(s.hessian.rows) != s.cols*(s.cols+1)/2 {
		w.Fail(errors.New("it has a Hessian of another size"))
	}
	linalg.State(w, &s.factor, s.cols)
	checkpoint.Values(w, s.loss.base)
	if checkpoint.Slice(w, &s.chosenRows); s.stage > stageShrink || s.stage != stageNewton &&
		len(s.chosenRows) != int(s.src.Rows()) || s.stage == stageNewton && s.factor == nil {
		w.Fail(errors.New("it is of another stage"))
	}
}
