package svm

import (
	"context"

	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/train/internal/dualdescent"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// learnJoint is Train for more than two classes, which it trains together.
func learnJoint(ctx context.Context, src block.Source, opt Settings) (*Result, error) {
	if why := opt.versusOptions(); why != "" {
		return nil, message.Errorf("more than two classes are learned together by the --loss hinge without --l1 and " +
			"--nonnegative: choose these, or use --multiclass ovr")
	}
	task := jointTask(src, opt)
	var passes, visits int64 // without the pass that measures the result
	l, err := task.Learn(ctx, func(ctx context.Context) (*optimize.Solution, error) {
		s, err := dualdescent.CrammerSinger(ctx, task, opt.Seed)
		passes, visits = s.Passes, s.Visits
		return s, err
	}, nil)
	if l == nil {
		return nil, err
	}
	l.Epochs, l.Visits = passes, visits
	r := resultOf(l)
	if err != nil {
		return r, err
	}
	return r, learner.Evaluate(ctx, src, opt.Workers, &r.Result)
}

func jointTask(src block.Source, opt Settings) *optimize.Task {
	task := &optimize.Task{Penalty: opt.penalty(), Options: opt.Shared(), Rows: src}
	task.Sums = func(ctx context.Context, all [][]float64) ([]float64, error) {
		return dualdescent.CrammerSingerLosses(ctx, src, opt.Workers, all)
	}
	return task
}

// versusOptions returns the options with which each of more than two classes is trained versus the rest, or "" if there
// are none.
func (o *Settings) versusOptions() string {
	switch {
	case o.needsElastic():
		return message.Sprintf("--l1 or --nonnegative")
	case o.Loss != Hinge:
		return message.Sprintf("--loss %s", SquaredHinge)
	}
	return ""
}
