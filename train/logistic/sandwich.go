package logistic

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

// sandwich returns stdErrors, or the robust standard errors if opt.Robust is set, since sample weights aren't counts.
// The robust ones are the roots of the diagonal of H^-1 B H^-1. B is the sum of s_i^2 x_i x_i' over rows with sample
// weight k_i and s_i = k_i (p_i - (y_i+1)/2). Without a penalty, multiplying all sample weights by a number doesn't
// change them.
//
// References: Huber, "The behavior of maximum likelihood estimates under nonstandard conditions", 1967; White, "Maximum
// likelihood estimation of misspecified models", Econometrica 50, 1982.
func (s *solver[T]) sandwich(ctx context.Context) ([]float64, error) {
	errors, err := s.stdErrors(ctx)
	if errors == nil || !s.opt.Robust {
		return errors, err
	}
	b, err := gram.NewSymmetric[float64](s.cols, gram.Packed)
	if err != nil {
		return nil, err
	}
	if err := train.ScatterAs(ctx, b, s.src, s.opt.Workers, sandwichPass, s.w, s.squaresAt(s.w), func(struct{}) {}); err != nil {
		return nil, err
	}
	c, product := make([]float64, s.cols), make([]float64, s.cols)
	for i := range errors {
		clear(c)
		if i == s.cols-1 && s.pivots != nil { // the bias is less by the dot product of the others and the pivots
			kernel.Axpy(c[:len(s.pivots)], -1, s.pivots)
		}
		c[i] = 1
		x := s.factor.Solve(c)
		if err := b.MulVec(ctx, product, x, s.opt.Workers); err != nil {
			return nil, err
		}
		if errors[i] = math.Sqrt(kernel.Dot(x, product)); !(errors[i] > 0) { // no row changes this weight
			return nil, nil
		}
	}
	return errors, nil
}

// sandwichPass is the pass of sandwich.
var sandwichPass = train.NewScatterTask("logistic.sandwich", sandwichRun[float32], sandwichRun[float64])

func sandwichRun[T kernel.Float](src block.Source[T], w []float64) func(run block.Run[T], squares, _ []float64) struct{} {
	return newProblem(src, 0, 1).squaresAt(w)
}

func (s *problem[T]) squaresAt(w []float64) func(run block.Run[T], squares, _ []float64) struct{} {
	return func(run block.Run[T], squares, _ []float64) struct{} {
		s.squares(run, w, squares)
		return struct{}{}
	}
}

// squares sets out to the squares of the rows' factors in the gradient at w.
func (s *problem[T]) squares(run block.Run[T], w, out []float64) {
	c := s.scratch.Get().(*scratch[T])
	defer s.scratch.Put(c)
	unused := sums{margin: math.Inf(1)}
	for lo := 0; lo < run.Len(); lo += dense.PanelRows {
		hi := min(run.Len(), lo+dense.PanelRows)
		s.panel(c, run.Slice(lo, hi), w, c.s[lo:hi], &unused)
		for i, f := range c.factors[:hi-lo] {
			out[lo+i] = float64(f * f)
		}
	}
	s.take(c, s.zeros())
}
