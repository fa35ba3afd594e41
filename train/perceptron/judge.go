package perceptron

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/checkpoint"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train"
)

// A judge keeps the best of a training's weights: a pocket.Pocket, or a classJudge.
type judge[T kernel.Float] interface {
	Updated(ctx context.Context, w []T, update, visits int64) error
	EpochEnded(ctx context.Context, w []T, updates, visits int64) error
	End(ctx context.Context, w []T, updates, visits int64) error
	Judge(ctx context.Context) error
	Settle(ctx context.Context) error
	State(w *checkpoint.Walk)
	Best() pocket.Candidate[T]
	Curve() []pocket.Point
	Judged() (candidates, rows int64)
}

// A keeper keeps the best weights, as its judge finds them. It ends the training when nothing can replace them, or
// after a number of epochs without better ones.
type keeper[T kernel.Float] struct {
	judge[T]
	validated bool  // judged on other rows than those that are learned from
	found     int   // points of the judge's curve so far
	stale     int64 // epochs since the last point
	earlyStop int64 // number of stale epochs that ends the training; 0: no end
}

// newKeeper returns a keeper of weights of that many vectors. They are judged on the rows of validation, or, if that is
// nil, on those of src. It returns nil if opt has no pocket and there is no validation.
func newKeeper[T kernel.Float](ctx context.Context, src, validation block.Source[T], opt Options, vectors int) (*keeper[T], error) {
	if opt.Pocket == "" && validation == nil {
		return nil, nil
	}
	k := &keeper[T]{found: 1, earlyStop: opt.EarlyStop}
	if validation != nil {
		src, k.validated = validation, true
	}
	if vectors > 1 {
		j, err := newClassJudge(ctx, src, vectors*kernel.Stride[T](src.Spec().Cols()), opt.Workers)
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
	if opt.Versus {
		p.LeaveZeros()
	}
	k.judge = p
	return k, nil
}

// updated offers the weights after an update.
func (k *keeper[T]) updated(ctx context.Context, w []T, updates, visits int64) error {
	return k.ended(k.Updated(ctx, w, updates, visits))
}

// epochEnded offers the weights at the end of an epoch.
func (k *keeper[T]) epochEnded(ctx context.Context, w []T, updates, visits int64) error {
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
		return errStop
	}
	return nil
}

// ended returns errStop if the best weights make no errors, so that nothing can replace them.
func (k *keeper[T]) ended(err error) error {
	if err == nil && k.Best().Weight == 0 {
		return errStop
	}
	return err
}

// fewest returns the errors of the best weights so far, or -1 if none were judged.
func (k *keeper[T]) fewest() int64 {
	if k == nil || k.Best().Errors == math.MaxInt64 { // see pocket.LeaveZeros
		return -1
	}
	return k.Best().Errors
}

// judgeLast judges the last weights. If the best weights make no errors, the training ended with them. Then it doesn't
// count what came between their update and their judgement.
func (l *learner[T]) judgeLast(ctx context.Context) error {
	if l.keeper == nil {
		return nil
	}
	if err := l.keeper.End(ctx, l.current(), l.updates, l.visits); err != nil {
		return err
	}
	best := l.keeper.Best()
	if best.Weight != 0 {
		return nil
	}
	l.updates, l.visits, l.converged = best.Update, best.Visits, false
	if l.keeper.validated {
		return nil
	}
	some, err := l.mayUpdate(ctx, best.Weights)
	l.converged = !some
	return err
}

// A classJudge keeps the best weights of several classes among those at the ends of epochs. The initial zeros are the
// first.
type classJudge[T kernel.Float] struct {
	src     block.Source[T]
	workers int
	best    pocket.Candidate[T]
	curve   []pocket.Point
	last    []T // the weights judged last
	judged  int64
	start   time.Time
}

func newClassJudge[T kernel.Float](ctx context.Context, src block.Source[T], weights, workers int) (*classJudge[T], error) {
	j := &classJudge[T]{src: src, workers: workers, start: time.Now()}
	err := j.EpochEnded(ctx, make([]T, weights), 0, 0)
	j.judged = 0
	return j, err
}

// EpochEnded judges the weights at the end of an epoch.
func (j *classJudge[T]) EpochEnded(ctx context.Context, w []T, updates, visits int64) error {
	if slices.Equal(w, j.last) {
		return nil
	}
	r := &train.Result[T]{Weights: unpad(w, j.src.Spec().Cols())}
	wrong, err := train.EvaluateLoss(ctx, j.src, j.workers, r, train.PerceptronLoss)
	if err != nil {
		return err
	}
	j.last = slices.Clone(w)
	j.judged++
	if j.curve == nil || wrong < j.best.Weight {
		j.best = pocket.Candidate[T]{Weights: j.last, Update: updates, Visits: visits, Errors: r.Errors, Weight: wrong}
		p := pocket.Point{Update: updates, Visits: visits, Errors: r.Errors, Seconds: time.Since(j.start).Seconds()}
		if j.src.Spec().Weighted {
			p.Weight = wrong
		}
		j.curve = append(j.curve, p)
	}
	return nil
}

// End judges the last weights.
func (j *classJudge[T]) End(ctx context.Context, w []T, updates, visits int64) error {
	return j.EpochEnded(ctx, w, updates, visits)
}

// Updated, Judge and Settle do nothing, since all weights are judged at once.
func (j *classJudge[T]) Updated(context.Context, []T, int64, int64) error { return nil }
func (j *classJudge[T]) Judge(context.Context) error                      { return nil }
func (j *classJudge[T]) Settle(context.Context) error                     { return nil }

func (j *classJudge[T]) Best() pocket.Candidate[T] { return j.best }
func (j *classJudge[T]) Curve() []pocket.Point     { return j.curve }

func (j *classJudge[T]) Judged() (candidates, rows int64) { return j.judged, j.judged * j.src.Rows() }

// unpad returns vectors of weights for cols columns without the padding at their ends.
func unpad[T kernel.Float](w []T, cols int) []T {
	var out []T
	for v := range slices.Chunk(w, kernel.Stride[T](cols)) {
		out = append(out, v[:cols]...)
	}
	return out
}
