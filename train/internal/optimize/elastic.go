package optimize

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// A Penalty is L1 |w|_1 + L2/2 |w|^2 of the weights w without the bias.
type Penalty struct {
	L1, L2      float64
	NonNegative bool // weights must be 0 or more
}

// NeedsElastic tells whether the penalty needs Task.Elastic.
func (p Penalty) NeedsElastic() bool { return p.L1 > 0 || p.NonNegative }

// Option returns the name of the option that makes the penalty elastic.
func (p Penalty) Option() string {
	if p.L1 > 0 {
		return "l1"
	}
	return "nonnegative"
}

// Value returns the penalty. Each vector is the weights without the bias.
func (p Penalty) Value(vectors ...[]float64) float64 {
	size, square := 0.0, 0.0
	for _, w := range vectors {
		for _, v := range w {
			size += math.Abs(v)
		}
		square += f64.Dot(w, w)
	}
	return float64(p.L1*size) + float64(p.L2/2*square)
}

// A Point is the loss and its derivatives at some weights, from one pass over the rows.
type Point struct {
	W        []float64 // one weight for each column, the bias last
	Loss     float64
	Gradient []float64              // gradient of the loss
	Hessian  []float64              // Hessian of the loss: the rows of its lower triangle
	Dual     func(step *Step) *Dual // returns a point of the dual problem; nil if there is none
}

// A Step leads from a point to the minimum of the objective's quadratic model at that point.
type Step struct {
	D      []float64 // change of each weight
	Slope  []float64 // gradient of the loss's model at the end of the step: the gradient at the point plus H D
	Square float64   // D'HD
}

// A Dual is a point a of the dual problem. For s from 0 to 1, the dual objective at s a is at least s Linear - s^2
// Square minus the conjugate of the penalty at s Vector.
type Dual struct {
	Linear, Square float64
	Vector         []float64 // the rows times a: one element for each feature
}

// A Search is the state of a minimisation by the proximal Newton method. Each step minimises the penalty plus the
// quadratic model of the loss, by coordinate descent. If the objective would rise, the search adds a multiple of the
// Hessian's diagonal to the Hessian. References: Lee, Sun and Saunders, "Proximal Newton-type methods for minimizing
// composite functions", SIAM Journal on Optimization 24, 2014; Friedman, Hastie and Tibshirani, "Regularization paths
// for generalized linear models via coordinate descent", Journal of Statistical Software 33, 2010.
type Search struct {
	Penalty
	Bias    bool                                                   // the last column is the bias, which has no penalty
	PointAt func(ctx context.Context, w []float64) (*Point, error) // makes a pass over the rows
	// Losses makes a pass over the rows that computes only the loss at each of the weights.
	Losses     func(ctx context.Context, all [][]float64) ([]float64, error)
	MostPasses int64 // most passes
	Point      *Point
	LowerBound float64 // a lower bound of the optimum
	Passes     int64
	Steps      int64
	damping    linalg.Damping
	flatSteps  int                                  // number of steps since Minimise began whose gain is rounding error
	mark       func()                               // called before each step; may be nil
	resumed    bool                                 // Minimise continues from a checkpoint
	loss       interface{ State(*checkpoint.Walk) } // saves or restores the state of PointAt; nil if there is none
	hasRelaxed bool                                 // relax was called
	// largestDiagonal is the largest value of the Hessian's diagonal, without the bias, at any point. It is 0 with L1.
	largestDiagonal float64
	largestPull     float64 // greatest pull of a gradient at any point: no weight leaves 0 with a greater L1
}

// state saves or restores the state of the search before a step. A pass at the weights restores the rest of the point.
func (s *Search) state(w *checkpoint.Walk) {
	if s.Point == nil {
		s.Point = new(Point)
	}
	learner.State(w, &s.Passes, &s.Steps, &s.flatSteps, &s.LowerBound, (*float64)(&s.damping), &s.Point.W,
		&s.hasRelaxed, &s.largestDiagonal, &s.largestPull)
	if s.loss != nil {
		s.loss.State(w)
	}
}

const (
	noiseDecrease  = 1e-12 // a smaller relative difference between objectives is rounding error
	mostFlatSteps  = 4     // most steps with a smaller gain; they only improve the bound
	mostRelaxation = 1e-3  // greatest penalty L2 of relax, relative to the largest value of the Hessian's diagonal
	relaxL1Passes  = 20    // a search with L1 relaxes after this number of passes; most searches end before
	l2Relaxation   = 10    // relax divides penalties L2 by this
	l1Relaxation   = 3     // relax divides penalties L1 by this
	relaxedGap     = 0.05  // gap, relative to the objective, at which relax goes on to the next penalty
	mostTrials     = 40    // most trials of a step from one point, each with more damping
	shorterSteps   = 32    // shorter steps that shorten tries together
	shortening     = 0.8   // length of each, relative to the one before
)

// features returns the weights w that are penalised.
func (s *Search) features(w []float64) []float64 {
	if s.Bias {
		return w[:len(w)-1]
	}
	return w
}

// Objective returns the objective at a point.
func (s *Search) Objective(p *Point) float64 { return p.Loss + s.Value(s.features(p.W)) }

// Gap returns an upper bound of the objective at the point minus the optimum.
func (s *Search) Gap() float64 { return max(0, s.Objective(s.Point)-s.LowerBound) }

// measure returns the objective, its gap and the norm of its gradient at p for learner.Progress. The norm is NaN if the
// penalty has no gradient.
func (s *Search) measure(p *Point) *learner.Measure {
	objective, norm := s.Objective(p), math.NaN()
	if !s.NeedsElastic() {
		gradient := append([]float64(nil), p.Gradient[:len(p.W)]...)
		f64.Axpy(s.features(gradient), s.L2, s.features(p.W))
		norm = learner.Norm(gradient)
	}
	return &learner.Measure{Objective: objective, Gradient: norm, Gap: max(0, objective-s.LowerBound)}
}

// Begin makes a pass at w, and sets the point to w.
func (s *Search) Begin(ctx context.Context, w []float64) (err error) {
	s.Point, err = s.pass(ctx, w)
	return err
}

// ChangePenalty replaces the penalty. It keeps the point.
func (s *Search) ChangePenalty(p Penalty) {
	s.Penalty, s.LowerBound, s.damping = p, 0, 0
}

// Minimise makes steps until the gap is at most goal times the objective. It also stops when rounding allows no further
// step, and after MostPasses passes. It returns the step that it last computed at the present point, or nil.
func (s *Search) Minimise(ctx context.Context, goal float64) (*Step, error) {
	if !s.resumed {
		s.flatSteps = 0
	}
	for s.resumed = false; ; {
		if s.mark != nil {
			s.mark()
		}
		if s.Gap() <= goal*s.Objective(s.Point) {
			return nil, nil
		}
		step, err := s.Step(ctx)
		if err != nil || s.Gap() <= goal*s.Objective(s.Point) || s.Passes >= s.MostPasses {
			return step, err
		}
		if !(s.gain(step) > noiseDecrease*s.Objective(s.Point)) {
			s.flatSteps++
		}
		if s.flatSteps > mostFlatSteps {
			return step, nil
		}
		if moved, err := s.move(ctx, step); err != nil || !moved {
			return nil, err
		}
		if s.damping > 0 && !s.hasRelaxed && (!s.NeedsElastic() || s.L1 > 0 && s.Passes >= relaxL1Passes) {
			if err := s.relax(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// relax goes towards the minima for greater penalties, one after another, each a fraction of the penalty before: L1, or
// L2 without L1. A small penalty makes long steps, which cross many kinks of a loss. Columns of unlike scales need many
// such steps, because damping shortens the steps of all columns to the step of the column that needs it most.
func (s *Search) relax(ctx context.Context) error {
	p, mark := s.Penalty, s.mark
	s.hasRelaxed, s.mark = true, nil
	defer func() { s.mark = mark }()
	var greater []Penalty
	if p.L1 > 0 {
		for l1 := p.L1 * l1Relaxation; l1 < s.largestPull; l1 *= l1Relaxation {
			greater = append(greater, Penalty{l1, p.L2, p.NonNegative})
		}
	} else {
		for l2 := p.L2 * l2Relaxation; l2 < mostRelaxation*s.largestDiagonal; l2 *= l2Relaxation {
			greater = append(greater, Penalty{L2: l2})
		}
	}
	for _, one := range slices.Backward(greater) {
		s.ChangePenalty(one)
		if _, err := s.Minimise(ctx, relaxedGap); err != nil {
			return err
		}
	}
	s.ChangePenalty(p)
	return nil
}

// Step returns the step from the point, and raises the lower bound with it.
func (s *Search) Step(ctx context.Context) (*Step, error) {
	q := newQuadratic(s, 0)
	if err := q.minimise(ctx); err != nil {
		return nil, err
	}
	step := q.step()
	if d := s.Point.Dual(step); d != nil {
		s.LowerBound = max(s.LowerBound, s.Bound(d))
	}
	return step, nil
}

// gain returns the decrease of the objective's model by the step.
func (s *Search) gain(step *Step) float64 {
	slope := f64.Dot(s.Point.Gradient, step.D)
	return s.Value(s.features(s.Point.W)) - s.Value(s.features(sum(s.Point.W, step.D))) - slope - float64(step.Square/2)
}

// move takes a step with which the objective falls. It tells whether it found one.
func (s *Search) move(ctx context.Context, step *Step) (bool, error) {
	from := s.Objective(s.Point)
	for range mostTrials {
		if s.damping > 0 {
			q := newQuadratic(s, float64(s.damping))
			if err := q.minimise(ctx); err != nil {
				return false, err
			}
			step = q.step()
		}
		next, err := s.pass(ctx, sum(s.Point.W, step.D))
		if err != nil {
			return false, err
		}
		gain, to := s.gain(step), s.Objective(next)
		if level := gain <= noiseDecrease*from; to < from || level && to <= from*(1+noiseDecrease) {
			if !level {
				s.damping.Gain((from - to) / gain)
			}
			s.Point = next
			s.Steps++
			return true, nil
		}
		if s.hasRelaxed && s.L1 > 0 {
			if moved, err := s.shorten(ctx, step); moved || err != nil {
				return moved, err
			}
		}
		if s.damping.Fail(); s.Passes >= s.MostPasses {
			break
		}
	}
	return false, nil
}

// shorten takes the best of several shorter steps in the direction of a step. It tells whether the objective falls. A
// direction that crosses kinks of the loss often leads far down in less than the whole step, and shorter steps need no
// other direction.
func (s *Search) shorten(ctx context.Context, step *Step) (bool, error) {
	var all [][]float64
	for length := shortening; len(all) < shorterSteps; length *= shortening {
		w := slices.Clone(s.Point.W)
		f64.Axpy(w, length, step.D)
		all = append(all, w)
	}
	losses, err := s.Losses(ctx, all)
	if err != nil {
		return false, err
	}
	s.Passes++
	from := s.Objective(s.Point)
	best, least := -1, from
	for k, w := range all {
		if v := losses[k] + s.Value(s.features(w)); v < least {
			best, least = k, v
		}
	}
	if best < 0 {
		return false, nil
	}
	next, err := s.pass(ctx, all[best])
	if err != nil || s.Objective(next) >= from {
		return false, err
	}
	s.Point = next
	s.Steps++
	return true, nil
}

// leastWeight returns the weight w of least 1/2 curvature w^2 - v w + L1 |w|, by soft-thresholding.
func (p Penalty) leastWeight(v, curvature float64) float64 {
	switch {
	case v > p.L1:
		return (v - p.L1) / curvature
	case v < -p.L1 && !p.NonNegative:
		return (v + p.L1) / curvature
	}
	return 0
}

// pull returns how strongly a gradient of -u pulls a weight of 0 towards values that the weight may have.
func (p Penalty) pull(u float64) float64 {
	if p.NonNegative {
		return u
	}
	return math.Abs(u)
}

// Bound returns the dual objective at d, or at a multiple of d if its vector is out of bounds. The conjugate of the
// penalty at u is the sum of max(0, |u_j| - L1)^2 / (2 L2). Without L2, |u_j| must be at most L1. With NonNegative, u_j
// takes the place of |u_j|.
func (p Penalty) Bound(d *Dual) float64 {
	largest, excess := 0.0, 0.0
	for _, u := range d.Vector {
		u = p.pull(u)
		largest = max(largest, u)
		if u > p.L1 {
			excess = math.FMA(u-p.L1, u-p.L1, excess)
		}
	}
	shrink := 1.0
	if largest > p.L1 {
		shrink = p.L1 / largest
	}
	best := float64(shrink*d.Linear) - float64(shrink*shrink*d.Square)
	if p.L2 > 0 {
		best = max(best, d.Linear-d.Square-excess/(2*p.L2))
	}
	return best
}

func (s *Search) pass(ctx context.Context, w []float64) (*Point, error) {
	s.Passes++
	p, err := s.PointAt(ctx, w)
	if err != nil {
		return nil, err
	}
	if s.L1 > 0 {
		for _, g := range s.features(p.Gradient) {
			s.largestPull = max(s.largestPull, s.pull(-g))
		}
	} else {
		for i := range s.features(w) {
			s.largestDiagonal = max(s.largestDiagonal, p.Hessian[i*(i+1)/2+i])
		}
	}
	return p, nil
}

func sum(a, b []float64) []float64 {
	c := slices.Clone(a)
	f64.Axpy(c, 1, b)
	return c
}
