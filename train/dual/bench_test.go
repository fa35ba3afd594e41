package dual

import (
	"context"
	"fmt"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train"
)

// BenchmarkTrain learns 20,000 rows of 28 features with a tenth of the labels flipped. gram-ms is the time until the matrix is there,
// epoch-us that of an epoch after the tenth; recomputed-us is that of the same epoch if each mistake computes the inner products
// of its row anew.
func BenchmarkTrain(b *testing.B) {
	x, y := noisy(20000, 28, 0.1, 1)
	d := testrows.Dense[float32](x, y, true)
	for _, k := range []string{"linear", "rbf"} {
		b.Run(fmt.Sprintf("n=20000/d=28/kernel=%s", k), func(b *testing.B) {
			var first, more *Result[float32]
			var err error
			for b.Loop() {
				opt := Options{Options: train.Options{Epochs: 10}, Kernel: model.Kernel{Kind: k}}
				if first, err = Train(context.Background(), d, opt); err != nil {
					b.Fatal(err)
				}
				opt.Epochs = 60
				if more, err = Train(context.Background(), d, opt); err != nil {
					b.Fatal(err)
				}
			}
			epochs := float64(more.Epochs - first.Epochs)
			walk := more.Seconds - more.GramSeconds - (first.Seconds - first.GramSeconds)
			mistakes := float64(more.Updates-first.Updates) / epochs
			b.ReportMetric(walk/epochs*1e6, "epoch-us")
			b.ReportMetric(first.GramSeconds*1e3, "gram-ms")
			b.ReportMetric(mistakes, "mistakes/epoch")
			b.ReportMetric(mistakes*recompute(d)*1e6, "recomputed-us")
			b.ReportMetric(mistakes*recompute(d)/(walk/epochs), "x-faster")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// recompute returns how many seconds it takes to score all rows by one of them, and to add that to the scores: what a mistake costs
// without the matrix.
func recompute(d *block.Data[float32]) float64 {
	const times = 500
	scores, sum := make([]float32, d.Rows()), make([]float32, d.Rows())
	start := time.Now()
	for i := range times {
		for b := range d.Blocks(context.Background()) {
			b.Scores(b.X[i*b.Stride:][:b.Stride], scores)
			kernel.Axpy(1, scores, sum)
		}
	}
	return time.Since(start).Seconds() / times
}
