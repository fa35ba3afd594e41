package microkernel

import (
	"halfspace/asm/ref"
	"halfspace/internal/race"
)

// BlockCols is the number of columns of a row that ScaleRows writes and RankKUpdate reads.
const BlockCols = ref.BlockCols

// ScaleRows multiplies len(s) rows of x by the square roots of s, and widens them to BlockCols float64. A product of
// two of these columns then contains the row's weight once. ScaleRows doesn't write the columns from cols on. cols is a
// multiple of 4 from 4 to BlockCols. x may be longer than its rows, whose stride is at least cols. Without rows nothing
// changes.
//
//	for r := range s { for c := range cols { dst[r*BlockCols+c] = sqrt(s[r]) * float64(x[r*stride+c]) } }
func ScaleRows(dst []float64, x []float32, s []float64, stride, cols int) {
	if cols <= 0 || cols > BlockCols || cols%4 != 0 {
		panic("microkernel: number of columns is not a multiple of 4 in 4..32")
	}
	if stride < cols {
		panic("microkernel: stride is less than the columns")
	}
	if len(dst)/BlockCols < len(s) {
		panic("microkernel: short dst")
	}
	if len(s) == 0 {
		return
	}
	if len(x) < cols || (len(x)-cols)/stride < len(s)-1 {
		panic("microkernel: short x")
	}
	dst = dst[:len(s)*BlockCols]
	race.Write(dst)
	race.Read(x)
	race.Read(s)
	scaleRowsF32(dst, x, s, stride, cols)
}

// RankKUpdate adds the product of a, transposed, and b to c, a block of BlockCols x BlockCols sums. a and b have the
// same number of rows of BlockCols columns. RankKUpdate updates the first rows of c; rows is 1 or a multiple of 4 from
// 4 to BlockCols. If square is set, it updates all columns, otherwise the columns up to the diagonal; the other
// elements of c are undefined then. Without rows in a and b nothing changes.
//
//	for k := range len(b)/BlockCols { c[i][j] += a[k][i] * b[k][j] for each i < rows, and each j or j <= i }
func RankKUpdate(c, a, b []float64, rows int, square bool) {
	if len(c) != BlockCols*BlockCols {
		panic("microkernel: length of c is not 32 * 32")
	}
	if len(b)%BlockCols != 0 || len(a) != len(b) {
		panic("microkernel: a and b have different numbers of rows of 32 columns")
	}
	if rows != 1 && (rows <= 0 || rows > BlockCols || rows%4 != 0) {
		panic("microkernel: number of rows is neither 1 nor a multiple of 4 in 4..32")
	}
	if len(b) == 0 {
		return
	}
	race.Write(c)
	race.Read(a)
	race.Read(b)
	rankKUpdateF64(c, a, b, rows, square)
}
