package svm

import (
	"context"
	"math"

	"halfspace/internal/dense"
	"halfspace/kernel/f64"
	"halfspace/train"
)

const (
	little   = 1e-6    // an extra penalty ends when a step gains this part of the objective
	idle     = 0x1p-60 // a gain of this part of the objective is rounding
	short    = 0.25    // a step shortened to this part leads to an extra penalty
	relaxed  = 1e-3    // the first extra penalty, relative to the mean of the Hessian's diagonal
	blur     = 0x1p-52 // the rounding error of a loss of 1
	dim      = 0x1p-36 // blur if large products cancel in the loss
	patience = 10      // passes without half of the gap that end a training with a gap near rounding
	hopeless = 100     // passes without half of the gap that end any training
	refined  = 1e-20   // the squared error of a step, relative to the step in the norm of the Hessian, that a ridge may leave
	near     = 1e-2    // a step from a gap below this, relative to the objective, hardly changes the Hessian
	steep    = 0.5     // the most slope at the end of a step, relative to that at its beginning
	least    = 0x1p-96 // a smaller part of a step is not worth taking
)

// newton minimises the smooth objective from w, first with the factor if there is one. It stops when the goal is
// reached. For the hinge it also stops when most of the gap is due to dual variables that only another base corrects.
// It uses a factor for a second step if the active set hardly changes. It tells whether one of the two happened.
func (s *solver) newton(ctx context.Context) (bool, error) {
	for s.mark(inNewton); !s.done() && !s.solved(); s.mark(inNewton) {
		if s.passes >= s.opt.Epochs || s.blurred() {
			return false, nil
		}
		if err := s.relax(ctx); err != nil {
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
			s.hessian.w = nil // its changes might make it indefinite
			if err := s.evaluate(ctx, point{w: s.w}, true, &s.at); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// relax changes the extra penalty. A small penalty makes long steps, which cross many kinks. So relax adds an extra
// penalty after a short step of the squared hinge, in proportion to the Hessian's diagonal. It divides it by ten when
// half of the gap that it leaves is gone. It removes it when steps gain little.
func (s *solver) relax(ctx context.Context) error {
	begin := s.short && !s.relaxed && s.loss.squared() && s.frame.biased(s.cols)
	if s.hessian.w == nil || !begin && s.extra == nil || s.extra != nil && s.down > little*s.at.objective && !s.eased() {
		return nil
	}
	extra, left := make([]float64, s.cols), false
	for i := range s.src.Spec().Width() {
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
	return s.factorise(ctx, &s.at)
}

// eased tells whether the gap with the extra penalty is less than half of the objective.
func (s *solver) eased() bool {
	objective, dual := s.at.objective, s.at.dual
	for i := range s.src.Spec().Width() {
		objective += float64(float64(s.extra[i]/2*s.w[i]) * s.w[i])
		v := s.at.vector[i]
		dual += float64(float64(v*v) / 2 * (1/s.l2 - 1/(s.l2+s.extra[i])))
	}
	return objective-dual <= objective/2
}

// solved tells whether the gap is mostly due to the errors of dual variables.
func (s *solver) solved() bool { return s.at.gap() <= mostly*s.at.apart }

// move takes a Newton step if the slope of the objective falls enough, or else the part of the step with the least
// objective. It tells whether there is one.
func (s *solver) move(ctx context.Context) (bool, error) {
	step, err := s.direction(ctx)
	if err != nil {
		return false, err
	}
	down := f64.Dot(step, s.at.gradient)
	if s.down = down; !(down > idle*s.at.objective) { // the rest of the gain is rounding
		return false, nil
	}
	keep := s.loss.squared() && s.extra == nil && s.fresh && s.at.gap() <= near*s.at.objective
	next, at := s.along(step, 1), sums{}
	if err := s.evaluate(ctx, point{w: next, from: s.w}, !keep, &at); err != nil {
		return false, err
	}
	s.short = false
	if up := -f64.Dot(step, at.gradient); up > steep*down && !s.reached(&at) {
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

// direction returns the Newton step. If the factor is that of the Hessian with a ridge, which may be many times the
// penalty, direction corrects the step. It uses conjugate gradients with the factor as preconditioner. The ridge
// changes few eigenvalues. Its error is ctx's.
func (s *solver) direction(ctx context.Context) ([]float64, error) {
	step := s.factor.Solve(s.at.gradient)
	if s.ridge == 0 {
		return step, nil
	}
	n := s.cols
	rest := make([]float64, n)
	for i, v := range s.hessian.times(step) {
		rest[i] = s.at.gradient[i] - v
	}
	by := s.factor.Solve(rest)
	size := f64.Dot(rest, by)
	for enough := refined * f64.Dot(step, s.at.gradient); n > 0 && size > enough; n-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		change := s.hessian.times(by)
		t := size / f64.Dot(by, change)
		if !(t > 0) || math.IsInf(t, 0) {
			break
		}
		f64.Axpy(step, t, by)
		f64.Axpy(rest, -t, change)
		next := s.factor.Solve(rest)
		before := size
		size = f64.Dot(rest, next)
		f64.Axpy(next, size/before, by)
		by = next
	}
	return step, nil
}

// times returns the product of the Hessian and v.
func (h *hessian) times(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		row := h.rows[i*(i+1)/2:][:i+1]
		out[i] += f64.Dot(row, v[:i+1])
		f64.Axpy(out[:i], x, row[:i])
	}
	return out
}

// along returns the point at a part of the step from w.
func (s *solver) along(step []float64, t float64) []float64 {
	next := make([]float64, len(s.w))
	for i, v := range step {
		next[i] = math.FMA(-t, v, s.w[i])
	}
	return next
}

// done tells whether the gap is small enough.
func (s *solver) done() bool {
	s.converged = s.reached(&s.at)
	return s.converged
}

// blurred tells whether the gap may be rounding errors of the losses of the active rows. It may if it is no larger than
// these, or if many passes haven't halved it. If it is not much larger than these, several passes are enough.
func (s *solver) blurred() bool {
	gap := s.close()
	if s.halved == 0 || gap < s.halfGap {
		s.halfGap, s.halved = gap/2, s.passes
	}
	since := s.passes - s.halved
	return gap <= blur*s.at.active || gap <= dim*s.at.active && since > patience || since > hopeless
}

// close compares the gap with tolerance at the end: a gap above the goal but within tolerance is no failure.
func (s *solver) close() float64 {
	gap := s.at.objective - s.lower
	s.converged = gap <= tolerance*s.at.objective
	return gap
}

// reached tells whether the objective of a point with these sums is as near the optimum as the goal demands.
func (s *solver) reached(at *sums) bool { return at.objective-s.lower <= s.goal*at.objective }

// evaluate makes a pass over the rows at a point. It computes the Hessian and its factor if matrix is set.
func (s *solver) evaluate(ctx context.Context, pt point, matrix bool, at *sums) error {
	var h *hessian
	if matrix {
		h = &s.hessian
	}
	if pt.raise > 0 {
		s.hessian.w = nil
	}
	if err := s.counted(at, func() error { return s.pass(ctx, pt, h, at) }); err != nil {
		return err
	}
	if at.objective-at.objective != 0 {
		return train.TooLarge()
	}
	s.lower = max(s.lower, at.dual)
	s.fresh = matrix && s.hessian.w != nil
	if !s.fresh {
		return nil
	}
	if err := s.factorise(ctx, at); err != nil {
		return err
	}
	if pt.raise > 0 { // the Hessian isn't that of this point
		s.hessian.w = nil
	}
	return nil
}

// factorise computes the factor of the Hessian of a point with these sums.
func (s *solver) factorise(ctx context.Context, at *sums) (err error) {
	rows := s.hessian.rows
	if n := len(rows) - 1; s.src.Spec().Bias && rows[n] == 0 { // no row is in the active set, so that the bias doesn't matter
		rows[n] = 2 * math.Abs(at.gradient[s.cols-1])
		s.hessian.w = nil
	}
	if s.factor, s.ridge, err = dense.Factorise(ctx, rows, s.cols); s.factor == nil && err == nil {
		return train.TooLarge()
	}
	return err
}
