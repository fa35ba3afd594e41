package kernel

import (
	"halfspace/asm/ref"
	"halfspace/internal/parallel"
)

// Dot returns the dot product of x and y, which have the same length. Without elements it returns 0:
//
//	for i := range x { sum += x[i] * y[i] }
//
// It sums in 32 lanes; asm/README.md states the order.
func Dot(x, y []float32) float32 {
	if len(x) != len(y) {
		panicLengths(len(y), len(x))
	}
	parallel.RaceRead(x)
	parallel.RaceRead(y)
	// Dot tests the level here, not in dotF32: a short product costs little more than its calls.
	if level == Generic {
		return ref.DotF32(x, y)
	}
	return dotF32(x, y)
}

// Axpy adds a times x to y, which has the same length. x may be y. Without elements nothing changes.
//
//	for i := range y { y[i] = fma(a, x[i], y[i]) }
func Axpy(y []float32, a float32, x []float32) {
	checkPair(y, x)
	axpyF32(y, a, x)
}

// Axpy4 adds four scaled vectors to y, and reads and writes y once. a has 4 elements; x has 4 vectors of y's length.
//
//	for k := range 4 { Axpy(y, a[k], x[k]) }
func Axpy4(y, a []float32, x [][]float32) {
	if len(a) != 4 || len(x) != 4 {
		panic("kernel: not four vectors")
	}
	for _, v := range x {
		checkPair(y, v)
	}
	parallel.RaceRead(a)
	axpy4F32(y, a, x)
}

// FirstMistake returns the number of the first row on which the perceptron makes a mistake, or len(y) if there is none.
// y holds labels; scores has the same length.
//
//	for i := range y { if y[i]*scores[i] <= 0 { return i } }
//	return len(y)
func FirstMistake(y, scores []float32) int {
	if len(y) < len(scores) {
		panic("kernel: short y")
	}
	if len(scores) < len(y) {
		panic("kernel: short scores")
	}
	parallel.RaceRead(y)
	parallel.RaceRead(scores)
	return firstMistakeF32(y, scores)
}

// Exp sets y[i] to e^x[i]. y has x's length and may be x. The error is below 0.8 ULP, or 0.9 ULP where the result is
// subnormal. Without elements nothing changes.
//
//	for i := range y { y[i] = exp(x[i]) }
func Exp(y, x []float32) {
	checkPair(y, x)
	expF32(y, x)
}

// NarrowWhole sets dst[i] to x[i] as float32. dst has x's length. It returns the bits of all magnitudes, less 1 for negative
// integers. dst is undefined if an integer has more than 51 bits.
func NarrowWhole(dst []float32, x []int64) (all uint64) {
	if len(dst) != len(x) {
		panic("kernel: slices of different lengths")
	}
	parallel.RaceWrite(dst)
	parallel.RaceRead(x)
	return narrowWholeF32(dst, x)
}

// Standardize sets dst[i] to (x[i]-center)/scale, computed in float64. dst has x's length and may be x. Without elements
// nothing changes.
func Standardize(dst, x []float32, center, scale float64) {
	checkPair(dst, x)
	standardizeF32(dst, x, center, scale)
}
