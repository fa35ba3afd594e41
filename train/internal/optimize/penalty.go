package optimize

import (
	"context"
	"math"

	"halfspace/kernel/f64"
)

// A Penalty is L1 |w|_1 + L2/2 |w|^2 of the weights w without the bias.
type Penalty struct {
	L1, L2      float64
	NonNegative bool // weights must be 0 or more
}

// NeedsElastic tells whether the penalty needs Task.Elastic.
func (p Penalty) NeedsElastic() bool { return p.L1 > 0 || p.NonNegative }

// Option returns the name of the option that makes the penalty elastic.
func (p Penalty) Option() string {
	if p.L1 > 0 {
		return "l1"
	}
	return "nonnegative"
}

// Value returns the penalty. Each vector is the weights without the bias.
func (p Penalty) Value(vectors ...[]float64) float64 {
	size, square := 0.0, 0.0
	for _, w := range vectors {
		for _, v := range w {
			size += math.Abs(v)
		}
		square += f64.Dot(w, w)
	}
	return float64(p.L1*size) + float64(p.L2/2*square)
}

// A Point is the loss and its derivatives at some weights, from one pass over the rows.
type Point struct {
	W        []float64 // one weight for each column, the bias last
	Loss     float64
	Gradient []float64              // gradient of the loss
	Hessian  []float64              // Hessian of the loss: the rows of its lower triangle
	Dual     func(step *Step) *Dual // returns a point of the dual problem; nil if there is none
}

// A Step leads from a point to the minimum of the objective's quadratic model at that point.
type Step struct {
	D      []float64 // change of each weight
	Slope  []float64 // gradient of the loss's model at the end of the step: the gradient at the point plus H D
	Square float64   // D'HD
}

// A Dual is a point a of the dual problem. For s from 0 to 1, the dual objective at s a is at least s Linear - s^2
// Square minus the conjugate of the penalty at s Vector.
type Dual struct {
	Linear, Square float64
	Vector         []float64 // the rows times a: one element for each feature
}

// leastWeight returns the weight w of least 1/2 curvature w^2 - v w + L1 |w|, by soft-thresholding.
func (p Penalty) leastWeight(v, curvature float64) float64 {
	switch {
	case v > p.L1:
		return (v - p.L1) / curvature
	case v < -p.L1 && !p.NonNegative:
		return (v + p.L1) / curvature
	}
	return 0
}

// pull returns how strongly a gradient of -u pulls a weight of 0 towards values that the weight may have.
func (p Penalty) pull(u float64) float64 {
	if p.NonNegative {
		return u
	}
	return math.Abs(u)
}

// Bound returns the dual objective at d, or at a multiple of d if its vector is out of bounds. The conjugate of the
// penalty at u is the sum of max(0, |u_j| - L1)^2 / (2 L2). Without L2, |u_j| must be at most L1. With NonNegative, u_j
// takes the place of |u_j|.
func (p Penalty) Bound(d *Dual) float64 {
	largest, excess := 0.0, 0.0
	for _, u := range d.Vector {
		u = p.pull(u)
		largest = max(largest, u)
		if u > p.L1 {
			excess = math.FMA(u-p.L1, u-p.L1, excess)
		}
	}
	shrink := 1.0
	if largest > p.L1 {
		shrink = p.L1 / largest
	}
	best := float64(shrink*d.Linear) - float64(shrink*shrink*d.Square)
	if p.L2 > 0 {
		best = max(best, d.Linear-d.Square-excess/(2*p.L2))
	}
	return best
}

// A DenseLoss is a sum of losses over rows. It is convex and has a second derivative almost everywhere.
type DenseLoss interface {
	PointAt(ctx context.Context, w []float64) (*Point, error) // makes a pass over the rows; see Search

	// BiasAlone returns the bias with the least loss when all other weights are 0, and that loss. weights are the sums
	// of the sample weights of the classes -1 and +1. If biased is false, the bias is 0.
	BiasAlone(weights [2]float64, biased bool) (bias, loss float64)
}
