package bench

import (
	"context"
	"math"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/train/lda"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

const solversScript = "peers/sklearn_solvers.py"

type solversAnswer struct {
	Seconds, Accuracy float64
	Dtype             string
	Weights           []float64
}

// BenchmarkPeerSklearnSolvers times logistic regression, Fisher's discriminant and support vector machines on a million
// rows in memory, beside scikit-learn's solvers. ms/fit is of the learning alone, and sklearn-ms/fit of the faster
// solver's fit. Both are medians (one run for the hinge), and x-faster is their ratio. x-faster-call compares fit with
// the whole call of Train, which also computes standard errors, counts errors and measures the rows.
//
// weights-apart is the largest difference of a weight, relative to the largest weight; scikit-learn's lbfgs stops at
// its default tolerance. sklearn-above is how far LinearSVC's objective is above that of the weights here, whose gap to
// the optimum is at most relative-gap.
func BenchmarkPeerSklearnSolvers(b *testing.B) {
	python := pythonWithSklearn(b)
	dir := b.TempDir()
	data := peerData(b, dir, peerRows)
	peer := startSklearn(b, python, solversScript, dir, peerRows)
	b.Run("algo=logistic", func(b *testing.B) {
		for b.Loop() {
			compareSolvers(b, data, peer, peerRounds, []string{"lbfgs", "newton-cholesky"}, func() ([]float64, float64) {
				r, err := logistic.Train(context.Background(), data, logistic.Options{})
				if err != nil {
					b.Fatal(err)
				}
				return r.Exact, r.Seconds
			})
		}
		b.ReportMetric(0, "ns/op")
	})
	for _, loss := range svm.Losses {
		rounds := peerRounds
		if loss == svm.Hinge {
			rounds = 1 // scikit-learn takes half a minute
		}
		b.Run("algo=svm/loss="+string(loss), func(b *testing.B) {
			for b.Loop() {
				var best float64
				theirs := compareSolvers(b, data, peer, rounds, []string{string(loss)}, func() ([]float64, float64) {
					r, err := svm.Train(context.Background(), data, svm.Options{Loss: loss})
					if err != nil {
						b.Fatal(err)
					}
					best = r.Objective
					b.ReportMetric(r.Gap/r.Objective, "relative-gap")
					return r.Exact, r.Seconds
				})
				b.ReportMetric(svmObjective(b, data, theirs, loss)/best-1, "sklearn-above")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	b.Run("algo=lda", func(b *testing.B) {
		for b.Loop() {
			compareSolvers(b, data, peer, peerRounds, []string{"lsqr"}, func() ([]float64, float64) {
				r, err := lda.Train(context.Background(), data, lda.Options{})
				if err != nil {
					b.Fatal(err)
				}
				return r.Exact, r.Seconds
			})
		}
		b.ReportMetric(0, "ns/op")
	})
}

func compareSolvers(b *testing.B, data *block.Data[float32], peer *sklearn, rounds int, solvers []string, train func() ([]float64, float64)) []float64 {
	b.Logf("%s; halfspace: %s, float32", peer.hello, kernel.Active())
	var own, calls []float64
	theirs := make([][]float64, len(solvers))
	var weights []float64
	answers := make([]solversAnswer, len(solvers))
	for range rounds {
		train() // as peerRounds says
		start := time.Now()
		w, seconds := train()
		calls = append(calls, 1000*time.Since(start).Seconds())
		own, weights = append(own, 1000*seconds), w
		for i, name := range solvers {
			if rounds > 1 {
				peer.ask(b, map[string]string{"solver": name}, &answers[i])
			}
			peer.ask(b, map[string]string{"solver": name}, &answers[i])
			theirs[i] = append(theirs[i], 1000*answers[i].Seconds)
		}
	}
	best := 0
	for i, name := range solvers {
		b.Logf("%s, %s: %.0f ms", name, answers[i].Dtype, median(theirs[i]))
		if median(theirs[i]) < median(theirs[best]) {
			best = i
		}
	}
	largest, apart := 0.0, 0.0
	for i, v := range answers[best].Weights {
		largest, apart = max(largest, math.Abs(v)), max(apart, math.Abs(v-weights[i]))
	}
	b.ReportMetric(median(own), "ms/fit")
	b.ReportMetric(median(theirs[best]), "sklearn-ms/fit")
	b.ReportMetric(median(theirs[best])/median(own), "x-faster")
	b.ReportMetric(median(theirs[best])/median(calls), "x-faster-call")
	b.ReportMetric(apart/largest, "weights-apart")
	return answers[best].Weights
}

// svmObjective returns the objective of weights with a bias, for a penalty of 1.
func svmObjective(b *testing.B, data *block.Data[float32], w []float64, loss svm.Loss) (sum float64) {
	for _, v := range w[:len(w)-1] {
		sum += v * v / 2
	}
	for rows, err := range data.Blocks(context.Background()) {
		if err != nil {
			b.Fatal(err)
		}
		for r, y := range rows.Y {
			m := 0.0
			for c, v := range w {
				m += float64(y) * v * float64(rows.X[r*rows.Stride+c])
			}
			u := max(0, 1-m)
			if loss == svm.SquaredHinge {
				u *= u
			}
			sum += u
		}
	}
	return sum
}
