// Package logistic trains linear classifiers by logistic regression: of two classes, or multinomial.
package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
)

// A Solver is a way to the optimum.
type Solver string

const (
	Auto   Solver = "auto"   // Newton of two classes and up to 256 columns, else LBFGS
	Newton Solver = "newton" // few passes with the matrix of second derivatives, and standard errors; of two classes
	LBFGS  Solver = "lbfgs"  // any number of columns
	SGD    Solver = "sgd"    // near to the optimum in few passes
)

// Solvers lists every solver, the default first.
var Solvers = []Solver{Auto, Newton, LBFGS, SGD}

// Epochs returns the most passes over the rows by default. Of LBFGS few are the rule, but many may be needed, as with features
// that nearly depend on each other.
func (s Solver) Epochs() int64 {
	if s == LBFGS {
		return 1000
	}
	return 100
}

// Options are the options of Train. Of train.Options it uses Epochs, the most passes over the rows, by default 100, or 1,000 for LBFGS,
// Workers, Progress and, for SGD, Eta.
type Options struct {
	train.Options
	L2     float64 // the penalty, 0 or more
	Solver Solver  // Auto
	Robust bool    // the weights of rows aren't counts: standard errors are those of the sandwich estimator
}

// Result is what Train learned. Of train.Result, Weights are Exact rounded to T, and Errors, Radius, Norm and Margin are theirs;
// Epochs are passes over the rows but for those that prove the result or measure its errors, Updates steps, and Loss is the sum over rows of log(1 + e^(-y (w.x))), or of -log p of the row's
// class, the penalty left out.
type Result[T kernel.Float] struct {
	train.Result[T]
	Exact     []float64 // the weights, one for each column of the data, the bias last where there is one; of more than two classes so for each
	Solver    Solver    // the one that was chosen
	StdErrors []float64 // of each weight, see Train; nil if Ridge isn't 0, columns depend on each other, or the solver isn't Newton
	Ridge     float64   // what the scaled diagonal of the Hessian took to be regular, see dense.Factorise; 0 if nothing
	Gradient  float64   // at the end; of Newton, sqrt(g' H^-1 g), the distance from the optimum in standard errors; else relative to that of zeros, and 0 of SGD

	Objective float64            // Loss and the penalty, of Weights
	Gap       float64            // Objective is above the optimum by at most this; +Inf where no bound is known
	Rounded   bool               // the gap of Exact is small enough, that of Weights isn't
	Dependent []dense.Dependence // columns that are sums of multiples of others but for rounding, and whose weights are 0 therefore
}

// ErrSeparable is returned where weights without penalty would grow for ever.
var ErrSeparable = errors.New("a plane separates the classes, so that the loss has no minimum and weights grow without end: " +
	"set l2 above 0, such as 1, or learn with a perceptron")

var errWeightless = errors.New("every row weighs 0: there is nothing to learn from")

const (
	tolerance  = 1e-6    // of Newton's norm
	converges  = 1e-6    // of the gap, relative to the objective
	roughly    = 1e-3    // of that of SGD
	tiny       = 100     // times the root of an objective below 1, the tolerance
	unlike     = 10      // a sample whose optimum is so many times as far from that of all rows as chance lets expect isn't like them
	worth      = 20      // times what is left to gain, a sample's optimum has gained over zeros
	ofSample   = 0.1     // the tolerance for a sample's optimum, which all rows' is farther from
	slack      = 4       // a step with a Hessian from near by leaves at most so many times the part that the last one left
	rounding   = 1e-4    // below it, a gradient that a step doesn't halve is made of rounding errors
	near       = 1       // below it, a step with the Hessian where it starts comes so near that the Hessian hardly changes
	keepFactor = 100     // a factor stays while the gradient falls by so much in a step
	maxColumns = 1 << 14 // their Hessian is 1 GiB
	maxTried   = 40      // steps, each with the Hessian damped more
	widest     = 256     // columns up to which Newton's method is chosen
	settles    = 4       // times that Newton's method goes on for a smaller norm, where the gap is too large
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
		r, err = learn[T](ctx, train.Centre(src, pivots, opt.Workers), pivots, opt)
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

// choose returns the solver for such rows.
func choose(solver Solver, spec *schema.Spec) (Solver, error) {
	classes, cols := len(spec.Classes), spec.Cols()
	switch solver {
	case "", Auto:
		if classes == 2 && cols <= widest {
			return Newton, nil
		}
		return LBFGS, nil
	case Newton:
		if classes > 2 {
			return "", fmt.Errorf("column %q: %d classes are too many for the solver newton, which takes two: use lbfgs, or learn one class versus the rest", spec.Label, classes)
		}
		if cols > maxColumns {
			return "", fmt.Errorf("%d columns are too many for the solver newton, which takes up to %d: use lbfgs", cols, maxColumns)
		}
	case LBFGS, SGD:
	default:
		return "", fmt.Errorf("unknown solver %q: use one of %v", solver, Solvers)
	}
	return solver, nil
}

// A solver is the state of a minimisation.
type solver[T kernel.Float] struct {
	*problem[T]
	opt Options
	w   []float64
	point
	damping   dense.Damping // of the next step
	goal      float64       // the norm to reach
	farthest  float64       // the norm beyond which the sample's Hessian isn't used; 0 where w is no sample's optimum
	passes    int64
	steps     int64
	converged bool
	start     time.Time
	learned   time.Duration // until w was found

	round     func([]float64) []float64 // makes of exact weights, in the order of compact, those that are written
	rounded   bool                      // but for that they would have converged
	pivots    []float64                 // which columns are less, or nil
	unit      float64                   // relative error of the columns' elements
	examined  bool                      // whether columns depend on others is known
	dependent []dense.Dependence

	// Of first-order methods.
	zero, total       []float64 // the gradient at zeros and the sum of all rows
	initial, relative float64   // the gradient's norm at zeros and now, in the variables of the change
	best              float64   // of SGD, what the objective is at least; 0 if unknown
}

// A point is what is known about weights.
type point struct {
	at     sums
	factor *dense.Factor
	ridge  float64
	fresh  bool    // factor is of the Hessian there
	norm   float64 // of the gradient
	gap    float64 // see certify
	exists bool
}

func newSolver[T kernel.Float](src block.Source[T], opt Options) *solver[T] {
	p := newProblem(src, opt.L2, opt.Workers)
	return &solver[T]{problem: p, opt: opt, w: p.zeros(), goal: tolerance, start: time.Now(), point: point{gap: math.Inf(1)}}
}

// fit finds the optimum, or goes as far towards it as it may, and bounds the gap of the weights as they are written.
func (s *solver[T]) fit(ctx context.Context) error {
	switch s.opt.Solver {
	case LBFGS:
		if settled, err := s.first(ctx); settled || err != nil {
			return err
		}
	case SGD:
		return s.descend(ctx)
	default:
		if err := s.begin(ctx); err != nil {
			return err
		}
		if _, err := s.minimise(ctx); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

// first runs L-BFGS, and Newton's method where that is slow, if it has its matrix. It tells whether the gap is settled.
func (s *solver[T]) first(ctx context.Context) (settled bool, err error) {
	reached, err := s.quasiNewton(ctx)
	if err != nil {
		return false, err
	}
	s.balanceWeights()
	matrix := s.hasMatrix() && s.passes+patient <= s.opt.Epochs
	if reached && matrix && s.opt.L2 == 0 {
		if err := s.certify(ctx, s.w); err != nil {
			return false, err
		}
		reached = s.exists
	}
	if reached || !matrix {
		return s.settleDual(ctx)
	}
	clear(s.w) // from which few steps lead to the optimum, and scores grow no faster than they must where there is none
	s.factor = nil
	_, err = s.minimise(ctx)
	return false, err
}

// minimise goes on from w, by the factor if there is one, and tells whether it reached the goal.
func (s *solver[T]) minimise(ctx context.Context) (reached bool, err error) {
	err = s.evaluate(ctx, s.w, s.factor == nil, &s.at)
	if err == nil && s.farthest > 0 {
		err = s.doubt(ctx)
	}
	last, suspected := 0.0, 0
	for err == nil {
		step := s.step(s.factor)
		s.norm = s.distance(step)
		if suspected++; !suspicious(s.norm, last) || !s.fresh || s.ridge > 0 {
			suspected = 0
		}
		if suspected == suspects && s.opt.L2 == 0 && s.vectors == 1 {
			suspected = 0
			if err = s.separatedNear(ctx, negative(step)); err != nil {
				return false, err
			}
		}
		left := s.norm // after the step, at most
		if last > 0 {
			left = s.norm * min(1, slack*s.norm/last)
		}
		if goal := s.goal * min(1, tiny*math.Sqrt(s.at.objective)); left <= goal || s.fresh && s.norm <= rounding && s.norm > last/2 {
			s.w = s.less(step) // takes what is left, for which no pass is needed
			s.fresh = false
			return true, nil
		}
		if s.passes >= s.opt.Epochs {
			return false, nil
		}
		keep := s.fresh && s.norm <= near || s.norm*keepFactor <= last
		last = s.norm
		var moved bool
		if moved, err = s.move(ctx, keep); err == nil && !moved {
			return false, nil
		}
	}
	return false, err
}

// step returns the step that a factor leads to, in the order of compact. Of more than two classes, its sum over them is 0.
func (s *solver[T]) step(f *dense.Factor) []float64 {
	return s.balance(f.Solve(s.compact(s.at.gradient)))
}

// negative returns -v.
func negative(v []float64) []float64 {
	n := make([]float64, len(v))
	kernel.Axpy(n, -1, v)
	return n
}

// balance takes from the weights of each column their mean over the classes, if there are more than two.
func (s *solver[T]) balance(c []float64) []float64 {
	for i := range s.cols * min(1, s.vectors-1) {
		mean := 0.0
		for k := range s.vectors {
			mean += c[k*s.cols+i] / float64(s.vectors)
		}
		for k := range s.vectors {
			c[k*s.cols+i] -= mean
		}
	}
	return c
}

// less returns the weights less a step.
func (s *solver[T]) less(step []float64) []float64 {
	w := slices.Clone(s.w)
	for i, v := range s.spread(step) {
		w[i] -= v
	}
	return w
}

// distance returns the norm of the gradient, of which step is the product with H^-1.
func (s *solver[T]) distance(step []float64) float64 {
	return math.Sqrt(max(0, kernel.Dot(s.compact(s.at.gradient), step)))
}

// doubt looks whether w, a sample's optimum, and the sample's Hessian are where to begin. Zeros are where w is no better, or where that Hessian
// promises a gain from w of more than a twentieth of what w has over zeros: then rows differ from the sample. Where the optimum is just far from w by that
// Hessian, that of all rows takes its place.
func (s *solver[T]) doubt(ctx context.Context) error {
	farthest, norm := s.farthest, s.distance(s.step(s.factor))
	s.farthest = 0
	switch {
	case s.passes >= s.opt.Epochs:
		return nil
	case !(worth*float64(norm*norm)/2 < float64(s.at.weight*math.Ln2)-s.at.objective):
		clear(s.w)
	case norm <= farthest:
		return nil
	}
	return s.evaluate(ctx, s.w, true, &s.at)
}

// begin finds where to start: at zeros, or at the optimum of a sample with the sample's Hessian.
func (s *solver[T]) begin(ctx context.Context) error {
	sample, err := train.Sample(ctx, s.src)
	if err != nil || sample == nil {
		return err
	}
	share := float64(sample.Rows()) / float64(s.src.Rows())
	opt := s.opt
	opt.L2 *= share
	opt.Progress = nil
	few := newSolver[T](sample, opt)
	few.goal, few.unit, few.pivots = ofSample, s.unit, s.pivots
	reached, err := few.minimise(ctx)
	if err != nil || !reached || few.ridge > 0 || few.dependent != nil {
		if err != nil && ctx.Err() == nil {
			err = nil // all rows may do where a sample doesn't
		}
		return err
	}
	s.w, s.farthest = few.w, unlike*math.Sqrt(float64(s.cols)/share)
	h := few.at.hessian
	for i := range h {
		h[i] /= share
	}
	s.factor, _ = dense.Factorise(h, s.cols)
	return nil
}

// move takes a step, the first with which the objective doesn't rise as the Hessian is damped more and more. It tells whether it did.
// A Hessian from elsewhere that leads to none makes way for that at w first.
func (s *solver[T]) move(ctx context.Context, keep bool) (bool, error) {
	from := s.point
	for tried := 0; tried < maxTried && s.passes < s.opt.Epochs; tried++ {
		step, gain := s.damping.Step(from.factor, s.compact(from.at.gradient))
		next, at := s.less(s.balance(step)), sums{hessian: from.at.hessian}
		if err := s.evaluate(ctx, next, !keep, &at); err != nil {
			return false, err
		}
		if at.objective <= from.at.objective*(1+1e-12) {
			s.damping.Gain((from.at.objective - at.objective) / gain)
			s.w, s.at = next, at
			s.steps++
			return true, nil
		}
		keep = false
		if from.fresh {
			s.damping.Fail()
			continue
		}
		if s.passes < s.opt.Epochs {
			if err := s.evaluate(ctx, s.w, true, &from.at); err != nil {
				return false, err
			}
			from.factor, from.ridge, from.fresh = s.factor, s.ridge, true
		}
	}
	s.point = from
	return false, nil
}

// evaluate makes a pass over the rows at w, and a new factor if there is to be one.
func (s *solver[T]) evaluate(ctx context.Context, w []float64, hessian bool, at *sums) error {
	s.report()
	if err := s.pass(ctx, w, hessian, at); err != nil {
		return err
	}
	s.passes++
	s.report()
	if at.objective-at.objective != 0 {
		return s.tooLarge()
	}
	if s.opt.L2 == 0 && at.margin > 0 {
		if err := s.separated(ctx, s.compact(w)); err != nil {
			return err
		}
	}
	s.fresh = hessian
	if hessian {
		if !s.examined && s.vectors == 1 && !slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
			s.examine(at.hessian)
		}
		return s.factorise(at.hessian)
	}
	return nil
}

func (s *solver[T]) factorise(hessian []float64) error {
	if s.factor, s.ridge = dense.FactoriseWithout(hessian, s.vectors*s.cols, s.out); s.factor == nil {
		return s.tooLarge()
	}
	return nil
}

func (s *solver[T]) tooLarge() error { return train.TooLarge[T]() }

// examine finds the columns that depend on others, by the matrix of second derivatives at zeros.
func (s *solver[T]) examine(hessian []float64) {
	s.examined = true
	bias := s.cols - 1
	if s.penalised() == s.cols {
		bias = -1
	}
	at := func(i, j int) float64 { return hessian[i*(i+1)/2+j] }
	sizes := make([]float64, s.cols)
	for i := range s.penalised() {
		square := at(i, i)
		if s.pivots != nil {
			p := s.pivots[i]
			square += float64(2*p*at(bias, i)) + float64(float64(p*p)*at(bias, bias))
		}
		sizes[i] = math.Sqrt(max(0, square))
	}
	if s.dependent = dense.Dependent(hessian, s.cols, bias, sizes, s.unit); s.dependent == nil {
		return
	}
	s.out = make([]bool, s.vectors*s.cols)
	for _, d := range s.dependent {
		for k := range s.vectors {
			s.out[k*s.cols+d.Column] = true
		}
	}
}

// written returns the weights as they are written.
func (s *solver[T]) written() []float64 {
	s.learned = time.Since(s.start)
	return s.spread(s.round(slices.Clone(s.compact(s.w))))
}

// good tells whether the gap, relative to the objective, is small enough.
func (s *solver[T]) good() bool { return s.gap <= converges*s.at.objective }

// settle bounds the gap of the weights as they are written. Where it is too large, and not by their rounding, Newton's method goes on, unless it
// turns out that a plane separates the rows.
func (s *solver[T]) settle(ctx context.Context) error {
	for tried := 0; ; tried++ {
		w := s.written()
		if err := s.certify(ctx, w); err != nil {
			return err
		}
		if s.converged = s.good(); s.converged {
			return nil
		}
		told := s.point
		if !slices.Equal(w, s.w) {
			if err := s.certify(ctx, s.w); err != nil {
				return err
			}
			s.rounded = s.good()
			told.gap = min(told.gap, told.at.objective-(s.at.objective-s.gap))
		}
		if s.opt.L2 == 0 && !s.exists {
			direction := negative(s.step(s.factor))
			if err := s.separated(ctx, direction); err != nil {
				return err
			}
			if s.vectors == 1 {
				if err := s.separatedNear(ctx, direction); err != nil {
					return err
				}
			}
		}
		if s.rounded || s.passes >= s.opt.Epochs || tried == settles {
			s.point = told
			return nil
		}
		s.goal, s.factor = s.goal/10, nil
		if _, err := s.minimise(ctx); err != nil {
			return err
		}
	}
}

// hasMatrix tells whether the Hessian is small enough for first-order methods to have it at the end.
func (s *solver[T]) hasMatrix() bool { return s.vectors*s.cols <= matrixRows }

// settleDual bounds the gap by the dual problem where there is a penalty. It tells whether that is small enough, or all that is to be had.
func (s *solver[T]) settleDual(ctx context.Context) (bool, error) {
	if s.opt.L2 == 0 && s.hasMatrix() {
		return false, nil
	}
	w := s.written()
	if err := s.pass(ctx, w, false, &s.at); err != nil {
		return false, err
	}
	if s.at.objective-s.at.objective != 0 {
		return false, s.tooLarge()
	}
	if s.opt.L2 > 0 {
		s.gap = max(0, s.dualGap(w, &s.at, s.zero, s.total))
	} else if err := s.separated(ctx, s.compact(s.w)); err != nil {
		return false, err
	}
	s.converged = s.good()
	return s.converged || !s.hasMatrix(), nil
}

func (s *solver[T]) balanceWeights() { s.w = s.spread(s.balance(slices.Clone(s.compact(s.w)))) }

// stdErrors returns those of the weights for the rows as they were, or nil if there are none.
func (s *solver[T]) stdErrors() []float64 {
	if s.ridge > 0 || s.dependent != nil || s.opt.L2 == 0 && !s.exists {
		return nil
	}
	d := s.factor.InverseDiagonal()
	if s.pivots != nil { // the bias is less by the others times the pivots
		c := make([]float64, s.cols)
		kernel.Axpy(c[:len(s.pivots)], -1, s.pivots)
		c[s.cols-1] = 1
		d[s.cols-1] = kernel.Dot(c, s.factor.Solve(c))
	}
	for i, v := range d {
		d[i] = math.Sqrt(v)
	}
	return d
}

func (s *solver[T]) report() {
	if s.opt.Progress == nil {
		return
	}
	rows := s.src.Rows()
	s.opt.Progress(train.Progress{Epoch: s.passes, Epochs: s.opt.Epochs, Visits: s.passes * rows, Rows: rows, Updates: s.steps, Best: -1,
		Elapsed: time.Since(s.start)})
}
