package metrics

import "math"

// BestF1 returns the threshold with the greatest F1 of the positive class, and this F1. Rows whose score is above the
// threshold are predicted positive. Of equally good thresholds it returns the highest. The threshold is a short decimal
// between two neighbouring scores; see Between. Both results are NaN without positive rows.
func (s *Scores) BestF1() (threshold, f1 float64) {
	all := s.lastPoint().TruePositives
	if all == 0 {
		return math.NaN(), math.NaN()
	}
	return s.bestThreshold(func(p Point) float64 {
		return 2 * p.TruePositives / (p.TruePositives + p.FalsePositives + all)
	})
}

// LeastCost returns the threshold with the least cost, and this cost. A negative row that is predicted positive costs
// falsePositive. A positive row that is predicted negative costs falseNegative. The threshold is chosen as in BestF1.
func (s *Scores) LeastCost(falsePositive, falseNegative float64) (threshold, cost float64) {
	all := s.lastPoint().TruePositives
	threshold, worth := s.bestThreshold(func(p Point) float64 {
		return -(float64(falsePositive*p.FalsePositives) + float64(falseNegative*(all-p.TruePositives)))
	})
	return threshold, -worth
}

// bestThreshold returns the threshold whose point has the greatest worth, the highest of equal ones, and the worth.
func (s *Scores) bestThreshold(worth func(Point) float64) (threshold, most float64) {
	most = math.Inf(-1)
	consider := func(p Point, next float64) { // next is the next lower score
		// A finite threshold must lie between the two scores.
		if w := worth(p); w > most && next < math.Inf(1) && p.Threshold > -math.MaxFloat64 {
			threshold, most = Between(next, p.Threshold), w
		}
	}
	var last Point
	for p := range s.points() {
		if p.Threshold != p.Threshold { // rows whose score is NaN are never above a threshold
			consider(last, math.Inf(-1))
		} else {
			consider(last, p.Threshold) // infinite at the first point, so that nothing is taken
		}
		last = p
	}
	consider(last, math.Inf(-1))
	return threshold, most
}

// Neighbours returns the greatest score that is not above a threshold, and the least score above it. low is -Inf and
// high +Inf if there is no such score.
func (s *Scores) Neighbours(threshold float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for _, side := range []*side{&s.positive, &s.negative} {
		for _, score := range side.scores {
			if v := float64(score); v > threshold {
				high = min(high, v)
			} else if v > low {
				low = v
			}
		}
	}
	return low, high
}

// Confusion returns the confusion of predictions with a threshold: rows whose score is above it are predicted positive.
// positive is the number of the positive class, 0 or 1.
func (s *Scores) Confusion(threshold float64, positive int) *Confusion {
	c := NewConfusion(2)
	add := func(rows *side, class int) {
		for i, score := range rows.scores {
			predicted, weight := 1-positive, 1.0
			if float64(score) > threshold {
				predicted = positive
			}
			if rows.weights != nil {
				weight = rows.weights[i]
			}
			c.Add(class, predicted, weight)
		}
	}
	add(&s.positive, positive)
	add(&s.negative, 1-positive)
	return c
}
