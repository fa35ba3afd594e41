package svm

import (
	"context"
	"math"
	"slices"

	"halfspace/gram"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	noiseGain            = 0x1p-60 // a gain of at most this times the objective is rounding error
	noiseLoss            = 0x1p-52 // rounding error of a loss of 1
	noiseCancelled       = 0x1p-36 // the same if large products cancel in the loss
	passesNearNoise      = 10      // passes without halving the gap that end a training whose gap is near rounding error
	passesWithoutHalving = 100     // passes without halving the gap that end any training
	ridgeError           = 1e-20   // squared error of a step that a ridge may leave, relative to the step, in H's norm
	steepEnd             = 0.5     // largest slope at the end of a step, relative to the slope at its beginning
	shortestStep         = 0x1p-96 // a smaller part of a step is not taken
)

// newton minimises the smooth objective from s.w. It stops when the goal is reached, or when most of the gap comes from
// dual variables that only a new base corrects. It tells whether it stopped for one of these two reasons.
func (s *solver) newton(ctx context.Context) (bool, error) {
	for s.mark(stageNewton); !s.hasReachedGoal() && !s.gapIsFromDuals(); s.mark(stageNewton) {
		if s.passes >= s.opt.Epochs || s.isNearNoise() {
			return false, nil
		}
		moved, err := s.move(ctx)
		if err != nil {
			return false, err
		}
		if !moved {
			s.closeGap()
			if s.factorIsFresh || s.passes >= s.opt.Epochs {
				return false, nil
			}
			s.hessian.w = nil // changes of the Hessian might make it indefinite
			if err := s.evaluate(ctx, point{W: s.w}, true, &s.at); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// gapIsFromDuals tells whether the gap comes mostly from errors of dual variables.
func (s *solver) gapIsFromDuals() bool { return s.at.gap() <= dualGapRatio*s.at.DualPart }

// move takes a Newton step if the slope of the objective falls enough, and otherwise the part of the step with the
// least objective. It tells whether it took one.
func (s *solver) move(ctx context.Context) (bool, error) {
	step, err := s.direction(ctx)
	if err != nil {
		return false, err
	}
	down := f64.Dot(step, s.at.gradient)
	if !(down > noiseGain*s.at.objective) { // the remaining gain is rounding error
		return false, nil
	}
	next, at := s.weightsAlong(step, 1), sums{}
	if err := s.evaluate(ctx, point{W: next, LineStart: s.w}, true, &at); err != nil {
		return false, err
	}
	if up := -f64.Dot(step, at.gradient); up > steepEnd*down && !s.reachesGoal(&at) {
		t := at.Kinks.minimum(-down, float64(s.l2*s.square(step)))
		if t < shortestStep || s.passes >= s.opt.Epochs {
			return false, nil
		}
		next = s.weightsAlong(step, t)
		if err := s.evaluate(ctx, point{W: next}, true, &at); err != nil {
			return false, err
		}
	}
	s.w, s.at = next, at
	s.steps++
	return true, nil
}

// direction returns the Newton step. If the factor belongs to the Hessian with a ridge, which may be many times the
// penalty, direction corrects the step by conjugate gradients with the factor as preconditioner. Few iterations are
// enough, because the ridge changes few eigenvalues. direction returns ctx's error.
func (s *solver) direction(ctx context.Context) ([]float64, error) {
	step := s.factor.Solve(s.at.gradient)
	if s.ridge == 0 {
		return step, nil
	}
	n := s.cols
	rest := make([]float64, n)
	for i, v := range s.hessian.product(step) {
		rest[i] = s.at.gradient[i] - v
	}
	by := s.factor.Solve(rest)
	size := f64.Dot(rest, by)
	for enough := ridgeError * f64.Dot(step, s.at.gradient); n > 0 && size > enough; n-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		change := s.hessian.product(by)
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

// product returns the product of the Hessian and v.
func (h *hessian) product(v []float64) []float64 {
	out := make([]float64, len(v))
	(&gram.Triangle{N: len(v), Data: h.rows}).MulVec(out, v)
	return out
}

// weightsAlong returns s.w minus t times the step.
func (s *solver) weightsAlong(step []float64, t float64) []float64 {
	next := slices.Clone(s.w)
	f64.Axpy(next[:len(step)], -t, step)
	return next
}

// hasReachedGoal tells whether the gap has reached the goal.
func (s *solver) hasReachedGoal() bool {
	s.converged = s.reachesGoal(&s.at)
	return s.converged
}

// isNearNoise tells whether the gap may be rounding errors of the losses of the active rows: the gap is no larger than
// these errors, or not much larger and 10 passes haven't halved it, or 100 passes haven't halved it.
func (s *solver) isNearNoise() bool {
	gap := s.closeGap()
	if s.halvedPasses == 0 || gap < s.halfGap {
		s.halfGap, s.halvedPasses = gap/2, s.passes
	}
	since := s.passes - s.halvedPasses
	return gap <= noiseLoss*s.at.ActiveWeight || gap <= noiseCancelled*s.at.ActiveWeight && since > passesNearNoise ||
		since > passesWithoutHalving
}

// closeGap sets converged if the gap is within tolerance: a gap above the goal and within tolerance is no failure. It
// returns the gap.
func (s *solver) closeGap() float64 {
	gap := s.at.objective - s.lowerBound
	s.converged = gap <= tolerance*s.at.objective
	return gap
}

// reachesGoal tells whether the objective of at is above the lower bound by at most goal times itself.
func (s *solver) reachesGoal(at *sums) bool { return at.objective-s.lowerBound <= s.goal*at.objective }

// evaluate makes a pass over the rows at a point. With matrix it computes the Hessian and its factor.
func (s *solver) evaluate(ctx context.Context, pt point, matrix bool, at *sums) error {
	var h *hessian
	if matrix {
		h = &s.hessian
	}
	if pt.SlopeFactor > 0 {
		s.hessian.w = nil
	}
	if err := s.countPass(at, func() error { return s.pass(ctx, pt, h, at) }); err != nil {
		return err
	}
	if at.objective-at.objective != 0 {
		return learner.OverflowError()
	}
	s.lowerBound = max(s.lowerBound, at.dual)
	s.factorIsFresh = matrix && s.hessian.w != nil
	if !s.factorIsFresh {
		return nil
	}
	if err := s.factorise(ctx, at); err != nil {
		return err
	}
	if pt.SlopeFactor > 0 { // the Hessian doesn't belong to this point
		s.hessian.w = nil
	}
	return nil
}

// factorise computes the factor of the Hessian at a point. at has the sums at the point.
func (s *solver) factorise(ctx context.Context, at *sums) (err error) {
	rows := s.hessian.rows
	// If no row is in the active set, the bias doesn't matter.
	if n := len(rows) - 1; s.src.Spec().Bias && rows[n] == 0 {
		rows[n] = 2 * math.Abs(at.gradient[s.cols-1])
		s.hessian.w = nil
	}
	if s.factor, s.ridge, err = linalg.Factorise(ctx, rows, s.cols); s.factor == nil && err == nil {
		return learner.OverflowError()
	}
	return err
}
