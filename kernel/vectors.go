package kernel

import (
	"halfspace/asm/ref"
	"halfspace/internal/race"
)

// Dot returns the dot product of x and y, which have the same length, and 0 for no elements:
//
//	for i := range x { sum += x[i] * y[i] }
//
// It sums 32 lanes of float32, or 16 of float64; package asm has the order.
func Dot[T Float](x, y []T) T {
	if len(x) != len(y) {
		panicLengths(len(y), len(x))
	}
	race.Read(x)
	race.Read(y)
	// The level is tested here, not in dotF32: a short product costs little more than its calls.
	switch {
	case level == Generic && is32[T]():
		return T(ref.DotF32(f32(x), f32(y)))
	case level == Generic:
		return T(ref.DotF64(f64(x), f64(y)))
	case is32[T]():
		return T(dotF32(f32(x), f32(y)))
	}
	return T(dotF64(f64(x), f64(y)))
}

// Axpy adds a times x to y, which has the same length. x may be y. No elements change nothing.
//
//	for i := range y { y[i] = fma(a, x[i], y[i]) }
func Axpy[T Float](y []T, a T, x []T) {
	checkPair(y, x)
	if is32[T]() {
		axpyF32(f32(y), float32(a), f32(x))
		return
	}
	axpyF64(f64(y), float64(a), f64(x))
}

// Axpy4 adds four vectors to y, and reads and writes y once. a has 4 elements; x has 4 vectors of y's length.
//
//	for k := range 4 { Axpy(y, a[k], x[k]) }
func Axpy4[T Float](y, a []T, x [][]T) {
	if len(a) != 4 || len(x) != 4 {
		panic("kernel: not four vectors")
	}
	for _, v := range x {
		checkPair(y, v)
	}
	race.Read(a)
	if is32[T]() {
		axpy4F32(f32(y), f32(a), f32s(x))
		return
	}
	axpy4F64(f64(y), f64(a), f64s(x))
}

// FirstMistake returns the first row on which the perceptron makes a mistake, or len(y) if there is none. y holds labels;
// scores has the same length.
//
//	for i := range y { if y[i]*scores[i] <= 0 { return i } }
//	return len(y)
func FirstMistake[T Float](y, scores []T) int {
	if len(y) < len(scores) {
		panic("kernel: short y")
	}
	if len(scores) < len(y) {
		panic("kernel: short scores")
	}
	race.Read(y)
	race.Read(scores)
	if is32[T]() {
		return firstMistakeF32(f32(y), f32(scores))
	}
	return firstMistakeF64(f64(y), f64(scores))
}

// Exp sets y[i] to e^x[i]. y has x's length and may be x. The error is below 0.8 ULP, or 0.9 ULP where the result is
// subnormal. No elements change nothing.
//
//	for i := range y { y[i] = exp(x[i]) }
func Exp[T Float](y, x []T) {
	checkPair(y, x)
	if is32[T]() {
		expF32(f32(y), f32(x))
		return
	}
	expF64(f64(y), f64(x))
}

// Sigmoid sets y[i] to 1/(1 + e^-x[i]), which lies in [0, 1]. y has x's length and may be x. The error is below 2.6 ULP
// in both tails. No elements change nothing.
//
//	for i := range y { y[i] = 1 / (1 + exp(-x[i])) }
func Sigmoid[T Float](y, x []T) {
	checkPair(y, x)
	if is32[T]() {
		sigmoidF32(f32(y), f32(x))
		return
	}
	sigmoidF64(f64(y), f64(x))
}

// Log1p sets y[i] to the natural logarithm of 1 + x[i]: -Inf for -1, and NaN below. y has x's length and may be x. The
// error is below 0.95 ULP. No elements change nothing.
//
//	for i := range y { y[i] = log(1 + x[i]) }
func Log1p[T Float](y, x []T) {
	checkPair(y, x)
	if is32[T]() {
		log1pF32(f32(y), f32(x))
		return
	}
	log1pF64(f64(y), f64(x))
}

// Logistic computes the logistic loss of rows, and its first and second derivative by the score. z holds the scores and
// receives the margins. y holds the signs, -1 or +1. All five slices have the same length. Results are accurate to a few
// ULP in both tails. No elements change nothing.
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
			panic("kernel: slices of different lengths")
		}
	}
	race.Write(z)
	race.Write(factor)
	race.Write(curvature)
	race.Write(loss)
	race.Read(y)
	logisticF64(z, factor, curvature, loss, y)
}
