package transform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/kernel"
)

// A rowError is an error about a row of the input.
type rowError struct {
	row int64
	col int // number among the binding's features; -1: the label; number of features: the weight
	err error
}

func (e *rowError) Error() string { return e.err.Error() }

// pairWeight is the number of the weight in a batch with pairs, as in rowError.
const pairWeight = -2

func (e *rowError) Unwrap() error { return e.err }

// fewRows is a number of rows that take less time to convert than a goroutine takes to start.
const fewRows = 16

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

func (b *Builder) damaged(ctx context.Context, bt *column.Batch, rows Cut, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case IsUnfit(err):
		return err
	}
	lo, hi := rows.Lo, rows.Hi
	switch {
	case rows.Rows != nil && len(rows.Rows) == 0: // no row is kept
		lo, hi = 0, int(bt.Rows)
	case rows.Rows != nil:
		lo, hi = int(rows.Rows[0]), int(rows.Rows[len(rows.Rows)-1])+1
	}
	return bt.Damaged(b.Input+int64(lo), b.Input+int64(hi)-1, err)
}

func (b *Builder) putLabels(bt *column.Batch, rows Cut) *rowError {
	if b.bound.Label < 0 {
		return nil
	}
	y := b.block.Y[b.fill:]
	for i, span := range rows.Spans() {
		row, what := Encode(b.Labels, bt.Label(b.bound.Label), span.Lo, y[i:i+span.Len()])
		if what != "" {
			return b.rowError(bt, -1, row, what)
		}
	}
	return nil
}

// A fault is the first wrong value of a panel: in the lowest row, and within this row in the first column. err is nil
// while every value is right.
type fault struct {
	b   *Builder
	bt  *column.Batch
	err *rowError
}

// note records the result of reading feature column k, numbered as in rowError: the loss of precision, and the first
// wrong row with its error text, which is "" if no row is wrong.
func (f *fault) note(k int, lost column.Loss, row int, what string) {
	if lost == column.Merged {
		f.b.losses[k].merged.Store(true)
	}
	if what == "" {
		return
	}
	if err := f.b.rowError(f.bt, k, row, what); f.err == nil || err.row < f.err.row || err.row == f.err.row && k < f.err.col {
		f.err = err
	}
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

// sureBelow bounds the magnitudes of numbers that inexact needn't see: float32 holds smaller whole numbers exactly.
const sureBelow = 1 << 24

// inexact records the loss for a value of feature k if float32 can't hold it exactly. If the value can't be used,
// inexact returns the error of the row's first wrong value; bad is that error so far.
func (b *Builder) inexact(bt *column.Batch, row, k int, value float64, bad *rowError) *rowError {
	switch v := float32(value); {
	case float64(v) == value && v-v == 0:
	case v-v == 0:
		if column.LossOf(value) == column.Merged { // zeros give every column a wide range
			b.losses[b.bound.inputOf(k)].merge(k)
		}
	case bad == nil || k < bad.col:
		return b.rowError(bt, k, row, b.unusable(value))
	}
	return bad
}

// inputOf returns the number of the column of feature k in a batch with pairs. All numbered features belong to one
// column.
func (s *Binding) inputOf(k int) int { return min(k, len(s.Plan.Inputs)-1) }

// unusable returns the error text for a number that float32 can't hold.
func (b *Builder) unusable(v float64) string {
	switch text := fmt.Sprint(v); {
	case v-v == 0:
		return text + column.TooWide()
	case b.bound.Fixed:
		return text + message.Translate(fillInModel)
	default:
		return text + message.Translate(fillIn)
	}
}

// putWeights writes the sample weights of rows of a batch to dst. It returns the first row without a usable weight
// and the error text, or "".
func (b *Builder) putWeights(bt *column.Batch, rows Cut, dst []float64) (row int, what string) {
	v, err := column.NewView64(bt.SampleWeights(b.bound.Roles))
	if err != nil {
		return rows.First(), err.Error()
	}
	weighted := false
	for i, span := range rows.Spans() {
		to := dst[i:][:span.Len()]
		values, _ := v.Read(span.Lo, span.Hi, to)
		copy(to, values)
		for k, w := range to {
			if !(w >= 0) || math.IsInf(w, 0) || v.Array.IsNull(span.Lo+k) {
				advice := "correct it, or leave the row out"
				switch {
				case !column.IsMissing(v.Array, span.Lo+k):
				case b.bound.Fixed:
					advice = "fill it in, or leave the row out"
				default:
					advice = message.Sprintf("fill it in, or use --nulls drop")
				}
				return span.Lo + k, fmt.Sprintf("%s, and a weight is a finite number of 0 or more (%s)", v.Text(span.Lo+k), advice)
			}
			weighted = weighted || w > 0
		}
	}
	if weighted {
		b.weighted.Store(true)
	}
	return 0, ""
}

// CheckWeights returns an error if there are sample weights and all are 0.
func (b *Builder) CheckWeights(name string) error {
	if b.bound.Weight < 0 || b.weighted.Load() {
		return nil
	}
	return column.ErrorIn(name, "column %q: every sample weight is 0: choose another column with --sample-weight",
		b.bound.Columns[b.bound.Weight].Name)
}

// rowError returns an error about a value in a row of a batch. k is the number of the value's feature column; -1
// means the label, and the number of feature columns means the weight.
func (b *Builder) rowError(bt *column.Batch, k, row int, what string) *rowError {
	n, col := b.Input+int64(row), b.bound.Label
	switch {
	case k == pairWeight:
		col = b.bound.Weight
	case k >= 0 && bt.Pairs != nil:
		col = b.bound.Features[b.bound.inputOf(k)]
	case k == len(b.bound.Features):
		col = b.bound.Weight
	case k >= 0:
		col = b.bound.Features[k]
	}
	name, missing := b.bound.Columns[col].Name, false
	switch {
	case k == pairWeight:
		missing = column.IsMissing(bt.SampleWeights(b.bound.Roles), row)
	case k < 0:
		missing = column.IsMissing(bt.Label(col), row)
	case bt.Pairs != nil:
		name = b.bound.Plan.Inputs[b.bound.inputOf(k)].FeatureName(k)
	case len(b.bound.further(k)) > 0:
		name, missing = b.bound.Plan.Inputs[k].Name, b.bound.cells(bt, k).missing(row, row+1) != nil
	case k < len(b.bound.Features):
		missing = column.IsMissing(b.bound.array(bt, k), row)
	default:
		missing = column.IsMissing(bt.Columns[col], row)
	}
	if bt.Lacks(col) {
		what = "null, since the file lacks the column" + strings.TrimPrefix(what, "null")
	}
	err := bt.RowError(b.Input, row, name, what)
	if missing {
		err = column.Mark(err, column.ErrNulls)
	}
	return &rowError{n, k, err}
}
