package optimize

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

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
	mark       func() // called before each step; may be nil
	resumed    bool   // Minimise continues from a checkpoint
	SearchState
}

// A SearchState is the state that a checkpoint keeps, before a step. A pass at the weights restores the rest of the
// point.
type SearchState struct {
	W             []float64 `length:"columns"`
	LowerBound    float64   // a lower bound of the optimum
	Passes, Steps int64
	Damping       linalg.Damping
	FlatSteps     int  // number of steps since Minimise began whose gain is rounding error
	HasRelaxed    bool // relax was called
	// LargestDiagonal is the largest value of the Hessian's diagonal, without the bias, at any point. It is 0 with L1.
	LargestDiagonal float64
	LargestPull     float64 // greatest pull of a gradient at any point: no weight leaves 0 with a greater L1
}

const (
	mostFlatSteps  = 4    // most steps with a smaller gain; they only improve the bound
	mostRelaxation = 1e-3 // greatest penalty L2 of relax, relative to the largest value of the Hessian's diagonal
	relaxL1Passes  = 20   // a search with L1 relaxes after this number of passes; most searches end before
	l2Relaxation   = 10   // relax divides penalties L2 by this
	l1Relaxation   = 3    // relax divides penalties L1 by this
	relaxedGap     = 0.05 // gap, relative to the objective, at which relax goes on to the next penalty
	shorterSteps   = 32   // shorter steps that shorten tries together
	shortening     = 0.8  // length of each, relative to the one before
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
	s.Penalty, s.LowerBound, s.Damping = p, 0, 0
}

// Minimise makes steps until the gap is at most goal times the objective. It also stops when rounding allows no further
// step, and after MostPasses passes. It returns the step that it last computed at the present point, or nil.
func (s *Search) Minimise(ctx context.Context, goal float64) (*Step, error) {
	if !s.resumed {
		s.FlatSteps = 0
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
			s.FlatSteps++
		}
		if s.FlatSteps > mostFlatSteps {
			return step, nil
		}
		if moved, err := s.move(ctx, step); err != nil || !moved {
			return nil, err
		}
		if s.Damping > 0 && !s.HasRelaxed && (!s.NeedsElastic() || s.L1 > 0 && s.Passes >= relaxL1Passes) {
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
	s.HasRelaxed, s.mark = true, nil
	defer func() { s.mark = mark }()
	var greater []Penalty
	if p.L1 > 0 {
		for l1 := p.L1 * l1Relaxation; l1 < s.LargestPull; l1 *= l1Relaxation {
			greater = append(greater, Penalty{l1, p.L2, p.NonNegative})
		}
	} else {
		for l2 := p.L2 * l2Relaxation; l2 < mostRelaxation*s.LargestDiagonal; l2 *= l2Relaxation {
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
	q := newQuadratic(s.Penalty, s.Point, s.Bias, 0)
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
		if s.Damping > 0 {
			q := newQuadratic(s.Penalty, s.Point, s.Bias, float64(s.Damping))
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
				s.Damping.Gain((from - to) / gain)
			}
			s.Point = next
			s.Steps++
			return true, nil
		}
		if s.HasRelaxed && s.L1 > 0 {
			if moved, err := s.shorten(ctx, step); moved || err != nil {
				return moved, err
			}
		}
		if s.Damping.Fail(); s.Passes >= s.MostPasses {
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

func (s *Search) pass(ctx context.Context, w []float64) (*Point, error) {
	s.Passes++
	p, err := s.PointAt(ctx, w)
	if err != nil {
		return nil, err
	}
	if s.L1 > 0 {
		for _, g := range s.features(p.Gradient) {
			s.LargestPull = max(s.LargestPull, s.pull(-g))
		}
	} else {
		for i := range s.features(w) {
			s.LargestDiagonal = max(s.LargestDiagonal, p.Hessian[i*(i+1)/2+i])
		}
	}
	return p, nil
}

func sum(a, b []float64) []float64 {
	c := slices.Clone(a)
	f64.Axpy(c, 1, b)
	return c
}

// proximalNewton finds the minimum by the proximal Newton method with a Hessian. It begins at the minimum of a sample
// if there are many rows. If ctx ends or reading the rows fails, it returns the weights so far with the error.
func (t *Task) proximalNewton(ctx context.Context) (*Solution, error) {
	loss := t.Dense(t.Rows)
	s := t.search(loss, time.Now())
	w, err := t.minimise(ctx, s, loss)
	r := &Solution{W: w, LowerBound: s.LowerBound, Passes: s.Passes, Visits: s.Passes * t.Rows.Rows(), Steps: s.Steps,
		OutOfPasses: s.Passes >= s.MostPasses}
	if s.Point != nil {
		r.Loss, r.Objective = s.Point.Loss, s.Objective(s.Point)
		if err != nil {
			r.W = s.Point.W
		}
	}
	return r, err
}

// search returns a search for the minimum with loss.
func (t *Task) search(loss DenseLoss, start time.Time) *Search {
	s := &Search{Penalty: t.Penalty, Bias: t.Rows.Spec().Bias, MostPasses: t.Epochs}
	s.Losses = t.Losses
	s.PointAt = func(ctx context.Context, w []float64) (*Point, error) {
		p, err := loss.PointAt(ctx, w)
		if err == nil && p.Loss-p.Loss != 0 {
			err = learner.OverflowError()
		}
		if err == nil && t.Progress != nil {
			t.ReportPass(start, learner.Progress{Epoch: s.Passes, Epochs: s.MostPasses, Rows: t.Rows.Rows(),
				Updates: s.Steps, Sum: learner.SumOf(w), Measure: s.measure(p)})
		}
		return p, err
	}
	return s
}

// minimise returns the weights of the minimum. It takes the last step without a pass after it.
func (t *Task) minimise(ctx context.Context, s *Search, loss DenseLoss) ([]float64, error) {
	var err error
	state := checkpoint.Named(StateOfProximal, func(w *checkpoint.Walk) {
		checkpoint.Struct(w, &s.SearchState, map[string]int{"columns": t.Rows.Spec().Cols()})
	})
	if s.resumed, err = t.Checkpoint.Load(state); err != nil {
		return nil, err
	}
	s.mark = func() {
		s.W = s.Point.W
		t.Checkpoint.Pass(s.Passes, s.Passes*t.Rows.Rows(), state)
	}
	if s.resumed {
		err = t.repeatPass(ctx, s)
	} else {
		err = t.begin(ctx, s, loss)
	}
	if err != nil {
		return nil, err
	}
	step, err := s.Minimise(ctx, searchGap)
	if err == nil && s.Gap() <= searchGap*s.Objective(s.Point) && step == nil {
		step, err = s.Step(ctx)
	}
	if err != nil || s.Gap() > searchGap*s.Objective(s.Point) {
		return s.Point.W, err
	}
	return sum(s.Point.W, step.D), nil
}

// repeatPass repeats the pass at the weights of a checkpoint. That pass isn't counted.
func (t *Task) repeatPass(ctx context.Context, s *Search) error {
	passes, show := s.Passes, t.Progress
	t.Progress = nil
	err := s.Begin(ctx, s.W)
	if t.Progress, s.Passes = show, passes; err != nil {
		s.Point = &Point{W: s.W} // so that an interrupt can return the weights
	}
	return err
}

// begin makes the first pass at the minimum of a sample. If the bias alone is better, or there is no sample, begin
// makes a pass at the bias alone.
func (t *Task) begin(ctx context.Context, s *Search, loss DenseLoss) error {
	alone, least, err := t.biasAlone(ctx, t.Rows, loss)
	if err != nil {
		return err
	}
	sample, err := learner.Sample(ctx, t.Rows)
	if err != nil {
		return err
	}
	if sample != nil {
		w, err := t.sampleMinimum(ctx, sample)
		if err != nil {
			return err
		}
		if w != nil {
			if err := s.Begin(ctx, w); err != nil || s.Objective(s.Point) < least {
				return err
			}
		}
	}
	return s.Begin(ctx, alone)
}

// sampleMinimum returns the minimum of a sample, or nil if the search fails or the bias alone has the loss 0.
func (t *Task) sampleMinimum(ctx context.Context, sample *block.Data) ([]float64, error) {
	few, loss, share := *t, t.Dense(sample), float64(sample.Rows())/float64(t.Rows.Rows())
	few.Rows, few.L1, few.L2, few.Progress, few.Checkpoint = sample, t.L1*share, t.L2*share, nil, nil
	s := few.search(loss, time.Now())
	alone, least, err := few.biasAlone(ctx, sample, loss)
	if err == nil && least > 0 {
		err = s.Begin(ctx, alone)
	}
	if err == nil && least > 0 {
		// The goal is about the difference between the objective at the sample's minimum and the minimum over all rows.
		_, err = s.Minimise(ctx, float64(len(alone))/float64(sample.Rows()))
	}
	if err != nil || least == 0 {
		return nil, ctx.Err() // training on all rows may work although training on a sample failed
	}
	return s.Point.W, nil
}

// biasAlone returns zero weights with the best bias, and their loss. It reads only labels and sample weights.
func (t *Task) biasAlone(ctx context.Context, rows block.Source, loss DenseLoss) (w []float64, least float64, err error) {
	var weights [2]float64
	err = weighPass.Reduce(ctx, rows, t.Workers, struct{}{},
		func(sums [2]float64) { weights[0], weights[1] = weights[0]+sums[0], weights[1]+sums[1] })
	biased := rows.Spec().Bias
	bias, least := loss.BiasAlone(weights, biased)
	w = make([]float64, rows.Spec().Cols())
	if biased {
		w[len(w)-1] = bias
	}
	return w, least, err
}

// weighPass sums the sample weights of each of the two classes.
var weighPass = passes.New("elastic.weigh", func(block.Source, struct{}) func(block.Chunk) [2]float64 { return weigh })

func weigh(chunk block.Chunk) (sums [2]float64) {
	for i, y := range chunk.Y {
		sums[ClassOf(float64(y))] += chunk.Weight(i)
	}
	return sums
}
