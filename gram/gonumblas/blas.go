// Package gonumblas implements gonum's BLAS interfaces with this module's kernels:
//
//	blas64.Use(gonumblas.Implementation{})
//	blas32.Use(gonumblas.Implementation{})
//
// Dot, Axpy and Gemv run on the kernels, in both precisions. Gemm and Syrk of float32 run on the kernels too, on all
// cores. gonum itself computes Gemm and Syrk of float64, other functions, small matrices and vectors with gaps, and
// reports wrong arguments. Results differ from gonum's by rounding. They don't depend on the number of cores.
package gonumblas

import (
	"context"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"halfspace/gram"
	"halfspace/kernel"
	"halfspace/kernel/f64"
)

// Implementation implements blas.Float32, blas.Float64, blas.Complex64 and blas.Complex128.
type Implementation struct{ gonum.Implementation }

var (
	_ blas.Float32 = Implementation{}
	_ blas.Float64 = Implementation{}
)

// mostSmallProducts is the largest number of products of elements for which gonum is not slower.
var mostSmallProducts = 1 << 20

func isSmall(m, n, k int) bool { return float64(m)*float64(n)*float64(k) <= float64(mostSmallProducts) }

// Sdot returns the dot product of x and y.
func (i Implementation) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if !hasNoGaps(n, x, incX, y, incY) {
		return i.Implementation.Sdot(n, x, incX, y, incY)
	}
	return kernel.Dot(x[:n], y[:n])
}

// Ddot returns the dot product of x and y.
func (i Implementation) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if !hasNoGaps(n, x, incX, y, incY) {
		return i.Implementation.Ddot(n, x, incX, y, incY)
	}
	return f64.Dot(x[:n], y[:n])
}

// Saxpy adds alpha times x to y.
func (i Implementation) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	if alpha == 0 || !hasNoGaps(n, x, incX, y, incY) {
		i.Implementation.Saxpy(n, alpha, x, incX, y, incY)
		return
	}
	kernel.Axpy(y[:n], alpha, x[:n])
}

// Daxpy adds alpha times x to y.
func (i Implementation) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if alpha == 0 || !hasNoGaps(n, x, incX, y, incY) {
		i.Implementation.Daxpy(n, alpha, x, incX, y, incY)
		return
	}
	f64.Axpy(y[:n], alpha, x[:n])
}

// hasNoGaps tells whether both vectors have n elements without gaps.
func hasNoGaps[T float32 | float64](n int, x []T, incX int, y []T, incY int) bool {
	return incX == 1 && incY == 1 && n > 0 && n <= len(x) && n <= len(y)
}

// Sgemv computes y = alpha*A*x + beta*y, or the same with A transposed.
func (i Implementation) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32,
	y []float32, incY int) {
	if incX != 1 || incY != 1 || alpha == 0 {
		i.Implementation.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	i.Implementation.Sgemv(tA, m, n, 0, a, lda, x, incX, beta, y, incY) // checks the arguments and scales y
	gemv(tA != blas.NoTrans, m, n, alpha, a, lda, x, y, kernel.Dot, kernel.Axpy)
}

// Dgemv computes y = alpha*A*x + beta*y, or the same with A transposed.
func (i Implementation) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64,
	y []float64, incY int) {
	if incX != 1 || incY != 1 || alpha == 0 {
		i.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	i.Implementation.Dgemv(tA, m, n, 0, a, lda, x, incX, beta, y, incY)
	gemv(tA != blas.NoTrans, m, n, alpha, a, lda, x, y, f64.Dot, f64.Axpy)
}

// gemv adds alpha*A*x, or the same with A transposed, to y.
func gemv[T float32 | float64](trans bool, m, n int, alpha T, a []T, lda int, x, y []T, dot func(x, y []T) T,
	axpy func(y []T, a T, x []T)) {
	if m == 0 || n == 0 {
		return
	}
	for r := range m {
		row := a[r*lda:][:n]
		if trans {
			axpy(y[:n], alpha*x[r], row)
		} else {
			y[r] += alpha * dot(row, x[:n])
		}
	}
}

// Sgemm computes C = alpha*A*B + beta*C, or the same with A or B transposed.
func (i Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	if isSmall(m, n, k) || alpha == 0 {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	i.Implementation.Sgemm(tA, tB, m, n, k, 0, a, lda, b, ldb, 1, c, ldc) // only checks the arguments
	gemm(rows(tA == blas.NoTrans, a, m, k, lda), rows(tB != blas.NoTrans, b, n, k, ldb), alpha, beta, c, ldc)
}

// rows returns n rows of k columns: the rows of a, or its columns if straight is false.
func rows(straight bool, a []float32, n, k, lda int) *gram.Rows {
	if straight {
		return gram.Dense(a, n, k, lda)
	}
	return gram.Columns(a, n, k, lda)
}

func gemm(a, b *gram.Rows, alpha, beta float32, c []float32, ldc int) {
	must(gram.Products(context.Background(), a, b, runtime.GOMAXPROCS(0), func(i, j int, row []float32) {
		to := c[i*ldc+j:][:len(row)]
		switch {
		case beta == 1:
			kernel.Axpy(to, alpha, row)
		case beta == 0:
			for k, v := range row {
				to[k] = alpha * v
			}
		default:
			for k, v := range row {
				to[k] = alpha*v + beta*to[k]
			}
		}
	}))
}

// must panics if err isn't nil. No error is possible: a background context isn't cancelled, and the sizes fit.
func must(err error) {
	if err != nil {
		panic("gonumblas: " + err.Error())
	}
}

// Ssyrk computes C = alpha*A*A' + beta*C, or alpha*A'*A + beta*C, in one triangle of C.
func (i Implementation) Ssyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32,
	c []float32, ldc int) {
	if isSmall(n, n, k) || alpha == 0 {
		i.Implementation.Ssyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	i.Implementation.Ssyrk(ul, tA, n, k, 0, a, lda, beta, c, ldc) // checks the arguments and scales C
	syrk(ul == blas.Lower, rows(tA == blas.NoTrans, a, n, k, lda), alpha, c, ldc)
}

// syrk adds to one triangle of C. LowerProducts visits the rows of a block in turn, so the cache lines of the upper
// triangle's columns stay in the cache for the next row.
func syrk(lower bool, a *gram.Rows, alpha float32, c []float32, ldc int) {
	must(gram.LowerProducts(context.Background(), a, runtime.GOMAXPROCS(0), func(i, j int, row []float32) {
		if lower {
			kernel.Axpy(c[i*ldc+j:][:len(row)], alpha, row)
			return
		}
		for k, v := range row {
			c[(j+k)*ldc+i] += alpha * v
		}
	}))
}
