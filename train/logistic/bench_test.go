package logistic

import (
	"context"
	"testing"

	"halfspace/internal/testrows"
)

// BenchmarkTrain trains on a million rows. It measures the whole call, the learning alone in ms/fit, and each kind of
// pass.
func BenchmarkTrain(b *testing.B) {
	d := testrows.Logistic(1_000_000, 28)
	b.Run("type=f32/n=1000000/d=28", func(b *testing.B) {
		seconds, passes := 0.0, int64(0)
		for b.Loop() {
			r, err := Train(context.Background(), d, Options{NoPenalty: true})
			if err != nil {
				b.Fatal(err)
			}
			seconds += r.Seconds
			passes = r.Epochs
		}
		b.ReportMetric(1000*seconds/float64(b.N), "ms/fit")
		b.ReportMetric(float64(passes), "passes")
	})
	p := newProblem(d, 0, 2)
	w := make([]float64, 32)
	for i := range w {
		w[i] = float64(i%5-2) / 4
	}
	for name, hessian := range map[string]bool{"pass=gradient": false, "pass=hessian": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := p.pass(context.Background(), w, hessian, &sums{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
