// Package microkernel holds the inner loops that few packages need.
//
// They are tiles of matrix products, blocks of rank-k updates, non-temporal copies, and the loops that measure the
// machine. Programs call package kernel.
//
// Package microkernel imports kernel, because both must run at the same level and only kernel detects the CPU. asm/gen
// writes its dispatch, like kernel's; the dispatch asks kernel.Active. The functions follow the rules of kernel.
package microkernel

import (
	"slices"
	"unsafe"

	"halfspace/asm/ref"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// avx512Forms are the kernels that asm/avx512 has. At level AVX512 the other functions run the code of asm/avx2.
var avx512Forms = []string{"Bounds", "BoundsWeighted", "EpochAdaptive", "Exp", "Load", "Log1p", "Logistic", "Pack",
	"Peak", "RankKUpdate", "Scores", "Sigmoid", "Stream", "Tile"}

// noNEONForms are the kernels that asm/neon lacks. At level NEON these functions run pure Go.
var noNEONForms = []string{"CopyNonTemporal", "Decimals", "Fence", "Narrow", "NarrowWhole", "OddStart"}

// Form returns the instruction set of the code that kernels run at the active level. If the functions
// differ, it returns the widest. The names are the names of the kernels without the element type, such as Dot.
func Form(functions ...string) kernel.Level {
	form := kernel.Generic
	for _, f := range functions {
		level := kernel.Active()
		switch {
		case level == kernel.AVX512 && !slices.Contains(avx512Forms, f):
			level = kernel.AVX2
		case level == kernel.NEON && slices.Contains(noNEONForms, f):
			level = kernel.Generic
		}
		form = max(form, level)
	}
	return form
}

// The functions below run one operation each at the machine's full speed, for no other purpose than timing. Package
// bench times them.

// Peak runs rounds of independent fused multiply-adds in registers. It returns the number of fused multiply-adds: 0 if
// the active level lacks the loop.
func Peak(rounds int) (fmas int) {
	peakF32(rounds)
	return rounds * peakShapeF32()
}

// hasLoops tells whether the active level has the loops below.
func hasLoops() bool { return peakShapeF32() > 0 }

// Load loads x, except for up to 511 bytes at its end. It returns false, without touching x, if the active level lacks
// the loop.
func Load(x []float32) bool {
	loadF32(x)
	return hasLoops()
}

// Stream overwrites x with zeros by non-temporal stores, except for up to 511 bytes at its end. x begins at a multiple
// of 64 bytes. It returns false, without touching x, if the active level lacks the loop.
func Stream(x []float32) bool {
	if uintptr(unsafe.Pointer(unsafe.SliceData(x)))%64 != 0 {
		panic("microkernel: x isn't aligned to 64 bytes")
	}
	streamF32(x)
	return hasLoops()
}

// CopyNonTemporal is copy with non-temporal stores, if the level has them: dst doesn't enter the caches. Use it for
// results larger than the caches. copy would first read the cache lines of dst and then overwrite them. dst and src
// have the same length. Call Fence before another goroutine reads dst.
func CopyNonTemporal(dst, src []float32) {
	if len(dst) < len(src) {
		panic("microkernel: short dst")
	}
	if len(src) < len(dst) {
		panic("microkernel: short src")
	}
	parallel.RaceWrite(dst)
	parallel.RaceRead(src)
	const line = 64
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst)))%line) / 4
	if len(dst) < head+line/4 {
		copy(dst, src)
		return
	}
	whole := (len(dst) - head) / (line / 4) * (line / 4)
	copy(dst[:head], src)
	copyNonTemporalF32(dst[head:head+whole], src[head:head+whole])
	copy(dst[head+whole:], src[head+whole:])
}

// Fence makes this goroutine's non-temporal stores visible to other goroutines before its later stores.
func Fence() { fenceF32() }

// TileShape returns the rows and columns of the tile that Tile computes at the active level.
func TileShape() (mr, nr int) {
	return tileShapeF32()
}

// Tile multiplies packed panels of mr rows by one packed panel of nr columns; TileShape returns mr and nr. b holds nr
// elements for each k; there is at least one k. a holds one panel after the other, each with mr elements for each k.
// Without panels in a nothing changes.
//
//	for each panel p of a:
//		acc = zeros
//		for k := range len(b)/nr { acc[i][j] = fma(a[p][k*mr+i], b[k*nr+j], acc[i][j]) for each i, j }
//		r := p*mr + i; at := r*ldc + r*(r-1)/2*grow
//		if add { acc[i][j] += c[at+j] for each i, j }
//		c[at+j] = acc[i][j] for each i, j
//
// Row r of c begins at element at. So row 1 begins ldc elements after row 0, and each later distance is longer by grow,
// as in a packed triangle. c may be longer than its rows.
func Tile(c []float32, ldc, grow int, a, b []float32, add bool) {
	mr, nr := TileShape()
	if len(b) == 0 || len(b)%nr != 0 || len(a)%(len(b)/nr*mr) != 0 {
		panic("microkernel: panels don't have mr and nr elements for each k")
	}
	if len(a) == 0 {
		return
	}
	rows := len(a) / (len(b) / nr)
	if ldc < nr || grow < 0 || len(c) < nr || (len(c)-nr)/ldc < rows-1 || grow > 0 && (len(c)-nr-(rows-1)*ldc)/grow < (rows-1)*(rows-2)/2 {
		panic("microkernel: short c")
	}
	for r := 0; parallel.RaceEnabled && r < rows; r++ {
		parallel.RaceWrite(c[r*ldc+r*(r-1)/2*grow:][:nr])
	}
	parallel.RaceRead(a)
	parallel.RaceRead(b)
	tileF32(c, ldc, grow, a, b, add)
}

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
	parallel.RaceWrite(dst)
	parallel.RaceRead(x)
	parallel.RaceRead(s)
	scaleRowsF32(dst, x, s, stride, cols)
}

// RankKUpdate adds the product of a, transposed, and b to c, a block of BlockCols x BlockCols sums. a and b have the
// same number of rows of BlockCols columns. RankKUpdate updates the first rows of c; rows is 1 or a multiple of 4 from
// 4 to BlockCols. If square is set, it updates all columns, otherwise the columns up to the diagonal. The other
// elements of these rows are undefined then, and so are the rows below, unless rows is 1. Without rows in a and b
// nothing changes.
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
	if rows == 1 { // the rows below may be another worker's
		parallel.RaceWrite(c[:BlockCols])
	} else {
		parallel.RaceWrite(c)
	}
	parallel.RaceRead(a)
	parallel.RaceRead(b)
	rankKUpdateF64(c, a, b, rows, square)
}
