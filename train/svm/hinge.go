package svm

import (
	"context"
	"math"
)

const (
	firstSlope = 0.5     // from zeros
	mostSlope  = 1 << 40 // beyond it dual variables are rounding errors of margins
	mostStuck  = 3       // times in a row may rounding errors keep Newton's method from its end
	mostly     = 1.3     // times what is due to dual variables is a gap that mostly is
)

// hinge finds the optimum for the hinge from w on, given sums and the matrix's factor there. It minimises the smooth objective, and then
// makes each row's dual variable its base and the slope larger, until the gap is small enough: the augmented Lagrangian method, with
// Newton's within. Once few rows are near the kink of their loss, it goes on with those alone.
func (s *solver[T]) hinge(ctx context.Context) error {
	stuck := 0
	for {
		steps := s.steps
		whole, err := s.newton(ctx)
		if err != nil || s.converged || s.passes >= s.opt.Epochs || s.blurred() {
			return err
		}
		if stuck++; whole {
			stuck = 0
		}
		if stuck == mostStuck || s.loss.slope > mostSlope {
			return nil // rounding errors are in the way
		}
		if rows := s.src.Rows(); rows > fewest && s.at.near <= rows/nearest && s.loss.slope >= s.least {
			if err := s.shrink(ctx); err != nil || s.converged || s.passes >= s.opt.Epochs {
				return err
			}
			if err := s.evaluate(ctx, point{w: s.w}, true, &s.at); err != nil {
				return err
			}
			continue
		}
		by := growth(s.steps - steps)
		if !whole {
			by = 0.2 // rounding errors of margins grow with the slope
		}
		if err := s.evaluate(ctx, point{w: s.w, raise: by}, true, &s.at); err != nil {
			return err
		}
	}
}

// shrink goes on from w with the rows near the kink of their loss alone, and with those in addition that the next pass over all rows finds to
// have been left out wrongly, until there are none, or too many. Then it goes back to the weights with the least objective.
func (s *solver[T]) shrink(ctx context.Context) error {
	w, at := s.w, sums{runSums: runSums{loss: math.Inf(1)}, objective: math.Inf(1)}
	s.chosen = make([]bool, s.src.Rows())
	defer func() { s.chosen = nil }()
	for {
		few, numbers, err := s.near(ctx)
		if err != nil {
			return err
		}
		if s.done() {
			return nil
		}
		if s.at.objective < at.objective {
			w, at = s.w, s.at
		}
		narrowed := false
		if few.src.Rows() <= s.src.Rows()/2 && (s.fixed != nil || s.at.objective <= s.at.weight) && s.passes < s.opt.Epochs {
			if narrowed, err = s.narrow(ctx, few, numbers); err != nil {
				return err
			}
		}
		if !narrowed {
			s.misled = s.at.objective > s.at.weight
			s.w, s.at, s.least = w, at, narrower*s.loss.slope
			for i := range s.loss.base {
				s.loss.base[i] = 0.5
			}
			return nil
		}
	}
}

// growth returns how many times the slope grows after so many steps with the one before.
func growth(steps int64) float64 {
	switch {
	case steps <= 1:
		return 25
	case steps <= 3:
		return 10
	case steps <= 6:
		return 5
	case steps <= 10:
		return 3
	}
	return 2
}
