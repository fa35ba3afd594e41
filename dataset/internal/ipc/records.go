package ipc

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// FieldColumns are the columns of records.
func FieldColumns(s *arrow.Schema) []frame.Column {
	cols := make([]frame.Column, s.NumFields())
	for i, f := range s.Fields() {
		cols[i] = frame.Column{Name: f.Name, Type: f.Type, Desc: frame.Describe(f.Type), Nullable: f.Nullable, Index: i}
		if d, ok := f.Type.(arrow.DecimalType); ok && !soundDecimal(d) {
			cols[i].Type = nil
		}
		if l, ok := f.Type.(*arrow.FixedSizeListType); ok && l.Len() > schema.MaxFeatures {
			cols[i].Type, cols[i].Desc = nil, fmt.Sprintf("lists of %d elements (a row has at most %d features)", l.Len(), schema.MaxFeatures)
		}
	}
	return cols
}

// longest returns the number of elements of the longest list of a column, 0 of one without lists.
func longest(a arrow.Array) (most int64) {
	if l, ok := a.(array.ListLike); ok {
		for i := range l.Len() {
			lo, hi := l.ValueOffsets(i)
			most = max(most, hi-lo)
		}
	}
	return most
}

// soundDecimal tells whether a decimal has the digits that its type can hold: a power of ten beyond them takes for ever.
func soundDecimal(d arrow.DecimalType) bool {
	most := int32(38)
	if d.ID() == arrow.DECIMAL256 {
		most = 76
	}
	precision, scale := d.GetPrecision(), d.GetScale()
	return precision >= 1 && precision <= most && scale >= -most && scale <= most
}

// RecordBatches yields the selected columns of the records of r, in batches of up to maxBatchRows rows.
func RecordBatches(ctx context.Context, r array.RecordReader, sel *frame.Chosen) iter.Seq2[*frame.Batch, error] {
	return func(yield func(*frame.Batch, error) bool) {
		for {
			b, err := nextRecord(ctx, r, sel)
			if b == nil && err == nil || !b.Split(frame.MaxBatchRows, func(part *frame.Batch) bool { return yield(part, err) }) || err != nil {
				return
			}
		}
	}
}

// nextRecord returns the next record's columns, nil after the last.
func nextRecord(ctx context.Context, r array.RecordReader, sel *frame.Chosen) (*frame.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := &frame.Batch{Columns: make([]arrow.Array, len(sel.Columns))}
	more := false
	err := frame.Recovered(func() error {
		if more = r.Next(); !more {
			return r.Err()
		}
		rec := r.Record()
		if b.Rows = rec.NumRows(); b.Rows > math.MaxInt32 {
			return fmt.Errorf("it has %d rows", b.Rows)
		}
		for k, c := range sel.Columns {
			col := rec.Column(c.Index)
			if int64(col.Len()) != b.Rows {
				return fmt.Errorf("column %q has %d of %d rows", c.Name, col.Len(), b.Rows)
			}
			if !frame.InBounds(col) {
				return fmt.Errorf("column %q has values that end before they begin", c.Name)
			}
			if n := longest(col); n > schema.MaxFeatures {
				return fmt.Errorf("column %q has a list of %d elements, and a row has at most %d features", c.Name, n, schema.MaxFeatures)
			}
			col.Retain()
			b.Columns[k] = col
		}
		return nil
	})
	if err != nil && err != io.EOF { // which some readers return at the end; within another error it is a cut source
		b.Release()
		return nil, fmt.Errorf("a record can't be read (%s): check its source", frame.OneLine(err.Error()))
	}
	if !more {
		return nil, nil
	}
	return b, nil
}
