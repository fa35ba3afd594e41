package bench

import (
	"context"
	"fmt"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/train"
	"halfspace/train/dual"
)

// BenchmarkMNIST learns the 60,000 handwritten digits one versus the rest, without a bias, as Freund & Schapire (1999) did, in file
// order, and reports the error in percent on the 10,000 of the test. They published for the polynomial kernel of degree 4 after 10
// epochs: 1.6 to 1.8, vote and average before last; for the linear one about 8.
func BenchmarkMNIST(b *testing.B) {
	const folder = "../../shared/data/mnist"
	rows, err := testrows.MNIST(folder, "train", 60000)
	if err != nil {
		b.Skip(err)
	}
	test, err := testrows.MNIST(folder, "test", 10000)
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range []model.Kernel{{Kind: "poly", Degree: 4, Gamma: 1, Coef0: 1}, {Kind: "linear"}} {
		for _, epochs := range []int64{1, 10} {
			for _, form := range dual.Forms {
				b.Run(fmt.Sprintf("kernel=%s/epochs=%d/form=%s", k.Kind, epochs, form), func(b *testing.B) {
					for b.Loop() {
						mnist(b, rows, test, dual.Options{Options: train.Options{Epochs: epochs}, Form: form, Kernel: k, Memory: 4 << 30})
					}
				})
			}
		}
	}
}

func mnist(b *testing.B, rows, test *block.Data[float32], opt dual.Options) {
	r, err := dual.Train(context.Background(), rows, opt)
	if err != nil {
		b.Fatal(err)
	}
	s, err := predict.NewScorer[float32](r.Model(rows.Spec()), 2)
	if err != nil {
		b.Fatal(err)
	}
	errors := 0
	for part := range test.Blocks(context.Background()) {
		scores, err := s.Scores(context.Background(), part)
		if err != nil {
			b.Fatal(err)
		}
		for i, y := range part.Y {
			if predict.Predicted(scores, i, 0) != int(y) {
				errors++
			}
		}
	}
	b.ReportMetric(float64(errors)/100, "%test-errors")
	b.ReportMetric(float64(r.Errors)/600, "%train-errors")
	b.ReportMetric(float64(r.Updates), "mistakes")
	b.ReportMetric(float64(r.Computed), "rows-computed")
	b.ReportMetric(r.Seconds, "train-s")
}
