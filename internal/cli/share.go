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

// holdBack takes the rows of the validation out of those that are learned from. Both are in memory where the rows were, and
// else in temporary caches.
func holdBack[T kernel.Float](ctx context.Context, o *trainOptions, learned, validation *rows[T], bar *progress) error {
	all := *learned
	_, inMemory := all.Source.(*block.Data[T])
	for _, to := range []struct {
		rows *rows[T]
		held bool
	}{{validation, true}, {learned, false}} {
		part, err := newShare(ctx, all.Source, o, to.held)
		switch {
		case err != nil:
		case inMemory:
			to.rows.Source, err = block.Collect(ctx, part)
		default:
			err = to.rows.openTemporary(ctx, &o.storage, part, func(rows int64) { bar.show("writing the caches", "", rows, part.rows) })
		}
		if err != nil {
			validation.close()
			return err
		}
	}
	return all.close()
}

// A share is the rows of a source that are held back, or the others, in their order. A generator decides row by row: PCG
// with the seed as its first word and 2^64-1 as its second, which no epoch has; the row is held back where the number is
// below that share of 2^64. So the rows' numbers alone decide.
type share[T kernel.Float] struct {
	block.Source[T]
	held  bool
	below uint64
	seed  uint64
	rows  int64
}

// newShare is an error if there would be no rows in it.
func newShare[T kernel.Float](ctx context.Context, src block.Source[T], o *trainOptions, held bool) (*share[T], error) {
	s := &share[T]{Source: src, held: held, below: uint64(o.share * 0x1p64), seed: o.seed}
	has := s.each()
	for range src.Rows() {
		if has() {
			s.rows++
		}
	}
	if s.rows == 0 {
		return nil, fmt.Errorf("%s of %s leaves none to learn from or to judge on: take another share, or another --seed", o.validation,
			plural(src.Rows(), "row"))
	}
	return s, ctx.Err()
}

// each returns a function that tells for one row after the other, from row 0, whether it is of the share.
func (s *share[T]) each() func() bool {
	rng := rand.NewPCG(s.seed, math.MaxUint64)
	return func() bool { return (rng.Uint64() < s.below) == s.held }
}

func (s *share[T]) Rows() int64 { return s.rows }

func (s *share[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		b := block.NewFor[T](s.Spec(), 0, int(min(s.rows, int64(block.Rows[T](s.Spec().Cols())))))
		n, has := 0, s.each()
		for from, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for r, y := range from.Y {
				if !has() {
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
