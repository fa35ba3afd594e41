package cli

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"halfspace/block"
	"halfspace/kernel"
)

// holdBack takes the rows of the validation out of those that are learned from.
func holdBack[T kernel.Float](ctx context.Context, o *trainOptions, learned, validation *rows[T], bar *progress) error {
	all := *learned
	if err := split(ctx, o, all.Source, chance[T](o), learned, validation, bar); err != nil {
		return err
	}
	return all.close()
}

// split parts the rows of all: it makes held of those that has chooses, and learned of the others. Both are in memory where the rows
// are, and else in temporary caches.
func split[T kernel.Float](ctx context.Context, o *trainOptions, all block.Source[T], has chooser[T], learned, held *rows[T], bar *progress) error {
	_, inMemory := all.(*block.Data[T])
	kept, back, err := newShares(ctx, all, has)
	if err == nil && (kept.rows == 0 || back.rows == 0) {
		err = fmt.Errorf("%s of %s leaves none to learn from or to judge on: take another share, or another --seed", o.validation,
			plural(all.Rows(), "row"))
	}
	for _, to := range []struct {
		rows *rows[T]
		part *share[T]
	}{{held, back}, {learned, kept}} {
		switch {
		case err != nil:
		case inMemory:
			to.rows.Source, err = block.Collect(ctx, to.part)
		default:
			err = to.rows.openTemporary(ctx, &o.storage, to.part, func(rows int64) { bar.show("writing the caches", "", rows, to.part.rows) })
		}
	}
	if err != nil && held.Source != nil {
		held.close()
	}
	return err
}

// A chooser returns a function that tells for one row after the other, by their labels from row 0 on, whether it is held back.
type chooser[T kernel.Float] func() func(y T) bool

// chance holds back a share of the rows. A generator decides row by row: PCG with the seed as its first word and 2^64-1 as its second,
// which no epoch has; the row is held back where the number is below that share of 2^64. So the rows' numbers alone decide.
func chance[T kernel.Float](o *trainOptions) chooser[T] {
	return func() func(T) bool {
		rng, below := rand.NewPCG(o.seed, math.MaxUint64), uint64(o.share*0x1p64)
		return func(T) bool { return rng.Uint64() < below }
	}
}

// A share is the rows of a source that are held back, or the others, in their order.
type share[T kernel.Float] struct {
	block.Source[T]
	held bool
	has  chooser[T]
	rows int64
}

// newShares returns the rows that aren't held back, and those that are.
func newShares[T kernel.Float](ctx context.Context, src block.Source[T], has chooser[T]) (kept, held *share[T], err error) {
	kept, held = &share[T]{src, false, has, src.Rows()}, &share[T]{src, true, has, 0}
	is := has()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for _, y := range b.Y {
			if is(y) {
				held.rows++
			}
		}
	}
	kept.rows -= held.rows
	return kept, held, ctx.Err()
}

func (s *share[T]) Rows() int64 { return s.rows }

func (s *share[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		b := block.NewFor[T](s.Spec(), 0, int(min(s.rows, int64(block.Rows[T](s.Spec().Cols())))))
		n, is := 0, s.has()
		for from, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for r, y := range from.Y {
				if is(y) != s.held {
					continue
				}
				copy(b.X[n*b.Stride:(n+1)*b.Stride], from.X[r*b.Stride:])
				b.Y[n] = y
				if b.W != nil {
					b.W[n] = from.W[r]
				}
				if n++; n < b.Len() {
					continue
				}
				if !yield(b, nil) {
					return
				}
				b.First += int64(n)
				n = 0
			}
		}
		if n > 0 {
			yield(b.Slice(0, n), nil)
		}
	}
}
