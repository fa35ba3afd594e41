package optimize

import (
	"context"
	"math"
	"slices"
)

const (
	firstPart  = 1.0   // the first step ends once the sum of violations is this times the sum at its start
	leastPart  = 1e-12 // steps that end at a smaller part can't improve: rounding errors prevent it
	mostRounds = 100   // most rounds of coordinate descent in a step
	least      = 1e-12 // summand of a second derivative, so that it is above 0
)

// violation returns by how much a weight w violates the optimum's conditions. slope is the derivative of its loss and
// l2 penalty.
func (s *net) violation(j int, w, slope float64) float64 {
	switch {
	case j >= s.features:
		return math.Abs(slope)
	case w > 0:
		return math.Abs(slope + s.L1)
	case w < 0:
		return math.Abs(slope - s.L1)
	case s.NonNegative:
		return max(0, -slope-s.L1)
	}
	return max(0, math.Abs(slope)-s.L1)
}

// best returns the minimum over one weight, whose value is w now. slope and curvature are the first and second
// derivative of the loss's model plus the l2 penalty at w.
func (s *net) best(j int, w, slope, curvature float64) float64 {
	if j >= s.features {
		return w - slope/curvature
	}
	return s.least(float64(curvature*w)-slope, curvature)
}

// step returns weights near the minimum of the quadratic model, and the number of rounds of coordinate descent that it
// made. It leaves the scores of the step in along. It ends once the sum of violations is at most part times the sum at
// the start.
func (s *net) step(ctx context.Context, part float64) (next []float64, rounds int, err error) {
	next = slices.Clone(s.w)
	total, largest := 0.0, 0.0
	var all []int
	for j, w := range next {
		slope := s.gradient[j]
		if j < s.features {
			slope += float64(s.L2 * w)
		}
		v := s.violation(j, w, slope)
		total += v
		largest = max(largest, v)
	}
	slack := largest / float64(len(s.y))
	for j, w := range next {
		if w != 0 || j >= s.features || s.pull(-s.gradient[j]) > s.L1-slack {
			all = append(all, j)
		}
	}
	if err := s.curve(ctx, all); err != nil {
		return nil, 0, err
	}
	active, whole := slices.Clone(all), true
	limit := math.Inf(1)
	for rounds < mostRounds {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if rounds > 0 && s.spent() {
			break
		}
		sum, most := s.round(&active, next, limit)
		rounds++
		if sum > part*total {
			limit, whole = most/float64(len(s.y)), len(active) == len(all)
			continue
		}
		if whole = whole && len(active) == len(all); whole {
			break
		}
		active, limit, whole = append(active[:0], all...), math.Inf(1), true
	}
	return next, rounds, nil
}

// curve computes the diagonal of the Hessian for the columns some.
func (s *net) curve(ctx context.Context, some []int) error {
	for _, j := range some {
		s.diagonal[j] = -1
	}
	return s.elements.each(ctx, s.Workers, func(j int) {
		if s.diagonal[j] != -1 {
			return
		}
		s.diagonal[j] = s.elements.curvature(j, s.along)
	})
}

// round minimises over one weight after another, in a random order of the active columns. It removes weights of 0 from
// active whose slope is below L1 by more than limit. It returns the sum of the violations, and the largest violation.
func (s *net) round(active *[]int, next []float64, limit float64) (sum, most float64) {
	order := *active
	s.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	left := order[:0]
	for _, j := range order {
		s.visited += s.elements.size(j)
		slope, curvature := s.gradient[j]+s.elements.slope(j, s.along), s.diagonal[j]+least
		if j < s.features {
			slope += float64(s.L2 * next[j])
			curvature += s.L2
		}
		w := next[j]
		if w == 0 && j < s.features && s.pull(-slope) < s.L1-limit {
			continue
		}
		left = append(left, j)
		v := s.violation(j, w, slope)
		sum, most = sum+v, max(most, v)
		to := s.best(j, w, slope, curvature)
		if by := to - w; by != 0 {
			next[j] = to
			s.elements.move(j, s.along, by)
		}
	}
	*active = left
	return sum, most
}
