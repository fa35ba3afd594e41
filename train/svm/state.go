package svm

import (
	"context"
	"errors"
	"fmt"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/dense"
)

// A saved is the state, for a checkpoint, of one of the solvers that learn makes one after another.
type saved struct {
	part  *checkpoint.Part
	phase int    // number of the solver
	state []byte // state of that solver, as read
	of    func(*checkpoint.Walk)
	from  bool // that solver resumes from the state
}

func (v *saved) walk(w *checkpoint.Walk) {
	w.Count(&v.phase)
	w.Inner(&v.state, v.of)
}

// The stages of solve. A checkpoint has the stage in which it was taken.
const (
	inNewton = iota
	inNearby // in the first call of shrink
	inShrink // in shrink, called by hinge
)

// A trace is the fields that are kept from one pass to the next, for checkpoints.
type trace struct {
	save    *saved // nil: no state is saved
	phase   int
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

// saves makes s the solver with number phase, whose state is saved. If the checkpoint belongs to a later solver, s
// reports no progress.
func (s *solver) saves(save *saved, phase int) {
	if s.save, s.phase = save, phase; save.from && save.phase > phase {
		s.opt.Progress = nil
	}
}

// resume continues from a checkpoint of this solver. It returns false if there is none.
func (s *solver) resume(ctx context.Context) (done bool, err error) {
	if s.save == nil || !s.save.from || s.save.phase != s.phase {
		return false, nil
	}
	s.save.from, s.decided = false, true
	if !s.loss.squared() {
		s.loss.base = block.Alloc[float64](int(s.src.Rows()))
	}
	if err := s.save.part.Read(s.save.state, s.state); err != nil {
		return true, err
	}
	s.save.state = nil
	s.resumed = true
	switch {
	case s.stage == inNearby:
		return true, s.nearBegun(ctx)
	case s.loss.squared():
		s.resumed = false
		_, err = s.newton(ctx)
		return true, err
	}
	return true, s.hinge(ctx)
}

func (s *solver) mark(stage int) {
	if s.save == nil || s.save.part == nil || s.save.from { // a later solver continues from the state
		return
	}
	s.stage = stage
	s.save.phase, s.save.of = s.phase, s.state
	s.save.part.Pass(s.passes, s.visits, s.save.walk)
}

// state saves or restores the state of the solver before a step, or before a pass of shrink.
func (s *solver) state(w *checkpoint.Walk) {
	w.Clock(&s.start)
	w.Count(&s.stage)
	w.Count(&s.stuck)
	for _, v := range []*int64{&s.before, &s.passes, &s.visits, &s.steps, &s.halved} {
		w.Int(v)
	}
	for _, v := range []*float64{&s.lower, &s.ridge, &s.down, &s.halfGap, &s.least, &s.loss.slope} {
		w.Float(v)
	}
	for _, v := range []*bool{&s.fresh, &s.short, &s.relaxed, &s.misled} {
		w.Bool(v)
	}
	checkpoint.Values(w, s.w)
	s.at.state(w)
	s.bestAt.state(w)
	vectors := []*[]float64{&s.hessian.w, &s.hessian.most, &s.extra, &s.bestW}
	for at := range 2 {
		of := []*sums{&s.at, &s.bestAt}[at]
		vectors = append(vectors, &of.vector, &of.gradient, &of.ax[0], &of.ax[1])
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
	for _, v := range []*float64{&s.loss, &s.apart, &s.weight, &s.active, &s.objective, &s.dual} {
		w.Float(v)
	}
	w.Int(&s.near)
	for class := range s.a {
		w.Float(&s.a[class])
		w.Float(&s.squares[class])
	}
}
