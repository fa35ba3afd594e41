package online

import (
	"context"
	"time"

	"halfspace/internal/block"
	"halfspace/train/learner"
)

// Train trains l, whose algorithm must be a RuleMaker, on all rows of src with the settings s. The result doesn't depend
// on the workers. Errors: options out of range, no rows, weights that overflow, errors of src, and ctx's error.
func Train(ctx context.Context, l *learner.Learner, src block.Source, s learner.Settings) (*learner.Result, error) {
	return TrainValidated(ctx, l, src, nil, s)
}

// TrainValidated is Train with rows to validate on.
func TrainValidated(ctx context.Context, l *learner.Learner, src, validation block.Source, s learner.Settings) (*learner.Result, error) {
	learned, err := l.Train(ctx, &learner.Task{Rows: src, Validation: validation, Settings: s})
	if learned == nil {
		return nil, err
	}
	return learned.Result, err
}

// Learn is the training of l, whose algorithm must be a RuleMaker. It makes up to Epochs epochs in the order Order.
//
// With more than one shard, each shard has its own rule in an epoch. All rules begin with the same weights and vectors.
// After the epoch, their weights and vectors are mixed.
func Learn(ctx context.Context, l *learner.Learner, task *learner.Task) (*learner.TaskResult, error) {
	t := &Training{Learner: l}
	if err := t.begin(ctx, task); err != nil {
		return nil, err
	}
	r, err := t.train(ctx)
	if r == nil {
		return nil, err
	}
	if rule, is := t.Rule.(Owner); is {
		return rule.OwnResult(r), err
	}
	return &learner.TaskResult{Result: r, OwnResult: r}, err
}

// New returns a training on the rows of src, which must come from block.Validate, for Run. The caller sets the rule.
func New(src block.Source, opt learner.Options) *Training {
	return &Training{Src: src, Opt: opt, Rows: src.Rows(), startTime: time.Now()}
}

// begin checks the shared options and the rows, and makes the rule and the shards.
func (t *Training) begin(ctx context.Context, task *learner.Task) (err error) {
	own := *task
	own.Settings = task.Settings.Copy()
	if t.Src, err = t.Learner.Begin(ctx, own.Rows, own.Settings); err != nil {
		return err
	}
	t.Task, t.Opt = &own, own.Settings.Shared()
	if err := t.makeRule(ctx); err != nil || t.Opt.Shards < 2 {
		return err
	}
	return t.makeShards()
}

// train makes the remaining epochs and returns the result. If ctx ends the training after one update or more, it
// returns the weights so far together with the error.
func (t *Training) train(ctx context.Context) (*learner.Result, error) {
	err := t.Run(ctx)
	if err == nil {
		err = t.each(ctx, Judge.AfterTraining)
	}
	if err == nil {
		r := t.ResultSoFar()
		if err = t.evaluate(ctx, r); err == nil {
			return r, nil
		}
	}
	if t.shards != nil {
		t.mixShards(t.shards.TakeResults())
	}
	if ctx.Err() == nil || t.Updates == 0 {
		return nil, err
	}
	r := t.ResultSoFar()
	r.Interrupted = true
	return r, err
}

// Run makes the epochs that follow the state of the checkpoint.
func (t *Training) Run(ctx context.Context) error {
	if _, err := t.Opt.Checkpoint.Load(t.state); err != nil {
		return err
	}
	err := t.run(ctx)
	switch {
	case err == nil || err == ErrStop:
		t.epochsDone, err = true, nil
		t.mark() // no weights change after it
	case ctx.Err() != nil:
		t.mark()
	}
	return err
}

// run makes the remaining epochs. It returns ErrStop if the training ends before the last epoch.
func (t *Training) run(ctx context.Context) error {
	t.report(nil)
	defer t.report(nil)
	epoch := t.shardsEpoch
	if t.shards == nil {
		pass, err := t.newPass()
		if err != nil {
			return err
		}
		epoch = func(ctx context.Context) error { return t.visitAll(ctx, pass, t.Epoch) }
	}
	for err := t.resume(ctx); ; err = nil {
		if err != nil || t.Epoch >= t.Opt.Epochs {
			return err
		}
		if err = epoch(ctx); err == nil {
			err = t.each(ctx, Judge.AfterEpoch)
		}
		if err == nil || err == ErrStop && t.ReportsLastSum {
			t.report(t.sum())
		}
		if err != nil {
			return err
		}
		t.Epoch++
		t.visitsInEpoch, t.updatesBefore = 0, t.Updates
		if t.Opt.Checkpoint.Due(t.Epoch) {
			t.mark()
		}
	}
}
