package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// minimise runs Newton's method from s.w. If s.factor isn't nil, it is used first. minimise tells whether it reached
// its goal.
func (s *solver) minimise(ctx context.Context) (reached bool, err error) {
	if !s.takeResumed() {
		s.lastNorm, s.suspectedSteps = 0, 0
		err = s.evaluate(ctx, s.w, s.factor == nil, &s.at)
		if err == nil && s.farthestNorm > 0 {
			err = s.checkSample(ctx)
		}
	}
	for err == nil {
		s.mark()
		step := s.step(s.factor)
		s.norm = s.distance(step)
		if s.suspectedSteps++; !isSuspicious(s.norm, s.lastNorm) || !s.factorIsFresh || s.ridge > 0 {
			s.suspectedSteps = 0
		}
		if s.suspectedSteps == suspiciousSteps && s.opt.L2 == 0 && s.vectors == 1 {
			s.suspectedSteps = 0
			if err = s.checkSeparatedNear(ctx, negated(step)); err != nil {
				return false, err
			}
		}
		left := s.norm // an upper bound of the norm after the step
		if s.lastNorm > 0 {
			left = s.norm * min(1, staleGrowth*s.norm/s.lastNorm)
		}
		if goal := s.goal * min(1, vanishedNorm*math.Sqrt(s.at.Objective)); left <= goal || s.factorIsFresh &&
			s.norm <= noiseNorm && s.norm > s.lastNorm/2 {
			s.w = s.weightsAfter(step) // the last step: no pass is needed after it
			s.factorIsFresh = false
			return true, nil
		}
		if s.passes >= s.opt.Epochs {
			return false, nil
		}
		keep := s.factorIsFresh && s.norm <= steadyNorm || s.norm*keptFactorGain <= s.lastNorm
		s.lastNorm = s.norm
		var moved bool
		if moved, err = s.move(ctx, keep); err == nil && !moved {
			return false, nil
		}
	}
	return false, err
}

// step returns the step H^-1 g, given a factor of H, in the order of compact. With more than two classes its sum over
// the classes is 0.
func (s *solver) step(f *linalg.Factor) []float64 {
	return s.balance(f.Solve(s.compact(s.at.Gradient)))
}

func negated(v []float64) []float64 {
	n := make([]float64, len(v))
	f64.Axpy(n, -1, v)
	return n
}

func (s *solver) weightsAfter(step []float64) []float64 {
	w := slices.Clone(s.w)
	f64.Axpy(w, -1, s.spread(step))
	return w
}

// distance returns the norm sqrt(g' H^-1 g) of the gradient g, given the step H^-1 g.
func (s *solver) distance(step []float64) float64 {
	return math.Sqrt(max(0, f64.Dot(s.compact(s.at.Gradient), step)))
}

// checkSample checks whether Newton's method should begin at w, the optimum of a sample, with the sample's Hessian. It
// begins at zeros instead if w is no better than zeros, or if that Hessian predicts a further gain of more than 1/20 of
// w's gain over zeros: then the rows differ from the sample. If the optimum is merely far from w, it begins at w with
// the Hessian of all rows.
func (s *solver) checkSample(ctx context.Context) error {
	farthest, norm := s.farthestNorm, s.distance(s.step(s.factor))
	s.farthestNorm = 0
	switch {
	case s.passes >= s.opt.Epochs:
		return nil
	case !(sampleWorth*float64(norm*norm)/2 < float64(s.at.Weight*math.Ln2)-s.at.Objective):
		clear(s.w)
	case norm <= farthest:
		return nil
	}
	return s.evaluate(ctx, s.w, true, &s.at)
}

// begin sets the starting point: zeros, or the optimum of a sample with the sample's Hessian.
func (s *solver) begin(ctx context.Context) error {
	sample, err := learner.Sample(ctx, s.src)
	if err != nil || sample == nil {
		return err
	}
	share := float64(sample.Rows()) / float64(s.src.Rows())
	opt := s.opt
	opt.L2 *= share
	opt.Progress, opt.Checkpoint = nil, nil
	few := newSolver(sample, opt)
	few.goal, few.pivots = sampleTolerance, s.pivots
	reached, err := few.minimise(ctx)
	if err != nil || !reached || few.ridge > 0 || few.factorIsSharp || few.dependent != nil {
		if err != nil && ctx.Err() == nil {
			err = nil // training on all rows may work although training on a sample failed
		}
		return err
	}
	s.w, s.farthestNorm = few.w, sampleTooFar*math.Sqrt(float64(s.cols)/share)
	h := few.at.Hessian
	for i := range h {
		h[i] /= share
	}
	s.factor, _, err = linalg.Factorise(ctx, h, s.cols)
	return err
}

// move takes the first step with which the objective doesn't rise, with more and more damping of the Hessian. It tells
// whether it found one. If the Hessian is from an earlier pass, move first replaces it by the Hessian at w.
func (s *solver) move(ctx context.Context, keep bool) (bool, error) {
	from := s.point
	for tried := 0; tried < mostTrials && s.passes < s.opt.Epochs; tried++ {
		step, gain, err := s.damping.Step(ctx, from.factor, s.compact(from.at.Gradient))
		if err != nil {
			return false, err
		}
		next, at := s.weightsAfter(s.balance(step)), sums{Hessian: from.at.Hessian}
		if err := s.evaluate(ctx, next, !keep, &at); err != nil {
			return false, err
		}
		if at.Objective <= from.at.Objective*(1+1e-12) {
			s.damping.Gain((from.at.Objective - at.Objective) / gain)
			s.w, s.at = next, at
			s.steps++
			return true, nil
		}
		keep = false
		if from.factorIsFresh {
			s.damping.Fail()
			continue
		}
		if s.passes < s.opt.Epochs {
			if err := s.evaluate(ctx, s.w, true, &from.at); err != nil {
				return false, err
			}
			from.factor, from.ridge, from.factorIsFresh = s.factor, s.ridge, true
		}
	}
	s.point = from
	return false, nil
}

// evaluate makes a pass over the rows at w. With hessian, it also computes a new Hessian and its factor.
func (s *solver) evaluate(ctx context.Context, w []float64, hessian bool, at *sums) error {
	s.report(nil)
	if err := s.pass(ctx, w, hessian, at); err != nil {
		return err
	}
	s.passes++
	s.measure = &learner.Measure{Objective: at.Objective, Gradient: norm(at.Gradient), Gap: math.Inf(1)}
	s.report(learner.SumOf(w))
	if at.Objective-at.Objective != 0 {
		return learner.OverflowError()
	}
	if s.opt.L2 == 0 && at.Margin > 0 {
		if err := s.checkSeparated(ctx, s.compact(w)); err != nil {
			return err
		}
	}
	s.factorIsFresh = hessian
	if hessian {
		if !s.knowsDependent && s.vectors == 1 && !slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
			if err := s.findDependent(ctx, at.Hessian); err != nil {
				return err
			}
		}
		return s.factorise(ctx, w, at.Hessian)
	}
	return nil
}

// stdErrors returns the standard errors of the weights for the original rows, or nil if there are none. The standard
// error of a column that was left out is 0.
func (s *solver) stdErrors(ctx context.Context) ([]float64, error) {
	if s.ridge > 0 || s.dependenceIsInexact || s.opt.L2 == 0 && !s.optimumExists {
		return nil, nil
	}
	d, err := s.factor.InverseDiagonal(ctx)
	if err != nil {
		return nil, err
	}
	// The bias for the original rows is the bias minus the dot product of the pivots and the other weights.
	if s.pivots != nil {
		c := make([]float64, s.cols)
		f64.Axpy(c[:len(s.pivots)], -1, s.pivots)
		c[s.cols-1] = 1
		d[s.cols-1] = f64.Dot(c, s.factor.Solve(c))
	}
	for i, v := range d {
		d[i] = math.Sqrt(v)
	}
	return d, nil
}

// sandwich returns stdErrors, or with opt.Robust the robust standard errors, for sample weights that aren't counts. The
// robust standard errors are the square roots of the diagonal of H^-1 B H^-1. B is the sum of s_i^2 x_i x_i' over rows
// with sample weight k_i and s_i = k_i (p_i - (y_i+1)/2). Without a penalty, multiplying all sample weights by a number
// doesn't change them.
//
// References: Huber, "The behavior of maximum likelihood estimates under nonstandard conditions", 1967; White, "Maximum
// likelihood estimation of misspecified models", Econometrica 50, 1982.
func (s *solver) sandwich(ctx context.Context) ([]float64, error) {
	errors, err := s.stdErrors(ctx)
	if errors == nil || !s.opt.Robust {
		return errors, err
	}
	b, err := gram.NewTriangle(s.cols)
	if err != nil {
		return nil, err
	}
	if err := sandwichPass.sum(ctx, s.problem, b, s.w, func(struct{}) {}); err != nil {
		return nil, err
	}
	c, product := make([]float64, s.cols), make([]float64, s.cols)
	for i := range errors {
		if s.staysZero != nil && s.staysZero[i] {
			continue
		}
		clear(c)
		// The bias for the original rows is the bias minus the dot product of the pivots and the other weights.
		if i == s.cols-1 && s.pivots != nil {
			f64.Axpy(c[:len(s.pivots)], -1, s.pivots)
		}
		c[i] = 1
		x := s.factor.Solve(c)
		b.MulVec(product, x)
		if errors[i] = math.Sqrt(f64.Dot(x, product)); !(errors[i] > 0) { // no row changes this weight
			return nil, nil
		}
	}
	return errors, nil
}

var sandwichPass = newScatter("logistic.sandwich", (*problem).squaresAt)

// squaresAt returns the function that sets squares to the squares of a chunk's factors in the gradient at w.
func (s *problem) squaresAt(w []float64) func(chunk block.Chunk, squares, _ []float64) struct{} {
	return func(chunk block.Chunk, squares, _ []float64) struct{} {
		s.panels(chunk, func(c *scratch, lo int, rows *block.Block) {
			s.losses(c, rows, w, c.s[:rows.Len()], &sums{})
			for i, f := range c.factors[:rows.Len()] {
				squares[lo+i] = float64(f * f)
			}
		})
		return struct{}{}
	}
}
