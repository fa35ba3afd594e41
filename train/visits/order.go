package visits

import (
	"context"
	"math/rand/v2"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/train"
)

// Rows visits the rows of a source one after another, in the order of the options.
type Rows[T kernel.Float] struct {
	src     block.Source[T]
	opt     train.Options
	windows Windows[T] // nil in file order
}

// NewRows returns the rows of a source in the order of opt. Every order but train.Cyclic needs src to be a *block.Data
// or a block.Seekable.
func NewRows[T kernel.Float](src block.Source[T], opt train.Options) (*Rows[T], error) {
	s := &Rows[T]{src: src, opt: opt}
	if opt.Order == train.Cyclic || opt.Order == "" {
		return s, nil
	}
	var err error
	s.windows, err = NewWindows(src, opt, nil)
	return s, err
}

// Epoch calls visit with each row of an epoch: row r of block b. It ends with the first error of visit, of the source or
// of ctx. The permutations and draws are those of the perceptron (see train.Permutation).
func (s *Rows[T]) Epoch(ctx context.Context, epoch int64, visit func(b *block.Block[T], r int) error) error {
	each := func(w Window[T]) error {
		for i, id := range w.Rows {
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
	case train.Shuffle:
		return s.windows.Permuted(ctx, train.NewPermutation(int(s.src.Rows()), s.opt.Seed, epoch), each)
	case train.FixedShuffle:
		return s.windows.Permuted(ctx, train.NewPermutation(int(s.src.Rows()), s.opt.Seed, 0), each)
	case train.Random:
		return s.windows.Drawn(ctx, rand.NewPCG(s.opt.Seed, uint64(epoch)), each)
	}
	return s.cyclic(ctx, visit)
}

// cyclic is an epoch in file order.
func (s *Rows[T]) cyclic(ctx context.Context, visit func(b *block.Block[T], r int) error) error {
	for b, err := range s.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Y == nil {
			return block.ErrNoLabels
		}
		for r := range b.Len() {
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
