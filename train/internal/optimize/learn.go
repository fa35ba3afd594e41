package optimize

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/distributed"
	"halfspace/internal/parallel"
	"halfspace/train/learner"
)

const (
	converges = 1e-6 // a result has converged if its gap is at most this times the objective
	sharp     = 1e-7 // the search stops at a gap of this times the objective; one more step follows, which divides the gap again
)

// A Loss is a sum of losses over rows. It is convex and has a second derivative almost everywhere.
type Loss interface {
	At(ctx context.Context, w []float64) (*Point, error) // makes a pass over the rows; see Search
	// Losses makes a pass over the rows. It returns the sum of the losses for each of the given vectors of weights.
	Losses(ctx context.Context, all [][]float64) ([]float64, error)

	// Alone returns the bias with the least loss when all other weights are 0, and that loss. weights are the sums of
	// the sample weights of the classes -1 and +1. If biased is false, the bias is 0.
	Alone(weights [2]float64, biased bool) (bias, loss float64)
}

// A Task is rows, a loss, a penalty and options. Of learner.Options it uses Epochs (most passes), Workers, Progress and
// Checkpoint.
type Task struct {
	Penalty
	learner.Options
	Rows  block.Source
	Of    func(block.Source) Loss // returns the loss of all rows, or of a sample of the rows
	Round func(w []float64)       // rounds weights to weights of a model
}

// A Solution is the result of a task.
type Learned struct {
	Exact                []float64 // weights before rounding, one for each column
	Loss, Objective, Gap float64   // values at the rounded weights
	Converged            bool      // Gap is at most 1e-6 of Objective
	Rounded              bool      // the gap met the limit before rounding, and doesn't after rounding
	Interrupted          bool      // ctx ended the search
	Uncounted            bool      // Loss and Objective are unknown
	Passes, Steps        int64
	Seconds              float64
}

// Result returns the fields of a solution that learners share; rows is the number of rows. If the rows lost pivots
// times the bias, Result first turns s.Exact into weights for the original rows.
func Result(s *Learned, pivots []float64, rows int64) (r learner.Result) {
	r.Epochs, r.Visits, r.Updates, r.Converged, r.Seconds = s.Passes, s.Passes*rows, s.Steps, s.Converged, s.Seconds
	r.Loss, r.Interrupted, r.Uncounted = s.Loss, s.Interrupted, s.Uncounted
	if pivots != nil {
		learner.Uncentre(s.Exact, pivots)
	}
	for _, v := range s.Exact {
		r.Weights = append(r.Weights, float32(v))
	}
	return r
}

// Learn finds the minimum. With many rows, it begins at the minimum of a sample. If ctx ends the search after a step,
// Learn returns the weights so far with ctx's error.
func (t *Task) Learn(ctx context.Context) (*Learned, error) {
	start := time.Now()
	after, end := parallel.Grace(ctx)
	defer end()
	loss := t.Of(t.Rows)
	s := t.search(loss, start)
	w, err := t.minimise(ctx, s, loss)
	r := &Learned{Steps: s.Steps, Seconds: (t.Checkpoint.Before() + time.Since(start)).Seconds()}
	if err != nil {
		if ctx.Err() == nil || s.Steps == 0 {
			return nil, err
		}
		r.Interrupted, w, ctx = true, s.Point.W, after
	}
	r.Exact = w
	if late := t.measure(ctx, r, s, loss); late != nil {
		if ctx.Err() == nil || !r.Interrupted {
			return nil, late
		}
		r.Uncounted, r.Loss, r.Objective = true, 0, 0
	}
	if r.Interrupted {
		r.Gap = math.Inf(1)
		return r, err
	}
	r.Converged = r.Gap <= converges*r.Objective
	r.Rounded = !r.Converged && s.Gap() <= converges*s.Objective(s.Point)
	return r, nil
}

// measure sets the loss, the objective and the gap of r, at the rounded weights. It makes one pass over the rows.
func (t *Task) measure(ctx context.Context, r *Learned, s *Search, loss Loss) error {
	w := slices.Clone(r.Exact)
	t.Round(w)
	r.Passes = s.Passes + 1
	losses, err := loss.Losses(ctx, [][]float64{w})
	if err != nil {
		return err
	}
	r.Loss = losses[0]
	r.Objective = r.Loss + s.Of(w[:s.features()])
	r.Gap = max(0, r.Objective-s.Lower)
	if r.Objective-r.Objective != 0 {
		return learner.TooLarge()
	}
	return nil
}

// search returns a search for the minimum with loss.
func (t *Task) search(loss Loss, start time.Time) *Search {
	s := &Search{Penalty: t.Penalty, Bias: t.Rows.Spec().Bias, Most: t.Epochs}
	s.At = func(ctx context.Context, w []float64) (*Point, error) {
		p, err := loss.At(ctx, w)
		if err == nil && p.Loss-p.Loss != 0 {
			err = learner.TooLarge()
		}
		if err == nil && t.Progress != nil {
			rows := t.Rows.Rows()
			t.Progress(learner.Progress{Epoch: s.Passes, Epochs: s.Most, Visits: s.Passes * rows, Rows: rows, Updates: s.Steps, Best: -1, Elapsed: time.Since(start), Sum: learner.SumOf(w),
				Measure: s.measure(p)})
		}
		return p, err
	}
	return s
}

// minimise returns the weights of the minimum. It takes the last step without a pass after it.
func (t *Task) minimise(ctx context.Context, s *Search, loss Loss) ([]float64, error) {
	var err error
	if s.resumed, err = t.Checkpoint.Load(s.state); err != nil {
		return nil, err
	}
	s.mark = func() { t.Checkpoint.Pass(s.Passes, s.Passes*t.Rows.Rows(), s.state) }
	if s.resumed {
		err = t.again(ctx, s)
	} else {
		err = t.begin(ctx, s, loss)
	}
	if err != nil {
		return nil, err
	}
	step, err := s.Minimise(ctx, sharp)
	if err == nil && s.Gap() <= sharp*s.Objective(s.Point) && step == nil {
		step, err = s.Step(ctx)
	}
	if err != nil || s.Gap() > sharp*s.Objective(s.Point) {
		return s.Point.W, err
	}
	return sum(s.Point.W, step.D), nil
}

// again repeats the pass at the weights of a checkpoint. That pass isn't counted.
func (t *Task) again(ctx context.Context, s *Search) error {
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
func (t *Task) begin(ctx context.Context, s *Search, loss Loss) error {
	alone, least, err := t.alone(ctx, t.Rows, loss)
	if err != nil {
		return err
	}
	sample, err := learner.Sample(ctx, t.Rows)
	if err != nil {
		return err
	}
	if sample != nil {
		w, err := t.near(ctx, sample)
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

// near returns the minimum of a sample, or nil if the search fails or the bias alone has the loss 0.
func (t *Task) near(ctx context.Context, sample *block.Data) ([]float64, error) {
	few, loss, share := *t, t.Of(sample), float64(sample.Rows())/float64(t.Rows.Rows())
	few.Rows, few.L1, few.L2, few.Progress, few.Checkpoint = sample, t.L1*share, t.L2*share, nil, nil
	s := few.search(loss, time.Now())
	alone, least, err := few.alone(ctx, sample, loss)
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

// alone returns zero weights with the best bias, and their loss. It reads only labels and sample weights.
func (t *Task) alone(ctx context.Context, rows block.Source, loss Loss) (w []float64, least float64, err error) {
	var weights [2]float64
	err = distributed.Reduce(ctx, rows, t.Workers, weighPass, struct{}{}, weigh, func(sums [2]float64) { weights[0], weights[1] = weights[0]+sums[0], weights[1]+sums[1] })
	biased := rows.Spec().Bias
	bias, least := loss.Alone(weights, biased)
	w = make([]float64, rows.Spec().Cols())
	if biased {
		w[len(w)-1] = bias
	}
	return w, least, err
}

// weighPass sums the sample weights of each of the two classes.
var weighPass = distributed.NewPerRun("elastic.weigh", weighRun)

func weighRun(block.Source, struct{}) func(block.Chunk) [2]float64 {
	return weigh
}

func weigh(run block.Chunk) (sums [2]float64) {
	for i, y := range run.Y {
		class := 0
		if y > 0 {
			class = 1
		}
		sums[class] += run.Weight(i)
	}
	return sums
}
