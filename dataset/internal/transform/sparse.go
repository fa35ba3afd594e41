package transform

import (
	"math"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

// makeSparseRoom is MakeRoom for sparse blocks. It allocates memory only if the elements were counted, so that their
// number is exact.
func (b *Builder) makeSparseRoom() {
	bytes := block.SparseBytes(0, b.bound.Elements, false)
	if b.bound.Counted && b.bound.Elements > 0 && bytes <= column.AvailableMemory() && b.Budget.Take(bytes, "") == nil {
		b.All = block.NewSparse(0, 0, int(b.bound.Elements), b.Cols)
	}
}

func (b *Builder) startSparse() {
	if b.block = b.Spare; b.block == nil {
		b.block = block.NewSparse(b.Rows, b.most, 0, b.Cols)
	}
	b.block.Clear(b.Rows)
	if b.block.Y = slices.Grow(b.block.Y, b.most)[:b.most]; b.bound.Label < 0 {
		b.block.Y = nil
	}
	if b.bound.Weight >= 0 {
		b.block.W = slices.Grow(b.block.W, b.most)[:b.most]
	}
	if b.All != nil {
		all, s := b.All.Sparse, b.block.Sparse
		s.Idx, s.Val = all.Idx[len(all.Idx):], all.Val[len(all.Val):]
	}
}

// growSparse makes room for the given number of elements in the block.
func (b *Builder) growSparse(elements int) error {
	have := cap(b.block.Sparse.Idx)
	if elements <= have {
		return nil
	}
	elements = max(elements, 2*have)
	bytes := block.SparseBytes(0, int64(elements), false)
	if err := b.Budget.Take(bytes, "a block of "+humanize.Plural(int64(elements), "value")); err != nil {
		return err
	}
	b.block.GrowSparse(elements)
	if b.All == nil { // memory of All stays in use
		b.Budget.Give(block.SparseBytes(0, int64(have), false))
	}
	return nil
}

// finished returns the rows in the block. If a sparse block isn't refilled later, finished reduces its memory to its
// elements.
func (b *Builder) finished() *block.Block {
	if !b.bound.Sparse {
		return b.block.Slice(0, b.fill)
	}
	full := *b.block
	if b.bound.Label >= 0 {
		full.Y = full.Y[:b.fill]
	}
	if b.bound.Weight >= 0 {
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
		full.Sparse = block.NewSparse(0, 0, n, b.Cols).Sparse
		full.Sparse.Ptr, full.Sparse.Idx, full.Sparse.Val = s.Ptr, append(full.Sparse.Idx, s.Idx...), append(full.Sparse.Val, s.Val...)
		b.Budget.Give(block.SparseBytes(0, int64(room-n), false))
	}
	return &full
}

// putSparse is putPairs for a sparse block. It leaves out zeros, except -0, so that the rows equal the rows of a
// dense block bit for bit.
func (b *Builder) putSparse(bt *column.Batch, rows Cut) (bad *rowError) {
	p, s := bt.Pairs, b.block.Sparse
	n := len(s.Idx)
	columns, values := s.Idx[:cap(s.Idx)], s.Val[:cap(s.Val)] // growFor made room
	for r := rows.Lo; r < rows.Hi && bad == nil; r++ {
		first, last, sorted := n, int32(-1), true
		index, value := p.Index[p.Ends[r]:p.Ends[r+1]], p.Value[p.Ends[r]:p.Ends[r+1]]
		for i, k := range index {
			v := float32(value[i])
			if !(v < sureBelow && v > -sureBelow) {
				bad = b.inexact(bt, r, int(k), value[i], bad)
			}
			columns[n], values[n] = uint32(k), v
			if math.Float32bits(v) != 0 {
				n++
			}
			if k < last {
				sorted = false
			}
			last = k
		}
		if !sorted { // --features has another order than the file
			sortRow(columns[first:n], values[first:n])
		}
		if b.bound.Plan.Bias {
			columns[n], values[n] = uint32(b.Cols-1), 1
			n++
		}
		s.Ptr = append(s.Ptr, int64(n))
	}
	s.Idx, s.Val = columns[:n], values[:n]
	return bad
}

// newCells returns the memory for reading rows into a piece.
func (b *Builder) newCells() any {
	s := &scratch{columns: make([][]float32, len(b.bound.Plan.Inputs)), cells: make([]float32, len(b.bound.Plan.Inputs)*b.pieceRows())}
	longest := b.pieceRows()
	for k, c := range b.bound.Plan.Inputs {
		if c.Kind == schema.ListColumn && (c.Center != nil || !b.bound.sparseLists(k)) {
			longest = max(longest, c.Width())
		}
	}
	s.values, s.list, s.wide = make([]float32, longest), make([]float32, longest), make([]float64, longest)
	return s
}

// pieceRows returns the number of rows of a piece. The numbers of a piece fit in the processor's cache.
func (b *Builder) pieceRows() int {
	const most, values = 1 << 10, 1 << 16
	return max(fewRows, min(most, values/max(1, len(b.bound.Plan.Inputs))))
}

// readPiece reads rows of a batch that has columns into p. The first of them becomes row at of the block.
func (b *Builder) readPiece(bt *column.Batch, readers []reader, rows Cut, at int, p *piece) *rowError {
	s := b.scratch.Get().(*scratch)
	defer b.scratch.Put(s)
	bad := fault{b: b, bt: bt}
	if b.bound.Weight >= 0 {
		row, what := b.putWeights(bt, rows, b.block.W[at:at+rows.Len()])
		bad.note(len(readers), column.None, row, what)
	}
	for k := range readers {
		s.columns[k] = b.readCells(k, &readers[k], rows, s, &bad)
	}
	p.columns, p.values, p.ends = p.columns[:0], p.values[:0], p.ends[:0]
	for i, span := range rows.Spans() {
		for row := span.Lo; row < span.Hi; row, i = row+1, i+1 {
			for k := range readers {
				p.add(b, k, &readers[k], row, i, s, &bad)
			}
			if b.bound.Plan.Bias {
				p.columns, p.values = append(p.columns, uint32(b.Cols-1)), append(p.values, 1)
			}
			p.ends = append(p.ends, len(p.values))
		}
	}
	return bad.err
}

// readCells returns the numbers or category numbers of column k in the rows, nil for a column of lists.
func (b *Builder) readCells(k int, r *reader, rows Cut, s *scratch, bad *fault) []float32 {
	if r.list != nil || r.sparse != nil || r.hasWords() {
		return nil
	}
	cells := s.cells[k*b.pieceRows():][:rows.Len()]
	if r.categories != nil {
		row, what := r.readCategories(rows, cells)
		bad.note(k, column.None, row, what)
		return cells
	}
	values, lost, row, what := r.readCut(rows, cells, s)
	if bad.note(k, lost, row, what); what != "" {
		return cells // the caller doesn't use the rows
	}
	if lost != column.None {
		addValues(&b.losses[k], values)
	}
	return values
}

// add adds the elements of column k in row row of the batch, which is row i of the piece. It leaves out zeros, except
// -0, so that the rows equal the rows of a dense block bit for bit.
func (p *piece) add(b *Builder, k int, r *reader, row, i int, s *scratch, bad *fault) {
	switch {
	case r.hasWords():
		bad.note(k, column.None, row, p.addWords(r, row))
	case r.sparse != nil && r.center == nil:
		pairs, lost, what := pairsOf(r, r.view, row, &s.pairs)
		if bad.note(k, lost, row, what); lost != column.None && what == "" {
			addPairs(&b.losses[k], pairs)
		}
		for _, v := range pairs {
			if v.value != 0 || math.Signbit(float64(v.value)) {
				p.columns, p.values = append(p.columns, uint32(r.first+v.index)), append(p.values, v.value)
			}
		}
	case r.list != nil || r.sparse != nil:
		list := s.list[:r.width]
		lost, what := r.putList(list, row, s)
		if bad.note(k, lost, row, what); what != "" {
			return
		}
		if lost != column.None {
			addValues(&b.losses[k], list)
		}
		for c, v := range list {
			if v != 0 || math.Signbit(float64(v)) {
				p.columns, p.values = append(p.columns, uint32(r.first+c)), append(p.values, v)
			}
		}
	case r.categories == nil:
		if v := s.columns[k][i]; v != 0 || math.Signbit(float64(v)) {
			p.columns, p.values = append(p.columns, uint32(r.first)), append(p.values, v)
		}
	case s.columns[k][i] >= 0:
		p.columns, p.values = append(p.columns, uint32(r.first+int(s.columns[k][i]))), append(p.values, 1)
	case s.columns[k][i] != s.columns[k][i]: // the row gets no prediction
		p.columns, p.values = append(p.columns, uint32(r.first)), append(p.values, s.columns[k][i])
	}
}

// appendPieces appends the rows of pieces to the block. file is the file of the rows, for errors.
func (b *Builder) appendPieces(file string, pieces []piece) error {
	s, all := b.block.Sparse, len(b.block.Sparse.Idx)
	for i := range pieces {
		all += len(pieces[i].values)
	}
	if err := b.growSparse(all); err != nil {
		return column.ErrorIn(file, "%w", err)
	}
	for i := range pieces {
		p, before := &pieces[i], int64(len(s.Idx))
		s.Idx, s.Val = append(s.Idx, p.columns...), append(s.Val, p.values...)
		for _, end := range p.ends {
			s.Ptr = append(s.Ptr, before+int64(end))
		}
	}
	return nil
}

func sortRow(columns []uint32, values []float32) {
	for i := 1; i < len(columns); i++ {
		c, v, k := columns[i], values[i], i
		for ; k > 0 && columns[k-1] > c; k-- {
			columns[k], values[k] = columns[k-1], values[k-1]
		}
		columns[k], values[k] = c, v
	}
}
