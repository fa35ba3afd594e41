package online

import (
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
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

// A window is rows to visit one after another.
type window struct {
	rows           []uint32     // numbers of the rows in index, in the order of the visits
	index          *block.Index // index that holds the rows
	prefetchGroups []uint32     // groups of index to prefetch during the visits: the groups of the next window
	cached         any          // see Pass.PrepareIndex

	// Source of the rows of index: whole groups, or drawn rows. Both are nil if index has all rows.
	groups, draws []uint32
}

// number returns the number, among all rows, of row id of the index.
func (w *window) number(id uint32) int64 {
	switch {
	case w.groups != nil:
		return int64(w.groups[id/kernel.GroupRows])*kernel.GroupRows + int64(id%kernel.GroupRows)
	case w.draws != nil:
		return int64(w.draws[id])
	}
	return int64(id)
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
