package perceptron

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// A judge keeps the best weights of a training. It is a *pocket.Pocket or a *classJudge.
type judge interface {
	AfterUpdate(ctx context.Context, w []float32, update, visits int64) error
	AfterEpoch(ctx context.Context, w []float32, updates, visits int64) error
	AfterTraining(ctx context.Context, w []float32, updates, visits int64) error
	Judge(ctx context.Context) error
	JudgeBatch(ctx context.Context) error
	State(w *checkpoint.Walk)
	Best() pocket.Candidate
	Curve() []pocket.Point
	Judged() (candidates, rows int64)
}

// A keeper keeps the best weights that its judge finds. It ends the training when no weights can be better, or after
// earlyStop epochs without better weights.
type keeper struct {
	judge
	judgesValidation bool  // the judge's rows are not the rows that are learned from
	curvePoints      int   // number of points of the judge's curve so far
	staleEpochs      int64 // epochs since the last point
	earlyStop        int64 // number of stale epochs that ends the training; 0: never
}

// newKeeper returns a keeper for weights of the given number of vectors. The judge uses the rows of validation, or the
// rows of src if validation is nil. newKeeper returns nil if opt has no pocket and validation is nil.
func newKeeper(ctx context.Context, src, validation block.Source, opt Settings, vectors int) (*keeper, error) {
	if opt.Pocket == "" && validation == nil {
		return nil, nil
	}
	k := &keeper{curvePoints: 1, earlyStop: opt.EarlyStop}
	if validation != nil {
		src, k.judgesValidation = validation, true
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

// endEpoch offers the weights to the judge at the end of an epoch.
func (k *keeper) endEpoch(ctx context.Context, w []float32, updates, visits int64) error {
	if err := k.stopIfPerfect(k.AfterEpoch(ctx, w, updates, visits)); err != nil || k.earlyStop == 0 {
		return err
	}
	if err := k.stopIfPerfect(k.Judge(ctx)); err != nil {
		return err
	}
	k.staleEpochs++
	if found := len(k.Curve()); found > k.curvePoints {
		k.curvePoints, k.staleEpochs = found, 0
	}
	if k.staleEpochs == k.earlyStop {
		return online.ErrStop
	}
	return nil
}

// stopIfPerfect returns ErrStop if the best weights make no errors, so that no weights can be better. Otherwise it
// returns err.
func (k *keeper) stopIfPerfect(err error) error {
	if err == nil && k.Best().Weight == 0 {
		return online.ErrStop
	}
	return err
}

func (k *keeper) state(w *checkpoint.Walk) {
	learner.State(w, &k.curvePoints, &k.staleEpochs)
	k.State(w)
}

// A keeperJudge is the online.Judge of a training with a keeper.
type keeperJudge struct{ *training }

func (l keeperJudge) Resume(ctx context.Context) error {
	return l.keeper.stopIfPerfect(l.keeper.JudgeBatch(ctx))
}

func (l keeperJudge) AfterUpdates(ctx context.Context) error {
	return l.keeper.stopIfPerfect(l.keeper.AfterUpdate(ctx, l.w, l.Updates, l.Visits))
}

func (l keeperJudge) AfterEpoch(ctx context.Context) error {
	return l.keeper.endEpoch(ctx, l.presentWeights(), l.Updates, l.Visits)
}

// BestErrors returns the number of errors of the best weights so far, or -1 if no weights were judged.
func (l keeperJudge) BestErrors() int64 {
	if l.keeper.Best().Errors == math.MaxInt64 { // see LeaveZeros
		return -1
	}
	return l.keeper.Best().Errors
}

// AfterTraining judges the last weights. If the best weights make no errors, they ended the training. Then it sets the
// counts of updates and visits back to the counts at their update.
func (l keeperJudge) AfterTraining(ctx context.Context) error {
	if err := l.keeper.AfterTraining(ctx, l.presentWeights(), l.Updates, l.Visits); err != nil {
		return err
	}
	best := l.keeper.Best()
	if best.Weight != 0 {
		return nil
	}
	l.Updates, l.Visits, l.Converged = best.Update, best.Visits, false
	if l.keeper.judgesValidation {
		return nil
	}
	anyUpdates, err := l.mayUpdate(ctx, best.Weights)
	l.Converged = !anyUpdates
	return err
}

// A classJudge keeps the best weights of several classes among the initial zeros and the weights at the ends of epochs.
type classJudge struct {
	src           block.Source
	workers       int
	best          pocket.Candidate
	curve         []pocket.Point
	lastWeights   []float32 // weights judged last
	judgedVectors int64
	start         time.Time
}

func newClassJudge(ctx context.Context, src block.Source, weights, workers int) (*classJudge, error) {
	j := &classJudge{src: src, workers: workers, start: time.Now()}
	err := j.AfterEpoch(ctx, make([]float32, weights), 0, 0)
	j.judgedVectors = 0
	return j, err
}

// AfterEpoch judges the weights at the end of an epoch.
func (j *classJudge) AfterEpoch(ctx context.Context, w []float32, updates, visits int64) error {
	if slices.Equal(w, j.lastWeights) {
		return nil
	}
	r := &learner.Result{Weights: online.Unpad(w, j.src.Spec().Cols())}
	wrong, err := learner.EvaluateLoss(ctx, j.src, j.workers, r, learner.PerceptronLoss)
	if err != nil {
		return err
	}
	j.lastWeights = slices.Clone(w)
	j.judgedVectors++
	if j.curve == nil || wrong < j.best.Weight {
		j.best = pocket.Candidate{Weights: j.lastWeights, Update: updates, Visits: visits, Errors: r.Errors, Weight: wrong}
		p := pocket.Point{Update: updates, Visits: visits, Errors: r.Errors, Seconds: time.Since(j.start).Seconds()}
		if j.src.Spec().Weighted {
			p.Weight = wrong
		}
		j.curve = append(j.curve, p)
	}
	return nil
}

func (j *classJudge) AfterTraining(ctx context.Context, w []float32, updates, visits int64) error {
	return j.AfterEpoch(ctx, w, updates, visits)
}

// AfterUpdate, Judge and JudgeBatch do nothing, because AfterEpoch judges all weights at once.
func (j *classJudge) AfterUpdate(context.Context, []float32, int64, int64) error { return nil }
func (j *classJudge) Judge(context.Context) error                                { return nil }
func (j *classJudge) JudgeBatch(context.Context) error                           { return nil }

func (j *classJudge) Best() pocket.Candidate { return j.best }
func (j *classJudge) Curve() []pocket.Point  { return j.curve }

func (j *classJudge) Judged() (candidates, rows int64) {
	return j.judgedVectors, j.judgedVectors * j.src.Rows()
}

func (j *classJudge) State(w *checkpoint.Walk) {
	learner.State(w, &j.start, &j.judgedVectors, j.lastWeights)
	if w.IsReading() {
		j.best.Weights = nil // it may share memory with j.lastWeights
	}
	j.best.State(w, len(j.lastWeights))
	checkpoint.List(w, &j.curve, func(p *pocket.Point) { p.State(w) })
}
