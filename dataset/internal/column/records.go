package column

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/schema"
)

func FieldColumns(s *arrow.Schema) []Column {
	cols := make([]Column, s.NumFields())
	for i, f := range s.Fields() {
		t := PlainType(f.Type)
		cols[i] = Column{Name: f.Name, Type: t, Desc: Describe(t), Nullable: f.Nullable, Index: i}
		if d, ok := t.(arrow.DecimalType); ok && !soundDecimal(d) {
			cols[i].Type = nil
		}
		if l, ok := f.Type.(*arrow.FixedSizeListType); ok && l.Len() > schema.MaxFeatures {
			cols[i].Type, cols[i].Desc = nil, fmt.Sprintf("lists of %d elements (a row has at most %d features)",
				l.Len(), schema.MaxFeatures)
		}
	}
	return cols
}

// longest returns the number of elements of the longest list of a column or its fields, or 0 if it has no lists.
func longest(a arrow.Array) (most int64) {
	switch a := a.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			most = max(most, longest(a.Field(i)))
		}
	case array.ListLike:
		for i := range a.Len() {
			lo, hi := a.ValueOffsets(i)
			most = max(most, hi-lo)
		}
	}
	return most
}

// soundDecimal returns true if the digits of a decimal fit in its type. A greater power of ten would take very long
// to compute.
func soundDecimal(d arrow.DecimalType) bool {
	most := int32(38)
	if d.ID() == arrow.DECIMAL256 {
		most = 76
	}
	precision, scale := d.GetPrecision(), d.GetScale()
	return precision >= 1 && precision <= most && scale >= -most && scale <= most
}

// RecordBatches yields the selected columns of the records of r, in batches of up to MaxBatchRows rows, whose types
// are plain. room returns the number of bytes of memory that a column of a batch may take beside the record; nil: no
// limit.
func RecordBatches(ctx context.Context, r array.RecordReader, roles *Roles, room func() int64) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for {
			b, err := NextRecord(ctx, r, roles)
			if err != nil {
				yield(nil, err)
				return
			}
			most := int64(math.MaxInt64)
			if room != nil {
				most = room()
			}
			if b == nil || !b.Parts(roles, most, yield) {
				return
			}
		}
	}
}

// Parts passes the rows of a batch of NextRecord to yield, in batches of up to MaxBatchRows rows whose types are
// plain. It returns false if yield did, or after an error. A column of a batch may take at most most bytes of memory.
func (b *Batch) Parts(roles *Roles, most int64, yield func(*Batch, error) bool) bool {
	return b.Split(MaxBatchRows, func(part *Batch) bool {
		for k, a := range part.Columns {
			if a == nil { // Complete sets it
				continue
			}
			var plain arrow.Array
			err := Recovered(func() (err error) {
				plain, err = toPlain(a, most)
				return err
			})
			if err != nil {
				part.Release()
				if bad := (Damaged{}); errors.As(err, &bad) {
					err = Mark(fmt.Errorf("a record can't be read (%w): check its source", bad), ErrDamaged)
				}
				yield(nil, fmt.Errorf("column %q: %w", roles.Columns[k].Name, err))
				return false
			}
			a.Release()
			part.Columns[k] = plain
		}
		return yield(part, nil)
	})
}

// NextRecord returns the selected columns of the next record, or nil after the last record. Parts makes their types
// plain.
func NextRecord(ctx context.Context, r array.RecordReader, roles *Roles) (*Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := &Batch{Columns: make([]arrow.Array, len(roles.Columns))}
	more, long := false, error(nil)
	err := Recovered(func() error {
		if more = r.Next(); !more {
			return r.Err()
		}
		rec := r.Record()
		if b.Rows = rec.NumRows(); b.Rows > math.MaxInt32 {
			return fmt.Errorf("it has %d rows", b.Rows)
		}
		for k, c := range roles.Columns {
			if c.Index == Absent {
				continue // Complete sets it
			}
			col := rec.Column(c.Index)
			if int64(col.Len()) != b.Rows {
				return fmt.Errorf("column %q has %d of %d rows", c.Name, col.Len(), b.Rows)
			}
			if !arrow.TypeEqual(PlainType(col.DataType()), c.Type) {
				return fmt.Errorf("column %q is %s, and the schema says %s", c.Name, col.DataType(), c.Type)
			}
			if arrow.TypeEqual(col.DataType(), c.Type) && !InBounds(col) { // Parts checks other types
				return fmt.Errorf("column %q has values that end before they begin", c.Name)
			}
			most := int64(schema.MaxFeatures)
			if SparseLists(c.Type) {
				most = schema.MaxNamed
			}
			if n := longest(col); n > most {
				long = fmt.Errorf("column %q has a list of %d elements, and a row has at most %d features: leave the "+
					"column out", c.Name, n, most)
				return long
			}
			col.Retain()
			b.Columns[k] = col
		}
		return nil
	})
	if err != nil && err != io.EOF { // some readers return io.EOF at the end; within another error it means a cut source
		b.Release()
		if long != nil {
			return nil, long
		}
		return nil, fmt.Errorf("a record can't be read (%s): check its source", OneLine(err.Error()))
	}
	if !more {
		return nil, nil
	}
	return b, nil
}
