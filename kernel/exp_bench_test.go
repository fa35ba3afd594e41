package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"halfspace/kernel"
)

func BenchmarkExp(b *testing.B) {
	levels(b, []string{"Exp"}, func(b *testing.B) {
		for _, n := range []int{3, 20, 256, 4096} {
			rng := rand.New(rand.NewPCG(1, 1))
			x, y := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i] = float32(4 * rng.Float64())
			}
			b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
				b.SetBytes(int64(2 * n * 4))
				for b.Loop() {
					kernel.Exp(y, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
			})
		}
	})
}
