package logistic

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/beside"
	"halfspace/kernel"
	"halfspace/train"
	"halfspace/train/truncated"
)

// wide tells whether there are too many columns for a Hessian.
func wide(cols int) bool { return cols > maxColumns }

// learnTruncated is learn by Truncated.
func learnTruncated[T, S kernel.Float](ctx context.Context, src block.Source[S], pivots []float64, opt Options) (*Result[T], error) {
	start := time.Now()
	after, end := beside.After(ctx)
	defer end()
	task := truncated.Task[S]{Options: opt.Options, Rows: src, L2: opt.L2, Loss: kernel.Logistic}
	s, err := task.Solve(ctx)
	if err != nil && (ctx.Err() == nil || s.Steps == 0) {
		return nil, err
	}
	if err == nil && s.Weight == 0 {
		return nil, errWeightless
	}
	r := &Result[T]{Solver: Truncated, Exact: slices.Clone(s.W)}
	r.Updates, r.Seconds, r.Interrupted = s.Steps, (opt.Checkpoint.Before() + time.Since(start)).Seconds(), err != nil
	if r.Interrupted {
		ctx = after
	}
	train.RoundCentred[T](s.W, pivots)
	lower, late := s.Objective-s.Gap, error(nil)
	if r.Loss, late = task.Value(ctx, s.W); late != nil {
		if !r.Interrupted {
			return nil, late
		}
		r.Uncounted = true
	}
	w := s.W[:src.Spec().Width()]
	r.Objective = r.Loss + float64(opt.L2/2*kernel.Dot(w, w))
	r.Epochs = s.Passes + 1
	r.Visits = r.Epochs * src.Rows()
	r.Gap = max(0, r.Objective-lower)
	r.Converged = r.Gap <= converges*r.Objective
	r.Rounded = !r.Converged && s.Gap <= converges*s.Objective
	if r.Interrupted {
		r.Gap, r.Converged, r.Rounded = math.Inf(1), false, false
	}
	if pivots != nil {
		train.Uncentre(r.Exact, pivots)
	}
	for _, v := range r.Exact {
		r.Weights = append(r.Weights, T(v))
	}
	return r, err
}
