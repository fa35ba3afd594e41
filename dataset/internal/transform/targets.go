package transform

import (
	"fmt"
	"math"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
)

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
