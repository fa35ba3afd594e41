package train

import (
	"context"
	"fmt"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train/learner"
)

// A Trace configures a trace. The result of a training doesn't depend on it.
type Trace struct {
	UpdatesPerPoint int64 // a perceptron gives points only for updates whose number is a multiple of UpdatesPerPoint; 0: for every update

	// Reference are weights u of any norm above 0, as many as learner.Result.Weights has. Points then have the product
	// with u, and the angle. If Reference is nil, they have neither.
	Reference []float64

	Point func(TracePoint) // receives the points in order, from one goroutine at a time
}

// A TracePoint is an update of a perceptron, or the end of a pass of another learner. Figures that aren't known are NaN.
type TracePoint struct {
	Class  int   // number of the class that is trained versus the rest; -1 if there is one training
	Epoch  int64 // for a perceptron the epoch of the update, from 1 on; for others the passes so far
	Visit  int64 // for a perceptron the visit of the update, from 1 on; for others the visits so far
	Update int64 // for a perceptron the number of the update, from 1 on; for others the updates or steps so far

	// The following figures are known for a perceptron.
	Row        int64   // number of the row among the training rows, from 0 on; -1 for other learners
	Score      float64 // score of Row before the update; with several classes, of the row's class minus the rival's
	Norm       float64 // Euclidean norm of the weights w after the update
	Dot        float64 // w.u, with the reference u of length 1
	Angle      float64 // between w and u in degrees
	LowerBound float64 // lower bound of w.u, and so of the norm; see traceBounds
	UpperBound float64 // upper bound of the norm
	Errors     int64   // number of rows that w predicts wrong, if a pocket judges; otherwise -1

	Vector []float64 // w, as in learner.Result; valid until Trace.Point returns

	// The following figures are known for a learner that solves for an optimum.
	Objective float64 // the function that the learner minimises
	Gradient  float64 // Euclidean norm of the gradient
	Gap       float64 // bound on Objective minus the optimum
}

// recorderOptions has the options of a perceptron that its convergence theorem and the count of its errors need.
type recorderOptions struct {
	Class          int       // see TracePoint.Class
	Eta            float64   // learning rate
	Margin         float64   // see perceptron.Options
	InitialWeights []float64 // weights to begin with, in the layout of learner.Result; nil: zeros
	TheoremHolds   bool      // the theorem holds: sample weights are 1, and there is no penalty
	CountsErrors   bool      // count the errors of all weights
	Workers        int       // number of goroutines that may count
}

// A recorder makes the points of a perceptron's training.
type recorder struct {
	ctx             context.Context
	src             block.Source
	opt             *Trace
	options         recorderOptions
	unit            []float64 // the reference, scaled to length 1; nil: none
	bounds          traceBounds
	uncountedPoints []TracePoint // points whose errors aren't counted yet
	err             error        // first error of a count
}

// newRecorder returns the recorder of a perceptron that learns from src. It makes a pass over the rows. It returns an error if
// the reference has another number of weights than the training, if src fails, or if ctx ends.
func newRecorder(ctx context.Context, src block.Source, opt *Trace, options recorderOptions) (*recorder, error) {
	r := &recorder{ctx: ctx, src: src, opt: opt, options: options}
	spec := src.Spec()
	n := spec.Cols() * spec.Vectors()
	evaluated := &learner.Result{Weights: make([]float32, n)}
	if got := len(opt.Reference); got != n && opt.Reference != nil {
		return nil, fmt.Errorf("the reference has %s, and the training has %d: take as many", humanize.Plural(int64(got), "weight"), n)
	}
	if length := learner.Norm(opt.Reference); length > 0 {
		for i, v := range opt.Reference {
			r.unit = append(r.unit, v/length)
			evaluated.Weights[i] = float32(v / length)
		}
	}
	if err := learner.Evaluate(ctx, src, options.Workers, evaluated); err != nil {
		return nil, err
	}
	r.bounds = traceBounds{Radius: evaluated.Radius, Margin: evaluated.Margin, Eta: options.Eta, UpdateMargin: options.Margin,
		severalClasses: spec.Vectors() > 1}
	if options.InitialWeights != nil {
		r.bounds.Norm = learner.Norm(options.InitialWeights)
		r.bounds.Dot = dot(options.InitialWeights, r.unit)
	}
	return r, nil
}

// traceBatch is the number of weight vectors that are judged at a time.
const traceBatch = 64

// Update records an update.
func (r *recorder) Update(u learner.Update) {
	p := unknownPoint(r.options.Class)
	p.Epoch, p.Visit, p.Update, p.Row, p.Score, p.Vector = (u.Visit-1)/max(1, r.src.Rows())+1, u.Visit, u.Number, u.Row, u.Score, u.Vector
	p.Norm = learner.Norm(u.Vector)
	if r.unit != nil {
		p.Dot = dot(u.Vector, r.unit)
		p.Angle = angle(p.Dot, p.Norm)
	}
	if r.options.TheoremHolds {
		p.UpperBound = r.bounds.Upper(u.Number)
		if r.unit != nil && r.bounds.Margin > 0 {
			p.LowerBound = r.bounds.Lower(u.Number)
		}
	}
	if !r.options.CountsErrors {
		r.opt.Point(p)
		return
	}
	p.Vector = append([]float64(nil), u.Vector...)
	if r.uncountedPoints = append(r.uncountedPoints, p); len(r.uncountedPoints) == traceBatch {
		if counts, err := r.count(r.ctx); err == nil || r.ctx.Err() == nil { // otherwise Flush has time to count
			r.sendPoints(counts, err)
		}
	}
}

// Flush sends the last points to Trace.Point, after a count that ends with ctx. It returns the first error of a count,
// unless the training's context had ended then. The points after that error have no errors.
func (r *recorder) Flush(ctx context.Context) error {
	if r == nil {
		return nil
	}
	if len(r.uncountedPoints) > 0 {
		r.sendPoints(r.count(ctx))
	}
	return r.err
}

// count returns the errors of the weights of uncountedPoints, or the first error of a count.
func (r *recorder) count(ctx context.Context) ([]int64, error) {
	if r.err != nil {
		return nil, r.err
	}
	stride := kernel.Stride(r.src.Spec().Cols())
	w := block.Alloc[float32](len(r.uncountedPoints) * stride)
	for k, p := range r.uncountedPoints {
		for i, v := range p.Vector {
			w[k*stride+i] = float32(v)
		}
	}
	return pocket.Errors(ctx, r.src, w, r.options.Workers)
}

// sendPoints sends the uncounted points to Trace.Point, with their counts unless err says that there are none.
func (r *recorder) sendPoints(counts []int64, err error) {
	r.err = err
	for k, p := range r.uncountedPoints {
		if err == nil {
			p.Errors = counts[k]
		}
		r.opt.Point(p)
	}
	r.uncountedPoints = r.uncountedPoints[:0]
}

// passPoint returns the point at the end of a pass.
func passPoint(p learner.Progress, class int) TracePoint {
	at := unknownPoint(class)
	at.Epoch, at.Visit, at.Update = p.Epoch, p.Visits, p.Updates
	if m := p.Measure; m != nil {
		at.Objective, at.Gradient, at.Gap = m.Objective, m.Gradient, m.Gap
		if math.IsInf(m.Gap, 0) {
			at.Gap = math.NaN()
		}
	}
	return at
}

// unknownPoint returns a point without known figures.
func unknownPoint(class int) TracePoint {
	nan := math.NaN()
	return TracePoint{Class: class, Row: -1, Score: nan, Norm: nan, Dot: nan, Angle: nan, LowerBound: nan, UpperBound: nan, Errors: -1,
		Objective: nan, Gradient: nan, Gap: nan}
}

func dot(v, w []float64) (sum float64) {
	for i := range w {
		sum = math.FMA(v[i], w[i], sum)
	}
	return sum
}

// angle returns the angle in degrees between a vector with that norm and a vector of length 1; NaN if the norm is 0.
func angle(dot, norm float64) float64 {
	return math.Acos(max(-1, min(1, dot/norm))) * 180 / math.Pi
}
