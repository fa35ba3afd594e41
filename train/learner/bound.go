package learner

import (
	"math"
)

// MistakeBound returns UpdateBound(0, 1): the largest number of updates that the perceptron without a margin can make
// on these rows in any order (Novikoff 1962). The bound holds if training begins with zero weights and all sample
// weights are 1.
func (r *Result) MistakeBound() float64 { return r.UpdateBound(0, 1) }

// UpdateBound returns the largest number of updates that the perceptron with a margin and a learning rate can make on
// these rows in any order. It returns floor((R^2 + 2 margin/eta)/rho^2), where R is r.Radius and rho is r.Margin. R is
// rounded up and rho is rounded down, so rounding never makes the bound too small. The bound holds if training begins
// with zero weights, all sample weights are 1 and there is no penalty. UpdateBound returns +Inf if r.Weights don't
// separate the rows, if rho may be only rounding error, or if r.Weights is empty, as for a kernel.
func (r *Result) UpdateBound(margin, eta float64) float64 {
	if len(r.Weights) == 0 {
		return math.Inf(1)
	}
	return updateBound(r.Radius, r.Margin, r.roundingFactor(), len(r.Weights), 2*margin/eta)
}

// UpdateBoundFrom returns UpdateBound of a training that begins with the weights w0. w0 has as many elements as
// r.Weights. Both consist of the given number of vectors: 1, or one for each class if the classes are learned together.
// Let u be r.Weights divided by their norm. The bound is the largest integer t with
//
//	w0.u + t f eta rho  <=  sqrt(|w0|^2 + t f^2 (eta^2 R^2 + 2 eta margin)),
//
// Novikoff's theorem for w0; package train computes it of a trace too. f is sqrt(2) for several vectors and 1 for one vector.
func UpdateBoundFrom(r *Result, w0 []float64, vectors int, margin, eta float64) float64 {
	if len(r.Weights) == 0 {
		return math.Inf(1)
	}
	radius, rho := roundedOutward(r.Radius, r.Margin, r.roundingFactor(), len(r.Weights))
	step := eta * rho // unit of norm, dot and the bound: each is divided by step
	if vectors > 1 {
		step *= math.Sqrt2
	}
	dot := 0.0
	for i, v := range w0 {
		dot = math.FMA(v, float64(r.Weights[i]), dot)
	}
	norm, relative := Norm(w0)/step, 2*float64(len(w0)+10)*0x1p-52
	return mostSteps(plainBound(radius, rho, 2*margin/eta), norm+float64(norm*relative), dot/Norm(r.Weights)/step-float64(norm*relative))
}

// roundingFactor returns a factor: the rounding error of the margin is at most the factor times the radius.
func (r *Result) roundingFactor() float64 {
	const unit, lanes = 0x1p-24, 32
	// unit is the unit roundoff of float32. A score sums the products of one lane, and then the folds of the lanes; see
	// asm/README.md.
	return 2 * float64(len(r.Weights)/lanes+10) * unit
}

// MostUpdates returns UpdateBound without a margin for float64 weights that separate rows of the given radius by
// margin. columns is the number of weights.
func MostUpdates(radius, margin float64, columns int) float64 {
	return updateBound(radius, margin, 2*float64(columns+10)*0x1p-53, columns, 0)
}

// updateBound returns floor((radius^2 + more)/margin^2), rounded up. The rounding error of the margin is at most
// marginError times the radius.
func updateBound(radius, margin, marginError float64, columns int, more float64) float64 {
	radius, margin = roundedOutward(radius, margin, marginError, columns)
	return math.Floor(plainBound(radius, margin, more) * (1 + 0x1p-48))
}

// roundedOutward returns the radius rounded up, and the margin rounded down. The returned margin is 0 or less if the
// margin may be only rounding error. The norms behind both are sums of as many squares as there are columns.
func roundedOutward(radius, margin, marginError float64, columns int) (up, down float64) {
	relative := float64(columns+10) * 0x1p-52
	up = radius + float64(radius*relative)
	return up, margin - (float64(margin*relative) + float64(marginError*up))
}

// plainBound returns (radius^2 + more)/margin^2, or +Inf unless the margin is above 0.
func plainBound(radius, margin, more float64) float64 {
	if !(margin > 0) {
		return math.Inf(1)
	}
	return float64(radius/margin*(radius/margin)) + float64(more/margin/margin)
}

// mostSteps returns the largest integer t with dot + t <= sqrt(norm^2 + t plain), rounded up. It returns +Inf if that
// overflows.
func mostSteps(plain, norm, dot float64) float64 {
	half, square := float64(plain/2)-dot, max(0, float64((norm-dot)*(norm+dot)))
	root := math.Sqrt(float64(half*half) + square)
	t := half + root
	if half < 0 { // equal to half + root, without cancellation
		t = square / (root - half)
	}
	if t != t {
		return math.Inf(1)
	}
	return math.Floor(t * (1 + 0x1p-48))
}
