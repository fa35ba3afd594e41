// Package optimize minimises a sum of losses over rows plus a penalty.
//
// Task describes the minimisation. Task.Elastic takes a penalty L1, by the proximal Newton method with a Hessian or by
// coordinate descent over columns. Task.Truncated is Newton's method with steps by conjugate gradients, for many
// columns. Task.Hinge minimises the hinge by the steps of Truncated, and Task.DualHinge by dual coordinate descent.
package optimize

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/distributed"
	"halfspace/internal/parallel"
	"halfspace/train/learner"
)

const (
	convergedGap = 1e-6 // a result has converged if its gap is at most this times the objective
	searchGap    = 1e-7 // the search stops at a gap of this times the objective; one more step follows, which divides the gap again
)

// A DenseLoss is a sum of losses over rows. It is convex and has a second derivative almost everywhere.
type DenseLoss interface {
	PointAt(ctx context.Context, w []float64) (*Point, error) // makes a pass over the rows; see Search

	// BiasAlone returns the bias with the least loss when all other weights are 0, and that loss. weights are the sums
	// of the sample weights of the classes -1 and +1. If biased is false, the bias is 0.
	BiasAlone(weights [2]float64, biased bool) (bias, loss float64)
}

// A Task is rows with labels -1 and +1, a loss, a penalty and options. Of learner.Options it uses Epochs (most passes),
// Workers, Progress and Checkpoint.
type Task struct {
	Penalty
	learner.Options
	Rows block.Source
	// Loss takes scores z and labels y. It sets z to the margins; loss to the loss of each row; and factor and
	// curvature to the loss's first and second derivative by the score, as f64.Logistic does.
	Loss func(z, factor, curvature, loss, y []float64)
	// Dense returns Loss of all rows, or of a sample of the rows, for passes that compute a Hessian.
	Dense func(block.Source) DenseLoss
	// Sums makes a pass over the rows. It returns the sum of the losses for each of the given vectors of weights, or for
	// each of the given lists of one vector for each class. nil: Loss computes them.
	Sums func(ctx context.Context, all [][]float64) ([]float64, error)
}

// HasManyColumns tells whether there are too many columns for a Hessian: more than 16,384, whose Hessian is 1 GiB.
func HasManyColumns(cols int) bool { return cols > 1<<14 }

// A Solution is the result of a search.
type Solution struct {
	W                           []float64 // weights, one for each column
	Loss, Objective, LowerBound float64   // LowerBound is a lower bound of the minimum
	Weight                      float64   // sum of the sample weights; 0 if unknown
	Passes, Visits, Steps       int64     // Visits counts rows
	OutOfPasses                 bool      // the limit of passes ended the search
}

// Gap returns an upper bound of Objective minus the minimum.
func (s *Solution) Gap() float64 { return max(0, s.Objective-s.LowerBound) }

// A RoundedSolution is a solution whose weights are rounded to weights of a model.
type RoundedSolution struct {
	learner.Result
	ExactWeights      []float64 // weights before rounding, one for each column
	Objective, Gap    float64   // values at the rounded weights
	GapLostByRounding bool      // the gap met the limit before rounding, and doesn't after rounding
	Weight            float64   // see Solution
}

// Learn rounds the weights that solve finds, and makes a pass over the rows to measure them. If pivots isn't nil, the
// rows are the original rows minus the pivots, and the weights of the result are for the original rows. If ctx ends the
// search after a step, Learn returns the weights so far with ctx's error.
func (t *Task) Learn(ctx context.Context, solve func(context.Context) (*Solution, error), pivots []float64) (*RoundedSolution, error) {
	start := time.Now()
	after, end := parallel.Grace(ctx)
	defer end()
	s, err := solve(ctx)
	if err != nil {
		return t.InterruptedResult(ctx, after, s, pivots, start), err
	}
	r, err := t.measureSolution(ctx, s, pivots, start)
	if err != nil {
		return nil, err
	}
	r.Gap = max(0, r.Objective-s.LowerBound)
	r.Converged = r.Gap <= convergedGap*r.Objective
	r.GapLostByRounding = !r.Converged && s.Gap() <= convergedGap*s.Objective
	return r, nil
}

// InterruptedResult returns the result of a search that began at start and that the end of ctx interrupted, or nil if
// the search made no step. The loss stays unknown if after ends before a pass over the rows does.
func (t *Task) InterruptedResult(ctx, after context.Context, s *Solution, pivots []float64, start time.Time) *RoundedSolution {
	if ctx.Err() == nil || s.Steps == 0 || s.Passes == 0 {
		return nil
	}
	r, err := t.measureSolution(after, s, pivots, start)
	r.Interrupted, r.NotEvaluated, r.Gap = true, err != nil, math.Inf(1)
	return r
}

// measureSolution returns the result with the weights rounded, and with their loss and objective. With an error, the
// loss is unknown.
func (t *Task) measureSolution(ctx context.Context, s *Solution, pivots []float64, start time.Time) (*RoundedSolution, error) {
	r := &RoundedSolution{ExactWeights: s.W, Weight: s.Weight}
	r.Epochs, r.Updates, r.OutOfPasses = s.Passes+1, s.Steps, s.OutOfPasses
	r.Visits, r.Seconds = r.Epochs*t.Rows.Rows(), (t.Checkpoint.TimeBefore() + time.Since(start)).Seconds()
	w, spec := slices.Clone(s.W), t.Rows.Spec()
	learner.RoundCentred(w, pivots)
	if pivots != nil {
		learner.Uncentre(r.ExactWeights, pivots)
	}
	r.Weights = learner.RoundToFloat32(r.ExactWeights)
	losses, err := t.Losses(ctx, [][]float64{w})
	if err != nil {
		return r, err
	}
	var penalised [][]float64
	for v := range slices.Chunk(w, spec.Cols()) {
		penalised = append(penalised, v[:spec.Width()])
	}
	if objective := losses[0] + t.Value(penalised...); objective-objective == 0 {
		r.Loss, r.Objective = losses[0], objective
		return r, nil
	}
	return r, learner.OverflowError()
}

// Elastic finds the minimum with a penalty L1 or NonNegative: by the proximal Newton method with a Hessian, or by
// coordinate descent if there are too many columns. Newton's method begins at the minimum of a sample if there are many
// rows. If ctx ends or reading the rows fails, Elastic returns the weights so far with the error.
func (t *Task) Elastic(ctx context.Context) (*Solution, error) {
	if HasManyColumns(t.Rows.Spec().Cols()) {
		return t.columns(ctx)
	}
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
	saved, _ := loss.(interface{ State(*checkpoint.Walk) })
	s := &Search{loss: saved, Penalty: t.Penalty, Bias: t.Rows.Spec().Bias, MostPasses: t.Epochs}
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
	if s.resumed, err = t.Checkpoint.Load(s.state); err != nil {
		return nil, err
	}
	s.mark = func() { t.Checkpoint.Pass(s.Passes, s.Passes*t.Rows.Rows(), s.state) }
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
	w, passes, show := s.Point.W, s.Passes, t.Progress
	if len(w) != t.Rows.Spec().Cols() {
		return fmt.Errorf("the checkpoint has %d weights, and there are %d columns: name an empty folder", len(w), t.Rows.Spec().Cols())
	}
	t.Progress = nil
	err := s.Begin(ctx, w)
	if t.Progress, s.Passes = show, passes; err != nil {
		s.Point = &Point{W: w} // so that an interrupt can return the weights
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
	err = distributed.Reduce(ctx, rows, t.Workers, weighPass, struct{}{}, weigh,
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
var weighPass = distributed.NewPerChunk("elastic.weigh", func(block.Source, struct{}) func(block.Chunk) [2]float64 { return weigh })

func weigh(chunk block.Chunk) (sums [2]float64) {
	for i, y := range chunk.Y {
		sums[classOf(float64(y))] += chunk.Weight(i)
	}
	return sums
}

// A Tally counts the visits and the steps of a search. A pass counts as many visits as there are rows.
type Tally struct {
	*Task
	VisitedRows, Steps int64 // VisitedRows counts rows
	Start              time.Time
}

// Passes returns the number of passes over the rows, rounded up.
func (t *Tally) Passes() int64 {
	rows := max(1, t.Rows.Rows())
	return (t.VisitedRows + rows - 1) / rows
}

// Visit counts visits, and reports progress. sum and m may be nil; see learner.Progress.
func (t *Tally) Visit(visits int64, sum func() [sha256.Size]byte, m *learner.Measure) {
	t.VisitedRows += visits
	if t.Progress == nil {
		return
	}
	t.Progress(learner.Progress{Epoch: t.Passes(), Epochs: t.Epochs, Visits: t.VisitedRows, Rows: t.Rows.Rows(),
		Updates: t.Steps, BestErrors: -1, Elapsed: time.Since(t.Start), Sum: sum, Measure: m})
}

// Mark gives the state of the search to the checkpoint.
func (t *Tally) Mark(state func(*checkpoint.Walk)) {
	t.Checkpoint.Pass(t.Passes(), t.VisitedRows, state)
}

// State saves or restores the tally.
func (t *Tally) State(w *checkpoint.Walk) { learner.State(w, &t.Start, &t.VisitedRows, &t.Steps) }
