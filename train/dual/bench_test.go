package dual

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train"
)

// BenchmarkTrain learns 20,000 rows of 28 features with a tenth of the labels flipped, on one core and on all. gram-ms
// is the time of the matrix. epoch-us is that of an epoch after the tenth. recomputed-us is that of the same epoch if
// each mistake computes the inner products of its row again, on as many cores. x-faster is their ratio. x-faster-visits
// compares with an epoch in which each visit computes them, as books write the dual form.
func BenchmarkTrain(b *testing.B) {
	x, y := noisy(20000, 28, 0.1, 1)
	d := testrows.Dense(x, y, true)
	for _, kind := range []string{"linear", "rbf"} {
		for _, workers := range slices.Compact([]int{1, runtime.GOMAXPROCS(0)}) {
			b.Run(fmt.Sprintf("n=20000/d=28/kernel=%s/workers=%d", kind, workers), func(b *testing.B) {
				benchTrain(b, d, kind, workers)
			})
		}
	}
}

func benchTrain(b *testing.B, d *block.Data, kind string, workers int) {
	var first, more *Result
	var err error
	for b.Loop() {
		opt := Options{Options: train.Options{Epochs: 10, Workers: workers}, Kernel: model.Kernel{Kind: kind}}
		if first, err = Train(context.Background(), d, opt); err != nil {
			b.Fatal(err)
		}
		opt.Epochs = 110
		if more, err = Train(context.Background(), d, opt); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(first.GramSeconds*1e3, "gram-ms")
	epochs := float64(more.Epochs - first.Epochs)
	if more.Updates == first.Updates {
		return // no row is on the wrong side
	}
	epoch := (more.Seconds - more.GramSeconds - (first.Seconds - first.GramSeconds)) / epochs
	mistakes, recomputed := float64(more.Updates-first.Updates)/epochs, recompute(b, d, workers)
	b.ReportMetric(epoch*1e6, "epoch-us")
	b.ReportMetric(mistakes, "mistakes/epoch")
	b.ReportMetric(mistakes*recomputed*1e6, "recomputed-us")
	b.ReportMetric(mistakes*recomputed/epoch, "x-faster")
	b.ReportMetric(float64(d.Rows())*recomputed/epoch, "x-faster-visits")
}

// recompute returns the seconds that a mistake costs without the matrix: to score all rows by one of them, and to add
// that to the scores. Workers have their own rows, and don't wait for each other.
func recompute(b *testing.B, d *block.Data, workers int) float64 {
	const times = 1000
	start := time.Now()
	err := parallel.For(context.Background(), workers, workers, func(_, part int) {
		for rows := range d.Blocks(context.Background()) {
			mine := rows.Slice(part*rows.Len()/workers, (part+1)*rows.Len()/workers)
			scores, sum := make([]float32, mine.Len()), make([]float32, mine.Len())
			for i := range times {
				mine.Scores(rows.X[i*rows.Stride:][:rows.Stride], scores)
				kernel.Axpy(sum, 1, scores)
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds() / times
}
