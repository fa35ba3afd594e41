package online

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train/learner"
)

// Learn trains l on all rows of src with the settings s. l must come from Complete. Learn makes up to Epochs epochs,
// and visits the rows in Order.
//
// Learn stops early, and the training has converged, if an epoch in any order but learner.Random changes nothing. The
// result doesn't depend on the workers. Errors: options out of range, no rows, weights that overflow, errors of src,
// and ctx's error.
//
// With more than one shard, each shard has its own stepper in an epoch. All steppers begin with the same weights and
// the same state. After the epoch, their weights and states are mixed.
func Learn(ctx context.Context, l *learner.Learner, src block.Source, s learner.Settings) (*learner.Result, error) {
	learned, err := l.Train(ctx, &learner.Task{Rows: src, Settings: s})
	if learned == nil {
		return nil, err
	}
	return learned.Result, err
}

// Complete sets Begins and Train of a learner, and returns it. Train makes the training with the learner's steppers.
func Complete(l *learner.Learner) *learner.Learner {
	l.Begins = true
	l.Train = taskOf(l)
	return l
}

func taskOf(l *learner.Learner) func(context.Context, *learner.Task) (*learner.Learned, error) {
	pass := newPass(l)
	return func(ctx context.Context, task *learner.Task) (*learner.Learned, error) {
		opt, err := optionsOf(l, task.Settings)
		if err != nil {
			return nil, err
		}
		src, err := block.Validate(ctx, task.Rows, opt.Workers)
		if err != nil {
			return nil, err
		}
		if src.Rows() == 0 {
			return nil, errors.New("there are no rows to learn from")
		}
		x, err := newLearner(l, src, task.Settings, opt)
		if err != nil {
			return nil, err
		}
		if err := CheckMemory(task, x.shardBytes()); err != nil {
			return nil, err
		}
		if task.Init != nil {
			x.stepper.Begin(task.Init.Weights, task.Init.State)
		}
		if opt.Shards > 1 {
			x.shards, err = NewShards(src, opt, x.shard, func(ctx context.Context, epoch int64, dealt [][]int64) ([]Part, error) {
				return x.elsewhere(ctx, pass, epoch, dealt)
			})
		} else {
			x.rows, err = NewRows(src, opt)
		}
		if err != nil {
			return nil, err
		}
		r, err := x.train(ctx)
		if r == nil {
			return nil, err
		}
		return &learner.Learned{Result: r, Own: r, Keep: func(m *model.Model) { m.State = model.NewState(x.stepper.State()) }}, err
	}
}

// optionsOf returns the shared options with their defaults. It returns an error if the learner takes no shards or no
// mix and they are set.
func optionsOf(l *learner.Learner, s learner.Settings) (learner.Options, error) {
	opt, err := s.Shared().WithDefaults()
	switch {
	case err != nil:
		return opt, err
	case opt.Shards > 1 && l.Option("shards") == nil:
		return opt, fmt.Errorf("%s takes no shards: leave them out", l.Name)
	case opt.Mix != learner.Uniform && l.Option("mix") == nil:
		return opt, fmt.Errorf("%s mixes its shards in equal shares: leave the mix out", l.Name)
	}
	return opt, nil
}

// A learner is the state of a training, or of a shard in an epoch.
type training struct {
	of       *learner.Learner
	src      block.Source
	settings learner.Settings
	opt      learner.Options
	stepper  learner.Stepper
	scores   []float32
	r        *learner.Result
	done     int64 // number of finished epochs
	before   int64 // updates before the present epoch

	rows   *Rows   // nil if there are shards
	shards *Shards // nil if there is one shard
	member *member // nil if this isn't a shard
	since  int64   // visits of the member when its pass began or resumed

	start, reported time.Time
}

func newLearner(l *learner.Learner, src block.Source, s learner.Settings, opt learner.Options) (x *training, err error) {
	x = &training{of: l, src: src, settings: s, opt: opt, r: new(learner.Result), start: time.Now(), scores: make([]float32, src.Spec().Vectors())}
	x.stepper, err = l.Stepper(src.Spec(), s)
	return x, err
}

// train makes the remaining epochs and returns the result.
func (l *training) train(ctx context.Context) (*learner.Result, error) {
	if _, err := l.opt.Checkpoint.Load(l.state); err != nil {
		return nil, err
	}
	err := l.run(ctx)
	if err == nil || ctx.Err() != nil {
		l.mark()
	}
	if err != nil {
		if l.shards != nil {
			l.take(l.shards.Take())
		}
		if ctx.Err() == nil || l.r.Updates == 0 {
			return nil, err
		}
		l.r.Interrupted = true
		return l.learned(), err
	}
	r := l.learned()
	_, err = learner.EvaluateLoss(ctx, l.src, l.opt.Workers, r, l.of.RowLoss(l.settings))
	return r, err
}

// state saves or restores the state of the training. The position inside an epoch follows from the visits.
func (l *training) state(w *checkpoint.Walk) {
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
	if l.shards != nil {
		l.shards.State(w, l.done)
	}
}

func (l *training) mark() {
	visits := l.r.Visits
	if l.shards != nil {
		visits += l.shards.Visited()
	}
	l.opt.Checkpoint.Mark(l.done, visits, l.state)
}

// run makes the remaining epochs.
func (l *training) run(ctx context.Context) error {
	l.report(nil)
	defer l.report(nil)
	for l.done < l.opt.Epochs && !l.r.Converged {
		if l.r.Visits == l.done*l.src.Rows() {
			l.before = l.r.Updates
		}
		if err := l.epoch(ctx); err != nil {
			return err
		}
		l.done++
		l.r.Converged = l.r.Updates == l.before && l.opt.Order != learner.Random
		l.report(learner.SumOf(l.stepper.Weights()))
		if l.opt.Checkpoint.Due(l.done) {
			l.mark()
		}
	}
	return nil
}

// epoch makes the remaining visits of an epoch.
func (l *training) epoch(ctx context.Context) error {
	if l.shards == nil {
		return l.rows.Epoch(ctx, l.done, l.r.Visits-l.done*l.src.Rows(), l.visit)
	}
	parts, err := l.shards.Epoch(ctx, l.done, l.mark)
	if err == nil {
		l.take(parts)
	}
	return err
}

func (l *training) visit(b *block.Block, r int) error {
	if l.r.Visits%256 == 0 {
		if l.member != nil && l.r.Visits > l.since && l.member.due() {
			return ErrPause
		}
		if l.opt.Checkpoint.Due(l.done) {
			l.mark()
		}
	}
	if l.r.Visits++; l.r.Visits%4096 == 0 {
		l.mayReport()
	}
	if l.stepper.Step(l.scores, b, r, b.Y[r]) {
		l.r.Updates++
	}
	return nil
}

// mayReport reports the progress if the last report is older than 100 ms.
func (l *training) mayReport() {
	if l.member != nil {
		l.member.mayReport()
	} else if time.Since(l.reported) > 100*time.Millisecond {
		l.report(nil)
	}
}

func (l *training) report(sum func() [sha256.Size]byte) {
	if l.opt.Progress == nil {
		return
	}
	l.reported = time.Now()
	rows, visits, updates := l.src.Rows(), l.r.Visits, l.r.Updates
	if l.shards != nil {
		v, u := l.shards.Told()
		visits, updates = visits+v, updates+u
	}
	l.opt.Progress(learner.Progress{Epoch: visits / rows, Epochs: l.opt.Epochs, Visits: visits, Rows: rows, Updates: updates,
		Best: -1, Elapsed: time.Since(l.start), Sum: sum})
}

// learned completes the result, without the figures that need another pass over the rows.
func (l *training) learned() *learner.Result {
	cols, w := l.src.Spec().Cols(), l.stepper.Weights()
	for v := range slices.Chunk(w, kernel.Stride(cols)) {
		l.r.Weights = append(l.r.Weights, v[:cols]...)
	}
	l.r.Epochs = (l.r.Visits + l.src.Rows() - 1) / l.src.Rows()
	l.r.Seconds = time.Since(l.start).Seconds()
	return l.r
}
