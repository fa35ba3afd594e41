package logistic

import (
	"context"
	"math"

	"halfspace/kernel"
)

const (
	matrixRows = 1024 // the most weights of all classes for which first-order methods compute a Hessian at the end
	reachable  = 0.5  // certify bounds the gap if the step changes no score by more than this
)

// certify sets gap, an upper bound of how far the objective at w is above the optimum, and exists, which tells whether
// an optimum exists. It makes a pass with the Hessian H, and another if the first doesn't tell how far the step H^-1 g
// reaches.
//
// Let d = H^-1 g be the step. Let c be the sample weight of a row, p the probability of the class that isn't the row's,
// and a = c p its dual variable. Change each a by c p(1-p) y x.d. If |x.d| is less than 1 for all rows, that gives a
// point of the dual problem, since g - H d = 0. The same holds for more classes. All a are then above 0, and their rows
// y x sum to 0. So an optimum exists by duality. Let z be the greatest |x.d|. On the way, the second derivative of the
// entropy is at most 1/(1-z) times that at p. So the gap between the objectives is at most g'd / (2 (1-z)).
//
// There is no such bound if a plane separates all rows but those on it. Then each Newton step adds 1 to the scores of
// the rows off the plane, however short the step is in the norm of H.
func (s *solver[T]) certify(ctx context.Context, w []float64) error {
	s.gap, s.exists, s.fresh = math.Inf(1), false, true
	if err := s.pass(ctx, w, true, &s.at); err != nil {
		return err
	}
	if s.at.objective-s.at.objective != 0 {
		return s.tooLarge()
	}
	if err := s.factorise(ctx, s.at.hessian); err != nil {
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

// reach returns an upper bound of the change of a row's score by a step of norm 1. The curvature of a row's loss is at
// least e^-m/4, with m the greatest |w.x|. With more classes, each has a probability of at least e^-m/K.
func (s *sums) reach(vectors int) float64 {
	e := []float64{s.largest / 2}
	kernel.Exp(e, e)
	return e[0] * math.Sqrt(float64(max(4, vectors))/s.lightest)
}

// dualGap returns the difference between the objective, with sums at, and that of a point of the dual problem. The
// objective is above the optimum by at most this. The penalty must be above 0. The point consists of the probabilities
// p of the classes for each row. With a bias, their sum for a class must be the sample weight of its rows. So dualGap
// mixes a little of the same probabilities rho into those of all rows: (1-e) p + e rho.
//
// zero is the sum over rows of 1/K - [y = k] times the row, for each class k. total is the sum of the rows.
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
