package ipc

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/frame"
)

// FieldColumns are the columns of records.
func FieldColumns(s *arrow.Schema) []frame.Column {
	cols := make([]frame.Column, s.NumFields())
	for i, f := range s.Fields() {
		cols[i] = frame.Column{Name: f.Name, Type: f.Type, Desc: frame.Describe(f.Type), Nullable: f.Nullable, Index: i}
		if d, ok := f.Type.(arrow.DecimalType); ok && !soundDecimal(d) {
			cols[i].Type = nil
		}
	}
	return cols
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
			if !inBounds(col) {
				return fmt.Errorf("column %q has values that end before they begin", c.Name)
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

// inBounds tells whether the offsets of a column of text, binary data or lists, or of its dictionary, ascend. Arrow checks the
// last one only.
func inBounds(a arrow.Array) bool {
	if a.Len() == 0 { // which may be without offsets
		return true
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return inBounds(a.Dictionary())
	case *array.String:
		return ascend(a.ValueOffsets())
	case *array.Binary:
		return ascend(a.ValueOffsets())
	case *array.LargeString:
		return ascend(a.ValueOffsets())
	case *array.LargeBinary:
		return ascend(a.ValueOffsets())
	case *array.List:
		return listsAscend(a)
	case *array.LargeList:
		return listsAscend(a)
	}
	return true
}

func ascend[I int32 | int64](offsets []I) bool { return offsets[0] >= 0 && slices.IsSorted(offsets) }

func listsAscend(a array.ListLike) bool {
	last := int64(0)
	for i := range a.Len() {
		lo, hi := a.ValueOffsets(i)
		if lo < last || hi < lo {
			return false
		}
		last = hi
	}
	return last <= int64(a.ListValues().Len()) && inBounds(a.ListValues())
}
