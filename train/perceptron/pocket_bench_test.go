// Compiling Arrow with the race detector takes minutes, so make race leaves this file out.

//go:build !race

package perceptron_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/internal/synth"
	"halfspace/kernel"
	"halfspace/kernel/limits"
	"halfspace/pocket"
	"halfspace/train"
	"halfspace/train/perceptron"
)

// BenchmarkTrain trains with a pocket that judges 10,000 updates on a million noisy rows; the best makes 9 % errors. It
// reports the share of the rows that were scored for a candidate, GFLOP/s of those scores, and their part of the cores'
// FMA peak. It also compares the training's time with judging as many candidates on all rows, 512 or one at a time.
// These are measured on fewer candidates.
func BenchmarkTrain(b *testing.B) {
	const rows, features, updates = 1_000_000, 28, 10_000
	d := synth.Blocks(synth.Options{Rows: rows, Features: features, Noise: 0.03, Seed: 1})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("type=f32/n=%d/d=%d/updates=%d/workers=%d", rows, features, updates, workers), func(b *testing.B) {
			opt := perceptron.Options{Pocket: pocket.Exact}
			opt.Order, opt.MaxUpdates, opt.Workers = train.Shuffle, updates, workers
			var scored float64
			for b.Loop() {
				r, err := perceptron.Train(context.Background(), d, opt)
				if err != nil {
					b.Fatal(err)
				}
				scored = float64(r.RowsScored)
			}
			seconds := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(updates/seconds, "candidates/s")
			b.ReportMetric(scored/updates/rows, "rows-scored/row")
			flops := 2 * features * scored / seconds
			b.ReportMetric(flops/1e9, "GFLOP/s")
			if l := limits.Measure(workers); l.FMAF32 > 0 {
				b.ReportMetric(100*flops/l.FMAF32, "%limit")
			}
			b.ReportMetric(seconds/(updates*timeErrors(b, d, 512, 2, workers)), "time/unpruned")
			b.ReportMetric(seconds/(updates*timeErrors(b, d, 1, 100, workers)), "time/literal")
		})
	}
}

// timeErrors returns the seconds that judging a candidate on all rows takes, k at a time.
func timeErrors(b *testing.B, d *block.Data, k, times, workers int) float64 {
	rng := rand.New(rand.NewPCG(3, 3))
	cols, stride := d.Spec().Cols(), kernel.Stride(d.Spec().Cols())
	w := make([]float32, k*stride)
	for i := range w {
		if i%stride < cols {
			w[i] = float32(rng.NormFloat64())
		}
	}
	start := time.Now()
	for range times {
		if _, err := pocket.Errors(context.Background(), d, w, workers); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start).Seconds() / float64(k*times)
}
