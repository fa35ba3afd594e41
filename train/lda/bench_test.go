package lda

import (
	"context"
	"testing"

	"halfspace/internal/testrows"
)

// BenchmarkTrain trains on a million rows. It measures the whole call, and the learning alone in ms/fit.
func BenchmarkTrain(b *testing.B) {
	x, y := draw(1_000_000, 28, 0, 1)
	d := testrows.Dense(x, y, true)
	b.Run("type=f32/n=1000000/d=28", func(b *testing.B) {
		seconds := 0.0
		for b.Loop() {
			r, err := Train(context.Background(), d, Options{})
			if err != nil {
				b.Fatal(err)
			}
			seconds += r.Seconds
		}
		b.ReportMetric(1000*seconds/float64(b.N), "ms/fit")
	})
}
