package f64_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/kernel"
	"halfspace/kernel/f64"
)

// TestPanics calls every function with wrong lengths. It must panic with a constant, before it writes anything.
func TestPanics(t *testing.T) {
	const stride = 16
	x := slices.Repeat([]float64{1}, 4*stride)
	for _, c := range []struct {
		want string
		call func(dst []float64)
	}{
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
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:2], dst[2:3], dst[4:6], dst[6:8], x[:2]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:2], dst[2:4], dst[4:5], dst[6:8], x[:2]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:2], dst[2:4], dst[4:6], dst[6:7], x[:2]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:2], dst[2:4], dst[4:6], dst[6:8], x[:1]) }},
		{"f64: slices of different lengths", func(dst []float64) { f64.Logistic(dst[:1], dst[2:4], dst[4:6], dst[6:8], x[:2]) }},
	} {
		dst := slices.Repeat([]float64{-7}, len(x))
		if got := panicOf(func() { c.call(dst) }); got != c.want {
			t.Errorf("panic %q, want %q", got, c.want)
		}
		if slices.ContainsFunc(dst, func(v float64) bool { return v != -7 }) {
			t.Errorf("%s: the destination was written before the panic", c.want)
		}
	}
}

func panicOf(f func()) (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	f()
	return ""
}

// onLevels runs a test on every level.
func onLevels(t *testing.T, test func(t *testing.T)) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		t.Run(l.String(), test)
	}
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// TestDotAccuracy compares Dot with exact arithmetic. The error of L lanes stays below (n/L + log2 L + 1) u sum|x y| to
// first order. u is half a unit in the last place (Higham, "Accuracy and stability of numerical algorithms", 2002,
// section 3.1).
func TestDotAccuracy(t *testing.T) {
	const lanes, u = 16, 0x1p-53
	onLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for n := 1; n < 3000; n = n*5/4 + 1 {
			x, y := normals(rng, n), normals(rng, n)
			exact, size := new(big.Float).SetPrec(2000), 0.0
			for i := range x {
				x[i] = math.Ldexp(x[i], rng.IntN(20))
				exact.Add(exact, new(big.Float).SetPrec(2000).Mul(big.NewFloat(x[i]), big.NewFloat(y[i])))
				size += math.Abs(x[i] * y[i])
			}
			diff, _ := exact.Sub(exact, big.NewFloat(f64.Dot(x, y))).Float64()
			bound := (float64(n)/lanes + math.Log2(lanes) + 1) * u * size * 1.01
			if math.Abs(diff) > bound {
				t.Errorf("n=%d: error %g is above the bound %g", n, diff, bound)
			}
		}
	})
}

// TestDotOrder compares Dot with its definition, to the last bit. Lane l takes elements l, l+16, l+32 and so on with fused multiply-adds.
// Then each half of the lanes is added to the other.
func TestDotOrder(t *testing.T) {
	onLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for n := range 100 {
			x, y := normals(rng, n), normals(rng, n)
			var lane [16]float64
			for i, v := range x {
				lane[i%16] = math.FMA(v, y[i], lane[i%16])
			}
			for h := 8; h > 0; h /= 2 {
				for l := range h {
					lane[l] += lane[l+h]
				}
			}
			if got := f64.Dot(x, y); got != lane[0] {
				t.Errorf("n=%d: %v, want %v", n, got, lane[0])
			}
		}
	})
}

// TestAxpy compares Axpy with its definition, to the last bit, also in place.
func TestAxpy(t *testing.T) {
	onLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 10))
		for n := range 100 {
			x, y, a := normals(rng, n), normals(rng, n), rng.NormFloat64()
			want, twice := make([]float64, n), make([]float64, n)
			for i := range want {
				want[i], twice[i] = math.FMA(a, x[i], y[i]), math.FMA(a, x[i], x[i])
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

// TestScores: a score is Dot of a row.
func TestScores(t *testing.T) {
	onLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		for _, stride := range []int{4, 8, 12, 16, 32, 36, 100} {
			for rows := range 20 {
				x, w, out := normals(rng, rows*stride), normals(rng, stride), make([]float64, rows)
				f64.Scores(out, x, w)
				for r, got := range out {
					if want := f64.Dot(x[r*stride:(r+1)*stride], w); got != want {
						t.Errorf("stride %d: score %d of %d is %v, want %v", stride, r, rows, got, want)
					}
				}
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

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// TestElementary compares functions of elements with those of package math, whose errors stay below a unit in the last place. They may
// work in place, and on no elements.
func TestElementary(t *testing.T) {
	onLevels(t, func(t *testing.T) {
		for _, c := range []struct {
			name string
			call func(y, x []float64)
			of   func(float64) float64
			ulps float64 // of both functions together; that of sigmoid rounds three times
		}{
			{"Exp", f64.Exp, math.Exp, 0.8 + 1},
			{"Sigmoid", f64.Sigmoid, sigmoid, 2.6 + 3},
			{"Log1p", f64.Log1p, math.Log1p, 0.95 + 1},
		} {
			x, y := []float64{-0.5, 0, 1, 2, 3}, make([]float64, 5)
			c.call(y, x)
			c.call(nil, nil)
			for i, v := range x {
				want := c.of(v)
				if math.Abs(y[i]-want) > c.ulps*0x1p-52*math.Abs(want) {
					t.Errorf("%s(%v) is %v, want %v", c.name, v, y[i], want)
				}
			}
			if c.call(x, x); !slices.Equal(x, y) {
				t.Errorf("%s is %v in place, else %v", c.name, x, y)
			}
		}
	})
}

// TestLogistic compares Logistic with its definition, for margins whose formulas lose a few units in the last place.
func TestLogistic(t *testing.T) {
	onLevels(t, func(t *testing.T) {
		scores, y := []float64{-3, -1, 0, 0.5, 2, 4, -2}, []float64{1, -1, 1, -1, 1, 1, -1}
		n := len(y)
		z, factor, curvature, loss := slices.Clone(scores), make([]float64, n), make([]float64, n), make([]float64, n)
		f64.Logistic(z, factor, curvature, loss, y)
		f64.Logistic(nil, nil, nil, nil, nil)
		for i, s := range scores {
			margin := s * y[i]
			if z[i] != margin {
				t.Errorf("margin %d is %v, want %v", i, z[i], margin)
			}
			e := math.Exp(margin)
			for what, pair := range map[string][2]float64{
				"factor":    {factor[i], -y[i] / (1 + e)},
				"curvature": {curvature[i], e / ((1 + e) * (1 + e))},
				"loss":      {loss[i], math.Log1p(1 / e)},
			} {
				if math.Abs(pair[0]-pair[1]) > 8*0x1p-52*math.Abs(pair[1]) { // each formula rounds six times at most
					t.Errorf("%s %d is %v, want %v", what, i, pair[0], pair[1])
				}
			}
		}
	})
}
