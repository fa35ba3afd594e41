package kernel

import "halfspace/internal/race"

// Exp sets y[i] to e^x[i], with an error below 0.8 ULP, 0.9 where that is subnormal. y is as long as x, and doesn't overlap
// it unless it is x.
func Exp[T Float](x, y []T) {
	checkPair(x, y)
	if is32[T]() {
		expF32(f32(x), f32(y))
		return
	}
	expF64(f64(x), f64(y))
}

// Sigmoid sets y[i] to 1/(1 + e^-x[i]), with an error below 2.6 ULP in both tails; it is in [0, 1]. y is as long as x, and
// doesn't overlap it unless it is x.
func Sigmoid[T Float](x, y []T) {
	checkPair(x, y)
	if is32[T]() {
		sigmoidF32(f32(x), f32(y))
		return
	}
	sigmoidF64(f64(x), f64(y))
}

// Log1p sets y[i] to the natural logarithm of 1 + x[i], with an error below 0.95 ULP: -Inf for -1 and NaN for less. y is as
// long as x, and doesn't overlap it unless it is x.
func Log1p[T Float](x, y []T) {
	checkPair(x, y)
	if is32[T]() {
		log1pF32(f32(x), f32(y))
		return
	}
	log1pF64(f64(x), f64(y))
}

// Logistic makes of scores z and signs y, which are -1 or +1, what sums over a logistic loss are made of: the margins m = y z, which
// take the place of z, and of log(1 + e^-m) the derivative by z, -y/(1 + e^m), in factor, the second one, e^m/(1 + e^m)^2, in
// curvature, and the loss itself. They are accurate to a few ULP in both tails. All have the same length and don't overlap.
func Logistic(z, y, factor, curvature, loss []float64) {
	for _, s := range [][]float64{y, factor, curvature, loss} {
		if len(s) != len(z) {
			panic("kernel: slices of different lengths")
		}
	}
	race.Write(z)
	race.Read(y)
	race.Write(factor)
	race.Write(curvature)
	race.Write(loss)
	logistic(z, y, factor, curvature, loss)
}

// checkPair panics unless x and y have the same length, and notes that x is read and y written.
func checkPair[T Float](x, y []T) {
	if len(y) < len(x) {
		panic("kernel: short y")
	}
	if len(y) > len(x) {
		panic("kernel: short x")
	}
	race.Read(x)
	race.Write(y)
}
