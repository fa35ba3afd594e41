package pocket

import (
	"context"
	"iter"
	"math"

	"halfspace/block"
	"halfspace/kernel"
)

// A stream overwrites its blocks, as a source that reads a file does.
type stream struct{ *block.Data }

func (s stream) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b, err := range s.Data.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			c := b.Clone()
			goOn := yield(c, nil)
			for i := range c.X {
				c.X[i] = float32(math.NaN())
			}
			clear(c.Y)
			if !goOn {
				return
			}
		}
	}
}

// sparse returns the same rows in CSR form.
func sparse(d *block.Data) *block.Data {
	var blocks []*block.Block
	for b := range d.Blocks(context.Background()) {
		s := &kernel.SparseRows{Ptr: []int64{0}}
		for r := range b.Len() {
			for c, v := range b.X[r*b.Stride : r*b.Stride+b.Cols] {
				if v != 0 {
					s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
				}
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		blocks = append(blocks, &block.Block{First: b.First, Cols: b.Cols, Stride: b.Stride, Sparse: s, Y: b.Y, W: b.W})
	}
	return block.NewData(d.Spec(), blocks)
}
