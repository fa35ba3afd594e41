package linalg

import "math"

// mostRootPoints is the largest number of points that Root tries.
const mostRootPoints = 30

// Root returns a length of 0 or more at which the slope's absolute value is at most enough. The slope rises with the
// length, from below 0. Root starts at length. The method is Newton's method between bounds.
func Root(length, enough float64, at func(length float64) (slope, curvature float64, err error)) (float64, error) {
	lo, hi := 0.0, math.Inf(1)
	for range mostRootPoints {
		slope, curvature, err := at(length)
		if err != nil {
			return 0, err
		}
		if math.Abs(slope) <= enough {
			break
		}
		if slope > 0 {
			hi = length
		} else {
			lo = length
		}
		next := length - slope/curvature
		if !(next > lo && next < hi) {
			next = min(2*lo, (lo+hi)/2)
			if lo == 0 {
				next = min(1, hi/2)
			}
		}
		length = next
	}
	return length, nil
}
