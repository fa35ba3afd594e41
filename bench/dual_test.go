package bench

import (
	"context"
	"fmt"
	"testing"

	"halfspace/train/kernelperceptron"
)

// dualRows returns the number of rows. Their Gram matrix has as many rows and columns.
func dualRows() int { return size(20_000, 4_000) }

type dualAnswer struct{ Gram, Seconds, Accuracy float64 }

// BenchmarkPeerSklearnDual times the dual perceptron with its Gram matrix. The peer is scikit-learn's Perceptron for as
// many epochs, with numpy's Gram matrix. ms and sklearn-ms are medians of the sums, and gram-ms and numpy-gram-ms those
// of the matrices.
func BenchmarkPeerSklearnDual(b *testing.B) {
	python := pythonWithSklearn(b)
	dir := b.TempDir()
	data := peerData(b, dir, dualRows())
	peer, _ := startSklearn(b, python, "peers/sklearn_dual.py", dir, dualRows())
	for _, epochs := range []int64{1, 10, 100} {
		b.Run(fmt.Sprintf("n=%d/d=%d/epochs=%d", dualRows(), peerFeatures, epochs), func(b *testing.B) {
			learn := func() *kernelperceptron.Result {
				r, err := kernelperceptron.Train(context.Background(), data, kernelperceptron.Settings{Options: kernelperceptron.Options{Epochs: epochs}})
				if err != nil {
					b.Fatal(err)
				}
				return r
			}
			fit := func() (answer dualAnswer) {
				peer.ask(b, map[string]any{"epochs": epochs}, &answer)
				return answer
			}
			for b.Loop() {
				// The last weights of a perceptron on noisy rows are as good as the last rows.
				c := newContest(b, "scikit-learn", "errors", float64(learn().Errors)/float64(dualRows()), 1-fit().Accuracy, 0.5)
				var gram, numpy []float64
				c.turns(peerRounds(), func() float64 {
					r := learn()
					gram = append(gram, 1000*r.GramSeconds)
					return 1000 * r.Seconds
				}, func() float64 {
					answer := fit()
					numpy = append(numpy, 1000*answer.Gram)
					return 1000 * (answer.Gram + answer.Seconds)
				})
				c.report(b, "ms", "sklearn-ms")
				b.ReportMetric(median(gram), "gram-ms")
				b.ReportMetric(median(numpy), "numpy-gram-ms")
			}
			b.ReportMetric(0, "ns/op") // the time of both together means nothing
		})
	}
}
