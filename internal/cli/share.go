package cli

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/train"
)

// holdBack takes the rows of the validation out of those that are learned from.
func holdBack[T kernel.Float](ctx context.Context, o *trainOptions, learned, validation *rows[T], bar *progress) error {
	all := *learned
	counts, err := train.ClassCounts(ctx, all.Source, o.workers)
	if err != nil {
		return err
	}
	if err := split(ctx, o, all.Source, stratified(o.seed, o.share, counts), learned, validation, bar); err != nil {
		return err
	}
	return all.close()
}

// split parts the rows of all: it makes held of those that has chooses, and learned of the others. Both are in memory where the rows
// are, and else in temporary caches.
func split[T kernel.Float](ctx context.Context, o *trainOptions, all block.Source[T], has chooser, learned, held *rows[T], bar *progress) error {
	_, inMemory := all.(*block.Data[T])
	kept, back, err := newShares(ctx, all, has)
	if err == nil && (kept.rows == 0 || back.rows == 0) {
		err = fmt.Errorf("%s of %s leaves none to learn from or to judge on: take another share, or another --seed", o.validation,
			say.Plural(all.Rows(), "row"))
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

// A chooser returns a function that tells for one row after the other, from row 0 on, by the number of its class whether it is held back.
type chooser func() dataset.Choice

// others takes the rows that aren't held back.
func (has chooser) others() dataset.Choice {
	is := has()
	return func(class int) bool { return !is(class) }
}

// stratified holds back a share of each class, of which counts says how many rows there are: the nearest whole number of rows, half a
// row being one. Of a class of two or more rows, one at least is held back and one at least is not, where the share is one of all rows
// at least and not all. Selection sampling takes the rows (Knuth, "The Art of Computer Programming", volume 2, algorithm 3.4.2S): where
// m of the class's n rows from this one on are still to be held back, this one is with the chance m/n. A generator draws below n: PCG
// with the seed as its first word and 2^64-2 less the number of the class as its second.
func stratified(seed uint64, share float64, counts []int64) chooser {
	nearest := func(n int64) int64 { return int64(math.Floor(share*float64(n) + 0.5)) }
	all := int64(0)
	for _, n := range counts {
		all += n
	}
	held := make([]int64, len(counts))
	for c, n := range counts {
		if held[c] = nearest(n); n > 1 && nearest(all) > 0 && nearest(all) < all {
			held[c] = min(max(held[c], 1), n-1)
		}
	}
	return func() dataset.Choice {
		left, wanted, rngs := slices.Clone(counts), slices.Clone(held), classRandoms(seed, len(counts))
		return func(c int) bool {
			is := train.Draw(rngs[c], uint64(left[c])) < uint64(wanted[c])
			left[c]--
			if is {
				wanted[c]--
			}
			return is
		}
	}
}

// classRandoms returns a generator for each class: PCG with the seed as its first word and 2^64-2 less the number of the class as its
// second, which no epoch has.
func classRandoms(seed uint64, classes int) []*rand.PCG {
	rngs := make([]*rand.PCG, classes)
	for c := range rngs {
		rngs[c] = rand.NewPCG(seed, math.MaxUint64-1-uint64(c))
	}
	return rngs
}

// A share is the rows of a source that are held back, or the others, in their order.
type share[T kernel.Float] struct {
	block.Source[T]
	held bool
	has  chooser
	rows int64
}

// newShares returns the rows that aren't held back, and those that are.
func newShares[T kernel.Float](ctx context.Context, src block.Source[T], has chooser) (kept, held *share[T], err error) {
	kept, held = &share[T]{src, false, has, src.Rows()}, &share[T]{src, true, has, 0}
	is := has()
	spec := src.Spec()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for _, y := range b.Y {
			if is(train.ClassOf(y, spec)) {
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
		n, is, spec := 0, s.has(), s.Spec()
		for from, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for r, y := range from.Y {
				if is(train.ClassOf(y, spec)) != s.held {
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
