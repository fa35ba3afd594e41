package linalg

import (
	"context"
	"math"

	"halfspace/kernel/f64"
)

// A Factor is the Cholesky factor L of a symmetric matrix A, scaled to a diagonal of ones: S A S = L L' with S =
// diag(scale). It solves equations with A. Rows and columns of A that are left out are rows and columns of the identity
// in L. Solutions are 0 there.
type Factor struct {
	n       int
	l       []float64 // rows of L: row i begins at i(i+1)/2
	scale   []float64
	leftOut []bool // marks the rows and columns that are left out; nil: none
}

// ridges are the values that Factorise tries to add to the diagonal of ones. They are small, so that refinement or
// another Newton step corrects the digits that they change.
var ridges = []float64{0, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1}

// Factorise returns the factor of an n x n matrix that is positive semi-definite up to rounding. a is its lower
// triangle in rows: row i begins at element i(i+1)/2. If the matrix is singular (a pivot of the scaled matrix is below
// n 2^-44), Factorise adds a ridge to the scaled diagonal: the least of 1e-10, 1e-8, ..., 1 that makes the matrix
// regular. It returns the ridge, and a nil factor if an element isn't finite. Its only error is ctx's.
func Factorise(ctx context.Context, a []float64, n int) (f *Factor, ridge float64, err error) {
	return FactoriseWithout(ctx, a, n, nil)
}

// FactoriseWithout is Factorise for the matrix without the rows and columns that out marks.
func FactoriseWithout(ctx context.Context, a []float64, n int, out []bool) (f *Factor, ridge float64, err error) {
	f = &Factor{n, make([]float64, n*(n+1)/2), make([]float64, n), out}
	for i := range f.scale {
		f.scale[i] = 1
		if d := a[i*(i+1)/2+i]; d > 0 {
			f.scale[i] = 1 / math.Sqrt(d)
		}
	}
	for _, v := range a[:len(f.l)] {
		if v-v != 0 {
			return nil, 0, nil
		}
	}
	for _, ridge := range ridges {
		if regular, err := f.factorise(ctx, a, ridge); err != nil {
			return nil, 0, err
		} else if regular {
			return f, ridge, nil
		}
	}
	return nil, 0, nil
}

// factorise computes L row by row (Cholesky-Banachiewicz). It tells whether all pivots are large enough.
func (f *Factor) factorise(ctx context.Context, a []float64, ridge float64) (regular bool, err error) {
	for i := range f.n {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		row := f.row(i)
		if f.isLeftOut(i) {
			clear(row)
			row[i] = 1
			continue
		}
		for j := range i {
			if f.isLeftOut(j) {
				row[j] = 0
				continue
			}
			v := float64(float64(a[i*(i+1)/2+j]*f.scale[i]) * f.scale[j])
			other := f.row(j)
			row[j] = (v - f64.Dot(row[:j], other[:j])) / other[j]
		}
		pivot := ridge - f64.Dot(row[:i], row[:i])
		if a[i*(i+1)/2+i] > 0 {
			pivot++
		}
		if !(pivot > float64(f.n)/(1<<44)) {
			return false, nil
		}
		row[i] = math.Sqrt(pivot)
	}
	return true, nil
}

func (f *Factor) row(i int) []float64 { return f.l[i*(i+1)/2:][:i+1] }

// Size returns the number of rows of A.
func (f *Factor) Size() int { return f.n }

// isLeftOut tells whether row and column i are left out.
func (f *Factor) isLeftOut(i int) bool { return f.leftOut != nil && f.leftOut[i] }

// Divided returns the factor of A divided by a number above 0.
func (f *Factor) Divided(by float64) *Factor {
	d := &Factor{f.n, f.l, make([]float64, f.n), f.leftOut}
	for i, s := range f.scale {
		d.scale[i] = s * math.Sqrt(by)
	}
	return d
}

// Solve returns x with A x = b.
func (f *Factor) Solve(b []float64) []float64 {
	x := f.Whiten(b)
	f.Unwhiten(x)
	return x
}

// Whiten returns L^-1 S b. It turns the gradient b of a function with the Hessian A into the gradient in variables in
// which the Hessian is the identity.
func (f *Factor) Whiten(b []float64) []float64 {
	x := make([]float64, f.n)
	for i := range x {
		if !f.isLeftOut(i) {
			row := f.row(i)
			x[i] = (float64(b[i]*f.scale[i]) - f64.Dot(row[:i], x[:i])) / row[i]
		}
	}
	return x
}

// Unwhiten sets x to S L'^-1 x. It turns the variables of Whiten into the original variables.
func (f *Factor) Unwhiten(x []float64) {
	for i := f.n - 1; i >= 0; i-- { // the columns of L' are the rows of L
		row := f.row(i)
		x[i] /= row[i]
		f64.Axpy(x[:i], -x[i], row[:i])
	}
	for i, s := range f.scale {
		if x[i] *= s; f.isLeftOut(i) {
			x[i] = 0
		}
	}
}

// InverseDiagonal returns the diagonal of A's inverse: the squared norms of the columns of L's inverse. It is 0 for
// rows that were left out. Its only error is ctx's.
func (f *Factor) InverseDiagonal(ctx context.Context) ([]float64, error) {
	d, x := make([]float64, f.n), make([]float64, f.n)
	for j := range d {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.isLeftOut(j) {
			continue
		}
		clear(x)
		for i := j; i < f.n; i++ {
			row, unit := f.row(i), 0.0
			if i == j {
				unit = 1
			}
			x[i] = (unit - f64.Dot(row[j:i], x[j:i])) / row[i]
		}
		d[j] = float64(float64(f64.Dot(x[j:], x[j:])*f.scale[j]) * f.scale[j])
	}
	return d, nil
}
