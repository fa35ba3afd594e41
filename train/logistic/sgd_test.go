package logistic

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/testproblems"
	"halfspace/train/internal/optimize"
)

// wordRows returns rows of a few words of many, with a bias and that many noisy classes.
func wordRows(rows, words, classes int) *block.Data {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(classes)))
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r] = make([]float64, words)
		class := rng.IntN(9) / 8
		for range 9 {
			c := int(math.Pow(float64(words), rng.Float64())) - 1
			x[r][c] = float64(float32(rng.Float64() + 0.5))
			class += c
		}
		y[r] = float64(class % classes)
	}
	if classes > 2 {
		return testproblems.Classes(x, y, classes, true)
	}
	for r := range y {
		y[r] = 2*y[r] - 1
	}
	return testproblems.Dense(x, y, true)
}

// TestLazy: with many columns, training gives the mean of the weights that literal steps give.
func TestLazy(t *testing.T) {
	for _, l2 := range []float64{0, 40, 3e4} { // the last makes the scale small
		const rows = 200
		data := wordRows(rows, optimize.MaxColumns+10, 2)
		got := mustTrain(t, data, Settings{Options: Options{Eta: 0.7, L2: l2, NoPenalty: true, Epochs: 2, Solver: SGD}}).ExactWeights
		square := 0.0
		for b := range data.Blocks(context.Background()) {
			for _, v := range b.X {
				square += float64(v) * float64(v) / rows
			}
		}
		w, mean := make([]float64, len(got)), make([]float64, len(got))
		steps := 0.0
		for range 2 {
			for b := range data.Blocks(context.Background()) {
				for r, y := range b.Y {
					x := b.X[r*b.Stride:][:b.Cols]
					score := 0.0
					for c, v := range x {
						score += w[c] * float64(v)
					}
					g := -float64(y) / (1 + math.Exp(float64(y)*score))
					eta := 0.7 / (square/4 + l2/rows) / math.Sqrt(1+steps/rows)
					for c, v := range x {
						if c < len(w)-1 {
							w[c] -= eta * l2 / rows * w[c]
						}
						w[c] -= eta * g * float64(v)
						mean[c] += (w[c] - mean[c]) * 4 / (steps + 4)
					}
					steps++
				}
			}
		}
		for c, want := range mean {
			if math.Abs(got[c]-want) > 1e-8*math.Abs(mean[0]) {
				t.Fatalf("l2 %v: weight %d is %v, of literal steps %v", l2, c, got[c], want)
			}
		}
	}
}
