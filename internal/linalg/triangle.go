package linalg

import (
	"context"
	"math"

	"halfspace/kernel/f64"
)

// MostTriangle is the largest number of columns n for which trainings compute a Triangle. A pass takes 4 n^2 operations
// a row.
const MostTriangle = 1024

// triangleRows is the number of rows that a Triangle takes at a time.
const triangleRows = 256

// A Triangle is the upper triangular factor R of the QR factorisation of rows, X = Q R. R'R is X'X, but R keeps the
// digits that X'X loses: R's relative error grows with the condition number of X, and the error of X'X with its square.
// Rows are added by Householder reflections. The row with the largest element leads each reflection, so rows of very
// different sizes keep their digits (Cox and Higham, "Stability of Householder QR factorization for weighted least
// squares problems", 1998). A Triangle isn't safe for concurrent use.
type Triangle struct {
	n      int
	r      []float64   // row i begins at i*n; elements left of the diagonal are 0
	buffer [][]float64 // the columns of rows that aren't part of r yet
	rows   int         // number of rows in buffer
}

// NewTriangle returns the triangle of n columns without rows.
func NewTriangle(n int) *Triangle {
	t := &Triangle{n: n, r: make([]float64, n*n), buffer: make([][]float64, n)}
	for i := range t.buffer {
		t.buffer[i] = make([]float64, triangleRows)
	}
	return t
}

// Next returns the number of the next row in the buffer. Its elements are 0, and the caller sets them by Set.
func (t *Triangle) Next() (row int) {
	if t.rows == triangleRows {
		t.Flush()
	}
	t.rows++
	return t.rows - 1
}

// Set sets an element of the row that Next returned last.
func (t *Triangle) Set(row, column int, v float64) { t.buffer[column][row] = v }

// Elements flushes and returns R in rows. Elements left of the diagonal are 0.
func (t *Triangle) Elements() []float64 {
	t.Flush()
	return t.r
}

// Merge adds the rows of r, the R of other rows.
func (t *Triangle) Merge(r []float64) {
	t.Flush()
	for i := range t.n {
		row := t.Next()
		for j := i; j < t.n; j++ {
			t.Set(row, j, r[i*t.n+j])
		}
	}
	t.Flush()
}

// Flush makes the buffered rows part of R.
func (t *Triangle) Flush() {
	for k := range t.n {
		t.reflect(k)
	}
	for _, column := range t.buffer {
		clear(column[:t.rows])
	}
	t.rows = 0
}

// reflect zeros column k of the buffered rows by a Householder reflection.
func (t *Triangle) reflect(k int) {
	v, row := t.buffer[k][:t.rows], t.r[k*t.n:][:t.n]
	lead, most := -1, math.Abs(row[k])
	for i, x := range v {
		if size := math.Abs(x); size > most {
			lead, most = i, size
		}
	}
	if lead >= 0 {
		for j := k; j < t.n; j++ {
			row[j], t.buffer[j][lead] = t.buffer[j][lead], row[j]
		}
	}
	if most == 0 {
		return
	}
	alpha := row[k]
	for i := range v {
		v[i] /= alpha
	}
	tail := f64.Dot(v, v)
	if tail == 0 {
		return
	}
	norm := math.Sqrt(1 + tail) // norm of the column, in units of alpha
	head := 1 + norm
	beta := head / norm
	for i := range v {
		v[i] /= head
	}
	row[k] = -float64(alpha * norm)
	for j := k + 1; j < t.n; j++ {
		column := t.buffer[j][:t.rows]
		by := float64(beta * (row[j] + f64.Dot(v, column)))
		row[j] -= by
		f64.Axpy(column, -by, v)
	}
}

// FactorTriangle returns the factor of R'R without the rows and columns that out marks. r is R in rows; FactorTriangle
// doesn't change it. If R is singular up to rounding, FactorTriangle adds a small ridge to the scaled diagonal of R'R,
// and returns the ridge. It returns a nil factor if an element isn't finite. Its only error is ctx's.
func FactorTriangle(ctx context.Context, r []float64, n int, out []bool) (f *Factor, ridge float64, err error) {
	f = &Factor{n: n, l: make([]float64, n*(n+1)/2), scale: make([]float64, n), leftOut: out}
	t := NewTriangle(n)
	for i := range n {
		square := 0.0
		for k := range i + 1 {
			square = math.FMA(r[k*n+i], r[k*n+i], square)
		}
		if f.scale[i] = 1; square-square != 0 {
			return nil, 0, nil
		} else if square > 0 {
			f.scale[i] = 1 / math.Sqrt(square)
		}
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		row := t.Next()
		for j := i; j < n; j++ {
			if !f.isLeftOut(j) {
				t.Set(row, j, float64(r[i*n+j]*f.scale[j]))
			}
		}
	}
	t.Flush()
	least := float64(n) / (1 << 48)
	for i := range n {
		if !f.isLeftOut(i) && !(math.Abs(t.r[i*n+i]) > least) {
			ridge = least * least
		}
	}
	if ridge > 0 {
		for i := range n {
			if !f.isLeftOut(i) {
				t.Set(t.Next(), i, 4*least)
			}
		}
		t.Flush()
	}
	for i := range n {
		sign := math.Copysign(1, t.r[i*n+i])
		if f.isLeftOut(i) {
			f.l[i*(i+1)/2+i] = 1
			continue
		}
		for j := i; j < n; j++ {
			f.l[j*(j+1)/2+i] = float64(sign * t.r[i*n+j])
		}
	}
	return f, ridge, nil
}

// blurredPivot is a bound on the pivots of a scaled matrix, divided by its number of rows. Below it, rounding errors of
// X'X change the factor by more than a thousandth.
const blurredPivot = 1.0 / (1 << 34)

// IsBlurred tells whether rounding errors of the matrix may have changed the factor much, since a pivot is small.
func (f *Factor) IsBlurred() bool {
	for i := range f.n {
		if d := f.row(i)[i]; !f.isLeftOut(i) && !(float64(d*d) > float64(f.n)*blurredPivot) {
			return true
		}
	}
	return false
}
