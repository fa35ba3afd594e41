package train

import (
	"context"
	"fmt"
	"math"

	"halfspace/block"
	"halfspace/kernel"
)

// Evaluate sets the errors, the radius, the norm and the margin of a result, by the weights that it holds, in one pass over rows
// with labels -1 and +1. It is an error if a score overflows: then nothing that was learned can be trusted.
func Evaluate[T kernel.Float](ctx context.Context, src block.Source[T], workers int, r *Result[T]) error {
	w := block.Alloc[T](kernel.Stride[T](src.Spec().Cols()))
	copy(w, r.Weights)
	type sums struct {
		errors         int64
		square, margin float64
		bad            bool
	}
	part := func(run block.Run[T]) (s sums) {
		s.margin = math.Inf(1)
		var buf [block.RunRows]T
		scores := buf[:run.Len()]
		run.Scores(w, scores)
		for i, score := range scores {
			if (score > 0) != (run.Y[i] > 0) {
				s.errors++
			}
			s.bad = s.bad || score-score != 0
			s.margin = min(s.margin, float64(run.Y[i])*float64(score))
		}
		s.square = run.MaxSquaredNorm()
		return s
	}
	square, margin, bad := 0.0, math.Inf(1), false
	err := block.ReduceRuns(ctx, src, workers, part, func(s sums) {
		r.Errors += s.errors
		square, margin, bad = max(square, s.square), min(margin, s.margin), bad || s.bad
	})
	if err != nil {
		return err
	}
	r.Radius, r.Norm = math.Sqrt(square), Norm(r.Weights)
	if margin > 0 {
		r.Margin = margin / r.Norm
	}
	if sum := r.Norm + r.Radius; bad || sum-sum != 0 {
		return TooLarge[T]()
	}
	return nil
}

// Norm returns the Euclidean norm of weights, their squares summed up in order.
func Norm[T kernel.Float](w []T) float64 {
	square := 0.0
	for _, v := range w {
		square = math.FMA(float64(v), float64(v), square)
	}
	return math.Sqrt(square)
}

// TooLarge is the error of features with which the arithmetic of T overflows.
func TooLarge[T kernel.Float]() error {
	return fmt.Errorf("the features are too large for %T arithmetic: scale them down", T(0))
}
