package linalg

import (
	"context"
	"math"

	"halfspace/kernel/f64"
)

// A RankFactor is the factor of a singular matrix A, scaled to a diagonal of ones: S A S = Q R R' Q' with S = diag(scale).
// The columns of Q are an orthonormal basis of the range of S A S, and R is upper triangular.
type RankFactor struct {
	scale []float64
	q     [][]float64 // columns of Q
	r     [][]float64 // columns of R, down to the diagonal
	ridge float64
}

// FactoriseRank returns the factor of an n x n matrix that is positive semi-definite up to rounding. a is its lower
// triangle in rows, as in Factorise. FactoriseRank finds the range by a Cholesky factorisation that takes the largest
// pivot next and ends at pivots up to ridge (Higham, "Accuracy and Stability of Numerical Algorithms", section 10.3). Its
// only error is ctx's.
func FactoriseRank(ctx context.Context, a []float64, n int, ridge float64) (*RankFactor, error) {
	f := &RankFactor{scale: make([]float64, n), ridge: ridge}
	pivots := make([]float64, n) // diagonal of the matrix minus L L'; 0 for rows that were taken
	for i := range n {
		f.scale[i] = 1
		if d := a[i*(i+1)/2+i]; d > 0 {
			f.scale[i], pivots[i] = 1/math.Sqrt(d), 1
		}
	}
	var l [][]float64 // columns of the Cholesky factor
	var taken []int
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := 0
		for i, v := range pivots {
			if v > pivots[p] {
				p = i
			}
		}
		if n == 0 || !(pivots[p] > ridge) {
			return f, nil
		}
		column := make([]float64, n)
		for i := range column {
			lo, hi := min(i, p), max(i, p)
			column[i] = float64(a[hi*(hi+1)/2+lo]*f.scale[i]) * f.scale[p]
		}
		for _, other := range l {
			f64.Axpy(column, -other[p], other)
		}
		root := math.Sqrt(pivots[p])
		for i := range column {
			column[i] /= root
		}
		column[p] = root
		for _, i := range taken {
			column[i] = 0
		}
		l, taken = append(l, column), append(taken, p)
		for i, v := range column {
			pivots[i] -= float64(v * v)
		}
		for _, i := range taken {
			pivots[i] = 0
		}
		f.orthogonalise(column)
	}
}

// orthogonalise adds the next column of the Cholesky factor to Q R, by Gram and Schmidt's method.
func (f *RankFactor) orthogonalise(column []float64) {
	v := append([]float64(nil), column...)
	r := append(f.project(v), 0)
	k := len(f.q)
	r[k] = math.Sqrt(f64.Dot(v, v))
	for i := range v {
		v[i] /= r[k]
	}
	f.q, f.r = append(f.q, v), append(f.r, r)
}

// project subtracts from v its projection on the range, and returns the coordinates of the projection. It projects twice,
// because rounding leaves a part of the projection in v (Giraud, Langou and Rozloznik, "The loss of orthogonality in the
// Gram-Schmidt orthogonalization process", 2005).
func (f *RankFactor) project(v []float64) []float64 {
	coordinates := make([]float64, len(f.q))
	for range 2 {
		for k, q := range f.q {
			c := f64.Dot(q, v)
			f64.Axpy(v, -c, q)
			coordinates[k] += c
		}
	}
	return coordinates
}

// Solve returns x with (S A S + ridge P) S^-1 x = S b, where P is the projection on the space without variance, which is
// orthogonal to the range. If the part of S b in that space is at most ridge times as long as S b, it counts as
// rounding, and x has no part there.
func (f *RankFactor) Solve(b []float64) []float64 {
	rest := make([]float64, len(b))
	for i, v := range b {
		rest[i] = v * f.scale[i]
	}
	least := f.ridge * math.Sqrt(f64.Dot(rest, rest))
	y := f.project(rest)
	for k := len(y) - 1; k >= 0; k-- { // R u = y
		y[k] /= f.r[k][k]
		f64.Axpy(y[:k], -y[k], f.r[k][:k])
	}
	for k := range y { // R' z = u
		y[k] = (y[k] - f64.Dot(f.r[k][:k], y[:k])) / f.r[k][k]
	}
	x := make([]float64, len(b))
	if math.Sqrt(f64.Dot(rest, rest)) > least {
		f64.Axpy(x, 1/f.ridge, rest)
	}
	for k, q := range f.q {
		f64.Axpy(x, y[k], q)
	}
	for i, s := range f.scale {
		x[i] *= s
	}
	return x
}
