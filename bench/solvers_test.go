package bench

import (
	"context"
	"math"
	"testing"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/require"
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

// BenchmarkPeerSklearnSolvers times logistic regression, Fisher's discriminant and support vector machines on rows in
// memory, a million with -full, beside scikit-learn's solvers. The objectives are compared before, or the errors of the discriminant.
// ms/fit is of the learning alone, and sklearn-ms/fit of the faster solver's fit. Both are medians (one run for the
// hinge), and x-faster is their ratio. x-faster-call compares fit with the whole call of Train, which also computes
// standard errors, counts errors and measures the rows.
//
// weights-apart is the largest difference of a weight, relative to the largest weight; scikit-learn's lbfgs stops at
// its default tolerance. The gap of the objective here to the optimum is at most relative-gap.
func BenchmarkPeerSklearnSolvers(b *testing.B) {
	python := pythonWithSklearn(b)
	dir := b.TempDir()
	data := peerData(b, dir, peerRows())
	peer, hello := startSklearn(b, python, solversScript, dir, peerRows())
	b.Logf("%s; halfspace: %s, float32", hello, kernel.Active())
	b.Run("algo=logistic", func(b *testing.B) {
		for b.Loop() {
			quality := func(w []float64) float64 { return objective(data, "logistic", 0, 0, w) }
			compareSolvers(b, peer, peerRounds(), []string{"lbfgs", "newton-cholesky"}, "objective", quality, func() ([]float64, float64) {
				r, err := logistic.Train(context.Background(), data, logistic.Settings{Options: logistic.Options{NoPenalty: true}})
				require.NoError(b, err)
				return r.ExactWeights, r.Seconds
			})
		}
		b.ReportMetric(0, "ns/op")
	})
	for _, loss := range svm.Losses {
		rounds := peerRounds()
		if loss == svm.Hinge {
			rounds = 1 // scikit-learn takes half a minute
		}
		b.Run("algo=svm/loss="+string(loss), func(b *testing.B) {
			for b.Loop() {
				quality := func(w []float64) float64 { return objective(data, string(loss), 0, 1, w) }
				compareSolvers(b, peer, rounds, []string{string(loss)}, "objective", quality, func() ([]float64, float64) {
					r, err := svm.Train(context.Background(), data, svm.Settings{Options: svm.Options{Loss: loss}})
					require.NoError(b, err)
					b.ReportMetric(r.Gap/r.Objective, "relative-gap")
					return r.ExactWeights, r.Seconds
				})
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	b.Run("algo=lda", func(b *testing.B) {
		for b.Loop() {
			quality := func(w []float64) float64 { return wrong(data, w) }
			compareSolvers(b, peer, peerRounds(), []string{"lsqr"}, "errors", quality, func() ([]float64, float64) {
				r, err := lda.Train(context.Background(), data, lda.Settings{})
				require.NoError(b, err)
				return r.ExactWeights, r.Seconds
			})
		}
		b.ReportMetric(0, "ns/op")
	})
}

// compareSolvers compares with the fastest of scikit-learn's solvers. quality returns a figure of weights, of which less
// is better.
func compareSolvers(b *testing.B, peer *peer, rounds int, solvers []string, figure string, quality func(w []float64) float64,
	train func() ([]float64, float64)) {
	var best string
	var theirs solversAnswer
	for _, name := range solvers {
		answer := peer.solve(b, name)
		b.Logf("%s, %s: %.0f ms at first", name, answer.Dtype, 1000*answer.Seconds)
		if best == "" || answer.Seconds < theirs.Seconds {
			best, theirs = name, answer
		}
	}
	weights, _ := train()
	allowance := map[string]float64{"objective": 1e-6, "errors": 1e-3}[figure]
	c := newContest(b, "scikit-learn", figure, quality(weights), quality(theirs.Weights), allowance)
	var calls []float64
	c.turns(rounds, func() float64 {
		train() // as peerRounds says
		start := time.Now()
		_, seconds := train()
		calls = append(calls, 1000*time.Since(start).Seconds())
		return 1000 * seconds
	}, func() float64 {
		if rounds > 1 {
			peer.solve(b, best)
		}
		return 1000 * peer.solve(b, best).Seconds
	})
	c.report(b, "ms/fit", "sklearn-ms/fit")
	largest, apart := 0.0, 0.0
	for i, v := range theirs.Weights {
		largest, apart = max(largest, math.Abs(v)), max(apart, math.Abs(v-weights[i]))
	}
	b.ReportMetric(median(c.theirs)/median(calls), "x-faster-call")
	b.ReportMetric(apart/largest, "weights-apart")
}

// solve times a solver of scikit-learn.
func (p *peer) solve(b *testing.B, solver string) (answer solversAnswer) {
	b.Helper()
	p.ask(b, map[string]string{"solver": solver}, &answer)
	return answer
}

// wrong returns the number of rows whose score by weights with a bias has the wrong sign.
func wrong(data *block.Data, w []float64) (errors float64) {
	for rows := range data.Blocks(context.Background()) {
		for r, y := range rows.Y {
			score := 0.0
			for c, v := range w {
				score += v * float64(rows.X[r*rows.Stride+c])
			}
			if (score > 0) != (y > 0) {
				errors++
			}
		}
	}
	return errors
}

// objective returns l1 |w|_1 + l2/2 |w|^2 of the weights but the bias, and the sum of losses, in float64 with compensated sums (Kahan,
// "Further remarks on reducing truncation errors", 1965). Columns of sparse rows beyond the weights count as 0.
func objective(data *block.Data, loss string, l1, l2 float64, w []float64) float64 {
	sum, lost, penalised := 0.0, 0.0, w
	if data.Spec().Bias {
		penalised = w[:len(w)-1]
	}
	for _, v := range penalised {
		sum += l1*math.Abs(v) + l2/2*v*v
	}
	for b := range data.Blocks(context.Background()) {
		for r, y := range b.Y {
			m := 0.0
			if b.Sparse == nil {
				for c, v := range w {
					m += v * float64(b.X[r*b.Stride+c])
				}
			} else {
				columns, values := b.Sparse.Row(r)
				for k, c := range columns {
					if int(c) < len(w) {
						m += w[c] * float64(values[k])
					}
				}
			}
			u := lossOf(loss, float64(y)*m)
			if b.W != nil {
				u *= b.W[r]
			}
			u -= lost
			next := sum + u
			lost, sum = next-sum-u, next
		}
	}
	return sum
}

// lossOf returns the loss of a row with the margin m.
func lossOf(loss string, m float64) float64 {
	u := max(0, 1-m)
	switch loss {
	case "logistic":
		u = max(0, -m) + math.Log1p(math.Exp(-math.Abs(m)))
	case "squared_hinge":
		u *= u
	}
	return u
}
