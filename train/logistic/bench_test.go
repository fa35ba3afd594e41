package logistic

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/block"
)

// benchData returns rows of normal features, with labels of a logistic model.
func benchData(rows, d int) *block.Data[float32] {
	rng := rand.New(rand.NewPCG(1, 1))
	spec := &block.Spec{Features: make([]string, d), Bias: true, Classes: make([]block.Class, 2), Positive: 1}
	var blocks []*block.Block[float32]
	for first, per := 0, block.Rows[float32](d+1); first < rows; first += per {
		b := block.New[float32](int64(first), min(per, rows-first), d+1)
		for r := range b.Len() {
			z := 0.3
			for c := range d {
				v := float32(rng.NormFloat64())
				b.X[r*b.Stride+c] = v
				z += float64(v) * float64(c%5-2) / 4
			}
			b.X[r*b.Stride+d], b.Y[r] = 1, -1
			if rng.Float64() < 1/(1+math.Exp(-z)) {
				b.Y[r] = 1
			}
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}

// BenchmarkTrain is a million rows: the whole call, the learning alone in ms/fit, and each kind of pass.
func BenchmarkTrain(b *testing.B) {
	d := benchData(1_000_000, 28)
	b.Run("type=f32/n=1000000/d=28", func(b *testing.B) {
		seconds, passes := 0.0, int64(0)
		for b.Loop() {
			r, err := Train(context.Background(), d, Options{})
			if err != nil {
				b.Fatal(err)
			}
			seconds += r.Seconds
			passes = r.Epochs
		}
		b.ReportMetric(1000*seconds/float64(b.N), "ms/fit")
		b.ReportMetric(float64(passes), "passes")
	})
	p := newProblem(d, 0, 2)
	w := make([]float64, 32)
	for i := range w {
		w[i] = float64(i%5-2) / 4
	}
	for name, hessian := range map[string]bool{"pass=gradient": false, "pass=hessian": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := p.pass(context.Background(), w, hessian, &sums{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
