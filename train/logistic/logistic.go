// Package logistic trains linear classifiers by logistic regression: of two classes, or multinomial.
package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/train"
)

// Train finds the maximum of the likelihood, or of the likelihood with a penalty, of rows with labels y of -1 and +1, or of class
// numbers where there are more than two.
//
// Objective: weights w, the bias among them, that minimise 1/2 l2 |w|^2 + sum over rows of log(1 + e^(-y (w.x))), the bias not
// penalised. With p = 1/(1 + e^(-w.x)), its gradient is g = l2 w + X'(p - (y+1)/2), and its Hessian H = l2 I + X' diag(p(1-p)) X.
// Of K > 2 classes, each has weights w_k, and with p_k = e^(w_k.x) / sum over j of e^(w_j.x) the objective is 1/2 l2 sum of |w_k|^2 -
// sum over rows of log p_y, the multinomial likelihood (Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning",
// section 4.4); the gradient is g_k = l2 w_k + X'(p_k - [y = k]). The same vector added to each w_k changes no p_k; those
// here sum to zero over the classes but for rounding, as gradients do and as a penalty asks.
//
// Given rows of any source, Newton runs Newton's method, known as iteratively reweighted least squares (Nelder and Wedderburn,
// "Generalized Linear Models", 1972; Hastie, Tibshirani and Friedman, section 4.4.1):
// w = w - H^-1 g from w = 0. Where the objective would rise, H is damped, that is, a multiple of its diagonal is added to it, larger and
// larger ones until the objective doesn't rise, and less for the steps after that while they gain what H makes expect (Levenberg 1944;
// Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear Parameters", Journal of the SIAM 11, 1963). A pass over the
// rows gives the objective and g, and H too unless one from near by serves once more (the chord method): H of the pass before,
// if the norm of its gradient was at most 1, or an older one, if the last step with it made the norm fall to a hundredth. The norm
// is sqrt(g' H^-1 g), the distance from the optimum in standard errors. Where there are many rows, the first steps are made
// on a sample of whole runs that lie as far from each other as they can; then its optimum and its H are where the steps over
// all rows begin, unless rows turn out to be unlike the sample.
//
// It takes the last step when that brings the norm to 1e-6 or less, as far as the step before tells, or when the norm is below 1e-4
// and not getting smaller any more. Standard errors are the roots of the diagonal of H^-1 at the weights as they are written, with the
// penalty in it. A column that is a sum of multiples of others, but for the rounding of its elements, gets a weight of 0. Where H is singular all the
// same, a small ridge takes its place in the steps, not in the objective.
//
// LBFGS works in other variables: those that make the Hessian at zeros the identity, or, with more than 256 columns, features
// less their mean and scaled so that its diagonal is 1 there; see quasiNewton. It stops when the norm of the gradient in those variables
// is 1e-10 of that at zeros, or when rounding allows no further step. If that takes many passes and all classes together have
// up to 1,024 weights, Newton's method continues from zeros.
//
// Converged means that the objective of Weights is proven to be within 1e-6 of the optimum, relative to it, or of SGD within 1e-3; see
// certify. Without a penalty, all solvers look for planes that separate the rows, with rows on them too, unless there is proof that there is
// none. If neither is found, the result isn't converged. From columns far from zero, as Unix seconds are, Train first
// subtracts a number near their values; see train.Pivots.
//
// SGD visits rows in their order in batches; see descend.
//
// A row of weight k counts as k rows, in the sums, the loss of the result and, without opt.Robust, the standard errors; in SGD, its step is k times as long.
//
// All is float64, in the order of package dense within a run, and then over runs in row order: the result depends neither on
// opt.Workers nor on the source's kind. Errors: options out of range, no rows, fewer classes than two, ErrSeparable, which
// tells the class where one alone is apart from more than one other, features that overflow, too many columns or classes for
// Newton, whatever src fails with, and ctx's error.
func Train[T kernel.Float](ctx context.Context, src block.Source[T], opt Options) (*Result[T], error) {
	src, err := block.Check(ctx, src, opt.Workers)
	if err != nil {
		return nil, err
	}
	if opt.Solver, err = choose(opt.Solver, src.Spec()); err != nil {
		return nil, err
	}
	if opt.Epochs == 0 {
		opt.Epochs = opt.Solver.Epochs()
	}
	if opt.Options, err = opt.Options.WithDefaults(); err != nil {
		return nil, err
	}
	if !(opt.L2 >= 0) || math.IsInf(opt.L2, 0) {
		return nil, fmt.Errorf("l2 is %v: use a penalty of 0 or more", opt.L2)
	}
	if src.Rows() == 0 {
		return nil, errors.New("there are no rows to learn from")
	}
	if len(src.Spec().Classes) < 2 {
		return nil, train.TwoClasses(src.Spec())
	}
	pivots, err := train.Pivots(ctx, src)
	if err != nil {
		return nil, err
	}
	var r *Result[T]
	if pivots == nil {
		r, err = learn[T](ctx, src, nil, opt)
	} else {
		r, err = learn[T](ctx, train.Centre(src, len(pivots)-1, pivots, opt.Workers), pivots, opt)
	}
	if err != nil {
		return r, err // of weights so far
	}
	return r, train.Evaluate(ctx, src, opt.Workers, &r.Result)
}

// learn finds weights of rows less pivots, nil being none, and returns those for the rows themselves.
func learn[T, S kernel.Float](ctx context.Context, src block.Source[S], pivots []float64, opt Options) (*Result[T], error) {
	s := newSolver(src, opt)
	s.pivots, s.unit = pivots, math.Ldexp(1, -24)
	if float64(T(1+s.unit)) != 1 {
		s.unit = math.Ldexp(1, -53)
	}
	s.round = func(c []float64) []float64 {
		for w := range slices.Chunk(c, s.cols) {
			if pivots != nil {
				train.Uncentre(w, pivots)
			}
			for i, v := range w {
				w[i] = float64(T(v))
			}
			if pivots != nil {
				train.Recentre(w, pivots)
			}
		}
		return c
	}
	err := s.fit(ctx)
	interrupted := err != nil && ctx.Err() != nil && slices.ContainsFunc(s.w, func(v float64) bool { return v != 0 })
	if err != nil && (!interrupted || s.pass(context.WithoutCancel(ctx), s.w, false, &s.at) != nil) {
		return nil, err
	}
	r := &Result[T]{Solver: opt.Solver, Exact: slices.Clone(s.compact(s.w)), Objective: s.at.objective, Gap: s.gap, Rounded: s.rounded}
	r.Epochs, r.Visits, r.Updates, r.Converged, r.Seconds = s.passes, s.passes*src.Rows(), s.steps, s.converged, s.learned.Seconds()
	if pivots != nil {
		for w := range slices.Chunk(r.Exact, s.cols) {
			train.Uncentre(w, pivots)
		}
	}
	for _, v := range r.Exact {
		r.Weights = append(r.Weights, T(v))
	}
	r.Loss = s.at.loss
	if interrupted {
		r.Interrupted, r.Converged, r.Gap = true, false, math.Inf(1)
		return r, err
	}
	if opt.Solver != SGD { // which learns weights for them all
		r.Dependent = s.dependent
	}
	switch {
	case opt.Solver == Newton:
		r.Ridge, r.Gradient, r.StdErrors = s.ridge, s.norm, s.stdErrors()
		if opt.Robust {
			r.StdErrors, err = s.sandwich(ctx)
		}
	case s.relative > 0:
		r.Gradient = s.relative / s.initial
	}
	return r, err
}
