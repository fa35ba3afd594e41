package pocket

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"halfspace/kernel"
	"halfspace/kernel/limits"
)

// BenchmarkErrors judges candidates on data that fits no cache. GFLOP/s count the features' products alone. %limit is
// of the cores' FMA peak.
func BenchmarkErrors(b *testing.B) {
	const rows, features = 1_000_000, 28
	d := random(rows, features+1)
	for _, k := range []int{1, 64, 512} {
		for _, workers := range []int{1, 2} {
			w := candidates(k, features+1)
			b.Run(fmt.Sprintf("n=%d/d=%d/candidates=%d/workers=%d", rows, features, k, workers), func(b *testing.B) {
				for b.Loop() {
					if _, err := Errors(context.Background(), d, w, workers); err != nil {
						b.Fatal(err)
					}
				}
				seconds := b.Elapsed().Seconds() / float64(b.N)
				flops := 2 * rows * features * float64(k) / seconds
				b.ReportMetric(flops/1e9, "GFLOP/s")
				b.ReportMetric(float64(k)/seconds, "candidates/s")
				if l := limits.Measure(workers); l.FMAF32 > 0 {
					b.ReportMetric(100*flops/l.FMAF32, "%limit")
				}
			})
		}
	}
}

// candidates returns k random candidates.
func candidates(k, cols int) []float32 {
	rng := rand.New(rand.NewPCG(3, 3))
	stride := kernel.Stride(cols)
	w := make([]float32, k*stride)
	for i := range w {
		if i%stride < cols {
			w[i] = float32(rng.NormFloat64())
		}
	}
	return w
}
