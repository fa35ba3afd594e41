package logistic

import (
	"errors"

	"halfspace/checkpoint"
	"halfspace/internal/dense"
)

// The stages of fit, in one of which a checkpoint was taken.
const (
	_          = iota
	stepping   // Newton's method
	first      // L-BFGS
	fallen     // Newton's method after L-BFGS
	descending // SGD
	finishing  // Newton's method in finish
)

// A trace is what goes on from one pass to the next, and is part of the state alone.
type trace struct {
	resumed bool // the next method goes on from a checkpoint
	stage   int
	tried   int // rounds of finish

	last      float64 // minimise: the norm before the last step
	suspected int     // minimise: suspicious steps in a row
	v         []float64
	memory    history
	epochs    int64   // descend: those that are finished
	least     float64 // descend: the least loss of an epoch
	stale     int     // descend: stale epochs in a row
	by        interface{ state(*checkpoint.Walk) }
	mover     []byte // the state of by, until there is one
}

// goesOn tells, once, that the state is that of a checkpoint.
func (t *trace) goesOn() bool {
	resumed := t.resumed
	t.resumed = false
	return resumed
}

// moved gives the state to the method of SGD.
func (s *solver) moved() error { return s.opt.Checkpoint.Read(s.mover, s.by.state) }

func (s *solver) mark() {
	if s.opt.Checkpoint != nil {
		s.opt.Checkpoint.Pass(s.passes, s.passes*s.src.Rows(), s.state)
	}
}

// state walks what the solver is at before a step, or before an epoch of SGD. What the first passes over the rows tell,
// such as scalings, is not part of it.
func (s *solver) state(w *checkpoint.Walk) {
	w.Clock(&s.start)
	for _, v := range []*int64{&s.passes, &s.steps, &s.epochs} {
		w.Int(v)
	}
	for _, v := range []*int{&s.stage, &s.tried, &s.suspected, &s.stale} {
		w.Count(v)
	}
	for _, v := range []*float64{(*float64)(&s.damping), &s.goal, &s.farthest, &s.last, &s.least, &s.best, &s.initial, &s.relative, &s.norm, &s.gap, &s.ridge} {
		w.Float(v)
	}
	for _, v := range []*bool{&s.examined, &s.fresh, &s.exists, &s.rounded, &s.inexact, &s.sharp} {
		w.Bool(v)
	}
	checkpoint.Values(w, s.w)
	for _, v := range []*[]float64{&s.zero, &s.total, &s.v} {
		s.vector(w, v)
	}
	s.at.state(w)
	s.vector(w, &s.at.gradient)
	dense.State(w, &s.factor, s.vectors*s.cols)
	checkpoint.List(w, &s.memory.pairs, func(p *pair) {
		s.vector(w, &p.s)
		s.vector(w, &p.y)
		w.Float(&p.sy)
	})
	checkpoint.List(w, &s.dependent, func(d *dense.Dependence) {
		checkpoint.List(w, &d.On, func(c *int) { s.column(w, c) })
		s.column(w, &d.Column)
	})
	if len(s.memory.pairs) > remembered || s.stage > finishing {
		w.Fail(errors.New("it has too much"))
	}
	if s.stage == descending {
		w.Inner(&s.mover, func(w *checkpoint.Walk) { s.by.state(w) })
	}
	s.leaveOut()
}

// column walks the number of a column.
func (s *solver) column(w *checkpoint.Walk, c *int) {
	if w.Count(c); *c >= s.cols {
		w.Fail(errors.New("it has another column"))
		*c = 0
	}
}

// vector walks weights, sums of columns, or nil.
func (s *solver) vector(w *checkpoint.Walk, v *[]float64) {
	checkpoint.Slice(w, v)
	if n := len(*v); n != 0 && n != s.cols && n != s.vectors*s.stride {
		w.Fail(errors.New("it has a vector of another length"))
	}
}

func (s *sums) state(w *checkpoint.Walk) {
	for _, v := range []*float64{&s.loss, &s.objective, &s.margin, &s.largest, &s.weight, &s.lightest} {
		w.Float(v)
	}
}

func (a *walk) state(w *checkpoint.Walk) {
	checkpoint.Values(w, a.v)
	checkpoint.Values(w, a.average)
}

func (a *lazy) state(w *checkpoint.Walk) {
	checkpoint.Values(w, a.uv)
	checkpoint.Values(w, a.bias)
	checkpoint.Values(w, a.meanBias)
	for _, v := range []*float64{&a.scale, &a.shift, &a.growth} {
		w.Float(v)
	}
}
