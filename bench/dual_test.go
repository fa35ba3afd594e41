package bench

import (
	"context"
	"fmt"
	"testing"

	"halfspace/train"
	"halfspace/train/dual"
)

const dualRows = 20_000

// BenchmarkPeerSklearnDual times the dual perceptron with its Gram matrix. The peer is scikit-learn's Perceptron for as
// many epochs, with numpy's Gram matrix. ms and sklearn-ms are medians of the sums, and gram-ms and numpy-gram-ms those
// of the matrices.
func BenchmarkPeerSklearnDual(b *testing.B) {
	python := pythonWithSklearn(b)
	dir := b.TempDir()
	data := peerData(b, dir, dualRows)
	peer := startSklearn(b, python, "peers/sklearn_dual.py", dir, dualRows)
	for _, epochs := range []int64{1, 10, 100} {
		b.Run(fmt.Sprintf("n=%d/d=%d/epochs=%d", dualRows, peerFeatures, epochs), func(b *testing.B) {
			var own, gram, theirs, numpy []float64
			for b.Loop() {
				for range peerRounds {
					r, err := dual.Train(context.Background(), data, dual.Options{Options: train.Options{Epochs: epochs}})
					if err != nil {
						b.Fatal(err)
					}
					own, gram = append(own, 1000*r.Seconds), append(gram, 1000*r.GramSeconds)
					var answer struct{ Gram, Seconds float64 }
					peer.ask(b, map[string]any{"epochs": epochs}, &answer)
					theirs, numpy = append(theirs, 1000*(answer.Gram+answer.Seconds)), append(numpy, 1000*answer.Gram)
				}
			}
			b.ReportMetric(median(own), "ms")
			b.ReportMetric(median(gram), "gram-ms")
			b.ReportMetric(median(theirs), "sklearn-ms")
			b.ReportMetric(median(numpy), "numpy-gram-ms")
			b.ReportMetric(median(theirs)/median(own), "x-faster")
			b.ReportMetric(0, "ns/op") // the time of both together means nothing
		})
	}
}
