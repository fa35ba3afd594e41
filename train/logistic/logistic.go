// Package logistic trains linear classifiers by logistic regression: of two classes, or multinomial.
package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/kernel"
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
}

// Result is what Train learned. Of train.Result, Weights are Exact rounded to T, and Errors, Radius, Norm and Margin are theirs;
// Epochs are passes over the rows, Updates steps, and Loss is the sum over rows of log(1 + e^(-y (w.x))), or of -log p of the row's
// class, the penalty left out.
type Result[T kernel.Float] struct {
	train.Result[T]
	Exact     []float64 // the weights, one for each column of the data, the bias last where there is one; of more than two classes so for each
	Solver    Solver    // the one that was chosen
	StdErrors []float64 // of each weight, see Train; nil if Ridge isn't 0, or the solver isn't Newton
	Ridge     float64   // what the scaled diagonal of the Hessian took to be regular, see dense.Factorise; 0 if nothing
	Gradient  float64   // at the end; of Newton, sqrt(g' H^-1 g), the distance from the optimum in standard errors; else relative to that of zeros, and 0 of SGD
}

// ErrSeparable is returned where weights without penalty would grow for ever.
var ErrSeparable = errors.New("a plane separates the classes, so that the loss has no minimum and weights grow without end: " +
	"set l2 above 0, such as 1, or learn with a perceptron")

var errWeightless = errors.New("every row weighs 0: there is nothing to learn from")

const (
	tolerance  = 1e-6    // of Newton's Gradient
	unlike     = 10      // a sample whose optimum is so many times as far from that of all rows as chance lets expect isn't like them
	ofSample   = 0.1     // the tolerance for a sample's optimum, which all rows' is farther from
	slack      = 4       // a step with a Hessian from near by leaves at most so many times the part that the last one left
	rounding   = 1e-4    // below it, a gradient that a step doesn't halve is made of rounding errors
	near       = 1       // below it, a step with the Hessian where it starts comes so near that the Hessian hardly changes
	keepFactor = 100     // a factor stays while the gradient falls by so much in a step
	maxColumns = 1 << 14 // their Hessian is 1 GiB
	maxTried   = 40      // steps, each with the Hessian damped more
	widest     = 256     // columns up to which Newton's method is chosen
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
// all rows begin, unless it is far from theirs, as where rows come sorted.
//
// It stops when the step that is left brings the norm to 1e-6 or less, as far as the last one tells, or when the norm is below 1e-4
// and not getting smaller any more (where features are far from zero for their deviation), and takes that step. Standard errors are
// the roots of the diagonal of H^-1 at the optimum, with the
// penalty in it. Where H is singular, as with a column twice, a small ridge takes its place in the steps, not in the objective; the
// weights are one of many optima then.
//
// LBFGS needs memory for some thirty vectors of weights and no matrix; see quasiNewton. It works on features whose mean is taken from
// them and that are scaled to the same say, which is a change of variables: rows stay as they are, sparse ones too. It stops when
// the norm of the gradient in those variables is 1e-10 of that at zeros, or when rounding allows no further step.
//
// SGD visits rows in their order in batches; see descend.
//
// A row of weight k counts as k rows, in the sums, the loss of the result and the standard errors; in SGD, its step is k times as long.
//
// All is float64, in the order of package dense within a run, and then over runs in row order: the result depends neither on
// opt.Workers nor on the source's kind. Errors: options out of range, no rows, fewer classes than two, ErrSeparable (where classes
// are more than two, only if every row is on the right side of all the planes), features that overflow, too many columns or classes for
// Newton, whatever src fails with, and ctx's error.
func Train[T kernel.Float](ctx context.Context, src block.Source[T], opt Options) (*Result[T], error) {
	var err error
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
	start := time.Now()
	s := newSolver(src, opt)
	switch opt.Solver {
	case Newton:
		err = s.solve(ctx)
	case LBFGS:
		err = s.quasiNewton(ctx)
	case SGD:
		err = s.descend(ctx)
	}
	if err != nil {
		return nil, err
	}
	r := &Result[T]{Solver: opt.Solver}
	for k := range s.vectors {
		r.Exact = append(r.Exact, s.w[k*s.stride:][:s.cols]...)
	}
	r.Epochs, r.Visits, r.Updates, r.Converged = s.passes, s.passes*src.Rows(), s.steps, s.converged
	r.Seconds = time.Since(start).Seconds()
	for _, v := range r.Exact {
		r.Weights = append(r.Weights, T(v))
	}
	if err := s.describe(ctx, r); err != nil {
		return nil, err
	}
	return r, train.Evaluate(ctx, src, opt.Workers, &r.Result)
}

// choose returns the solver for such rows.
func choose(solver Solver, spec *block.Spec) (Solver, error) {
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
	opt       Options
	w         []float64
	at        sums // the sums at w
	factor    *dense.Factor
	ridge     float64
	damping   dense.Damping // of the next step
	fresh     bool          // factor is of the Hessian at w
	goal      float64       // the norm to reach
	farthest  float64       // the norm beyond which the start is given up for zeros
	norm      float64
	before    float64 // the largest |w.x| before the last step
	passes    int64
	steps     int64
	converged bool
	first     float64 // the norm at zeros, of LBFGS
	start     time.Time
}

func newSolver[T kernel.Float](src block.Source[T], opt Options) *solver[T] {
	p := newProblem(src, opt.L2, opt.Workers)
	return &solver[T]{problem: p, opt: opt, w: p.zeros(), goal: tolerance, farthest: math.Inf(1), start: time.Now()}
}

// solve finds the optimum, or goes as far towards it as it may.
func (s *solver[T]) solve(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	return s.minimise(ctx)
}

// minimise goes on from w, by the factor if there is one.
func (s *solver[T]) minimise(ctx context.Context) error {
	err := s.evaluate(ctx, s.w, s.factor == nil, &s.at)
	last := 0.0
	for err == nil {
		step := s.factor.Solve(s.at.gradient)
		s.norm = s.distance(step)
		far := s.norm > s.farthest && s.passes < s.opt.Epochs
		s.farthest = math.Inf(1)
		if far {
			clear(s.w)
			err = s.evaluate(ctx, s.w, true, &s.at)
			continue
		}
		left := s.norm // after the step, at most
		if last > 0 {
			left = s.norm * min(1, slack*s.norm/last)
		}
		if left <= s.goal || s.fresh && s.norm <= rounding && s.norm > last/2 {
			s.converged = true
			for i, v := range step { // takes what is left, for which no pass is needed
				s.w[i] -= v
			}
			return s.quasi()
		}
		if s.passes >= s.opt.Epochs {
			return nil
		}
		keep := s.fresh && s.norm <= near || s.norm*keepFactor <= last
		last = s.norm
		var moved bool
		if moved, err = s.move(ctx, keep); err == nil && !moved {
			return nil
		}
	}
	return err
}

// distance returns the norm of the gradient, of which step is the product with H^-1.
func (s *solver[T]) distance(step []float64) float64 {
	return math.Sqrt(max(0, kernel.Dot(s.at.gradient[:s.cols], step)))
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
	few.goal = ofSample
	if err := few.solve(ctx); err != nil || !few.converged || few.ridge > 0 {
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
func (s *solver[T]) move(ctx context.Context, keep bool) (bool, error) {
	next, at, factor, ridge := make([]float64, len(s.w)), sums{hessian: s.at.hessian}, s.factor, s.ridge
	for tried := 0; tried < maxTried && s.passes < s.opt.Epochs; tried++ {
		step, gain := s.damping.Step(factor, s.at.gradient)
		for i, v := range step {
			next[i] = s.w[i] - v
		}
		if err := s.evaluate(ctx, next, !keep, &at); err != nil {
			return false, err
		}
		if at.objective <= s.at.objective*(1+1e-12) {
			s.damping.Gain((s.at.objective - at.objective) / gain)
			s.before, s.w, s.at = s.at.largest, next, at
			s.steps++
			return true, nil
		}
		s.damping.Fail()
		s.factor, s.ridge, keep = factor, ridge, false
	}
	s.fresh = false // at holds the Hessian of a step not taken
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
		return train.TooLarge[T]()
	}
	if s.opt.L2 == 0 && at.margin > 0 {
		return ErrSeparable
	}
	s.fresh = hessian
	if hessian {
		if s.factor, s.ridge = dense.Factorise(at.hessian, s.cols); s.factor == nil {
			return train.TooLarge[T]()
		}
	}
	return nil
}

// quasi returns an error if the gradient has only vanished since the weights grow without end: a plane has rows of both classes
// on it, but none on its wrong side. Each step of Newton's adds about 1 to the scores of the others then.
func (s *solver[T]) quasi() error {
	if s.opt.L2 == 0 && s.steps > 0 && s.at.largest > 12 && s.at.largest > 1.01*s.before {
		return ErrSeparable
	}
	return nil
}

// describe computes what is told about the weights, in a pass over the rows unless the last one was at these weights.
func (s *solver[T]) describe(ctx context.Context, r *Result[T]) error {
	if s.opt.Solver != Newton {
		r.Loss = s.at.loss
		if s.norm > 0 {
			r.Gradient = s.norm / s.first
		}
		return nil
	}
	if !s.fresh || s.converged { // which took a last step
		if err := s.pass(ctx, s.w, true, &s.at); err != nil {
			return err
		}
		if s.factor, s.ridge = dense.Factorise(s.at.hessian, s.cols); s.factor == nil {
			return train.TooLarge[T]()
		}
	}
	r.Loss, r.Ridge = s.at.loss, s.ridge
	r.Gradient = s.distance(s.factor.Solve(s.at.gradient))
	if s.ridge == 0 {
		r.StdErrors = s.factor.InverseDiagonal()
		for i, v := range r.StdErrors {
			r.StdErrors[i] = math.Sqrt(v)
		}
	}
	return nil
}

func (s *solver[T]) report() {
	if s.opt.Progress == nil {
		return
	}
	rows := s.src.Rows()
	s.opt.Progress(train.Progress{Epoch: s.passes, Epochs: s.opt.Epochs, Visits: s.passes * rows, Rows: rows, Updates: s.steps, Best: -1,
		Elapsed: time.Since(s.start)})
}
