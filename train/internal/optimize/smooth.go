package optimize

import (
	"math"

	"halfspace/kernel/f64"
)

// With a slope above mostSlope, dual variables would be rounding errors of margins.
const mostSlope = 1 << 40

// A smoothHinge is a smooth form of the hinge loss, its augmented Lagrangian. The loss of a row with margin 1-u is the
// maximum over a of a u - (a-base)^2 / (2 slope). Its dual variable a is from 0 to 1. The margins at which a becomes 0
// and 1 are the row's kinks. A checkpoint keeps the exported fields. Some methods do nothing if h is nil: firstLength,
// setZone and restoreZone.
type smoothHinge struct {
	Slope       float64
	Base        []float64 `length:"rows"` // multiplier of each row
	StepsBefore int64     // number of steps before the multipliers changed
	StuckTimes  int       // consecutive changes of the multipliers because of steps whose gain was rounding error

	// Zone is half the width of the zone about each margin over which curvatures are means: the squared mean of the
	// roots of the changes of margins in the last step, in which outliers count little. A Newton step with the curvature
	// at a point would be far too long where many rows cross a kink.
	Zone       float64
	WidestZone float64 // widest zone since the multipliers changed

	fixed *fixedRows `state:"-"`
}

// fixedRows are the rows that a search leaves out: each dual variable stays 0 or 1. Their losses are a linear function
// of the weights.
type fixedRows struct {
	duals  [2]float64 // sum of the dual variables of each class, with the sample weights
	vector []float64  // sum of dual variable times label times row, for all columns
}

func (f *fixedRows) Fields() []any { return []any{&f.duals, &f.vector} }

// dual returns the dual variable of row i, whose margin is 1-u.
func (h *smoothHinge) dual(i int64, u float64) float64 {
	return max(0, min(1, h.Base[i]+float64(h.Slope*u)))
}

// isNear tells whether a row with margin 1-u is near its kink: its dual variable would change from 0 to 1 within the
// distance.
func (h *smoothHinge) isNear(u float64) bool { return math.Abs(u) <= 0.5/h.Slope }

// losses is Task.Loss for the rows from first on. curvature is the mean over margins that differ from the row's by at
// most zone.
func (h *smoothHinge) losses(first int64, z, factor, curvature, loss, y []float64) {
	inverse, zone, share := 1/h.Slope, h.Zone, 0.0
	if zone > 0 {
		share = h.Slope / (2 * zone)
	}
	for k, base := range h.Base[first:][:len(y)] {
		z[k] *= y[k]
		u := 1 - float64(z[k])
		a := max(0, min(1, base+float64(h.Slope*u)))
		factor[k], loss[k] = -float64(a*y[k]), float64(a*u)-float64(float64((a-base)*(a-base))*float64(0.5*inverse))
		lo, hi := -float64(base*inverse), float64((1-base)*inverse)
		switch {
		case zone > 0:
			curvature[k] = float64(share * max(0, min(hi, u+zone)-max(lo, u-zone)))
		case u > lo && u < hi:
			curvature[k] = h.Slope
		default:
			curvature[k] = 0
		}
	}
}

const oneBits = 0x3ff << 52 // the bits of 1.0; numbers between 0 and 1 have the bits 1 to oneBits-1

// derivatives adds to the slope and the curvature of the losses along a step, without a zone, for the rows from first
// on. They have scores z and sample weights, and the step has scores d.
func (h *smoothHinge) derivatives(first int64, z, d, y, weights []float64) (slope, curvature float64) {
	d, y, weights = d[:len(z)], y[:len(z)], weights[:len(z)]
	for k, base := range h.Base[first:][:len(z)] {
		a, by := base+float64(h.Slope*(1-float64(z[k]*y[k]))), float64(d[k]*weights[k])
		// Without a branch, which the CPU would often predict wrongly: a row with 0 < a < 1 has a curvature.
		var isBetween uint64
		if math.Float64bits(a)-1 < oneBits-1 {
			isBetween = 1
		}
		curvature += math.Float64frombits(math.Float64bits(float64(float64(h.Slope*by)*d[k])) & -isBetween)
		slope -= float64(float64(max(0, min(1, a))*y[k]) * by)
	}
	return slope, curvature
}

// addFixed adds the losses of the fixed rows to a point.
func (h *smoothHinge) addFixed(p *point) {
	if h == nil || h.fixed == nil {
		return
	}
	loss := h.fixed.duals[0] + h.fixed.duals[1] - f64.Dot(p.W, h.fixed.vector)
	p.Loss += loss
	p.SmoothObjective += loss
	f64.Axpy(p.Gradient, -1, h.fixed.vector)
}

// fixedDuals returns the sums of the dual variables of the fixed rows of each class.
func (h *smoothHinge) fixedDuals() (duals [2]float64) {
	if h != nil && h.fixed != nil {
		duals = h.fixed.duals
	}
	return duals
}

// sumOfDuals returns the sum of the dual variables of all rows at a point.
func (h *smoothHinge) sumOfDuals(p *point) float64 {
	fixed := h.fixedDuals()
	return p.Duals[0] + p.Duals[1] + fixed[0] + fixed[1]
}

// fixedSlope returns the derivative of the losses of the fixed rows along a step.
func (h *smoothHinge) fixedSlope(step []float64) float64 {
	if h == nil || h.fixed == nil {
		return 0
	}
	return -f64.Dot(step, h.fixed.vector[len(h.fixed.vector)-len(step):])
}

// firstLength returns the first length to try of a step with scores d, from scores z: 1, or the length that takes no
// margin beyond all kinks. Without a row near its kink, a step can be many powers of ten too long.
func (h *smoothHinge) firstLength(z, d []float64) float64 {
	if h == nil {
		return 1
	}
	farthest, longest := 0.0, 0.0
	for i, v := range z {
		farthest, longest = max(farthest, math.Abs(v)), max(longest, math.Abs(d[i]))
	}
	return min(1, (farthest+1+1/h.Slope)/longest)
}

// setZone sets the zone after a step of the given length. scores are the scores of the step at length 1. It returns the
// zone before.
func (h *smoothHinge) setZone(length float64, scores []float64) (before float64) {
	if h == nil {
		return 0
	}
	before = h.Zone
	sum := 0.0
	for _, d := range scores {
		sum += math.Sqrt(math.Abs(d))
	}
	root := sum / float64(max(1, len(scores)))
	h.Zone = float64(length * float64(root*root))
	h.WidestZone = max(h.WidestZone, h.Zone)
	return before
}

// restoreZone restores the zone after a step that isn't taken: the zone of the curvatures at the weights.
func (h *smoothHinge) restoreZone(zone float64) {
	if h != nil {
		h.Zone = zone
	}
}

// slopeGrowth returns the factor by which the slope grows after a number of steps with the present slope.
func slopeGrowth(steps int64) float64 {
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
