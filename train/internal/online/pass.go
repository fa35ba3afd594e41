// Package online makes passes over rows for learners that learn from each row.
//
// Shards of the rows learn by iterative parameter mixing (McDonald, Hall and Mann, "Distributed Training Strategies for
// the Structured Perceptron", NAACL 2010). In each epoch, every shard makes one pass over its rows, from the same
// weights. The next epoch begins with the mean of the shards' weights. The number of shards is an option of the
// training, not the number of workers. So the result doesn't depend on the computer.
package online

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// A Pass makes passes over the rows of a source in the order of the options, one panel after another.
type Pass struct {
	// BeforePanels, if not nil, is called before the first of some panels. cut returns the rows from position at on, at
	// most the given number. AfterPanels is called after the last of these panels; cut is then no longer valid.
	BeforePanels func(length int, cut func(at, rows int) Panel)
	AfterPanels  func()
	// MostSparseRows, if not nil, returns the most rows that a panel of sparse rows must have.
	MostSparseRows func() int64
	LeastDenseRows int // least rows of a panel of dense rows, a power of 2; 0: see kernel.PanelRows
	// PrepareIndex, if not nil, is called with each index that the pass makes. The panels with rows of that index have its
	// result cached. The function refresh is called after new rows are read into that index.
	PrepareIndex func(*block.Index) (cached any, refresh func())

	src     block.Source
	opt     learner.Options
	stream  int64   // number of the shard in the random choices
	windows windows // nil in file order
	stride  int
}

// NewPass returns passes over the rows of src, in the order opt.Order. The rows are the given shard, 0 without shards.
// Every order but learner.Cyclic needs src to be a *block.Data or a block.Seekable. prepare may set the functions of
// the pass.
func NewPass(src block.Source, opt learner.Options, shard int, prepare func(*Pass)) (p *Pass, err error) {
	p = &Pass{src: src, opt: opt, stream: StreamNumber(shard, 0), stride: kernel.Stride(src.Spec().Cols())}
	prepare(p)
	if opt.Order == learner.Cyclic || opt.Order == "" {
		return p, nil
	}
	prepareIndex := p.PrepareIndex
	if prepareIndex == nil {
		prepareIndex = func(*block.Index) (any, func()) { return nil, func() {} }
	}
	p.windows, err = newWindows(src, opt, prepareIndex)
	return p, err
}

// StreamNumber returns the number that replaces the epoch's number in the random choices of a shard. For shard 0 it is
// the epoch's number, so shard 0 makes the same choices as a training without shards.
func StreamNumber(shard int, epoch int64) int64 { return int64(shard)<<32 + epoch }

// Panels yields the panels of an epoch, without the first skip rows. Whoever visits a panel sets its Visits, the number
// of rows that it visited; the next panel begins after them. An error of the source or of ctx is the last pair.
func (p *Pass) Panels(ctx context.Context, epoch, skip int64) iter.Seq2[*Panel, error] {
	return func(yield func(*Panel, error) bool) {
		if err := p.eachPanel(ctx, epoch, skip, func(panel *Panel) bool { return yield(panel, nil) }); err != nil && err != errEnough {
			yield(nil, err)
		}
	}
}

// errEnough ends the panels because no more are wanted.
var errEnough = errors.New("enough panels")

// eachPanel yields the panels of an epoch. It returns errEnough if yield returned false.
func (p *Pass) eachPanel(ctx context.Context, epoch, skip int64, yield func(*Panel) bool) error {
	dense := max(p.LeastDenseRows, kernel.PanelRows(p.stride))
	within := 0 // rows to skip in the first window
	each := func(win *window) error {
		first := within
		within = 0
		return p.panels(ctx, first, len(win.rows), min(kernel.GroupRows, dense), win.index.Sparse() != nil, win.cut(p.stride), yield)
	}
	switch p.opt.Order {
	case learner.Shuffle, learner.FixedShuffle:
		if p.opt.Order == learner.FixedShuffle { // computed again, because keeping it takes memory for each row
			epoch = 0
		}
		order := learner.NewPermutation(int(p.src.Rows()), p.opt.Seed, p.stream+epoch)
		within = order.Skip(skip)
		return p.windows.eachPermuted(ctx, order, each)
	case learner.Random:
		if skip < p.src.Rows() {
			within = int(skip % learner.WindowRows)
		}
		return p.windows.eachDrawn(ctx, rand.NewPCG(p.opt.Seed, uint64(p.stream+epoch)), skip, each)
	}
	for b, err := range p.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		first := int(min(max(0, skip-b.First), int64(b.Len())))
		err := p.panels(ctx, first, b.Len(), dense, b.Sparse != nil, func(at, rows int) Panel {
			return Panel{Place: at, Block: b, Lo: at, Hi: min(b.Len(), at+rows)}
		}, yield)
		if err != nil {
			return err
		}
	}
	return nil
}

// MostRows returns the most rows of a panel, for rows of stride elements.
func MostRows(stride int) int { return max(kernel.GroupRows, kernel.PanelRows(stride)) }

// panels yields the panels of the rows at positions at to length-1. dense is the number of dense rows of a panel.
//
// Panels of sparse rows are longer, and the kernel for sparse rows limits the work of a call itself. But they end where
// panels of the same rows in dense form would reach p.MostSparseRows. So both forms give the same weights and counts.
func (p *Pass) panels(ctx context.Context, at, length, dense int, sparse bool, cut func(at, rows int) Panel,
	yield func(*Panel) bool) error {
	if p.BeforePanels != nil {
		p.BeforePanels(length, cut)
		defer p.AfterPanels()
	}
	var panel Panel
	for ; at < length; at += panel.Visits {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := dense - at%dense
		if sparse {
			most := int64(block.ChunkRows)
			if p.MostSparseRows != nil {
				most = min(max(1, p.MostSparseRows()), most)
			}
			longest := max(dense, kernel.GroupRows)
			rows = min(longest-at%longest, (at+int(most)+dense-1)/dense*dense-at)
		}
		if panel = cut(at, rows); !yield(&panel) {
			return errEnough
		}
	}
	return nil
}
