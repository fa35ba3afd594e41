package block

import (
	"context"
	"fmt"
	"halfspace/schema"
	"math/rand/v2"
	"testing"
)

// BenchmarkCheck is the pass over a million rows in memory.
func BenchmarkCheck(b *testing.B) {
	const rows, d = 1_000_000, 28
	rng := rand.New(rand.NewPCG(1, 1))
	spec := &schema.Spec{Features: make([]string, d), Bias: true, Classes: make([]schema.Class, 2)}
	var blocks []*Block
	for first, per := 0, Rows(d+1); first < rows; first += per {
		blk := New(int64(first), min(per, rows-first), d+1)
		for r := range blk.Len() {
			row := blk.X[r*blk.Stride:]
			for c := range d {
				row[c] = float32(rng.NormFloat64())
			}
			row[d], blk.Y[r] = 1, float32(2*rng.IntN(2)-1)
		}
		blocks = append(blocks, blk)
	}
	data := NewData(spec, blocks)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("type=f32/n=%d/d=%d/workers=%d", rows, d, workers), func(b *testing.B) {
			b.SetBytes(rows * (d + 2) * 4)
			for b.Loop() {
				if _, err := Check(context.Background(), data, workers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
