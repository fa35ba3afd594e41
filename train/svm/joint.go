package svm

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// jointEpochs is the default limit of passes over rows of more than two classes. For most data, most passes visit few
// rows.
const jointEpochs = 10_000

// learnJoint is Train for more than two classes, which it trains together.
func learnJoint(ctx context.Context, src block.Source, opt Settings) (*Result, error) {
	if why := opt.apart(); why != "" {
		return nil, errors.New("more than two classes are learned together by the loss hinge without l1 and nonnegative: choose these, or learn one class versus the rest")
	}
	after, end := parallel.Grace(ctx)
	defer end()
	start := time.Now()
	task := joint{Options: learner.Shared(&opt), Rows: src, L2: opt.L2}
	s, err := task.Solve(ctx)
	if err != nil && (ctx.Err() == nil || s.Steps == 0) {
		return nil, err
	}
	r := &Result{Exact: slices.Clone(s.W)}
	r.Epochs, r.Visits, r.Updates, r.Seconds, r.Interrupted = s.Passes, s.Visits, s.Steps, (opt.Checkpoint.Before() + time.Since(start)).Seconds(), err != nil
	for i, v := range s.W {
		r.Weights = append(r.Weights, float32(v))
		s.W[i] = float64(r.Weights[i])
	}
	if r.Interrupted {
		ctx = after
	}
	var late error
	if r.Loss, late = task.Value(ctx, s.W); late != nil {
		if !r.Interrupted {
			return nil, late
		}
		r.Uncounted = true
	}
	square, cols := 0.0, src.Spec().Cols()
	for w := range slices.Chunk(s.W, cols) {
		w = w[:src.Spec().Width()]
		square += f64.Dot(w, w)
	}
	r.Objective = r.Loss + float64(opt.L2/2*square)
	r.Gap = max(0, r.Objective-s.Lower)
	r.Converged = r.Gap <= tolerance*r.Objective
	r.Rounded = !r.Converged && s.Gap() <= tolerance*s.Objective
	if r.Interrupted {
		r.Gap, r.Converged, r.Rounded = math.Inf(1), false, false
		return r, err
	}
	return r, learner.Evaluate(ctx, src, opt.Workers, &r.Result)
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
