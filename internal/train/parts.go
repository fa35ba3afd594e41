package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/passes"
	"halfspace/schema"
	"halfspace/train/learner"
)

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

// HoldOutRows holds out the share opt.HoldOut of the rows, as opt.Split says, by the learner's seed. If src is a Refiter,
// it learns features again from the rows to learn from. The caller must close the parts.
func HoldOutRows(ctx context.Context, src block.Source, l Learner, opt Options) (*Parts, error) {
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
	return splitRows(ctx, rows, has.Others, has, &opt, l)
}

// splitRows returns the rows of all to learn from, and the rows to hold out. Both stay in the processes that read all rows if
// every learner learns there. Without learners, this process reads them.
func splitRows(ctx context.Context, all block.Source, learn, hold Chooser, opt *Options, learners ...Learner) (*Parts, error) {
	spread := !passes.InProcess(all) && len(learners) > 0 &&
		!slices.ContainsFunc(learners, func(l Learner) bool { return !learnsByPasses(l) })
	kept, held, picked, err := pickRows(ctx, all, learn, hold, spread)
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

// store returns picked rows: in memory if all rows of their source are in memory, and otherwise in a temporary file.
func (p *Parts) store(ctx context.Context, part *pickedRows, opt *Options) (block.Source, error) {
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

// pickedRows are some rows of a source, in their order: the held-out rows, or the rows to learn from.
type pickedRows struct {
	block.Source
	all block.Source // all rows
}

// pickRows returns the rows to learn from, and the rows to hold out. Both stay in the processes that read src if spread
// is set. picked is as in Parts. It returns an error if a class has rows but none of them to learn from.
func pickRows(ctx context.Context, src block.Source, learn, hold Chooser, spread bool) (
	kept, held *pickedRows, picked []uint64, err error) {
	var picks [2][]uint64 // one bit for each row, for both parts
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
	of := func(part int) *pickedRows {
		keep := func() func(float32) bool {
			is := sides[part]()
			return func(y float32) bool { return is(learner.ClassOf(y, spec)) }
		}
		var chosen []uint64
		if spread {
			chosen = picks[part]
		}
		return &pickedRows{passes.Pick(src, rows[part], block.Rows(spec.Cols()), keep, chosen), src}
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
