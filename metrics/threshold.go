package metrics

import "math"

// BestF1 returns the threshold with the greatest F1 of the positive class, and this F1. Rows whose score is above the
// threshold are predicted positive. Of equal ones it is the highest. The threshold is in the middle between two scores.
// Both are NaN without positive rows.
func (s *Scores[T]) BestF1() (threshold, f1 float64) {
	all := s.last().TruePositives
	if all == 0 {
		return math.NaN(), math.NaN()
	}
	return s.best(func(p Point) float64 { return 2 * p.TruePositives / (p.TruePositives + p.FalsePositives + all) })
}

// LeastCost returns the threshold of the least cost, and this cost. A negative row that is predicted positive costs
// falsePositive, a positive row that isn't costs falseNegative. See BestF1 for the threshold.
func (s *Scores[T]) LeastCost(falsePositive, falseNegative float64) (threshold, cost float64) {
	all := s.last().TruePositives
	threshold, worth := s.best(func(p Point) float64 {
		return -(float64(falsePositive*p.FalsePositives) + float64(falseNegative*(all-p.TruePositives)))
	})
	return threshold, -worth
}

// best returns the threshold whose point has the greatest worth, the highest of equal ones, and the worth.
func (s *Scores[T]) best(worth func(Point) float64) (threshold, most float64) {
	most = math.Inf(-1)
	found, above := math.Inf(1), false // the score of the best point; nothing is known of the next lower one
	for p := range s.points() {
		if above {
			threshold, above = between(p.Threshold, found), false
		}
		if w := worth(p); w > most && p.Threshold > math.Inf(-1) { // no threshold is lower
			most, found, above = w, p.Threshold, true
			threshold = math.Nextafter(found, math.Inf(-1))
		}
	}
	return threshold, most
}

// between returns a number from low, which is included, to high, which isn't: the middle if it can.
func between(low, high float64) float64 {
	switch middle := low/2 + high/2; {
	case low != low || math.IsInf(low, -1): // below all scores that can be above a threshold
		return math.Nextafter(high, math.Inf(-1))
	case math.IsInf(high, 1): // above the highest score
		return low
	case low <= middle && middle < high:
		return middle
	}
	return low
}

// Confusion returns the confusion of predictions by a threshold. Rows whose score is above it are predicted positive.
// positive is the number of the positive class, 0 or 1.
func (s *Scores[T]) Confusion(threshold float64, positive int) *Confusion {
	c := NewConfusion(2)
	add := func(rows *side[T], class int) {
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
