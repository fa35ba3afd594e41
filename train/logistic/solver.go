package logistic

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/parallel"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

const (
	gradientTolerance = 1e-10 // norm of the gradient at which L-BFGS stops, relative to the norm at zero weights
	mostMatrixRows    = 1024  // most weights of all classes for which first-order methods compute a Hessian at the end
	mostRestarts      = 4     // most times that a solver continues to a smaller norm because the gap is too large
	// patiencePasses is the number of passes, besides one for each weight, after which Newton's method begins if its
	// Hessian is small enough.
	patiencePasses = 20
)

// A training is a search for the optimum.
type training struct {
	*problem
	optimize.Tally
	dependences
	w       []float64     // weights so far, in the order of compact
	verdict *verdict      // nil until the search ended
	norm    float64       // of the gradient: by H^-1 for Newton, relative to the norm at zeros for LBFGS
	found   time.Duration // time until the weights were found
}

// newTraining returns a training on rows minus pivots, which may be nil, that begins at zeros.
func newTraining(src block.Source, pivots []float64, opt Settings) *training {
	p := newProblem(src, opt.L2, opt.Workers)
	p.pivots = pivots
	return &training{problem: p, Tally: optimize.Tally{Task: taskOf(src, opt), Start: time.Now()},
		w: make([]float64, p.vectors*p.cols)}
}

// An objective is the function that optimize.Newton and optimize.LBFGS minimise.
type objective struct{ *problem }

// At makes a pass over the rows. It returns an error if there is no penalty and w separates the rows.
func (o objective) At(ctx context.Context, w []float64, hessian bool) (*optimize.Evaluation, error) {
	at, padded := sums{}, o.spread(w)
	if err := o.pass(ctx, padded, hessian, &at); err != nil {
		return nil, err
	}
	e := &optimize.Evaluation{Objective: at.Objective, Gradient: o.compact(at.Gradient)}
	logs := []float64{float64(max(2, o.vectors) - 1)}
	f64.Log1p(logs, logs)
	e.AtZero = at.Weight * logs[0]
	if o.l2 == 0 && at.Margin > 0 {
		if err := o.checkSeparated(ctx, w); err != nil {
			return nil, err
		}
	}
	if !hessian || at.Objective-at.Objective != 0 {
		return e, nil
	}
	f, err := o.factorise(ctx, padded, at.Hessian)
	e.Factor, e.Ridge = f.factor, f.ridge
	return e, err
}

// Suspect looks for a plane near step that separates the rows, rows on the plane left out.
func (o objective) Suspect(ctx context.Context, step []float64) error {
	if o.l2 > 0 || o.vectors > 1 {
		return nil
	}
	return o.checkSeparatedNear(ctx, negated(step))
}

// ofSample returns the objective of a sample of the rows.
func (t *training) ofSample(sample *block.Data, share float64) optimize.Function {
	p := newProblem(sample, t.l2*share, t.workers)
	p.pivots, p.staysZero = t.pivots, t.staysZero
	return objective{p}
}

// hasMatrix tells whether the Hessian is small enough for L-BFGS to compute it at the end.
func (t *training) hasMatrix() bool { return t.vectors*t.cols <= mostMatrixRows }

// byNewton finds the optimum by Newton's method with Hessians, from zeros or from the optimum of a sample.
func (t *training) byNewton(ctx context.Context) (err error) {
	if t.dependences, err = t.findDependences(ctx); err != nil {
		return err
	}
	t.leaveOut(t.dependences.columns)
	return t.newton(ctx, t.ofSample)
}

// newton runs Newton's method from the weights, and judges the result. If the gap is too large, and not because of
// rounding, it continues to a smaller norm.
func (t *training) newton(ctx context.Context, of func(*block.Data, float64) optimize.Function) error {
	n := &optimize.Newton{Function: objective{t.problem}}
	n.Tally, n.Goal, n.W = t.Tally, optimize.NormGoal, t.w
	defer func() { t.Tally, t.w = n.Tally, n.W }()
	err := n.Begin(ctx, of)
	for err == nil {
		if _, err = n.Minimise(ctx); err != nil {
			return err
		}
		n.W = t.balance(n.W)
		t.found = time.Since(n.Start)
		if t.verdict, err = t.audit(ctx, n.W, t.round(n.W), &zeroSums{}); err != nil {
			return err
		}
		t.norm = t.verdict.norm
		if t.verdict.isGapSmall() || t.verdict.gapLostByRounding || n.Passes() >= t.Epochs || n.Restarts == mostRestarts {
			return nil
		}
		err = n.Restart(ctx, n.Goal/10)
	}
	return err
}

// byLBFGS finds the optimum by L-BFGS. If that takes many passes and the Hessian is small enough, Newton's method
// begins at zeros: few steps lead from there to the optimum, and if there is no optimum, scores grow slowly.
func (t *training) byLBFGS(ctx context.Context) (err error) {
	if t.cols <= optimize.MostHessianColumns {
		if t.dependences, err = t.findDependences(ctx); err != nil {
			return err
		}
		t.leaveOut(t.dependences.columns)
	}
	change, total, err := t.variables(ctx)
	if err != nil {
		return err
	}
	s := &optimize.LBFGS{Function: objective{t.problem}, VariableChange: change,
		MostPasses: t.Epochs}
	s.Tally, s.Goal = t.Tally, gradientTolerance
	if most := patiencePasses + int64(t.vectors*t.cols); t.hasMatrix() && most+patiencePasses <= t.Epochs {
		s.MostPasses = most
	}
	done, err := t.lbfgs(ctx, s, &zeroSums{total: total})
	if t.norm = s.RelativeNorm(); done || err != nil || !t.hasMatrixPasses() {
		return err
	}
	norm, task := t.norm, *t.Task
	task.Checkpoint = nil // a resumed training repeats these few passes
	t.Task, t.w = &task, make([]float64, len(t.w))
	err = t.newton(ctx, nil)
	t.norm = norm
	return err
}

// hasMatrixPasses tells whether Newton's method may continue after L-BFGS.
func (t *training) hasMatrixPasses() bool {
	return t.hasMatrix() && t.Passes()+patiencePasses <= t.Epochs
}

// lbfgs runs L-BFGS, and judges the weights. It tells whether the verdict is final. If the Hessian is too large to find
// a better one, and the gap too large, lbfgs continues to a smaller norm.
func (t *training) lbfgs(ctx context.Context, s *optimize.LBFGS, zero *zeroSums) (done bool, err error) {
	defer func() { t.Tally, t.w = s.Tally, t.balance(slices.Clone(s.W)) }()
	if err := s.Begin(ctx, t.vectors*t.cols); err != nil {
		return false, err
	}
	if s.Passes() == 1 {
		zero.gradient = t.spread(s.Last.Gradient)
	}
	for {
		reached, err := s.Minimise(ctx)
		if err != nil {
			return false, err
		}
		if t.Tally = s.Tally; !reached && t.hasMatrixPasses() {
			return false, nil
		}
		t.w = t.balance(slices.Clone(s.W))
		t.found = time.Since(t.Start)
		if done, err := t.auditLBFGS(ctx, zero); done || err != nil || t.verdict.gapLostByRounding || !reached || t.hasMatrix() ||
			!s.Restart(mostRestarts) {
			return done, err
		}
	}
}

// auditLBFGS judges the weights: by the dual problem first, because that takes less time than a Hessian. It tells
// whether the verdict is final.
func (t *training) auditLBFGS(ctx context.Context, zero *zeroSums) (done bool, err error) {
	rounded := t.round(t.w)
	if t.l2 > 0 || !t.hasMatrix() {
		if t.verdict, err = t.auditByDual(ctx, t.w, rounded, zero); err != nil {
			return false, err
		}
		if small := t.verdict.isGapSmall(); small || !t.hasMatrix() {
			return small || t.l2 == 0, nil
		}
	}
	if t.verdict, err = t.audit(ctx, t.w, rounded, zero); err != nil {
		return false, err
	}
	return t.l2 > 0 || t.verdict.optimumExists, nil
}

// round returns exact weights rounded to weights of a model.
func (p *problem) round(exact []float64) []float64 {
	c := slices.Clone(exact)
	for w := range slices.Chunk(c, p.cols) {
		learner.RoundCentred(w, p.pivots)
	}
	return c
}

// learn trains on rows minus pivots, which may be nil, by Newton's method or L-BFGS. It turns the weights into weights
// for the original rows.
func learn(ctx context.Context, src block.Source, pivots []float64, opt Settings) (*Result, error) {
	t := newTraining(src, pivots, opt)
	if opt.Solver == LBFGS {
		return t.learn(ctx, opt, t.byLBFGS)
	}
	return t.learn(ctx, opt, t.byNewton)
}

// learn trains with find, which ends with a verdict. It returns nil if there is none. It turns the weights into weights
// for the original rows.
func (t *training) learn(ctx context.Context, opt Settings, find func(context.Context) error) (*Result, error) {
	r := &Result{Solver: opt.Solver}
	after, end := parallel.Grace(ctx)
	defer end()
	err := find(ctx)
	if err == nil && t.verdict == nil {
		return nil, nil
	}
	if err != nil && (ctx.Err() == nil || !slices.ContainsFunc(t.w, func(v float64) bool { return v != 0 })) {
		return nil, err
	}
	r.ExactWeights = slices.Clone(t.w)
	for w := range slices.Chunk(r.ExactWeights, t.cols) {
		if t.pivots != nil {
			learner.Uncentre(w, t.pivots)
		}
	}
	r.Weights = learner.RoundToFloat32(r.ExactWeights)
	r.Seconds = t.found.Seconds()
	r.Epochs, r.Visits, r.Updates, r.OutOfPasses = t.Passes(), t.Passes()*t.src.Rows(), t.Steps, t.Passes() >= opt.Epochs
	if err != nil {
		var at sums
		missing := t.pass(after, t.spread(t.w), false, &at)
		if missing != nil && after.Err() == nil {
			return nil, err
		}
		r.Interrupted, r.NotEvaluated, r.Gap = true, missing != nil, math.Inf(1)
		if missing == nil {
			r.Loss, r.Objective = at.Loss, at.Objective
		}
		return r, err
	}
	v := t.verdict
	r.Loss, r.Objective, r.Gap, r.GapLostByRounding = v.Loss, v.Objective, v.gap, v.gapLostByRounding
	r.Converged = v.isGapSmall()
	if t.areInexact { // the weights of the dependent columns could fit their rounding
		r.Gap = math.Inf(1)
	}
	r.DependentColumns, r.Gradient = t.dependences.columns, t.norm
	if opt.Solver == Newton {
		r.Ridge = v.ridge
		if !t.areInexact {
			r.StdErrors, err = t.standardErrors(ctx, v, t.w, opt.Robust)
		}
	}
	return r, err
}
