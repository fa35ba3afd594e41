package transform

import (
	"context"
	"fmt"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
)

// A rowError is an error about a row of the input.
type rowError struct {
	row int64
	col int // number among the binding's features; -1: the label; number of features: the weight
	err error
}

func (e *rowError) Error() string { return e.err.Error() }

func (e *rowError) Unwrap() error { return e.err }

// pairWeight is the number of the weight in a batch with pairs, as in rowError.
const pairWeight = -2

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

// inputOf returns the number of the column of feature k in a batch with pairs. All numbered features belong to one
// column.
func (s *Binding) inputOf(k int) int { return min(k, len(s.Plan.Inputs)-1) }

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
