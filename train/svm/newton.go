package svm

import (
	"context"
	"math"

	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

const (
	little   = 1e-6    // of the objective is what a step gains where an extra penalty ends
	idle     = 0x1p-60 // of the objective is too little to gain
	short    = 0.25    // of a step is so little that there is to be an extra penalty
	relaxed  = 1e-3    // of the mean of the matrix's diagonal is what that begins with
	blur     = 0x1p-52 // of a loss of 1 is its rounding error
	dim      = 0x1p-36 // of it may be that of a loss which large products cancel in
	patience = 10      // passes
	hopeless = 100     // passes
	refined  = 1e-20   // of the square of a step, in the norm of the matrix, is what is left to make up for a ridge at most
	near     = 1e-2    // a gap, relative to the objective, from which a step comes to where the matrix hardly changes
	steep    = 0.5     // of the slope where a step begins is the most that it may rise with where it ends
	least    = 0x1p-96 // of a step is too little to take
)

// newton minimises the smooth objective from w on, by the factor first if there is one, until the goal is reached or, for the hinge, most
// of the gap is due to dual variables that only another base corrects. A factor also serves for a second step where the active set
// hardly changes any more. It tells whether it went on until one of both.
func (s *solver[T]) newton(ctx context.Context) (bool, error) {
	for !s.done() && !s.solved() {
		if s.passes >= s.opt.Epochs || s.blurred() {
			return false, nil
		}
		if err := s.relax(); err != nil {
			return false, err
		}
		moved, err := s.move(ctx)
		if err != nil {
			return false, err
		}
		if !moved {
			s.close()
			if s.fresh || s.passes >= s.opt.Epochs {
				return false, nil
			}
			s.hessian.w = nil // by what it changes by, it might be none
			if err := s.evaluate(ctx, point{w: s.w}, true, &s.at); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// relax changes the extra penalty. Where a step of the squared hinge's was short, many kinks lie in the way of steps that a small penalty makes
// long: then there is one, in proportion to the matrix's diagonal. It gets ten times smaller where half of the gap that it leaves is gone, and
// ends where steps gain little.
func (s *solver[T]) relax() error {
	begin := s.short && !s.relaxed && s.loss.squared() && s.frame.biased(s.cols)
	if s.hessian.w == nil || !begin && s.extra == nil || s.extra != nil && s.down > little*s.at.objective && !s.eased() {
		return nil
	}
	extra, left := make([]float64, s.cols), false
	for i := range s.src.Spec().Features {
		if extra[i] = relaxed * s.hessian.most[i]; !begin {
			extra[i] = s.extra[i] / 10
		}
		left = left || extra[i] > s.l2
	}
	if s.relaxed = true; !left || !begin && s.down <= little*s.at.objective {
		extra = nil
	}
	for i := range s.cols {
		s.hessian.rows[i*(i+1)/2+i] -= element(s.extra, i) - element(extra, i)
	}
	s.extra = extra
	s.descend(s.w, &s.at)
	return s.factorise(&s.at)
}

// eased tells whether the gap with the extra penalty is less than half of the objective.
func (s *solver[T]) eased() bool {
	objective, dual := s.at.objective, s.at.dual
	for i := range s.src.Spec().Features {
		objective += float64(float64(s.extra[i]/2*s.w[i]) * s.w[i])
		v := s.at.vector[i]
		dual += float64(float64(v*v) / 2 * (1/s.l2 - 1/(s.l2+s.extra[i])))
	}
	return objective-dual <= objective/2
}

// solved tells whether the gap is mostly due to dual variables that are off.
func (s *solver[T]) solved() bool { return s.at.gap() <= mostly*s.at.apart }

// move takes a step of Newton's if the objective's slope has fallen enough where it ends, or else the part of it to where the objective
// is least. It tells whether there is one.
func (s *solver[T]) move(ctx context.Context) (bool, error) {
	step := s.direction()
	down := kernel.Dot(step, s.at.gradient)
	if s.down = down; !(down > idle*s.at.objective) { // what is left to gain is lost to rounding
		return false, nil
	}
	keep := s.loss.squared() && s.extra == nil && s.fresh && s.at.gap() <= near*s.at.objective
	next, at := s.along(step, 1), sums{}
	if err := s.evaluate(ctx, point{w: next, from: s.w}, !keep, &at); err != nil {
		return false, err
	}
	s.short = false
	if up := -kernel.Dot(step, at.gradient); up > steep*down && !s.reached(&at) {
		t := at.kinks.minimum(-down, s.bend(step))
		s.short = t < short
		if t < least || s.passes >= s.opt.Epochs {
			return false, nil
		}
		next = s.along(step, t)
		if err := s.evaluate(ctx, point{w: next}, !keep, &at); err != nil {
			return false, err
		}
	}
	s.w, s.at = next, at
	s.steps++
	return true, nil
}

// direction returns Newton's step by the factor. Where that is of the matrix with a ridge, which may be many times the penalty, conjugate
// gradients with the factor as preconditioner make up for the ridge, which few of the eigenvalues are changed by.
func (s *solver[T]) direction() []float64 {
	step := s.factor.Solve(s.at.gradient)
	if s.ridge == 0 {
		return step
	}
	n := s.cols
	rest := make([]float64, n)
	for i, v := range s.hessian.times(step) {
		rest[i] = s.at.gradient[i] - v
	}
	by := s.factor.Solve(rest)
	size := kernel.Dot(rest, by)
	for enough := refined * kernel.Dot(step, s.at.gradient); n > 0 && size > enough; n-- {
		change := s.hessian.times(by)
		t := size / kernel.Dot(by, change)
		if !(t > 0) || math.IsInf(t, 0) {
			break
		}
		kernel.Axpy(step, t, by)
		kernel.Axpy(rest, -t, change)
		next := s.factor.Solve(rest)
		before := size
		size = kernel.Dot(rest, next)
		kernel.Axpy(next, size/before, by)
		by = next
	}
	return step
}

// times returns the product of the matrix and v.
func (h *hessian) times(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		row := h.rows[i*(i+1)/2:][:i+1]
		out[i] += kernel.Dot(row, v[:i+1])
		kernel.Axpy(out[:i], x, row[:i])
	}
	return out
}

// along returns the point a part of the step away from w.
func (s *solver[T]) along(step []float64, t float64) []float64 {
	next := make([]float64, len(s.w))
	for i, v := range step {
		next[i] = math.FMA(-t, v, s.w[i])
	}
	return next
}

// done tells whether the gap is small enough.
func (s *solver[T]) done() bool {
	s.converged = s.reached(&s.at)
	return s.converged
}

// blurred tells whether the gap is no larger than what rounding changes the losses of the active rows by, or not much larger and several
// passes haven't halved it, or many haven't.
func (s *solver[T]) blurred() bool {
	gap := s.close()
	if s.halved == 0 || gap < s.halfGap {
		s.halfGap, s.halved = gap/2, s.passes
	}
	since := s.passes - s.halved
	return gap <= blur*s.at.active || gap <= dim*s.at.active && since > patience || since > hopeless
}

// close returns the gap. It is no failure where that is as small as it has to be, though not as it was to be.
func (s *solver[T]) close() float64 {
	gap := s.at.objective - s.lower
	s.converged = gap <= tolerance*s.at.objective
	return gap
}

// reached tells whether sums are of a point whose objective is as near to the optimum as it is to be.
func (s *solver[T]) reached(at *sums) bool { return at.objective-s.lower <= s.goal*at.objective }

// evaluate makes a pass over the rows at a point, with the matrix and its factor if asked for.
func (s *solver[T]) evaluate(ctx context.Context, pt point, matrix bool, at *sums) error {
	var h *hessian
	if matrix {
		h = &s.hessian
	}
	if pt.raise > 0 {
		s.hessian.w = nil
	}
	if err := s.counted(func() error { return s.pass(ctx, pt, h, at) }); err != nil {
		return err
	}
	if at.objective-at.objective != 0 {
		return train.TooLarge[T]()
	}
	s.lower = max(s.lower, at.dual)
	s.fresh = matrix && s.hessian.w != nil
	if !s.fresh {
		return nil
	}
	if err := s.factorise(at); err != nil {
		return err
	}
	if pt.raise > 0 { // it isn't the matrix of this point
		s.hessian.w = nil
	}
	return nil
}

// factorise makes the factor of the matrix of a point with these sums.
func (s *solver[T]) factorise(at *sums) error {
	rows := s.hessian.rows
	if n := len(rows) - 1; s.src.Spec().Bias && rows[n] == 0 { // no row is free, so that any bias is as good as another
		rows[n] = 2 * math.Abs(at.gradient[s.cols-1])
		s.hessian.w = nil
	}
	if s.factor, s.ridge = dense.Factorise(rows, s.cols); s.factor == nil {
		return train.TooLarge[T]()
	}
	return nil
}
