package separable

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"halfspace/internal/synth"
)

// BenchmarkCheck checks 1M rows x 28. It reports the passes until the verdict. It also reports the time of everything
// (verdict, widest plane, errors) as a number of passes of a kernel that only reads the rows.
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
			data := synth.Blocks(bm.opt)
			ctx := context.Background()
			pass := time.Duration(math.MaxInt64)
			for range 5 {
				start := time.Now()
				if _, err := longest(ctx, data, runtime.GOMAXPROCS(0)); err != nil {
					b.Fatal(err)
				}
				pass = min(pass, time.Since(start))
			}
			b.ResetTimer()
			for range b.N {
				r, err := Check(ctx, data, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if r.Verdict == Undecided {
					b.Fatal(r.Reason)
				}
				b.ReportMetric(float64(r.Passes), "passes")
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(pass), "reads")
		})
	}
}

// BenchmarkCheckNoisy compares rows of which a tenth have wrong labels with a plain sibling: as many rows that a plane
// separates, with a distance of 0.01. Both take turns. s and sibling-s are medians, and ratio is that of the two.
func BenchmarkCheckNoisy(b *testing.B) {
	for _, features := range []int{50, 200, 400, 784} {
		b.Run(fmt.Sprintf("features=%d", features), func(b *testing.B) {
			check := func(noise, margin float64, want Verdict) func() float64 {
				data := synth.Blocks(synth.Options{Rows: 20_000, Features: features, Seed: 1, Noise: noise, Margin: margin})
				return func() float64 {
					start := time.Now()
					r, err := Check(context.Background(), data, Options{})
					if err != nil || r.Verdict != want {
						b.Fatal(r, err)
					}
					return time.Since(start).Seconds()
				}
			}
			noisy, plain := check(0.1, 0, NotSeparable), check(0, 0.01, Separable)
			var times, siblings []float64
			for b.Loop() {
				siblings, times = append(siblings, plain()), append(times, noisy())
			}
			slices.Sort(times)
			slices.Sort(siblings)
			m := len(times) / 2
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(times[m], "s")
			b.ReportMetric(siblings[m], "sibling-s")
			b.ReportMetric(times[m]/siblings[m], "ratio")
		})
	}
}
