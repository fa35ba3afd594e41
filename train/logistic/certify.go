package logistic

import (
	"context"
	"math"

	"halfspace/kernel"
)

const (
	matrixRows = 1024 // the weights of all classes for which first-order methods get a Hessian at the end
	reachable  = 0.5  // by how much a step may change a score, for certify to bound the gap by its length
)

// certify sets the gap, by which the objective at w is above the optimum at most, and exists: that there is an optimum. It makes a pass
// with the Hessian H, and another where the first doesn't tell how far the step H^-1 g reaches.
//
// With the step d = H^-1 g, let a change by c p(1-p) y x.d of each row's dual variable a = c p, c being its weight and p the probability of
// the other class. That makes a point of the dual problem (and of more classes as well) if |x.d| is less than 1 for all rows, since g - H
// d = 0. So an optimum exists, as duality has it: all a are above 0, and their rows y x sum to 0. The second derivative of the entropy on the way is at most
// 1/(1-z) times that at p, z being the greatest |x.d|, so that the gap between the objectives is g'd / (2 (1-z)) at most. Of rows that a plane separates but for some on it, each step of
// Newton's adds 1 to the others' scores, however short it is by the norm of H.
func (s *solver[T]) certify(ctx context.Context, w []float64) error {
	s.gap, s.exists, s.fresh = math.Inf(1), false, true
	if err := s.pass(ctx, w, true, &s.at); err != nil {
		return err
	}
	if s.at.objective-s.at.objective != 0 {
		return s.tooLarge()
	}
	if err := s.factorise(s.at.hessian); err != nil {
		return err
	}
	step := s.step(s.factor)
	s.norm = s.distance(step)
	if s.ridge > 0 {
		return nil
	}
	reach := s.norm * s.at.reach(s.vectors)
	if !(reach <= reachable) {
		p, err := s.probe(ctx, step)
		if err != nil {
			return err
		}
		reach = p.reach
	}
	if reach <= reachable {
		s.exists, s.gap = true, float64(s.norm*s.norm)/(2*(1-reach))
	}
	return nil
}

// reach returns by how much a step of norm 1 changes the score of a row at most. The curvature of a row's loss is e^-m/4 at least, with m
// the greatest |w.x|; of more classes, each has a probability of at least e^-m/K.
func (s *sums) reach(vectors int) float64 {
	e := []float64{s.largest / 2}
	kernel.Exp(e, e)
	return e[0] * math.Sqrt(float64(max(4, vectors))/s.lightest)
}

// dualGap returns by how much the objective, with sums at, is above that of a point of the dual problem, and so above the optimum at most; it is
// for penalties above 0. The point is made of the probabilities of the classes, p of a row, of which the sum for each class is
// its rows' weight where there is a bias. So a little of the same probabilities rho is mixed in: (1-e) p + e rho.
//
// zero are the sums over rows of 1/K - [y = k] times the row, and total those of the rows.
func (s *solver[T]) dualGap(w []float64, at *sums, zero, total []float64) float64 {
	bias, k := s.penalised() < s.cols, float64(max(2, s.vectors))
	e, rho := s.mixture(at, zero)
	entropy := at.loss // the sum over rows of -p log p: the loss, less the product of w with the loss's gradient
	square := 0.0
	for v := range s.vectors {
		w, g, zero := w[v*s.stride:], at.gradient[v*s.stride:], zero[v*s.stride:]
		for i := range s.penalised() {
			of := g[i] - float64(s.l2*w[i])
			entropy -= float64(w[i] * of)
			u := -float64((1-e)*of) - float64(e*zero[i])
			if bias && e > 0 {
				u += float64(float64(e*(1/k-rho[v])) * total[i])
			}
			square += float64(u * u)
		}
		if bias {
			entropy -= float64(w[s.cols-1] * g[s.cols-1])
		}
	}
	return at.objective + square/(2*s.l2) - float64((1-e)*entropy)
}

// mixture returns e and rho of dualGap.
func (s *solver[T]) mixture(at *sums, zero []float64) (e float64, rho []float64) {
	if s.penalised() == s.cols {
		return 0, nil
	}
	n, k := at.weight, float64(max(2, s.vectors))
	var own, sums []float64 // of each class, the rows' weight, and the sum of its probabilities
	for v := range s.vectors {
		c := n/k - zero[v*s.stride+s.cols-1]
		own, sums = append(own, c), append(sums, c+at.gradient[v*s.stride+s.cols-1])
	}
	if s.vectors == 1 {
		own, sums = append(own, n-own[0]), append(sums, n-sums[0])
	}
	for i, sum := range sums {
		e = max(e, 1-own[i]/sum)
	}
	for i, sum := range sums {
		rho = append(rho, (own[i]-float64((1-e)*sum))/float64(e*n))
	}
	return e, rho
}
