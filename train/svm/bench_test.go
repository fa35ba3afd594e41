package svm

import (
	"context"
	"testing"

	"halfspace/internal/testrows"
)

// BenchmarkTrain trains on a million rows. It measures the whole call, and the learning alone in ms/fit.
func BenchmarkTrain(b *testing.B) {
	d := testrows.Logistic(1_000_000, 28)
	for _, loss := range Losses {
		b.Run("type=f32/n=1000000/d=28/loss="+string(loss), func(b *testing.B) {
			seconds, passes := 0.0, int64(0)
			for b.Loop() {
				r, err := Train(context.Background(), d, Options{Loss: loss})
				if err != nil {
					b.Fatal(err)
				}
				seconds += r.Seconds
				passes = r.Epochs
			}
			b.ReportMetric(1000*seconds/float64(b.N), "ms/fit")
			b.ReportMetric(float64(passes), "passes")
		})
	}
}
