package perceptron

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train/learner"
)

// BenchmarkSparse is an epoch over 50,000 rows of 80 elements in 100,000 columns, whose numbers follow a power law.
func BenchmarkSparse(b *testing.B) {
	const rows, cols, elements = 50_000, 100_000, 80
	rng := rand.New(rand.NewPCG(1, 1))
	spec := &schema.Spec{Features: make([]string, cols-1), Bias: true, Classes: make([]schema.Class, 2), Positive: 1}
	var blocks []*block.Block
	for first := 0; first < rows; first += block.Rows(cols) {
		s, n := &kernel.SparseRows{Ptr: []int64{0}}, min(rows-first, block.Rows(cols))
		y := make([]float32, n)
		for r := range y {
			from, sum := len(s.Idx), 0.0
			for len(s.Idx)-from < elements-1 {
				s.Idx = append(s.Idx, uint32(min(cols-2, int(math.Pow(cols, rng.Float64()))-1)))
			}
			slices.Sort(s.Idx[from:])
			s.Idx = append(s.Idx[:from+len(slices.Compact(s.Idx[from:]))], cols-1)
			for _, c := range s.Idx[from:] {
				s.Val = append(s.Val, float32(rng.NormFloat64()))
				sum += math.Sin(float64(c)) * float64(s.Val[len(s.Val)-1])
			}
			s.Val[len(s.Val)-1] = 1
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
			y[r] = float32(math.Copysign(1, sum+rng.NormFloat64()))
		}
		blocks = append(blocks, &block.Block{First: int64(first), Cols: cols, Stride: kernel.Stride(cols), Sparse: s, Y: y})
	}
	d := block.AssumeValid(block.NewData(spec, blocks))
	for _, order := range []learner.Order{learner.Cyclic, learner.Shuffle} {
		for name, opt := range map[string]Options{"last": {}, "averaged": {Form: learner.Averaged}, "pocket": {Pocket: pocket.Ratchet}} {
			b.Run(fmt.Sprintf("order=%s/form=%s", order, name), func(b *testing.B) {
				opt.Order, opt.Epochs = order, 2
				for b.Loop() {
					if _, err := Train(context.Background(), d, Settings{Options: opt}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
