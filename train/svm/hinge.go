package svm

import (
	"context"
	"math"

	"halfspace/train/internal/optimize"
)

const (
	mostStops    = 3   // number of consecutive times that rounding errors may stop Newton's method early
	dualGapRatio = 1.3 // a gap up to this times the dual variables' part of the gap is mostly due to them
)

// hinge finds the optimum for the hinge from s.w, given the sums and the Hessian's factor at s.w. It is the augmented
// Lagrangian method, with Newton's method inside. hinge minimises the smooth objective, sets the base of each row to
// its dual variable, and increases the slope. It repeats these steps until the gap is small enough. Once few rows are
// near the kink of their loss, it continues with only these rows.
func (s *solver) hinge(ctx context.Context) error {
	for {
		shrinks, whole := s.resumed && s.stage == stageShrink, false
		if !shrinks {
			if !s.takeResumed() {
				s.stepsBefore = s.steps
			}
			var err error
			if whole, err = s.newton(ctx); err != nil || s.converged || s.passes >= s.opt.Epochs || s.isNearNoise() {
				return err
			}
			if s.stuckTimes++; whole {
				s.stuckTimes = 0
			}
			if s.stuckTimes == mostStops || s.loss.slope > optimize.MostSlope {
				return nil // rounding errors prevent a smaller gap
			}
			rows := s.src.Rows()
			shrinks = rows > mostKeptRows && s.at.NearRows <= rows/nearShare && s.loss.slope >= s.leastSlope
		}
		if shrinks {
			if err := s.shrink(ctx, stageShrink); err != nil || s.converged || s.passes >= s.opt.Epochs {
				return err
			}
			if err := s.evaluate(ctx, point{W: s.w}, true, &s.at); err != nil {
				return err
			}
			continue
		}
		by := optimize.SlopeGrowth(s.steps - s.stepsBefore)
		if !whole {
			by = 0.2 // rounding errors of margins grow with the slope
		}
		if err := s.evaluate(ctx, point{W: s.w, SlopeFactor: by}, true, &s.at); err != nil {
			return err
		}
	}
}

// shrink continues from s.w with only the rows near the kink of their loss. Each pass over all rows adds the rows that
// were left out wrongly. shrink ends when the gap is small enough. If too many rows are near, or their optimum isn't
// found, it returns to the weights with the least objective.
func (s *solver) shrink(ctx context.Context, stage int) error {
	if !s.takeResumed() {
		s.bestW, s.bestAt = s.w, sums{chunkSums: chunkSums{Loss: math.Inf(1)}, objective: math.Inf(1)}
		s.chosenRows = make([]bool, s.src.Rows())
	}
	defer func() { s.chosenRows, s.bestW, s.bestAt = nil, nil, sums{} }()
	for {
		s.mark(stage)
		few, numbers, err := s.nearSolver(ctx)
		if err != nil {
			return err
		}
		if s.hasReachedGoal() {
			return nil
		}
		if s.at.objective < s.bestAt.objective {
			s.bestW, s.bestAt = s.w, s.at
		}
		narrowed := false
		if few.src.Rows() <= s.src.Rows()/2 && (s.leftOutSums != nil || s.at.objective <= s.at.Weight) && s.passes < s.opt.Epochs {
			if narrowed, err = s.solveNearRows(ctx, few, numbers); err != nil {
				return err
			}
		}
		if !narrowed {
			s.nearRowsMisled = s.at.objective > s.at.Weight
			s.w, s.at, s.leastSlope = s.bestW, s.bestAt, nearSlopeFactor*s.loss.slope
			for i := range s.loss.base {
				s.loss.base[i] = 0.5
			}
			return nil
		}
	}
}
