package separable

import (
	"context"
	"testing"

	"halfspace/internal/synth"
)

// BenchmarkCheck reports the passes over 1M rows x 28 until the verdict, and in all.
func BenchmarkCheck(b *testing.B) {
	for _, bm := range []struct {
		name string
		opt  synth.Options
	}{
		{"noise=0.1", synth.Options{Noise: 0.1}},
		{"noise=0.001", synth.Options{Noise: 0.001}},
		{"noise=0.00001", synth.Options{Noise: 0.00001}},
		{"margin=0.1", synth.Options{Margin: 0.1}},
		{"margin=0.01", synth.Options{Margin: 0.01}}, // a thousandth of the radius
		{"margin=0.001", synth.Options{Margin: 0.001}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			bm.opt.Rows, bm.opt.Features, bm.opt.Seed = 1_000_000, 28, 1
			data := synth.Blocks[float32](bm.opt)
			b.ResetTimer()
			for range b.N {
				r, err := Check(context.Background(), data, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.Logf("%s %s, %d passes, radius %g, origin %v, widest %v, errors %v", r.Verdict, r.Reason, r.Passes, r.Radius, r.Origin, r.Widest, r.Errors)
				b.ReportMetric(float64(r.Passes), "passes")
			}
		})
	}
}
