package online

import (
	"context"
	"math/rand/v2"

	"halfspace/block"
	"halfspace/train/learner"
)

// Rows visits the rows of a source one after another, in the order of the options.
type Rows struct {
	Shard int // number of the shard that the rows are, for random choices; 0 without shards. See Stream

	src     block.Source
	opt     learner.Options
	windows Windows // nil in file order
}

// NewRows returns the rows of src in the order opt.Order. Every order but learner.Cyclic needs src to be a *block.Data or
// a block.Seekable.
func NewRows(src block.Source, opt learner.Options) (*Rows, error) {
	s := &Rows{src: src, opt: opt}
	if opt.Order == learner.Cyclic || opt.Order == "" {
		return s, nil
	}
	var err error
	s.windows, err = NewWindows(src, opt, nil)
	return s, err
}

// Epoch calls visit with each row of an epoch except the first skip rows: row r of block b. It stops at the first error
// of visit, of the source or of ctx. The perceptron uses the same permutations and draws; see learner.Permutation.
func (s *Rows) Epoch(ctx context.Context, epoch, skip int64, visit func(b *block.Block, r int) error) error {
	within := 0 // rows to skip in the first window
	each := func(w Window) error {
		first := within
		within = 0
		for i, id := range w.Rows[first:] {
			if i%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			b, r := w.Index.At(id)
			if err := visit(b, r); err != nil {
				return err
			}
		}
		return nil
	}
	switch s.opt.Order {
	case learner.Shuffle, learner.FixedShuffle:
		if s.opt.Order == learner.FixedShuffle {
			epoch = 0
		}
		p := learner.NewPermutation(int(s.src.Rows()), s.opt.Seed, Stream(s.Shard, epoch))
		within = p.Skip(skip)
		return s.windows.Permuted(ctx, p, each)
	case learner.Random:
		within = WithinDraws(s.src.Rows(), skip)
		return s.windows.Drawn(ctx, rand.NewPCG(s.opt.Seed, uint64(Stream(s.Shard, epoch))), skip, each)
	}
	return s.cyclic(ctx, skip, visit)
}

// cyclic makes an epoch in file order.
func (s *Rows) cyclic(ctx context.Context, skip int64, visit func(b *block.Block, r int) error) error {
	for b, err := range s.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Y == nil {
			return block.ErrNoLabels
		}
		for r := int(min(max(0, skip-b.First), int64(b.Len()))); r < b.Len(); r++ {
			if r%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := visit(b, r); err != nil {
				return err
			}
		}
	}
	return nil
}
