package svm

import (
	"context"
	"errors"

	"halfspace/block"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// learnJoint is Train for more than two classes, which it trains together.
func learnJoint(ctx context.Context, src block.Source, opt Settings) (*Result, error) {
	if why := opt.apart(); why != "" {
		return nil, errors.New("more than two classes are learned together by the loss hinge without l1 and nonnegative: choose these, or learn one class versus the rest")
	}
	task := jointTask(src, opt)
	var passes, visits int64 // without the pass that measures the result
	l, err := task.Learn(ctx, func(ctx context.Context) (*optimize.Solution, error) {
		s, err := solveJoint(ctx, task, opt.Seed)
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

// jointTask returns the task for rows of more than two classes.
func jointTask(src block.Source, opt Settings) *optimize.Task {
	task := &optimize.Task{Penalty: opt.penalty(), Options: learner.Shared(&opt), Rows: src}
	task.Sums = func(ctx context.Context, all [][]float64) ([]float64, error) {
		losses := make([]float64, len(all))
		for i, w := range all {
			var err error
			if losses[i], err = jointLoss(ctx, src, opt.Workers, w); err != nil {
				return nil, err
			}
		}
		return losses, nil
	}
	return task
}

// apart returns the options with which each of more than two classes is trained versus the rest, or "" if there are
// none.
func (o *Settings) apart() string {
	switch {
	case o.elastic():
		return "a penalty l1 or nonnegative weights"
	case o.Loss != Hinge:
		return "the loss " + string(SquaredHinge)
	}
	return ""
}
