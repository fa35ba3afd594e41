package linalg

import (
	"context"

	"halfspace/kernel/f64"
)

// A Damping is a multiple of a Hessian's diagonal, to be added to the Hessian. It shortens Newton steps on which the
// Hessian changes (Levenberg 1944; Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear Parameters",
// Journal of the SIAM 11, 1963). It begins as 0, which adds nothing.
type Damping float64

const (
	dampingGrowth = 8    // a failed step multiplies the damping by this
	leastDamping  = 1e-3 // the least damping above 0
)

// Step returns the step against the gradient, given the factor f of the Hessian. gain is the gain of the step on a
// quadratic function with this Hessian. Its only error is ctx's.
func (d Damping) Step(ctx context.Context, f *Factor, gradient []float64) (step []float64, gain float64, err error) {
	by := f
	if d > 0 {
		if by, err = f.dampedFactor(ctx, float64(d)); err != nil {
			return nil, 0, err
		}
	}
	step = by.Solve(gradient)
	return step, (f64.Dot(gradient[:f.n], step) + float64(float64(d)*f.curvature(step))) / 2, nil
}

// Fail increases the damping after a step on which the objective rose.
func (d *Damping) Fail() { *d = max(leastDamping, dampingGrowth**d) }

// Gain changes the damping after a step. part is the gain of the step divided by its predicted gain.
func (d *Damping) Gain(part float64) {
	switch {
	case part < 0.1:
		*d = max(leastDamping, dampingGrowth/2**d)
	case part > 0.3:
		if *d /= dampingGrowth; *d < leastDamping {
			*d = 0
		}
	}
}

// dampedFactor returns the factor of the matrix with by added to its diagonal of ones and to its ridge. by is above 0.
// It computes the matrix from its factor.
func (f *Factor) dampedFactor(ctx context.Context, by float64) (*Factor, error) {
	a, ridge := make([]float64, len(f.l)), 0.0
	d := &Factor{f.n, make([]float64, len(f.l)), make([]float64, f.n), f.leftOut}
	for i := range f.n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.scale[i] = 1
		for j := range i + 1 {
			a[i*(i+1)/2+j] = f64.Dot(f.row(i)[:j+1], f.row(j))
		}
		ridge = max(ridge, a[i*(i+1)/2+i]-1)
	}
	_, err := d.factorise(ctx, a, by+ridge) // the pivots are larger than f's
	copy(d.scale, f.scale)
	return d, err
}

// curvature returns x'Dx, where D is the diagonal of the matrix.
func (f *Factor) curvature(x []float64) (sum float64) {
	for i, v := range x {
		u := v / f.scale[i]
		sum += float64(u * u)
	}
	return sum
}
