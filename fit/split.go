package fit

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
)

// Chooser returns a function that is called for one row after the other, from row 0 on, with the number of its class.
// The function tells whether the row is held back.
type Chooser func() func(class int) bool

// Others takes the rows that aren't held back.
func (has Chooser) Others() func(class int) bool {
	is := has()
	return func(class int) bool { return !is(class) }
}

// Stratified holds back a share of each class. counts has the number of rows of each class. The share of a class is
// rounded to the nearest whole number of rows, half a row up. A class of two or more rows has a row on each side,
// unless the share of all rows is none or all of them. Selection sampling takes the rows (Knuth, "The Art of Computer
// Programming", volume 2, algorithm 3.4.2S). If m of the class's n rows that are left are still to be held back, the
// next one is with the chance m/n. A generator draws below n: PCG with the seed as its first word and 2^64-2 less the
// number of the class as its second.
func Stratified(seed uint64, share float64, counts []int64) Chooser {
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
	return func() func(class int) bool {
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

// Fold holds back one of so many folds of rows of some classes. It deals out each class by itself, so every fold has
// the share of a class that all rows have. The rows of a class go to the folds in turn. The order of the folds is
// random, and new in each round, by the generators of Stratified.
func Fold(seed uint64, folds, classes, number int) Chooser {
	return func() func(class int) bool {
		decks, rngs := make([][]int, classes), classRandoms(seed, classes)
		return func(c int) bool {
			if len(decks[c]) == 0 {
				for f := range folds {
					decks[c] = append(decks[c], f)
				}
			}
			i, last := int(train.Draw(rngs[c], uint64(len(decks[c])))), len(decks[c])-1
			drawn := decks[c][i]
			decks[c][i], decks[c] = decks[c][last], decks[c][:last]
			return drawn == number
		}
	}
}

// classRandoms returns a generator for each class. It is PCG with the seed as its first word and 2^64-2 less the number
// of the class as its second, which no epoch has.
func classRandoms(seed uint64, classes int) []*rand.PCG {
	rngs := make([]*rand.PCG, classes)
	for c := range rngs {
		rngs[c] = rand.NewPCG(seed, math.MaxUint64-1-uint64(c))
	}
	return rngs
}

// ErrEmptyShare is returned if a share leaves no rows to learn from or to judge on.
var ErrEmptyShare = errors.New("leaves none to learn from or to judge on")

// Parts are the rows to learn from, and the rows that are held back. They are in memory if the source's rows are, or
// else in temporary files.
type Parts[T kernel.Float] struct {
	Kept, Held block.Source[T]
	files      []*cache.File[T]
}

// Close removes temporary files.
func (p *Parts[T]) Close() error {
	var all error
	for _, f := range p.files {
		all = errors.Join(all, f.Close())
	}
	p.files = nil
	return all
}

// HoldOut holds back the share opt.HoldOut of each class, by the learner's seed. If src is a Relearner, features are learned again from
// the other rows. The caller closes the parts.
func HoldOut[T kernel.Float](ctx context.Context, src block.Source[T], l Learner, opt Options) (*Parts[T], error) {
	counts, err := train.ClassCounts(ctx, plain(src), l.workers())
	if err != nil {
		return nil, err
	}
	has := Stratified(l.Settings.Shared().Seed, opt.HoldOut, counts)
	rows := plain(src)
	if learn := relearner(src); learn != nil {
		again, err := learn(ctx, []func(class int) bool{has.Others()})
		if err == nil && again != nil {
			rows, err = again[0](ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return split(ctx, rows, has, &opt)
}

// split parts the rows of all into those that has takes and the others.
func split[T kernel.Float](ctx context.Context, all block.Source[T], has Chooser, opt *Options) (*Parts[T], error) {
	kept, held, err := newShares(ctx, all, has)
	if err == nil && (kept.rows == 0 || held.rows == 0) {
		err = ErrEmptyShare
	}
	if err != nil {
		return nil, err
	}
	p := new(Parts[T])
	if p.Held, err = p.store(ctx, held, opt); err == nil {
		p.Kept, err = p.store(ctx, kept, opt)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// store returns the rows of a share in memory if those of its source are there, or else in a temporary file.
func (p *Parts[T]) store(ctx context.Context, part *share[T], opt *Options) (block.Source[T], error) {
	if _, inMemory := part.Source.(*block.Data[T]); inMemory {
		return block.Collect(ctx, part)
	}
	f, err := cache.Temporary(ctx, part, func(rows int64) {
		opt.stage(Stage{Name: "writing the caches", Done: rows, Total: part.rows, Rows: true})
	})
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, f)
	return f, nil
}

// A share is the rows of a source that are held back, or the others, in their order.
type share[T kernel.Float] struct {
	block.Source[T]
	held bool
	has  Chooser
	rows int64
}

// newShares returns the rows that aren't held back, and those that are.
func newShares[T kernel.Float](ctx context.Context, src block.Source[T], has Chooser) (kept, held *share[T], err error) {
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
		is, spec := s.has(), s.Spec()
		rows := int(min(s.rows, int64(block.Rows[T](spec.Cols()))))
		var to *gathered[T]
		for from, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if to == nil {
				to = newGathered[T](spec, rows, from.Sparse != nil)
			}
			for r, y := range from.Y {
				if is(train.ClassOf(y, spec)) != s.held {
					continue
				}
				if to.add(from, r); to.n < rows {
					continue
				}
				if !yield(to.block, nil) {
					return
				}
				to.clear()
			}
		}
		if to != nil && to.n > 0 {
			yield(to.block.Slice(0, to.n), nil)
		}
	}
}

// A gathered is a block that rows of others are copied to.
type gathered[T kernel.Float] struct {
	block *block.Block[T]
	n     int // rows in it
}

func newGathered[T kernel.Float](spec *schema.Spec, rows int, sparse bool) *gathered[T] {
	if sparse {
		return &gathered[T]{block: block.NewSparseFor[T](spec, 0, rows, 0)}
	}
	return &gathered[T]{block: block.NewFor[T](spec, 0, rows)}
}

// add copies row r of a block.
func (g *gathered[T]) add(from *block.Block[T], r int) {
	b := g.block
	g.n++
	if from.Sparse != nil {
		b.AppendRow(from, r)
		return
	}
	copy(b.X[(g.n-1)*b.Stride:g.n*b.Stride], from.X[r*b.Stride:])
	b.Y[g.n-1] = from.Y[r]
	if b.W != nil {
		b.W[g.n-1] = from.W[r]
	}
}

// clear removes all rows.
func (g *gathered[T]) clear() {
	if g.block.Sparse != nil {
		g.block.Clear(g.block.First + int64(g.n))
	} else {
		g.block.First += int64(g.n)
	}
	g.n = 0
}

// Relearner is a source whose features are learned from its rows, such as standardized ones. A cross-validation learns
// them again for each fold, from the other folds alone. A hold-out learns them from the rows that are left. Both do so
// with a *block.Data of standardized rows too. Features of any other source depend on no rows.
type Relearner[T kernel.Float] interface {
	block.Source[T]

	// Unwrap returns the rows as the source that holds them, such as a *block.Data.
	Unwrap() block.Source[T]

	// Relearn returns for each choice of rows a function that opens all rows again, with features learned from the chosen ones. It
	// returns nil if features depend on no rows. A choice tells for one row after the other, by its class, whether it is taken.
	Relearn(ctx context.Context, choices []func(class int) bool) ([]func(context.Context) (block.Source[T], error), error)
}

// relearned is a source whose rows were checked and whose features can be learned again.
type relearned[T kernel.Float] struct {
	block.Source[T]
	again block.Relearn[T]
}

// relearner returns what learns the features of a source again, or nil if they depend on no rows.
func relearner[T kernel.Float](src block.Source[T]) block.Relearn[T] {
	switch r := src.(type) {
	case relearned[T]:
		return r.again
	case *block.Data[T]: // which is no Relearner: nor is a source that has it as a part
		return r.Relearn
	case Relearner[T]:
		return r.Relearn
	}
	return nil
}

// plain returns the rows of a source whose features can be learned again, and another source as it is.
func plain[T kernel.Float](src block.Source[T]) block.Source[T] {
	switch r := src.(type) {
	case relearned[T]:
		return r.Source
	case Relearner[T]:
		return r.Unwrap()
	}
	return src
}
