package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"halfspace/kernel"
)

func BenchmarkExp(b *testing.B) {
	benchElementary(b, "Exp", kernel.Exp[float32], kernel.Exp[float64], math.Exp)
}

func BenchmarkSigmoid(b *testing.B) {
	benchElementary(b, "Sigmoid", kernel.Sigmoid[float32], kernel.Sigmoid[float64], func(x float64) float64 { return 1 / (1 + math.Exp(-x)) })
}

func BenchmarkLog1p(b *testing.B) {
	benchElementary(b, "Log1p", kernel.Log1p[float32], kernel.Log1p[float64], math.Log1p)
}

// benchElementary runs a function on every level, and that of package math.
func benchElementary(b *testing.B, name string, f32 func(y, x []float32), f64 func(y, x []float64), std func(float64) float64) {
	levels(b, []string{name}, func(b *testing.B) {
		benchElementwise(b, f32)
		benchElementwise(b, f64)
	})
	b.Run("isa=math", func(b *testing.B) {
		benchElementwise(b, func(y, x []float64) {
			for i, v := range x {
				y[i] = std(v)
			}
		})
	})
}

func benchElementwise[T kernel.Float](b *testing.B, f func(y, x []T)) {
	for _, n := range []int{3, 20, 256, 4096} {
		rng := rand.New(rand.NewPCG(1, 1))
		x, y := make([]T, n), make([]T, n)
		for i := range x {
			x[i] = T(4 * rng.Float64())
		}
		b.Run(fmt.Sprintf("%s/n=%d", typeName[T](), n), func(b *testing.B) {
			b.SetBytes(int64(2 * n * int(unsafe.Sizeof(T(0)))))
			for b.Loop() {
				f(y, x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
}
