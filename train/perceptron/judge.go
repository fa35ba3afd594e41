package perceptron

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// A judge keeps the best weights of a training. It is a *pocket.Pocket or a *classJudge.
type judge interface {
	Updated(ctx context.Context, w []float32, update, visits int64) error
	EpochEnded(ctx context.Context, w []float32, updates, visits int64) error
	End(ctx context.Context, w []float32, updates, visits int64) error
	Judge(ctx context.Context) error
	Settle(ctx context.Context) error
	State(w *checkpoint.Walk)
	Best() pocket.Candidate
	Curve() []pocket.Point
	Judged() (candidates, rows int64)
}

// A keeper keeps the best weights that its judge finds. It ends the training when no weights can be better, or after
// earlyStop epochs without better weights.
type keeper struct {
	judge
	validated bool  // the judge's rows are not the rows that are learned from
	found     int   // number of points of the judge's curve so far
	stale     int64 // epochs since the last point
	earlyStop int64 // number of stale epochs that ends the training; 0: never
}

// newKeeper returns a keeper for weights of the given number of vectors. The judge uses the rows of validation, or the
// rows of src if validation is nil. newKeeper returns nil if opt has no pocket and validation is nil.
func newKeeper(ctx context.Context, src, validation block.Source, opt Settings, vectors int) (*keeper, error) {
	if opt.Pocket == "" && validation == nil {
		return nil, nil
	}
	k := &keeper{found: 1, earlyStop: opt.EarlyStop}
	if validation != nil {
		src, k.validated = validation, true
	}
	if vectors > 1 {
		j, err := newClassJudge(ctx, src, vectors*kernel.Stride(src.Spec().Cols()), opt.Workers)
		k.judge = j
		return k, err
	}
	mode := opt.Pocket
	if mode == "" {
		mode = pocket.Epoch
	}
	p, err := pocket.New(ctx, src, mode, opt.Workers)
	if err != nil {
		return nil, err
	}
	k.judge = p
	return k, nil
}

// pocket returns the judge if it is a pocket.
func (k *keeper) pocket() (p *pocket.Pocket, is bool) {
	if k != nil {
		p, is = k.judge.(*pocket.Pocket)
	}
	return p, is
}

// epochEnded offers the weights to the judge at the end of an epoch.
func (k *keeper) epochEnded(ctx context.Context, w []float32, updates, visits int64) error {
	if err := k.ended(k.EpochEnded(ctx, w, updates, visits)); err != nil || k.earlyStop == 0 {
		return err
	}
	if err := k.ended(k.Judge(ctx)); err != nil {
		return err
	}
	k.stale++
	if found := len(k.Curve()); found > k.found {
		k.found, k.stale = found, 0
	}
	if k.stale == k.earlyStop {
		return online.ErrStop
	}
	return nil
}

// ended returns ErrStop if the best weights make no errors, so that no weights can be better. Otherwise it returns err.
func (k *keeper) ended(err error) error {
	if err == nil && k.Best().Weight == 0 {
		return online.ErrStop
	}
	return err
}

func (k *keeper) state(w *checkpoint.Walk) {
	learner.State(w, &k.found, &k.stale)
	k.State(w)
}

// best returns the number of errors of the best weights so far, or -1 if no weights were judged.
func (l *training) best() int64 {
	if l.keeper.Best().Errors == math.MaxInt64 { // see LeaveZeros
		return -1
	}
	return l.keeper.Best().Errors
}

// ended judges the last weights. If the best weights make no errors, they ended the training. Then ended sets the
// counts of updates and visits back to the counts at their update.
func (l *training) ended(ctx context.Context) error {
	if err := l.keeper.End(ctx, l.current(), l.Updates, l.Visits); err != nil {
		return err
	}
	best := l.keeper.Best()
	if best.Weight != 0 {
		return nil
	}
	l.Updates, l.Visits, l.Converged = best.Update, best.Visits, false
	if l.keeper.validated {
		return nil
	}
	anyUpdates, err := l.mayUpdate(ctx, best.Weights)
	l.Converged = !anyUpdates
	return err
}

// A classJudge keeps the best weights of several classes among the initial zeros and the weights at the ends of epochs.
type classJudge struct {
	src     block.Source
	workers int
	best    pocket.Candidate
	curve   []pocket.Point
	last    []float32 // weights judged last
	judged  int64
	start   time.Time
}

func newClassJudge(ctx context.Context, src block.Source, weights, workers int) (*classJudge, error) {
	j := &classJudge{src: src, workers: workers, start: time.Now()}
	err := j.EpochEnded(ctx, make([]float32, weights), 0, 0)
	j.judged = 0
	return j, err
}

// EpochEnded judges the weights at the end of an epoch.
func (j *classJudge) EpochEnded(ctx context.Context, w []float32, updates, visits int64) error {
	if slices.Equal(w, j.last) {
		return nil
	}
	r := &learner.Result{Weights: online.Unpad(w, j.src.Spec().Cols())}
	wrong, err := learner.EvaluateLoss(ctx, j.src, j.workers, r, learner.PerceptronLoss)
	if err != nil {
		return err
	}
	j.last = slices.Clone(w)
	j.judged++
	if j.curve == nil || wrong < j.best.Weight {
		j.best = pocket.Candidate{Weights: j.last, Update: updates, Visits: visits, Errors: r.Errors, Weight: wrong}
		p := pocket.Point{Update: updates, Visits: visits, Errors: r.Errors, Seconds: time.Since(j.start).Seconds()}
		if j.src.Spec().Weighted {
			p.Weight = wrong
		}
		j.curve = append(j.curve, p)
	}
	return nil
}

func (j *classJudge) End(ctx context.Context, w []float32, updates, visits int64) error {
	return j.EpochEnded(ctx, w, updates, visits)
}

// Updated, Judge and Settle do nothing, because EpochEnded judges all weights at once.
func (j *classJudge) Updated(context.Context, []float32, int64, int64) error { return nil }
func (j *classJudge) Judge(context.Context) error                            { return nil }
func (j *classJudge) Settle(context.Context) error                           { return nil }

func (j *classJudge) Best() pocket.Candidate { return j.best }
func (j *classJudge) Curve() []pocket.Point  { return j.curve }

func (j *classJudge) Judged() (candidates, rows int64) { return j.judged, j.judged * j.src.Rows() }

func (j *classJudge) State(w *checkpoint.Walk) {
	learner.State(w, &j.start, &j.judged, j.last)
	if w.Reading() {
		j.best.Weights = nil // it may share memory with j.last
	}
	j.best.State(w, len(j.last))
	checkpoint.List(w, &j.curve, func(p *pocket.Point) { p.State(w) })
}
