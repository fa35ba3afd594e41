package optimize

import (
	"context"
	"math"
	"slices"
)

const (
	mostRounds     = 100   // most rounds of coordinate descent in a step
	leastCurvature = 1e-12 // summand of a second derivative, so that it is above 0

	mildSize    = 1 << 10 // columns of values up to this have an equal share in the sum of violations
	extremeSize = 1 << 40 // columns of greater values have the share of columns of such values
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

// violationWeight returns the factor of the violation of column j in sums of violations. Violations grow with the
// values of their column. With equal factors, a single column of values of 1e9 decides when a step ends. Columns of
// extreme values are still the last whose violations become small enough for the dual objective.
func (s *net) violationWeight(j int) float64 {
	return mildSize / min(extremeSize, max(mildSize, s.scales[j]))
}

// bestWeight returns the minimum over one weight, whose value is w now. slope and curvature are the first and second
// derivative of the loss's model plus the l2 penalty at w.
func (s *net) bestWeight(j int, w, slope, curvature float64) float64 {
	if j >= s.features {
		return w - slope/curvature
	}
	return s.leastWeight(float64(curvature*w)-slope, curvature)
}

// step returns weights near the minimum of the quadratic model, or nil if the limit leaves no passes for a step. It leaves
// the scores of the step in change. It ends once
// the sum of violations is at most part times the sum at the start. Rounds of coordinate descent take turns with face:
// the rounds go on while each halves the sum of violations. A round measures each violation just before it removes the
// violation, and the sum is then too small if the columns are correlated. So slopes measures the sum again.
func (s *net) step(ctx context.Context) (next []float64, err error) {
	total, columns := s.violations()
	m := s.model
	m.size = 0
	for _, j := range columns {
		m.size += s.elements.size(j)
	}
	if s.lacksPasses(2 * m.size) { // of a round and of scoreStep
		return nil, nil
	}
	if s.startViolation > 0 && s.endViolation-s.endViolation == 0 {
		s.violationFactor = min(mostViolationFactor,
			max(leastViolationFactor, s.violationFactor*math.Sqrt(s.violationFactor),
				math.Abs(total-s.endViolation)/s.startViolation))
	}
	s.startViolation = total
	if err := m.begin(ctx, columns); err != nil {
		return nil, err
	}
	for rounds := 0; ; {
		active, limit, last := slices.Clone(m.allPlaces), math.Inf(1), math.Inf(1)
		for {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			sum, most := m.round(&active, limit)
			rounds++
			if !(sum > s.violationFactor*total) || sum > slowViolations*last || rounds >= mostRounds || s.lacksPasses(2*m.size) {
				break
			}
			limit, last = most/float64(len(s.y)), sum
		}
		if s.endViolation, err = m.slopes(ctx); err != nil {
			return nil, err
		}
		if !(s.endViolation > s.violationFactor*total) || rounds >= mostRounds || s.lacksPasses(2*m.size) {
			break
		}
		if err := m.face(ctx); err != nil {
			return nil, err
		}
	}
	next = slices.Clone(s.w)
	for p, j := range columns {
		next[j] = m.places[p].weight
	}
	s.scoreStep(next, columns)
	return next, nil
}

// violations returns the sum of the violations at w, and the columns of the next step in the order of s.order. The step
// leaves out columns whose weight is 0 and would stay 0.
func (s *net) violations() (total float64, columns []int) {
	largest := 0.0
	for j, w := range s.w {
		slope := s.gradient[j]
		if j < s.features {
			slope += float64(s.L2 * w)
		}
		v := s.violation(j, w, slope)
		total += float64(v * s.violationWeight(j))
		largest = max(largest, v)
	}
	slack := largest / float64(len(s.y))
	for _, j := range s.order {
		if s.w[j] != 0 || j >= s.features || s.pull(-s.gradient[j]) > s.L1-slack {
			columns = append(columns, j)
		}
	}
	return total, columns
}

// lacksPasses tells whether the limit leaves too few passes for a number of visits of elements and two passes at the
// end of the step: of evaluate, and of the measurement of the rounded weights.
func (s *net) lacksPasses(elements int64) bool {
	return s.passes+(s.visitedElements+elements)/max(1, s.elements.count())+2 > s.Epochs
}

// scoreStep sets stepScores to the scores of the step from w to next. The weights of other columns stay as they are.
func (s *net) scoreStep(next []float64, columns []int) {
	clear(s.stepScores)
	for _, j := range columns {
		if by := next[j] - s.w[j]; by != 0 {
			s.visitedElements += s.elements.size(j)
			s.elements.add(j, s.stepScores, by)
		}
	}
}
