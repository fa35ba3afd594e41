package f64_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/asm/ref"
	"halfspace/internal/kerneltest"
	"halfspace/kernel/f64"
)

// TestPanics calls every function with wrong lengths. It must panic with a constant, before it writes anything.
func TestPanics(t *testing.T) {
	const stride = 16
	x := slices.Repeat([]float64{1}, 4*stride)
	kerneltest.CheckMisuses(t, len(x), []kerneltest.Misuse[float64]{
		{"f64: short y", func([]float64) { f64.Dot(x, x[1:]) }},
		{"f64: short x", func([]float64) { f64.Dot(x[1:], x) }},
		{"f64: short y", func(dst []float64) { f64.Axpy(dst[:len(x)-1], 1, x) }},
		{"f64: short x", func(dst []float64) { f64.Axpy(dst, 1, x[1:]) }},
		{"f64: short y", func(dst []float64) { f64.Exp(dst[:len(x)-1], x) }},
		{"f64: short x", func(dst []float64) { f64.Exp(dst, x[1:]) }},
		{"f64: short y", func(dst []float64) { f64.Sigmoid(dst[:len(x)-1], x) }},
		{"f64: short x", func(dst []float64) { f64.Sigmoid(dst, x[1:]) }},
		{"f64: short y", func(dst []float64) { f64.Log1p(dst[:len(x)-1], x) }},
		{"f64: short x", func(dst []float64) { f64.Log1p(dst, x[1:]) }},
		{"f64: stride is not a positive multiple of 32 bytes", func(dst []float64) { f64.Scores(dst[:4], x, x[:stride-2]) }},
		{"f64: stride is not a positive multiple of 32 bytes", func(dst []float64) { f64.Scores(dst[:4], x, nil) }},
		{"f64: length of x is not rows * stride", func(dst []float64) { f64.Scores(dst[:4], x[1:], x[:stride]) }},
		{"f64: length of x is not rows * stride", func(dst []float64) { f64.Scores(dst[:3], x, x[:stride]) }},
		{"f64: length of x is not rows * stride", func(dst []float64) { f64.Scores(dst[:1], nil, x[:stride]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Standardize(make([]float32, 3), x[:2], 0, 1) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:2], dst[2:3], dst[4:6], dst[6:8], x[:2]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:2], dst[2:4], dst[4:5], dst[6:8], x[:2]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:2], dst[2:4], dst[4:6], dst[6:7], x[:2]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:2], dst[2:4], dst[4:6], dst[6:8], x[:1]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:1], dst[2:4], dst[4:6], dst[6:8], x[:2]) }},
	})
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func TestDotAccuracy(t *testing.T) { kerneltest.DotAccuracy(t, 16, 0x1p-53, f64.Dot) }

// TestDefinitions compares Dot, Axpy and Scores with their definitions, to the last bit. Lane l of Dot takes elements l, l+16, l+32
// and so on with fused multiply-adds. Then each half of the lanes is added to the other. Axpy also works in place.
func TestDefinitions(t *testing.T) {
	kerneltest.OnLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for n := range 100 {
			x, y, a := normals(rng, n), normals(rng, n), rng.NormFloat64()
			var lane [16]float64
			want, twice := make([]float64, n), make([]float64, n)
			for i, v := range x {
				lane[i%16] = math.FMA(v, y[i], lane[i%16])
				want[i], twice[i] = math.FMA(a, v, y[i]), math.FMA(a, v, v)
			}
			for h := 8; h > 0; h /= 2 {
				for l := range h {
					lane[l] += lane[l+h]
				}
			}
			if got := f64.Dot(x, y); got != lane[0] {
				t.Errorf("n=%d: %v, want %v", n, got, lane[0])
			}
			if n%4 == 0 && n > 0 { // a stride
				var rows []float64
				out, scores := make([]float64, n%7), make([]float64, n%7)
				for r := range out {
					scores[r] = math.Ldexp(lane[0], r)
					for _, v := range y {
						rows = append(rows, math.Ldexp(v, r))
					}
				}
				if f64.Scores(out, rows, x); !slices.Equal(out, scores) {
					t.Errorf("n=%d: scores %v, want %v", n, out, scores)
				}
			}
			if f64.Axpy(y, a, x); !slices.Equal(y, want) {
				t.Errorf("n=%d: %v, want %v", n, y, want)
			}
			if f64.Axpy(x, a, x); !slices.Equal(x, twice) {
				t.Errorf("n=%d in place: %v, want %v", n, x, twice)
			}
		}
	})
}

func TestStride(t *testing.T) {
	for cols, want := range map[int]int{1: 4, 8: 8, 9: 12, 29: 32} {
		if got := f64.Stride(cols); got != want {
			t.Errorf("the stride of %d columns is %d, want %d", cols, got, want)
		}
	}
}

// TestElementary: functions of elements are those of package ref, also in place, and on no elements.
func TestElementary(t *testing.T) {
	kerneltest.OnLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 10))
		x, y, want := normals(rng, 21), make([]float64, 21), make([]float64, 21)
		for i := range x {
			x[i] = math.Abs(x[i]) // for Log1p
		}
		for name, of := range map[string][2]func(y, x []float64){
			"Exp": {f64.Exp, ref.ExpF64}, "Sigmoid": {f64.Sigmoid, ref.SigmoidF64}, "Log1p": {f64.Log1p, ref.Log1pF64},
			"Logistic": {logistic(f64.Logistic), logistic(ref.LogisticF64)},
		} {
			of[0](y, x)
			of[1](want, x)
			in := slices.Clone(x)
			of[0](in, in)
			if of[0](nil, nil); !slices.Equal(y, want) || !slices.Equal(in, want) {
				t.Errorf("%s is %v, in place %v, want %v", name, y, in, want)
			}
		}
	})
}

// logistic returns a function that mixes the results of Logistic for scores of either class.
func logistic(f func(z, factor, curvature, loss, y []float64)) func(y, x []float64) {
	return func(y, x []float64) {
		z, classes := slices.Clone(x), make([]float64, len(x))
		for i := range classes {
			classes[i] = float64(2*(i%2) - 1)
		}
		factor, curvature, loss := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		f(z, factor, curvature, loss, classes)
		for i := range y {
			y[i] = z[i] + 3*factor[i] + 5*curvature[i] + 7*loss[i]
		}
	}
}
