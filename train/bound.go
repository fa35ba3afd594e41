package train

import (
	"math"
)

// MistakeBound is UpdateBound without a margin (Novikoff 1962): the most updates that the perceptron can make on these
// rows in any order. It holds if training begins with zeros and all sample weights are 1.
func (r *Result) MistakeBound() float64 { return r.UpdateBound(0, 1) }

// UpdateBound is the most updates that the perceptron with a margin and a learning rate can make on these rows in any
// order. It holds if training begins with zeros, all sample weights are 1 and there is no penalty. It is the whole part
// of (R^2 + 2 margin/eta)/rho^2, where rho is the margin of Weights. It is +Inf if Weights don't separate the rows, or
// separate them by no more than rounding, or are those of a kernel's space. All is rounded up.
func (r *Result) UpdateBound(margin, eta float64) float64 {
	if len(r.Weights) == 0 {
		return math.Inf(1)
	}
	return updateBound(r.Radius, r.Margin, r.rounding(), len(r.Weights), 2*margin/eta)
}

// UpdateBoundFrom is UpdateBound of a training that begins with weights w0, as many as r.Weights has. Both consist of so
// many vectors: one, or one for each of the classes that are learned together. Let u be r.Weights of length 1. The bound is
// the largest whole t with
//
//	w0.u + t f eta rho  <=  sqrt(|w0|^2 + t f^2 (eta^2 R^2 + 2 eta margin)),
//
// Novikoff's theorem for w0; see trace.Bounds. f is sqrt(2) for several vectors and 1 for one.
func UpdateBoundFrom(r *Result, w0 []float64, vectors int, margin, eta float64) float64 {
	if len(r.Weights) == 0 {
		return math.Inf(1)
	}
	radius, rho := rounded(r.Radius, r.Margin, r.rounding(), len(r.Weights))
	step := eta * rho // t counts steps, and so do norm and dot
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

// rounding returns a number which times the radius bounds the rounding error of the margin.
func (r *Result) rounding() float64 {
	const unit, lanes = 0x1p-24, 32
	return 2 * float64(len(r.Weights)/lanes+10) * unit // the terms of a score: those of a lane, and the folds; see package asm
}

// MostUpdates is UpdateBound of float64 weights of that many columns that separate rows of a radius by a margin.
func MostUpdates(radius, margin float64, columns int) float64 {
	return updateBound(radius, margin, 2*float64(columns+10)*0x1p-53, columns, 0)
}

// updateBound returns the whole part of (radius^2 + more)/margin^2, rounded up. error times the radius bounds the
// rounding error of the margin.
func updateBound(radius, margin, error float64, columns int, more float64) float64 {
	radius, margin = rounded(radius, margin, error, columns)
	return math.Floor(plainBound(radius, margin, more) * (1 + 0x1p-48))
}

// rounded returns the radius, rounded up, and the margin, rounded down. The margin isn't above 0 if it may be only
// rounding. Norms are sums of as many squares as there are columns.
func rounded(radius, margin, error float64, columns int) (up, down float64) {
	relative := float64(columns+10) * 0x1p-52
	up = radius + float64(radius*relative)
	return up, margin - (float64(margin*relative) + float64(error*up))
}

// plainBound returns (radius^2 + more)/margin^2.
func plainBound(radius, margin, more float64) float64 {
	if !(margin > 0) {
		return math.Inf(1)
	}
	return float64(radius/margin*(radius/margin)) + float64(more/margin/margin)
}

// mostSteps returns the largest whole t with dot + t <= sqrt(norm^2 + t plain), rounded up. It is +Inf if that overflows.
func mostSteps(plain, norm, dot float64) float64 {
	half, square := float64(plain/2)-dot, max(0, float64((norm-dot)*(norm+dot)))
	root := math.Sqrt(float64(half*half) + square)
	t := half + root
	if half < 0 { // the same without cancellation
		t = square / (root - half)
	}
	if t != t {
		return math.Inf(1)
	}
	return math.Floor(t * (1 + 0x1p-48))
}
