package logistic

import (
	"errors"

	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/train/learner"
)

// The stages of fit. A checkpoint has the stage in which it was taken.
const (
	_             = iota
	stageNewton   // Newton's method
	stageLBFGS    // L-BFGS
	stageFallback // Newton's method after L-BFGS
	stageFinish   // Newton's method in finish
)

// A trace is the fields that are kept from one pass to the next, for checkpoints.
type trace struct {
	resumed      bool // the next method continues from a checkpoint
	stage        int
	finishRounds int // number of rounds of finish

	lastNorm       float64 // minimise: norm before the last step
	suspectedSteps int     // minimise: number of consecutive suspicious steps
	v              []float64
	history        history
}

// takeResumed tells whether the state comes from a checkpoint. It returns true at most once.
func (t *trace) takeResumed() bool {
	resumed := t.resumed
	t.resumed = false
	return resumed
}

func (s *solver) mark() {
	s.opt.Checkpoint.Pass(s.passes, s.passes*s.src.Rows(), s.state)
}

// state saves or restores the state of the solver before a step. It leaves out results of the first passes over the
// rows, for example scalings.
func (s *solver) state(w *checkpoint.Walk) {
	learner.State(w, &s.start, &s.passes, &s.steps, &s.stage, &s.finishRounds, &s.suspectedSteps, (*float64)(&s.damping),
		&s.goal, &s.farthestNorm, &s.lastNorm, &s.initialNorm, &s.presentNorm, &s.norm, &s.gap, &s.ridge,
		&s.knowsDependent, &s.factorIsFresh, &s.optimumExists, &s.gapLostByRounding, &s.dependenceIsInexact, &s.factorIsSharp, s.w)
	for _, v := range []*[]float64{&s.zeroGradient, &s.rowTotal, &s.v} {
		s.vector(w, v)
	}
	at := &s.at
	learner.State(w, &at.Loss, &at.Objective, &at.Margin, &at.LargestScore, &at.Weight, &at.LeastWeight)
	s.vector(w, &at.Gradient)
	linalg.State(w, &s.factor, s.vectors*s.cols)
	checkpoint.List(w, &s.history.pairs, func(p *pair) {
		s.vector(w, &p.s)
		s.vector(w, &p.y)
		w.Float(&p.sy)
	})
	checkpoint.List(w, &s.dependent, func(d *linalg.Dependence) {
		checkpoint.List(w, &d.On, func(c *int) { s.column(w, c) })
		s.column(w, &d.Column)
	})
	if len(s.history.pairs) > historySteps || s.stage > stageFinish {
		w.Fail(errors.New("it has too much"))
	}
	s.leaveOutDependent()
}

// column saves or restores the number of a column.
func (s *solver) column(w *checkpoint.Walk, c *int) {
	if w.Count(c); *c >= s.cols {
		w.Fail(errors.New("it has another column"))
		*c = 0
	}
}

// vector saves or restores weights, sums of columns, or nil.
func (s *solver) vector(w *checkpoint.Walk, v *[]float64) {
	checkpoint.Slice(w, v)
	if n := len(*v); n != 0 && n != s.cols && n != s.vectors*s.stride {
		w.Fail(errors.New("it has a vector of another length"))
	}
}
