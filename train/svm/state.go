package svm

import (
	"context"
	"errors"
	"fmt"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/dense"
)

// The stages of solve. A checkpoint has the stage in which it was taken.
const (
	inNewton = iota
	inNearby // in the first call of shrink
	inShrink // in shrink, called by hinge
)

// A trace is the fields that are kept from one pass to the next, for checkpoints.
type trace struct {
	resumed bool // the next method continues from a checkpoint
	stage   int

	stuck  int       // hinge: consecutive times that rounding errors stopped Newton's method
	before int64     // hinge: number of steps before the current slope
	bestW  []float64 // shrink: weights with the least objective
	bestAt sums
}

// goesOn tells whether the state comes from a checkpoint. It returns true at most once.
func (t *trace) goesOn() bool {
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
	if s.stage == inNearby {
		return true, s.nearBegun(ctx)
	}
	return true, s.hinge(ctx)
}

func (s *solver) mark(stage int) {
	s.stage = stage
	s.opt.Checkpoint.Pass(s.passes, s.visits, s.state)
}

// state saves or restores the state of the solver before a step, or before a pass of shrink.
func (s *solver) state(w *checkpoint.Walk) {
	w.Clock(&s.start)
	w.Count(&s.stage)
	w.Count(&s.stuck)
	for _, v := range []*int64{&s.before, &s.passes, &s.visits, &s.steps, &s.halved} {
		w.Int(v)
	}
	for _, v := range []*float64{&s.lower, &s.ridge, &s.halfGap, &s.least, &s.loss.slope} {
		w.Float(v)
	}
	for _, v := range []*bool{&s.fresh, &s.misled} {
		w.Bool(v)
	}
	checkpoint.Values(w, s.w)
	s.at.state(w)
	s.bestAt.state(w)
	vectors := []*[]float64{&s.hessian.w, &s.hessian.most, &s.bestW}
	for at := range 2 {
		of := []*sums{&s.at, &s.bestAt}[at]
		vectors = append(vectors, &of.gradient, &of.Ax[0], &of.Ax[1])
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
	dense.State(w, &s.factor, s.cols)
	checkpoint.Values(w, s.loss.base)
	if checkpoint.Slice(w, &s.chosen); s.stage > inShrink || s.stage != inNewton && len(s.chosen) != int(s.src.Rows()) || s.stage == inNewton && s.factor == nil {
		w.Fail(errors.New("it is of another stage"))
	}
}

func (s *sums) state(w *checkpoint.Walk) {
	for _, v := range []*float64{&s.Loss, &s.Apart, &s.Weight, &s.Active, &s.objective, &s.dual} {
		w.Float(v)
	}
	w.Int(&s.Near)
	for class := range s.A {
		w.Float(&s.A[class])
		w.Float(&s.Squares[class])
	}
}
