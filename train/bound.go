package train

import "math"

// MistakeBound is UpdateBound without a margin (Novikoff 1962): the most updates that the perceptron can make on these
// rows in any order. It holds if training begins with zeros and all sample weights are 1.
func (r *Result[W]) MistakeBound() float64 { return r.UpdateBound(0, 1) }

// UpdateBound is the most updates that the perceptron with a margin and a learning rate can make on these rows in any
// order. It holds if training begins with zeros, all sample weights are 1 and there is no penalty. It is the whole part
// of (R^2 + 2 margin/eta)/rho^2, where rho is the margin of Weights. It is +Inf if Weights don't separate the rows, or
// separate them by no more than rounding, or are those of a kernel's space. All is rounded up.
func (r *Result[W]) UpdateBound(margin, eta float64) float64 {
	if len(r.Weights) == 0 {
		return math.Inf(1)
	}
	unit, lanes := 0x1p-53, 16
	if _, ok := any(r.Weights).([]float32); ok {
		unit, lanes = 0x1p-24, 32
	}
	terms := float64(len(r.Weights)/lanes + 10) // of a score: those of a lane, and the folds; see package asm
	return updateBound(r.Radius, r.Margin, 2*terms*unit, len(r.Weights), 2*margin/eta)
}

// MostUpdates is UpdateBound of float64 weights of that many columns that separate rows of a radius by a margin.
func MostUpdates(radius, margin float64, columns int) float64 {
	return updateBound(radius, margin, 2*float64(columns+10)*0x1p-53, columns, 0)
}

// updateBound returns the whole part of (radius^2 + more)/margin^2, rounded up. error times the radius bounds the
// rounding error of the margin. Norms are sums of as many squares as there are columns.
func updateBound(radius, margin, error float64, columns int, more float64) float64 {
	relative := float64(columns+10) * 0x1p-52
	radius += float64(radius * relative)
	margin -= float64(margin*relative) + float64(error*radius)
	if !(margin > 0) || math.IsInf(radius, 0) {
		return math.Inf(1)
	}
	return math.Floor((float64(radius/margin*(radius/margin)) + more/margin/margin) * (1 + 0x1p-48))
}
