package transform

import (
	"context"
	"errors"

	"halfspace/dataset/internal/column"
	"halfspace/kernel"
)

// put appends rows of a batch to the block. If several rows are wrong, it returns the error of the first of them.
func (b *Builder) put(ctx context.Context, bt *column.Batch, readers []reader, rows Cut) error {
	step, pieced := b.panel(), b.bound.Sparse && bt.Pairs == nil
	switch {
	case pieced:
		step = b.pieceRows()
	case b.bound.Sparse:
		step = rows.Len() // the end of a row is the start of the next row
	}
	panels := (rows.Len() + step - 1) / step
	if pieced && len(b.pieces) < panels {
		b.pieces = append(b.pieces, make([]piece, panels-len(b.pieces))...)
	}
	var badLabel *rowError
	each := b.pool.Each
	if rows.Len() < fewRows {
		each = b.pool.InTurn
	}
	err := each(ctx, 1+panels, func(i int) error {
		return column.Recovered(func() error {
			if i == 0 { // in row order, while other goroutines read panels; a wrong label must not stop them
				badLabel = b.putLabels(bt, rows)
				if badLabel == nil && bt.Pairs != nil && b.bound.Weight >= 0 {
					if row, what := b.putWeights(bt, rows, b.block.W[b.fill:b.fill+rows.Len()]); what != "" {
						badLabel = b.rowError(bt, pairWeight, row, what)
					}
				}
				return nil
			}
			at := (i - 1) * step
			part := rows.slice(at, min(step, rows.Len()-at))
			var bad *rowError
			if pieced {
				bad = b.readPiece(bt, readers, part, b.fill+at, &b.pieces[i-1])
			} else {
				bad = b.putPanel(bt, readers, part, b.fill+at)
			}
			if bad != nil {
				return bad
			}
			return nil
		})
	})
	var bad *rowError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case badLabel != nil && (err == nil || errors.As(err, &bad) && badLabel.row <= bad.row):
		return badLabel
	case err != nil && !errors.As(err, &bad): // an array that contradicts its type
		return b.damaged(ctx, bt, rows, err)
	}
	if err == nil && pieced {
		return b.appendPieces(bt.File, b.pieces[:panels])
	}
	return err
}

// putPanel writes rows of a batch to the block, starting at row at of the block.
func (b *Builder) putPanel(bt *column.Batch, readers []reader, rows Cut, at int) *rowError {
	switch {
	case b.bound.Sparse:
		return b.putSparse(bt, rows)
	case bt.Pairs != nil:
		return b.putPairs(bt, rows, at)
	}
	s := b.scratch.Get().(*scratch)
	defer b.scratch.Put(s)
	bad := fault{b: b, bt: bt}
	n := rows.Len()
	b.readColumns(readers, rows, s, &bad)
	if b.bound.Weight >= 0 {
		row, what := b.putWeights(bt, rows, b.block.W[at:at+n])
		bad.note(len(readers), column.None, row, what)
	}
	if b.bound.Plan.Bias {
		s.columns[b.Cols-1] = b.ones[:n]
	}
	dst := b.block.X[at*b.block.Stride : (at+n)*b.block.Stride]
	kernel.Transpose(dst, b.block.Stride, s.columns)
	b.putByRow(dst, readers, rows, s, &bad)
	return bad.err
}

// readColumns sets s.columns to the values of the features in the rows. Features that are written row by row are 0 at
// first.
func (b *Builder) readColumns(readers []reader, rows Cut, s *scratch, bad *fault) {
	n := rows.Len()
	for k := range readers {
		r := &readers[k]
		if r.byRow() {
			for i := range r.width {
				s.columns[r.first+i] = b.zeros[:n]
			}
			continue
		}
		values, lost, row, what := r.readCut(rows, s.values[r.first*b.panel():], s)
		if what != "" {
			values = b.zeros[:n]
		}
		bad.note(k, lost, row, what)
		if lost != column.None {
			addValues(&b.losses[k], values)
		}
		s.columns[r.first] = values
	}
}

// putByRow writes the features of lists and categories, row by row. It records wrong values in bad.
func (b *Builder) putByRow(dst []float32, readers []reader, rows Cut, s *scratch, bad *fault) {
	for k := range readers {
		switch r := &readers[k]; {
		case r.list != nil || r.sparse != nil:
			lost, row, what := r.putLists(dst, b.block.Stride, rows, s)
			bad.note(k, lost, row, what)
			for i := 0; lost != column.None && i < rows.Len(); i++ {
				addValues(&b.losses[k], dst[i*b.block.Stride+r.first:][:r.width])
			}
		case r.categories != nil:
			row, what := r.putCategories(dst, b.block.Stride, rows, s)
			bad.note(k, column.None, row, what)
		}
	}
}

// putPairs is putPanel for a batch that has pairs.
func (b *Builder) putPairs(bt *column.Batch, rows Cut, at int) (bad *rowError) {
	p, stride := bt.Pairs, b.block.Stride
	dst := b.block.X[at*stride : (at+rows.Len())*stride]
	if b.used { // the system's memory is zeros, and clearing it takes as long as parsing the text
		clear(dst)
	}
	for r := rows.Lo; r < rows.Hi && bad == nil; r++ {
		row := dst[(r-rows.Lo)*stride:][:stride]
		index, value := p.Index[p.Ends[r]:p.Ends[r+1]], p.Value[p.Ends[r]:p.Ends[r+1]]
		for i, k := range index {
			v := float32(value[i])
			row[k] = v
			if !(v < sureBelow && v > -sureBelow) {
				bad = b.inexact(bt, r, int(k), value[i], bad)
			}
		}
		if b.bound.Plan.Bias {
			row[b.Cols-1] = 1
		}
	}
	return bad
}
