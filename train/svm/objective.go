package svm

import (
	"math"

	"halfspace/kernel/f64"
)

// rest adds the sums over the rows that src leaves out.
func (p *problem) rest(w []float64, at *sums) {
	if p.fixed != nil {
		at.add(*p.fixed)
		at.Loss += p.fixed.A[0] + p.fixed.A[1] + f64.Dot(w[:p.cols], p.fixed.Ax[0]) - f64.Dot(w[:p.cols], p.fixed.Ax[1])
	}
}

// objectives computes the gradient, the objective and the dual objective from the sums over rows. With a bias, the dual
// variables of both classes must have the same sum. So objectives scales down the dual variables of one class for the
// dual objective.
func (p *problem) objectives(w []float64, at *sums) {
	p.rest(w, at)
	scale, features, dual := at.balance(p.src.Spec().Bias), p.src.Spec().Width(), 0.0
	for i := range features {
		v := float64(scale[1]*at.Ax[1][i]) - float64(scale[0]*at.Ax[0][i])
		dual = math.FMA(v, v, dual)
	}
	at.objective = at.Loss + float64(p.l2/2*p.square(w))
	at.dual = -dual / (2 * p.l2)
	for class, c := range scale {
		at.dual += float64(c*at.A[class]) - float64(float64(c*c)*at.Squares[class])
	}
	for i := range at.gradient {
		if at.gradient[i] = at.Ax[0][i] - at.Ax[1][i]; i < features {
			at.gradient[i] = math.FMA(p.l2, w[i], at.gradient[i])
		}
	}
}

// balance returns a factor of the dual variables of each class. With a bias, the factors make the sums of both classes
// equal.
func (s *sums) balance(bias bool) [2]float64 {
	scale := [2]float64{1, 1}
	if bias {
		for class, a := range s.A {
			if other := s.A[1-class]; a > other {
				scale[class] = other / a
			}
		}
	}
	return scale
}

// square returns the sum of the squares of the weights w without the bias.
func (p *problem) square(w []float64) (sum float64) {
	for _, v := range w[:p.src.Spec().Width()] {
		sum = math.FMA(v, v, sum)
	}
	return sum
}
