package kernel

import "halfspace/internal/race"

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
