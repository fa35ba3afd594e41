package perceptron

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"halfspace/block"
	"halfspace/schema"
	"halfspace/train"
)

// benchData returns rows of normal features. A share of the labels is flipped.
func benchData(rows, d int, flips float64) *block.Data {
	rng := rand.New(rand.NewPCG(1, 1))
	truth := make([]float64, d)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	spec := &schema.Spec{Features: make([]string, d), Bias: true, Classes: make([]schema.Class, 2)}
	var blocks []*block.Block
	for first, per := 0, block.Rows(d+1); first < rows; first += per {
		b := block.New(int64(first), min(per, rows-first), d+1)
		for r := range b.Len() {
			row, s := b.X[r*b.Stride:], 0.0
			for c, v := range truth {
				row[c] = float32(rng.NormFloat64())
				s += v * float64(row[c])
			}
			row[d] = 1
			b.Y[r] = -1
			if (s > 0) != (rng.Float64() < flips) {
				b.Y[r] = 1
			}
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}

// BenchmarkTrain is ten epochs over a million rows. About 13 % of the visits update.
func BenchmarkTrain(b *testing.B) {
	d := benchData(1_000_000, 28, 0.04)
	for i := range 2 * len(train.Orders) {
		order, form := train.Orders[i/2], train.Forms[i%2]
		b.Run(fmt.Sprintf("type=f32/n=1000000/d=28/order=%s/average=%t", order, form == train.Averaged), func(b *testing.B) {
			b.SetBytes(10 * (28 + 2) * 4 * d.Rows())
			updates, seconds := int64(0), 0.0
			for b.Loop() {
				r, err := Train(context.Background(), d, Options{Options: train.Options{Order: order, Epochs: 10}, Form: form})
				if err != nil {
					b.Fatal(err)
				}
				updates += r.Updates
				seconds += r.Seconds
			}
			b.ReportMetric(float64(updates)/float64(b.N)/1e7, "updates/visit")
			b.ReportMetric(100*seconds/float64(b.N), "ms/epoch")
		})
	}
}
