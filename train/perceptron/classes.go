package perceptron

import (
	"context"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train"
)

// A judge keeps the best weights of a path.
type judge[T kernel.Float] interface {
	Updated(ctx context.Context, w []T, update, visits int64) error
	EpochEnded(ctx context.Context, w []T, updates, visits int64) error
	End(ctx context.Context, w []T, updates, visits int64) error
	Judge(ctx context.Context) error
	Best() pocket.Candidate[T]
	Curve() []pocket.Point
	Judged() (candidates, rows int64)
}

// A classJudge keeps the best of the weights of several classes at the ends of epochs, the zeros being the first.
type classJudge[T kernel.Float] struct {
	src     block.Source[T]
	vectors *block.Vectors[T]
	workers int
	best    pocket.Candidate[T]
	curve   []pocket.Point
	last    []T // judged
	judged  int64
	start   time.Time
}

func newClassJudge[T kernel.Float](ctx context.Context, src block.Source[T], vectors *block.Vectors[T], workers int) (*classJudge[T], error) {
	j := &classJudge[T]{src: src, vectors: vectors, workers: workers, start: time.Now()}
	err := j.EpochEnded(ctx, make([]T, len(vectors.W)), 0, 0)
	j.judged = 0
	return j, err
}

// EpochEnded judges the weights at the end of an epoch.
func (j *classJudge[T]) EpochEnded(ctx context.Context, w []T, updates, visits int64) error {
	if slices.Equal(w, j.last) {
		return nil
	}
	j.last = slices.Clone(w)
	r := &train.Result[T]{Weights: unpad(j.last, j.vectors.Stride, j.src.Spec().Cols())}
	wrong, err := train.EvaluateLoss(ctx, j.src, j.workers, r)
	if err != nil {
		return err
	}
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

// Updated and Judge do nothing: nothing waits to be judged.
func (j *classJudge[T]) Updated(context.Context, []T, int64, int64) error { return nil }
func (j *classJudge[T]) Judge(context.Context) error                      { return nil }

func (j *classJudge[T]) Best() pocket.Candidate[T] { return j.best }
func (j *classJudge[T]) Curve() []pocket.Point     { return j.curve }

func (j *classJudge[T]) Judged() (candidates, rows int64) { return j.judged, j.judged * j.src.Rows() }

// unpad returns vectors of a stride without the padding at their ends.
func unpad[T kernel.Float](w []T, stride, cols int) []T {
	var out []T
	for v := range slices.Chunk(w, stride) {
		out = append(out, v[:cols]...)
	}
	return out
}
