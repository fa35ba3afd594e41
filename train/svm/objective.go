package svm

import (
	"math"

	"halfspace/kernel/f64"
)

// rest adds the sums over the rows that src leaves out.
func (p *problem) rest(w []float64, at *sums) {
	if p.fixed != nil {
		at.add(*p.fixed)
		at.loss += p.fixed.a[0] + p.fixed.a[1] + f64.Dot(w[:p.cols], p.fixed.ax[0]) - f64.Dot(w[:p.cols], p.fixed.ax[1])
	}
}

// objectives computes the gradient, the objective and the dual objective from the sums over rows. With a bias, the dual
// variables of both classes must have the same sum. So objectives scales down the dual variables of one class for the
// dual objective.
func (p *problem) objectives(w []float64, at *sums) {
	p.rest(w, at)
	scale := at.balance(p.src.Spec().Bias)
	scaled := func(i int) float64 { return float64(scale[1]*at.ax[1][i]) - float64(scale[0]*at.ax[0][i]) }
	shared, features := 0.0, p.src.Spec().Width()
	if p.frame != nil && p.frame.of < features {
		shared = scaled(p.frame.of)
	}
	dual := 0.0
	at.vector = make([]float64, features)
	for i := range features {
		v := scaled(i)
		if shared != 0 {
			v = math.FMA(p.frame.multiple[i], shared, v)
		}
		at.vector[i], dual = v, math.FMA(v, v, dual)
	}
	at.objective = at.loss + float64(p.l2/2*p.square(p.frame.original(w)))
	at.dual = -dual / (2 * p.l2)
	for class, c := range scale {
		at.dual += float64(c*at.a[class]) - float64(float64(c*c)*at.squares[class])
	}
	p.descend(w, at)
}

// balance returns a factor of the dual variables of each class. With a bias, the factors make the sums of both classes
// equal.
func (s *sums) balance(bias bool) [2]float64 {
	scale := [2]float64{1, 1}
	if bias {
		for class, a := range s.a {
			if other := s.a[1-class]; a > other {
				scale[class] = other / a
			}
		}
	}
	return scale
}

// descend computes the gradient from the sums over rows.
func (p *problem) descend(w []float64, s *sums) {
	features, original := p.src.Spec().Width(), p.frame.original(w)
	for i := range s.gradient {
		s.gradient[i] = s.ax[0][i] - s.ax[1][i]
		if i >= features {
			continue
		}
		s.gradient[i] = math.FMA(p.l2, original[i], math.FMA(element(p.extra, i), w[i], s.gradient[i]))
		if p.frame != nil && p.frame.of < features {
			s.gradient[i] = math.FMA(-p.frame.multiple[i], float64(p.l2*original[p.frame.of]), s.gradient[i])
		}
	}
}

// square returns the sum of the squares of the weights w for the original rows, without the bias.
func (p *problem) square(w []float64) (sum float64) {
	for _, v := range w[:p.src.Spec().Width()] {
		sum = math.FMA(v, v, sum)
	}
	return sum
}

// element returns element i of v, or 0 if v is nil.
func element(v []float64, i int) float64 {
	if v == nil {
		return 0
	}
	return v[i]
}

// bend returns the second derivative of the penalty, with the extra penalty, along the line step.
func (p *problem) bend(step []float64) float64 {
	sum := float64(p.l2 * p.square(p.frame.original(step)))
	for i, v := range p.extra {
		sum += float64(float64(v*step[i]) * step[i])
	}
	return sum
}

// penalise adds the second derivatives of the penalty to the lower triangle of a Hessian.
func (p *problem) penalise(rows []float64) {
	l2, features := p.l2, p.src.Spec().Width()
	for i := range features {
		rows[i*(i+1)/2+i] += l2 + element(p.extra, i)
	}
	if p.frame == nil || p.frame.of >= features {
		return
	}
	of, m := p.frame.of, p.frame.multiple
	for i := range features {
		rows[max(i, of)*(max(i, of)+1)/2+min(i, of)] -= float64(l2 * m[i])
		for j := range i + 1 {
			rows[i*(i+1)/2+j] += float64(float64(l2*m[i]) * m[j])
		}
	}
}
