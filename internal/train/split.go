package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/message"
	"halfspace/internal/passes"
	"halfspace/schema"
	"halfspace/train/learner"
)

// A Chooser returns a function that is called for each row in order, from row 0 on, with the number of the row's class.
// The function tells whether the row is held out.
type Chooser func() func(class int) bool

// Others returns the function that chooses the rows that aren't held out.
func (has Chooser) Others() func(class int) bool {
	is := has()
	return func(class int) bool { return !is(class) }
}

// Stratified returns a Chooser that holds out a share of each class. counts has the number of rows of each class. The
// number of held-out rows of a class is share times its rows, rounded to the nearest integer, half a row up. Unless
// share times all rows rounds to no rows or to all rows, a class of two or more rows keeps at least one row on each
// side, and a class of one row isn't held out. Selection sampling takes the rows (Knuth, "The Art of Computer
// Programming", volume 2, algorithm 3.4.2S): if n rows of a class are left, of which m are still to be held out, the
// next row is held out with probability m/n. A generator draws below n: PCG whose first word is the seed, and whose
// second word is 2^64-2 minus the number of the class.
func Stratified(seed uint64, share float64, counts []int64) Chooser {
	nearest := func(n int64) int64 { return int64(math.Floor(share*float64(n) + 0.5)) }
	all := int64(0)
	for _, n := range counts {
		all += n
	}
	held := make([]int64, len(counts))
	for c, n := range counts {
		if held[c] = nearest(n); nearest(all) > 0 && nearest(all) < all {
			held[c] = max(0, min(max(held[c], 1), n-1))
		}
	}
	return func() func(class int) bool {
		left, wanted, rngs := slices.Clone(counts), slices.Clone(held), classRandoms(seed, len(counts))
		return func(c int) bool {
			is := learner.Draw(rngs[c], uint64(left[c])) < uint64(wanted[c])
			left[c]--
			if is {
				wanted[c]--
			}
			return is
		}
	}
}

// Fold returns a Chooser that holds out fold number of the given number of folds. counts has the number of rows of each
// class. The rows of a class are dealt at random, so that every fold has its share of each class. The numbers of rows
// of two folds differ by at most 1: the folds that get one row more of a class follow, in turn, the folds that got one
// row more of the classes before. The row of a class of one row is in no fold. If n rows of a class are left, of which
// m belong to this fold, the next row is held out with probability m/n, by the generators of Stratified.
func Fold(seed uint64, folds int, counts []int64, number int) Chooser {
	// share has the rows of each class for each fold. next is the number of the next fold that gets one row more.
	share, next := make([][]int64, len(counts)), int64(0)
	for c, n := range counts {
		if n == 1 {
			n = 0
		}
		k := int64(folds)
		for f := range k {
			rows := n / k
			if (f-next%k+k)%k < n%k {
				rows++
			}
			share[c] = append(share[c], rows)
		}
		next += n % k
	}
	return func() func(class int) bool {
		left, rows, rngs := slices.Clone(counts), make([][]int64, len(counts)), classRandoms(seed, len(counts))
		for c := range rows {
			rows[c] = slices.Clone(share[c])
		}
		return func(c int) bool {
			if counts[c] == 1 {
				return false
			}
			drawn, f := int64(learner.Draw(rngs[c], uint64(left[c]))), 0
			for drawn >= rows[c][f] {
				drawn -= rows[c][f]
				f++
			}
			left[c]--
			rows[c][f]--
			return f == number
		}
	}
}

// classRandoms returns a generator for each class: PCG whose first word is the seed, and whose second word is 2^64-2
// minus the number of the class, which is not the number of an epoch.
func classRandoms(seed uint64, classes int) []*rand.PCG {
	rngs := make([]*rand.PCG, classes)
	for c := range rngs {
		rngs[c] = rand.NewPCG(seed, math.MaxUint64-1-uint64(c))
	}
	return rngs
}

// CheckShare returns an error unless that share of the rows can be held out.
func CheckShare(share float64) error {
	if share > 0 && share < 1 {
		return nil
	}
	return message.WrongValue("validation", share, "a share of the rows above 0 and below 1")
}

// ErrEmptyShare is the error of a share that leaves no rows to learn from or to judge on.
var ErrEmptyShare = errors.New("leaves none to learn from or to judge on")

// Parts are the rows to learn from (KeptRows) and the held-out rows (HeldRows). They are in memory if the source's rows
// are in memory. They stay in the processes that read the source if the learner learns there. Otherwise they are
// in temporary files.
type Parts struct {
	KeptRows, HeldRows block.Source
	heldBits           []uint64 // a bit for each row of the source that is held out; nil if there are over mostHeldBits rows
	files              []*cache.File
}

// mostHeldBits is the largest number of rows of a source whose held-out rows Parts remembers.
const mostHeldBits = 1 << 27

// Row returns the number of held-out row i among the rows of the source, or -1 if it is unknown: there are over 2^27 rows.
func (p *Parts) Row(i int64) int64 {
	for k, word := range p.heldBits {
		n := int64(bits.OnesCount64(word))
		if i >= n {
			i -= n
			continue
		}
		for ; i > 0; i-- {
			word &= word - 1
		}
		return int64(64*k + bits.TrailingZeros64(word))
	}
	return -1
}

// Close removes the temporary files.
func (p *Parts) Close() error {
	var all error
	for _, f := range p.files {
		all = errors.Join(all, f.Close())
	}
	p.files = nil
	return all
}

// HoldOut holds out the share opt.HoldOut of the rows, as opt.Split says, by the learner's seed. If src is a Refiter,
// it learns features again from the rows to learn from. The caller must close the parts.
func HoldOut(ctx context.Context, src block.Source, l Learner, opt Options) (*Parts, error) {
	counts, err := learner.ClassCounts(ctx, withoutRefit(src), l.Workers())
	if err != nil {
		return nil, err
	}
	has, err := opt.Split.HoldOut(l.Settings.RunOptions().Seed, opt.HoldOut, counts)
	if err != nil {
		return nil, err
	}
	rows := withoutRefit(src)
	if learn := refitOf(src); learn != nil {
		again, err := learn(ctx, []func(class int) bool{has.Others()})
		if err == nil && again != nil {
			rows, err = again[0](ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return split(ctx, rows, has.Others, has, &opt, l)
}

// split returns the rows of all to learn from, and the rows to hold out. Both stay in the processes that read all rows if
// every learner learns there. Without learners, this process reads them.
func split(ctx context.Context, all block.Source, learn, hold Chooser, opt *Options, learners ...Learner) (*Parts, error) {
	spread := !passes.InProcess(all) && len(learners) > 0 &&
		!slices.ContainsFunc(learners, func(l Learner) bool { return !learnsByPasses(l) })
	kept, held, picked, err := newShares(ctx, all, learn, hold, spread)
	if err == nil && (kept.Rows() == 0 || held.Rows() == 0) {
		err = ErrEmptyShare
	}
	switch {
	case err != nil:
		return nil, err
	case spread:
		return &Parts{KeptRows: block.AssumeValid(kept.Source), HeldRows: block.AssumeValid(held.Source),
			heldBits: picked}, nil
	}
	p := &Parts{heldBits: picked}
	if p.HeldRows, err = p.store(ctx, held, opt); err == nil {
		p.KeptRows, err = p.store(ctx, kept, opt)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// store returns the rows of a share: in memory if the rows of its source are in memory, and otherwise in a temporary
// file.
func (p *Parts) store(ctx context.Context, part *share, opt *Options) (block.Source, error) {
	if _, inMemory := part.all.(*block.Data); inMemory {
		return block.Collect(ctx, part)
	}
	f, err := cache.Temporary(ctx, part, func(rows int64) {
		opt.stage(Stage{Name: "writing the caches", Done: rows, Total: part.Rows(), Rows: true})
	})
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, f)
	return f, nil
}

// A share is some rows of a source, in their order: the held-out rows, or the rows to learn from.
type share struct {
	block.Source
	all block.Source // all rows
}

// newShares returns the rows to learn from, and the rows to hold out. Both stay in the processes that read src if spread is set.
// picked is as in Parts. It returns an error if a class has rows but none of them to learn from.
func newShares(ctx context.Context, src block.Source, learn, hold Chooser, spread bool) (kept, held *share, picked []uint64, err error) {
	var picks [2][]uint64 // one bit for each row, for both shares
	rows, n, spec := [2]int64{}, 0, src.Spec()
	sides, is := [2]Chooser{learn, hold}, [2]func(class int) bool{learn(), hold()}
	learned := make([]bool, max(2, len(spec.Classes)))
	seen, remember := slices.Clone(learned), spread || src.Rows() <= mostHeldBits
	err = eachClass(ctx, src, func(class int) {
		if remember && n%64 == 0 {
			picks[0], picks[1] = append(picks[0], 0), append(picks[1], 0)
		}
		for part := range is {
			if is[part](class) {
				rows[part]++
				if remember {
					picks[part][n/64] |= 1 << (n % 64)
				}
				learned[class] = learned[class] || part == 0
			}
		}
		seen[class] = true
		n++
	})
	if err != nil {
		return nil, nil, nil, err
	}
	for c, is := range seen {
		if is && !learned[c] && rows[0] > 0 {
			return nil, nil, nil, fmt.Errorf("no row of class %s is left to learn from: hold back fewer rows, or "+
				"leave the class out", schema.NameClass(spec.Classes[c]))
		}
	}
	of := func(part int) *share {
		keep := func() func(float32) bool {
			is := sides[part]()
			return func(y float32) bool { return is(learner.ClassOf(y, spec)) }
		}
		var chosen []uint64
		if spread {
			chosen = picks[part]
		}
		return &share{passes.Pick(src, rows[part], block.Rows(spec.Cols()), keep, chosen), src}
	}
	return of(0), of(1), picks[1], nil
}

// eachClass calls see with the number of each row's class, in row order.
func eachClass(ctx context.Context, src block.Source, see func(class int)) error {
	err := classPass.Reduce(ctx, src, 1, struct{}{}, func(classes string) {
		for b := []byte(classes); len(b) > 0; {
			class, size := binary.Uvarint(b)
			see(int(class))
			b = b[max(1, size):]
		}
	})
	return cmp.Or(err, ctx.Err())
}

// classPass returns the class of each row, encoded as a Uvarint.
var classPass = passes.New("fit.classes", classesOf)

func classesOf(src block.Source, _ struct{}) func(block.Chunk) string {
	spec := src.Spec()
	return func(chunk block.Chunk) string {
		var classes []byte
		for _, y := range chunk.Y {
			classes = binary.AppendUvarint(classes, uint64(learner.ClassOf(y, spec)))
		}
		return string(classes)
	}
}

// learnsByPasses tells whether the processes that read the rows can make the passes of a training.
func learnsByPasses(l Learner) bool {
	return l.Settings.Shared().Shards > 1 && l.Option("shards") != nil || l.IsBatch() &&
		l.Access(l.Settings) < learner.AnyOrder
}

// Refiter is a source whose features are learned from its rows, for example standardized features. A cross-validation
// learns the features again for each fold, only from the other folds. A hold-out learns them from the rows to learn
// from. Both also do so for a *block.Data of standardized rows. The features of any other source must not depend on its
// rows.
type Refiter interface {
	block.Source

	// Unwrap returns the rows as the source that holds them, for example a *block.Data.
	Unwrap() block.Source

	// Refit returns, for each choice of rows, a function that opens all rows again, with features learned from the
	// chosen rows. It returns nil if the features don't depend on rows. A choice is called for each row in order, with
	// the number of the row's class, and tells whether the row is chosen.
	Refit(ctx context.Context, choices []func(class int) bool) ([]func(context.Context) (block.Source, error), error)
}

// refitSource is a checked source whose features can be learned again.
type refitSource struct {
	block.Source
	refit block.Refit
}

// refitOf returns the function that learns the features of a source again, or nil if they don't depend on rows.
func refitOf(src block.Source) block.Refit {
	switch r := src.(type) {
	case refitSource:
		return r.refit
	case *block.Data: // isn't a Refiter, nor is a source that embeds it
		return r.Refit
	case Refiter:
		return r.Refit
	}
	return nil
}

// withoutRefit returns the rows of a source without the ability to learn features again. Other sources are returned as
// they are.
func withoutRefit(src block.Source) block.Source {
	switch r := src.(type) {
	case refitSource:
		return r.Source
	case Refiter:
		return r.Unwrap()
	}
	return src
}
