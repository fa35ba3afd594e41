package encode

import (
	"math"
	"slices"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/internal/say"
	"halfspace/kernel"
)

// makeSparseRoom is MakeRoom for sparse blocks. The elements were counted, so that room for all of them is no guess.
func (b *Builder[T]) makeSparseRoom() {
	bytes := block.SparseBytes[T](0, b.sel.Elements, false)
	if b.sel.Elements > 0 && bytes <= frame.AvailableMemory() && b.Budget.Take(bytes, "") == nil {
		b.All = block.NewSparse[T](0, 0, int(b.sel.Elements), b.Cols)
	}
}

// startSparse begins a sparse block.
func (b *Builder[T]) startSparse() {
	if b.block = b.Spare; b.block == nil {
		b.block = block.NewSparse[T](b.Rows, b.most, 0, b.Cols)
	}
	b.block.Clear(b.Rows)
	if b.block.Y = slices.Grow(b.block.Y, b.most)[:b.most]; b.sel.Label < 0 {
		b.block.Y = nil
	}
	if b.sel.Weight >= 0 {
		b.block.W = slices.Grow(b.block.W, b.most)[:b.most]
	}
	if b.All != nil {
		all, s := b.All.Sparse, b.block.Sparse
		s.Idx, s.Val = all.Idx[len(all.Idx):], all.Val[len(all.Val):]
	}
}

// growSparse makes room for that many elements in the block.
func (b *Builder[T]) growSparse(elements int) error {
	have := cap(b.block.Sparse.Idx)
	if elements <= have {
		return nil
	}
	elements = max(elements, 2*have)
	bytes := block.SparseBytes[T](0, int64(elements), false)
	if err := b.Budget.Take(bytes, "a block of "+say.Plural(int64(elements), "value")); err != nil {
		return err
	}
	b.block.GrowSparse(elements)
	if b.All == nil { // what was a part of All stays
		b.Budget.Give(block.SparseBytes[T](0, int64(have), false))
	}
	return nil
}

// finished returns the rows in the block. A sparse block that stays gets no more memory than it needs.
func (b *Builder[T]) finished() *block.Block[T] {
	if !b.sel.Sparse {
		return b.block.Slice(0, b.fill)
	}
	full := *b.block
	if b.sel.Label >= 0 {
		full.Y = full.Y[:b.fill]
	}
	if b.sel.Weight >= 0 {
		full.W = full.W[:b.fill]
	}
	s := full.Sparse
	n, room := len(s.Idx), cap(s.Idx)
	switch {
	case b.All != nil:
		all := b.All.Sparse
		to := min(len(all.Idx)+n, cap(all.Idx))
		all.Idx, all.Val = all.Idx[:to], all.Val[:to]
		s.Idx, s.Val = s.Idx[:n:n], s.Val[:n:n]
	case !b.Reuse && b.Spare == nil && room-n > n/8:
		full.Sparse = block.NewSparse[T](0, 0, n, b.Cols).Sparse
		full.Sparse.Ptr, full.Sparse.Idx, full.Sparse.Val = s.Ptr, append(full.Sparse.Idx, s.Idx...), append(full.Sparse.Val, s.Val...)
		b.Budget.Give(block.SparseBytes[T](0, int64(room-n), false))
	}
	return &full
}

// putSparse is putPairs for a sparse block. It leaves out zeros, but for -0, so that the rows are those of a dense block bit
// for bit.
func (b *Builder[T]) putSparse(bt *frame.Batch, rows Cut) (bad *rowError) {
	p, s := bt.Pairs, b.block.Sparse
	n := len(s.Idx)
	columns, values := s.Idx[:cap(s.Idx)], s.Val[:cap(s.Val)] // grow made room
	for r := rows.Lo; r < rows.Hi && bad == nil; r++ {
		first, last, sorted := n, int32(-1), true
		for i := p.Ends[r]; i < p.Ends[r+1]; i++ {
			k, v := p.Index[i], T(p.Value[i])
			if v-v != 0 || float64(v) != p.Value[i] {
				bad = b.inexact(bt, r, int(k), p.Value[i], bad)
			}
			if v == 0 && !math.Signbit(float64(v)) {
				continue
			}
			columns[n], values[n] = uint32(k), v
			n++
			sorted, last = sorted && k > last, k
		}
		if !sorted { // --features has another order than the file
			sortRow(columns[first:n], values[first:n])
		}
		if b.sel.Bias {
			columns[n], values[n] = uint32(b.Cols-1), 1
			n++
		}
		s.Ptr = append(s.Ptr, int64(n))
	}
	s.Idx, s.Val = columns[:n], values[:n]
	return bad
}

// sortRow sorts the elements of a row by their columns.
func sortRow[T kernel.Float](columns []uint32, values []T) {
	for i := 1; i < len(columns); i++ {
		c, v, k := columns[i], values[i], i
		for ; k > 0 && columns[k-1] > c; k-- {
			columns[k], values[k] = columns[k-1], values[k-1]
		}
		columns[k], values[k] = c, v
	}
}
