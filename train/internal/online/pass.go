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
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// A Panel is the rows that one kernel call takes: rows of a block in file order, or rows of an index by number. The
// first row has position 0.
type Panel struct {
	Place  int          // position of the first row in its block or window
	Visits int          // rows that were visited, by whoever visits the panel; the next panel begins after them
	Block  *block.Block // nil if rows are visited by number
	Lo, Hi int          // numbers of the first row and of the row after the last, in Block

	Index    *block.Index
	Rows     []uint32  // row numbers in Index
	Prefetch []float32 // features to prefetch; see kernel.EpochIndexed
	Cached   any       // see Pass.PrepareIndex
	window   *window   // window to which Index belongs
}

// Len returns the number of rows.
func (p *Panel) Len() int {
	if p.Block != nil {
		return p.Hi - p.Lo
	}
	return len(p.Rows)
}

// At returns the block that holds the row at position i, and the number of the row in that block.
func (p *Panel) At(i int) (b *block.Block, r int) {
	if p.Block != nil {
		return p.Block, p.Lo + i
	}
	return p.Index.At(p.Rows[i])
}

// Number returns the number of the row at position i among all rows.
func (p *Panel) Number(i int) int64 {
	if p.Block != nil {
		return p.Block.First + int64(p.Lo+i)
	}
	return p.window.number(p.Rows[i])
}

// Sparse tells whether the rows are sparse.
func (p *Panel) Sparse() bool {
	if p.Block != nil {
		return p.Block.Sparse != nil
	}
	return p.Index.Rows() == nil
}

// A Gatherer makes blocks of the rows of panels.
type Gatherer struct {
	rows      block.Block
	zeros     []float32 // weights that are all 0
	unusedLog [1]uint32
}

// Rows returns the rows of a panel, from row lo of a block on. It copies rows that are visited by number; the copy is
// valid until the next call. The loads of a copy don't wait for each other; a step waits for the step before.
func (g *Gatherer) Rows(p *Panel) (b *block.Block, lo int) {
	if p.Block != nil {
		return p.Block, p.Lo
	}
	to, n := &g.rows, p.Len()
	if like, _ := p.At(0); like.Sparse == nil {
		// A visit of all rows that changes nothing: weights of 0 score above -1. It brings these rows, and the next
		// window's, near.
		if g.zeros == nil {
			g.zeros = make([]float32, like.Stride)
		}
		kernel.EpochIndexed(g.zeros, g.unusedLog[:], p.Index.Rows(), p.Rows, p.Prefetch, 1, -1)
		to.X = slices.Grow(to.X[:0], n*like.Stride)
		to.Y, to.W = to.Y[:0], to.W[:0]
	} else if to.Sparse != nil {
		to.Clear(0)
	}
	for i := range n {
		b, r := p.At(i)
		to.AppendRow(b, r)
	}
	return to, 0
}

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
