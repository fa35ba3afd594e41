package optimize_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

// An outcome is what both learners tell of a training.
type outcome struct {
	exact          []float64
	weights        []float32
	objective, gap float64
	converged      bool
	rounded        bool
}

// losses train with the penalties l1 and l2. derivative returns that of the loss at a margin.
var losses = []struct {
	name       string
	train      func(t *testing.T, d block.Source, p optimize.Penalty, workers int) outcome
	derivative func(margin float64) float64
}{
	{"logistic", func(t *testing.T, d block.Source, p optimize.Penalty, workers int) outcome {
		r := require.Value(logistic.Train(t.Context(), d, logistic.Settings{Options: logistic.Options{L1: p.L1, L2: p.L2, NonNegative: p.NonNegative}, Run: learner.Run{Workers: workers}}))(t)
		return outcome{r.ExactWeights, r.Weights, r.Objective, r.Gap, r.Converged, r.GapLostByRounding}
	}, func(m float64) float64 { return -1 / (1 + math.Exp(m)) }},
	{"squared hinge", func(t *testing.T, d block.Source, p optimize.Penalty, workers int) outcome {
		r := require.Value(svm.Train(t.Context(), d, svm.Settings{Options: svm.Options{L1: p.L1, L2: p.L2, NonNegative: p.NonNegative}, Run: learner.Run{Workers: workers}}))(t)
		return outcome{r.ExactWeights, r.Weights, r.Objective, r.Gap, r.Converged, r.GapLostByRounding}
	}, func(m float64) float64 { return -2 * max(0, 1-m) }},
}

// gradient returns the gradient of the sum of losses at w, in plain loops.
func gradient(t *testing.T, d block.Source, w []float64, derivative func(float64) float64) []float64 {
	g := make([]float64, len(w))
	for b, err := range d.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for r, y := range b.Y {
			x, score := b.X[r*b.Stride:][:len(w)], 0.0
			for i, v := range x {
				score += float64(v) * w[i]
			}
			for i, v := range x {
				g[i] += b.Weight(r) * float64(y) * derivative(float64(y)*score) * float64(v)
			}
		}
	}
	return g
}

// checkOptimal fails unless the weights meet the conditions of Karush, Kuhn and Tucker: the gradient of the loss and of
// l2 is -l1 times the sign of a weight, between -l1 and l1 at weights of 0, and 0 for the bias.
func checkOptimal(t *testing.T, name string, d block.Source, w []float64, p optimize.Penalty, derivative func(float64) float64) {
	t.Helper()
	size := p.L1
	for _, v := range gradient(t, d, make([]float64, len(w)), derivative) {
		size = max(size, math.Abs(v))
	}
	features := len(d.Spec().Features)
	for i, v := range gradient(t, d, w, derivative) {
		wrong := math.Abs(v)
		switch {
		case i >= features:
		case w[i] < 0 && p.NonNegative:
			t.Errorf("%s: weight %d is %v", name, i, w[i])
		case w[i] == 0 && p.NonNegative:
			wrong = max(0, -v-p.L1)
		case w[i] == 0:
			wrong = max(0, wrong-p.L1)
		default:
			wrong = math.Abs(v + p.L2*w[i] + math.Copysign(p.L1, w[i]))
		}
		if !(wrong <= 1e-6*size) {
			t.Errorf("%s: weight %d is %v, and its gradient is off by %v of %v", name, i, w[i], wrong, size)
		}
	}
}

// problems returns small data: normal rows, ties, equal and constant columns, rows that a plane separates, sample
// weights of which some are 0, columns far from zero, and no bias.
func problems() map[string]*block.Data {
	rng := rand.New(rand.NewPCG(8, 1))
	draw := func(n, d int, change func(row []float64, y *float64)) *block.Data {
		x, y := make([][]float64, n), make([]float64, n)
		for r := range x {
			x[r] = make([]float64, d)
			for i := range x[r] {
				x[r][i] = rng.NormFloat64()
			}
			y[r] = math.Copysign(1, x[r][0]-x[r][1]/2+0.3+rng.NormFloat64())
			change(x[r], &y[r])
		}
		return testproblems.Dense(x, y, true)
	}
	plain := func([]float64, *float64) {}
	normal := draw(300, 6, plain)
	spec := *draw(200, 5, plain).Spec()
	spec.Bias = false
	noBias := draw(200, 4, plain)
	for b := range noBias.Blocks(context.Background()) {
		noBias = block.NewData(&spec, []*block.Block{b}) // its column of ones is a feature
	}
	return map[string]*block.Data{
		"normal": normal,
		"ties": draw(200, 6, func(x []float64, _ *float64) {
			for i := range x {
				x[i] = math.Round(x[i])
			}
		}),
		"equal and constant": draw(200, 7, func(x []float64, _ *float64) { x[2], x[3], x[4], x[5] = x[0], 5, 0, -2*x[1] }),
		"separable":          draw(100, 4, func(x []float64, y *float64) { *y = math.Copysign(1, x[0]) }),
		"weights":            testproblems.Weighted(normal, func(r int) float64 { return float64(r%5) / 2 }),
		"far":                draw(200, 4, func(x []float64, _ *float64) { x[1] += 1e5; x[2] = 1e3*x[2] - 1e4 }),
		"few positive":       draw(300, 4, func(x []float64, y *float64) { *y = math.Copysign(1, x[0]-2) }),
		"no bias":            noBias,
		"many columns":       draw(40, 60, plain),
	}
}

var penalties = []optimize.Penalty{{L1: 0.01}, {L1: 1}, {L1: 20}, {L1: 1, L2: 1e-6}, {L1: 2, L2: 3}, {L1: 1e4},
	{L1: 1, NonNegative: true}, {L2: 1, NonNegative: true}, {L1: 2, L2: 3, NonNegative: true}}

// TestOptimum: the exact weights are the optimum. The gap proves that the rounded ones are as good, but for columns far from
// zero, whose scores lose digits.
func TestOptimum(t *testing.T) {
	zeros := 0
	for rows, d := range problems() {
		for _, p := range penalties {
			for _, l := range losses {
				r := l.train(t, d, p, 2)
				name := fmt.Sprintf("%s, %s, %v", rows, l.name, p)
				checkOptimal(t, name, d, r.exact, p, l.derivative)
				if r.converged != (r.gap <= 1e-6*r.objective) || !r.converged && (!r.rounded || rows != "far") {
					t.Errorf("%s: converged %v, rounded %v, gap %v of %v", name, r.converged, r.rounded, r.gap, r.objective)
				}
				for _, v := range r.exact {
					if v == 0 {
						zeros++
					}
				}
			}
		}
	}
	if zeros < 500 {
		t.Errorf("%d weights are 0", zeros)
	}
}

// TestSampled: the exact weights are the optimum of rows that are enough for a sample.
func TestSampled(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x, y := make([][]float64, 10*block.ChunkRows+99), make([]float64, 10*block.ChunkRows+99)
	for r := range x {
		x[r] = []float64{rng.NormFloat64(), 0, rng.NormFloat64()}
		if rng.IntN(3) > 0 {
			x[r][1] = rng.NormFloat64()
		}
		y[r] = math.Copysign(1, x[r][0]-x[r][1]/2+0.3+rng.NormFloat64())
	}
	d, p := testproblems.Dense(x, y, true), optimize.Penalty{L1: 300, L2: 1}
	for _, l := range losses {
		checkOptimal(t, l.name, d, l.train(t, d, p, 2).exact, p, l.derivative)
	}
}
