package logistic

import (
	"context"
	"math"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/kernel/f64"
)

// stdErrors returns the standard errors of the weights for the original rows, or nil if there are none. The standard
// error of a column that was left out is 0.
func (p *problem) stdErrors(ctx context.Context, v *verdict) ([]float64, error) {
	if v.ridge > 0 || p.l2 == 0 && !v.optimumExists {
		return nil, nil
	}
	d, err := v.factor.InverseDiagonal(ctx)
	if err != nil {
		return nil, err
	}
	// The bias for the original rows is the bias minus the dot product of the pivots and the other weights.
	if p.pivots != nil {
		c := make([]float64, p.cols)
		f64.Axpy(c[:len(p.pivots)], -1, p.pivots)
		c[p.cols-1] = 1
		d[p.cols-1] = f64.Dot(c, v.factor.Solve(c))
	}
	for i, square := range d {
		d[i] = math.Sqrt(square)
	}
	return d, nil
}

// standardErrors returns stdErrors. If robust is set, it returns standard errors for sample weights that aren't counts, at
// the exact weights w: the square roots of the diagonal of H^-1 B H^-1. B is the sum of s_i^2 x_i x_i' over rows with
// sample weight k_i and s_i = k_i (p_i - (y_i+1)/2). Without a penalty, multiplying all sample weights by a number doesn't
// change the standard errors.
//
// References: Huber, "The behavior of maximum likelihood estimates under nonstandard conditions", 1967; White, "Maximum
// likelihood estimation of misspecified models", Econometrica 50, 1982.
func (p *problem) standardErrors(ctx context.Context, v *verdict, w []float64, robust bool) ([]float64, error) {
	errors, err := p.stdErrors(ctx, v)
	if errors == nil || !robust || err != nil {
		return errors, err
	}
	b, err := gram.NewTriangle(p.cols)
	if err != nil {
		return nil, err
	}
	if err := sandwichPass.Reduce(ctx, b, p.src, p.workers, p.spread(w), func(struct{}) {}); err != nil {
		return nil, err
	}
	c, product := make([]float64, p.cols), make([]float64, p.cols)
	for i := range errors {
		if p.staysZero != nil && p.staysZero[i] {
			continue
		}
		clear(c)
		// The bias for the original rows is the bias minus the dot product of the pivots and the other weights.
		if i == p.cols-1 && p.pivots != nil {
			f64.Axpy(c[:len(p.pivots)], -1, p.pivots)
		}
		c[i] = 1
		x := v.factor.Solve(c)
		b.MulVec(product, x)
		if errors[i] = math.Sqrt(f64.Dot(x, product)); !(errors[i] > 0) { // no row changes this weight
			return nil, nil
		}
	}
	return errors, nil
}

var sandwichPass = newScatter("logistic.sandwich", (*problem).squaresAt)

// squaresAt returns the function that sets squares to the squares of a chunk's factors in the gradient at w.
func (p *problem) squaresAt(w []float64) func(chunk block.Chunk, squares, _ []float64) struct{} {
	return func(chunk block.Chunk, squares, _ []float64) struct{} {
		p.panels(chunk, func(c *scratch, lo int, rows *block.Block) {
			p.losses(c, rows, w, c.s[:rows.Len()], &sums{})
			for i, f := range c.factors[:rows.Len()] {
				squares[lo+i] = float64(f * f)
			}
		})
		return struct{}{}
	}
}
