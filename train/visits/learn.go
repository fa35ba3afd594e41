package visits

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/checkpoint"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/schema"
	"halfspace/train"
)

// Learn has a stepper learn from all rows of src in up to opt.Epochs epochs, in the order of opt. It uses the epochs,
// the order, the seed, the workers and the progress of opt. begin makes the stepper once rows and options are checked.
// loss is that of a row by its margin; see train.EvaluateBy.
//
// Learn stops early, and the training has converged, if an epoch in another order than train.Random changes nothing. The
// result doesn't depend on opt.Workers. Errors: options out of range, no rows, weights that overflow, and errors of src,
// begin and ctx.
func Learn[T kernel.Float](ctx context.Context, src block.Source[T], opt train.Options, loss func(m float64) float64,
	begin func(*schema.Spec) (train.Stepper[T], error)) (*train.Result[T], error) {
	opt, err := opt.WithDefaults()
	if err != nil {
		return nil, err
	}
	if src, err = block.Check(ctx, src, opt.Workers); err != nil {
		return nil, err
	}
	if src.Rows() == 0 {
		return nil, errors.New("there are no rows to learn from")
	}
	rows, err := NewRows(src, opt)
	if err != nil {
		return nil, err
	}
	l := &learner[T]{src: src, opt: opt, r: new(train.Result[T]), start: time.Now(), scores: make([]T, src.Spec().Vectors())}
	if l.stepper, err = begin(src.Spec()); err != nil {
		return nil, err
	}
	if _, err := opt.Checkpoint.Load(l.state); err != nil {
		return nil, err
	}
	err = l.run(ctx, rows)
	if err == nil || ctx.Err() != nil {
		l.mark()
	}
	if err != nil {
		if ctx.Err() == nil || l.r.Updates == 0 {
			return nil, err
		}
		l.r.Interrupted = true
		return l.learned(), err
	}
	return l.learned(), train.EvaluateBy(ctx, src, opt.Workers, l.r, loss)
}

// A learner is the state of a training.
type learner[T kernel.Float] struct {
	src     block.Source[T]
	opt     train.Options
	stepper train.Stepper[T]
	scores  []T
	r       *train.Result[T]
	done    int64 // epochs
	before  int64 // updates before the epoch

	start, reported time.Time
}

// state walks what the training is at. A position inside an epoch follows from the visits.
func (l *learner[T]) state(w *checkpoint.Walk) {
	w.Clock(&l.start)
	w.Int(&l.done)
	w.Int(&l.before)
	w.Int(&l.r.Visits)
	w.Int(&l.r.Updates)
	w.Bool(&l.r.Converged)
	weights, state := l.stepper.Weights(), l.stepper.State()
	checkpoint.Values(w, weights)
	for _, name := range slices.Sorted(maps.Keys(state)) {
		checkpoint.Values(w, state[name])
	}
	if at := l.r.Visits - l.done*l.src.Rows(); at < 0 || at > l.src.Rows() {
		w.Fail(fmt.Errorf("%d visits are in no epoch after %d", l.r.Visits, l.done))
	}
	if w.Reading() {
		l.stepper.Begin(slices.Clone(weights), state)
	}
}

func (l *learner[T]) mark() { l.opt.Checkpoint.Mark(l.done, l.r.Visits, l.state) }

// run makes the epochs.
func (l *learner[T]) run(ctx context.Context, rows *Rows[T]) error {
	l.report(nil)
	defer l.report(nil)
	for l.done < l.opt.Epochs && !l.r.Converged {
		at := l.r.Visits - l.done*l.src.Rows()
		if at == 0 {
			l.before = l.r.Updates
		}
		if err := rows.Epoch(ctx, l.done, at, l.visit); err != nil {
			return err
		}
		l.done++
		l.r.Converged = l.r.Updates == l.before && l.opt.Order != train.Random
		l.report(train.SumOf(l.stepper.Weights()))
		if l.opt.Checkpoint.Due(l.done) {
			l.mark()
		}
	}
	return nil
}

func (l *learner[T]) visit(b *block.Block[T], r int) error {
	if l.r.Visits%256 == 0 && l.opt.Checkpoint.Due(l.done) {
		l.mark()
	}
	if l.r.Visits++; l.r.Visits%4096 == 0 && time.Since(l.reported) > 100*time.Millisecond {
		l.report(nil)
	}
	if l.stepper.Step(l.scores, b, r, b.Y[r]) {
		l.r.Updates++
	}
	return nil
}

func (l *learner[T]) report(sum func() [sha256.Size]byte) {
	if l.opt.Progress == nil {
		return
	}
	l.reported = time.Now()
	rows := l.src.Rows()
	l.opt.Progress(train.Progress{Epoch: l.r.Visits / rows, Epochs: l.opt.Epochs, Visits: l.r.Visits, Rows: rows, Updates: l.r.Updates,
		Best: -1, Elapsed: time.Since(l.start), Sum: sum})
}

// learned completes the result, except for figures that need another pass over the rows.
func (l *learner[T]) learned() *train.Result[T] {
	cols, w := l.src.Spec().Cols(), l.stepper.Weights()
	for v := range slices.Chunk(w, kernel.Stride[T](cols)) {
		l.r.Weights = append(l.r.Weights, v[:cols]...)
	}
	l.r.Epochs = (l.r.Visits + l.src.Rows() - 1) / l.src.Rows()
	l.r.Seconds = time.Since(l.start).Seconds()
	return l.r
}

// Complete adds to the description of a learner how it trains: Learn with its steppers.
func Complete(l *train.Learner) *train.Learner {
	l.Begins = true
	l.Float32, l.Float64 = task[float32](l), task[float64](l)
	return l
}

func task[T kernel.Float](l *train.Learner) func(context.Context, *train.Task[T]) (*train.Learned[T], error) {
	return func(ctx context.Context, task *train.Task[T]) (*train.Learned[T], error) {
		var stepper train.Stepper[T]
		r, err := Learn(ctx, task.Rows, *task.Settings.Shared(), l.RowLoss(task.Settings), func(spec *schema.Spec) (train.Stepper[T], error) {
			var err error
			if stepper, err = train.NewStepper[T](l, spec, task.Settings); err == nil && task.Init != nil {
				stepper.Begin(task.Init.Weights, task.Init.State)
			}
			return stepper, err
		})
		if r == nil {
			return nil, err
		}
		return &train.Learned[T]{Result: r, Own: r, Keep: func(m *model.Model) { m.State = model.NewState(stepper.State()) }}, err
	}
}
