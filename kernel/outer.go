package kernel

import (
	"halfspace/asm/ref"
	"halfspace/internal/race"
)

// OuterCols is how many columns a row has that Weigh writes and Outer reads, and how many a block of sums.
const OuterCols = ref.OuterCols

// Weigh writes len(s) rows of OuterCols float64 to dst: cols columns of x, whose rows are stride apart, times the square root of the
// row's weight in s, so that products of two columns are weighed once. It leaves the columns from cols on alone. cols is a multiple of
// 4, at most OuterCols.
func Weigh[T Float](dst []float64, x []T, s []float64, stride, cols int) {
	if cols <= 0 || cols > OuterCols || cols%4 != 0 {
		panic("kernel: number of columns is not a multiple of 4 in 4..32")
	}
	if stride < cols {
		panic("kernel: stride is less than the columns")
	}
	if len(s) == 0 {
		return
	}
	if len(x) < cols || (len(x)-cols)/stride < len(s)-1 {
		panic("kernel: short x")
	}
	if len(dst)/OuterCols < len(s) {
		panic("kernel: short dst")
	}
	dst = dst[:len(s)*OuterCols]
	race.Read(x)
	race.Read(s)
	race.Write(dst)
	if is32[T]() {
		weighF32(dst, f32(x), s, stride, cols)
		return
	}
	weighF64(dst, f64(x), s, stride, cols)
}

// Outer adds to c, a block of OuterCols x OuterCols sums, the products of the columns of a with those of b: c[i][j] grows by
// the sum over the rows k of a[k][i]*b[k][j], for the first rows of c, 1 or a multiple of 4, and, unless it is square, for j <= i
// alone. Other elements of c are undefined then. a and b have as many rows of OuterCols columns, and c doesn't overlap them.
func Outer(a, b, c []float64, rows int, square bool) {
	if len(b)%OuterCols != 0 || len(a) != len(b) {
		panic("kernel: panels don't have as many rows of 32 columns")
	}
	if rows != 1 && (rows <= 0 || rows > OuterCols || rows%4 != 0) {
		panic("kernel: number of rows is neither 1 nor a multiple of 4 in 4..32")
	}
	if len(c) != OuterCols*OuterCols {
		panic("kernel: length of c is not 32 * 32")
	}
	if len(b) == 0 {
		return
	}
	race.Read(a)
	race.Read(b)
	race.Write(c)
	outer(a, b, c, rows, square)
}
