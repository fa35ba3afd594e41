// Package f64 holds the float64 loops of solvers.
//
// They are dot products, exponentials and the logistic loss. Rows are float32; package kernel has their loops.
//
// The functions follow the rules of package kernel, and run at its active level.
package f64

import (
	"halfspace/asm/ref"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// rowAlign divides the length of a row: 32 bytes.
const rowAlign = 4

// Stride returns the length of a row in elements: cols rounded up to a multiple of 4 elements, which is 32 bytes.
func Stride(cols int) int { return (cols + rowAlign - 1) / rowAlign * rowAlign }

// checkPair panics unless y, which is written, and x, which is read, have the same length. It reports both to the race
// detector.
func checkPair(y, x []float64) {
	if len(x) != len(y) {
		panicLengths(len(y), len(x))
	}
	parallel.RaceWrite(y)
	parallel.RaceRead(x)
}

func panicLengths(y, x int) {
	if y < x {
		panic("f64: short y")
	}
	panic("f64: short x")
}

// Dot returns the dot product of x and y, which have the same length. Without elements it returns 0:
//
//	for i := range x { sum += x[i] * y[i] }
//
// It sums in 16 lanes; asm/README.md states the order.
func Dot(x, y []float64) float64 {
	if len(x) != len(y) {
		panicLengths(len(y), len(x))
	}
	parallel.RaceRead(x)
	parallel.RaceRead(y)
	// Dot tests the level here, not in dotF64: a short product costs little more than its calls.
	if kernel.Active() == kernel.Generic {
		return ref.DotF64(x, y)
	}
	return dotF64(x, y)
}

// Axpy adds a times x to y, which has the same length. x may be y. Without elements nothing changes.
//
//	for i := range y { y[i] = fma(a, x[i], y[i]) }
func Axpy(y []float64, a float64, x []float64) {
	checkPair(y, x)
	axpyF64(y, a, x)
}

// Scores computes the scores of len(out) rows, whose stride is len(w). Without rows nothing changes.
//
//	for r := range out { out[r] = Dot(row r of x, w) }
func Scores(out, x, w []float64) {
	if len(w) == 0 || len(w)%rowAlign != 0 {
		panic("f64: stride is not a positive multiple of 32 bytes")
	}
	if len(x)%len(w) != 0 || len(x)/len(w) != len(out) {
		panic("f64: length of x is not rows * stride")
	}
	parallel.RaceWrite(out)
	parallel.RaceRead(x)
	parallel.RaceRead(w)
	if len(out) > 0 {
		scoresF64(out, x, w)
	}
}

// Standardize sets dst[i] to (x[i]-center)/scale as float32. dst has x's length. Without elements nothing changes.
func Standardize(dst []float32, x []float64, center, scale float64) {
	if len(dst) != len(x) {
		panic("f64: slices of different lengths")
	}
	parallel.RaceWrite(dst)
	parallel.RaceRead(x)
	standardizeF64(dst, x, center, scale)
}

// Narrow sets dst[i] to x[i] as float32. dst has x's length. It returns the bits that the magnitudes of x have as float64; the sign is set
// if a magnitude is not 0 and not from 2^-126 up to, but not including, 2^24.
func Narrow(dst []float32, x []float64) (all uint64) {
	if len(dst) != len(x) {
		panic("f64: slices of different lengths")
	}
	parallel.RaceWrite(dst)
	parallel.RaceRead(x)
	return narrowF64(dst, x)
}

// Exp sets y[i] to e^x[i]. y has x's length and may be x. The error is below 0.8 ULP, or 0.9 ULP where the result is
// subnormal. Without elements nothing changes.
//
//	for i := range y { y[i] = exp(x[i]) }
func Exp(y, x []float64) {
	checkPair(y, x)
	expF64(y, x)
}

// Sigmoid sets y[i] to 1/(1 + e^-x[i]), which lies in [0, 1]. y has x's length and may be x. The error is below 2.6 ULP
// in both tails. Without elements nothing changes.
//
//	for i := range y { y[i] = 1 / (1 + exp(-x[i])) }
func Sigmoid(y, x []float64) {
	checkPair(y, x)
	sigmoidF64(y, x)
}

// Log1p sets y[i] to the natural logarithm of 1 + x[i]: -Inf if x[i] is -1, and NaN if it is below -1. y has x's length
// and may be x. The error is below 0.95 ULP. Without elements nothing changes.
//
//	for i := range y { y[i] = log(1 + x[i]) }
func Log1p(y, x []float64) {
	checkPair(y, x)
	log1pF64(y, x)
}

// Logistic computes the logistic loss of rows, and its first and second derivative by the score. z holds the scores and
// receives the margins. y holds the signs, -1 or +1. All five slices have the same length. Results are accurate to a
// few ULP in both tails. Without elements nothing changes.
//
//	for i := range z {
//		z[i] *= y[i]
//		factor[i] = -y[i] / (1 + exp(z[i]))
//		curvature[i] = exp(z[i]) / (1 + exp(z[i]))^2
//		loss[i] = log(1 + exp(-z[i]))
//	}
func Logistic(z, factor, curvature, loss, y []float64) {
	for _, s := range [][]float64{factor, curvature, loss, y} {
		if len(s) != len(z) {
			panic("f64: slices of different lengths")
		}
	}
	parallel.RaceWrite(z)
	parallel.RaceWrite(factor)
	parallel.RaceWrite(curvature)
	parallel.RaceWrite(loss)
	parallel.RaceRead(y)
	logisticF64(z, factor, curvature, loss, y)
}
