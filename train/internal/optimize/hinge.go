package optimize

import (
	"context"
	"math"

	"halfspace/internal/checkpoint"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// FirstSlope is the slope of a smooth hinge at the beginning, with zero weights. With a slope above MostSlope, dual
// variables would be rounding errors of margins.
const (
	FirstSlope = 0.5
	MostSlope  = 1 << 40
)

const (
	// The multipliers change once the gradient's part of the gap is at most gradientShare times the gap.
	gradientShare  = 0.05
	mostNoiseSteps = 2   // or after this number of steps whose gain is rounding error
	zoneFactor     = 0.2 // the first zone with new multipliers is this times the widest zone with the last ones
)

// Hinge finds the minimum for the loss max(0, 1 - y (w.x)) and the penalty L2 > 0, as Truncated does for a smooth loss.
//
// It runs the augmented Lagrangian method (Yan and Li, "An Efficient Augmented Lagrangian Method for Support Vector
// Machine", Optimization Methods and Software 35, 2020). The steps minimise a smooth form of the loss. Then each row's
// dual variable becomes its multiplier, and the slope of the smooth form is raised. Only rows between their kinks have
// a curvature. At the end these rows are few, and a product visits only them.
func (t *Task) Hinge(ctx context.Context) (*Solution, error) {
	return t.truncated(ctx, &hinge{slope: FirstSlope, base: make([]float64, t.Rows.Rows())})
}

// A hinge is a smooth form of the hinge loss. The loss of a row with margin 1-u is the maximum over a of a u -
// (a-base)^2 / (2 slope). Its dual variable a is from 0 to 1. The margins at which a becomes 0 and 1 are the row's
// kinks.
type hinge struct {
	slope       float64
	base        []float64 // multiplier of each row
	stepsBefore int64     // number of steps before the multipliers changed

	// zone is half the width of the zone about each margin over which curvatures are means: the root mean square of the
	// changes of margins in the last step. A Newton step with the curvature at a point would be far too long where many
	// rows cross a kink.
	zone       float64
	widestZone float64 // widest zone since the multipliers changed
}

// state saves or restores the state. It does nothing if h is nil, and so do zoneWidth, setZone and restoreZone.
func (h *hinge) state(w *checkpoint.Walk) {
	if h != nil {
		learner.State(w, &h.stepsBefore, &h.slope, &h.zone, &h.widestZone, h.base)
	}
}

// dual returns the dual variable of row i, whose margin is 1-u.
func (h *hinge) dual(i int64, u float64) float64 { return max(0, min(1, h.base[i]+float64(h.slope*u))) }

// losses is Task.Loss for the rows from first on. curvature is the mean over margins that differ from the row's by at
// most zone.
func (h *hinge) losses(first int64, z, factor, curvature, loss, y []float64, zone float64) {
	for k, label := range y {
		i := first + int64(k)
		z[k] *= label
		u, base := 1-float64(z[k]), h.base[i]
		a := h.dual(i, u)
		factor[k], loss[k] = -float64(a*label), float64(a*u)-float64((a-base)*(a-base))/(2*h.slope)
		lo, hi := -base/h.slope, (1-base)/h.slope
		switch {
		case zone > 0:
			curvature[k] = float64(h.slope*max(0, min(hi, u+zone)-max(lo, u-zone))) / (2 * zone)
		case u > lo && u < hi:
			curvature[k] = h.slope
		default:
			curvature[k] = 0
		}
	}
}

func (h *hinge) zoneWidth() float64 {
	if h == nil {
		return 0
	}
	return h.zone
}

// setZone sets the zone after a step of the given length. scores are the scores of the step at length 1. It returns the
// zone before.
func (h *hinge) setZone(length float64, scores []float64) (before float64) {
	if h == nil {
		return 0
	}
	before = h.zone
	h.zone = float64(length * math.Sqrt(f64.Dot(scores, scores)/float64(len(scores))))
	h.widestZone = max(h.widestZone, h.zone)
	return before
}

// restoreZone restores the zone after a step that isn't taken: the zone of the curvatures at the weights.
func (h *hinge) restoreZone(zone float64) {
	if h != nil {
		h.zone = zone
	}
}

func (h *hinge) isAtMostSlope() bool { return h != nil && h.slope > MostSlope }

// isNearMinimum tells whether the smooth form is near its minimum.
func (s *search) isNearMinimum() bool {
	g := s.pointAtWeights.Gradient[:s.features]
	return s.Steps > s.hinge.stepsBefore &&
		(f64.Dot(g, g)/(2*s.L2) <= float64(gradientShare*(s.pointAtWeights.Objective-s.lowerBound)) ||
			s.idleSteps >= mostNoiseSteps)
}

// raiseSlope makes the dual variables the multipliers, and raises the slope.
func (s *search) raiseSlope(ctx context.Context) error {
	h := s.hinge
	for i, z := range s.pointAtWeights.Scores {
		h.base[i] = h.dual(int64(i), 1-float64(z*s.y[i]))
	}
	h.slope *= SlopeGrowth(s.Steps - h.stepsBefore)
	h.zone, h.widestZone = zoneFactor*h.widestZone, 0
	h.stepsBefore, s.idleSteps = s.Steps, 0
	return s.evaluate(ctx, &s.pointAtWeights, nil, nil)
}

// SlopeGrowth returns the factor by which the slope of a smooth hinge grows after a number of steps with the present
// slope.
func SlopeGrowth(steps int64) float64 {
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
