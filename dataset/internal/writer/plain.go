package writer

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
)

// plainColumn returns the values of a dictionary, plain lists for lists of every kind, and other columns unchanged.
// The caller must release the result.
func plainColumn(a arrow.Array) (arrow.Array, error) {
	switch a := a.(type) {
	case *array.Dictionary:
		return PlainValues(a)
	case array.ListLike:
		return plainList(a)
	}
	a.Retain()
	return a, nil
}

// plainList converts lists to plain lists. A null list has no elements in the result.
func plainList(a array.ListLike) (arrow.Array, error) {
	n := a.Len()
	offsets, valid := make([]int32, n+1), make([]byte, bitutil.BytesForBits(int64(n)))
	var parts []arrow.Array
	from, to, total := int64(0), int64(0), int64(0) // range of adjacent elements, and number of elements so far
	part := func() {
		if to > from || len(parts) == 0 {
			parts = append(parts, array.NewSlice(a.ListValues(), from, to))
		}
	}
	for i := range n {
		if a.IsValid(i) {
			bitutil.SetBit(valid, i)
			lo, hi := a.ValueOffsets(i)
			if lo != to {
				part()
				from = lo
			}
			to, total = hi, total+hi-lo
		}
		if total > math.MaxInt32 {
			return nil, errors.New("a record has more than 2^31 elements of lists: write smaller records")
		}
		offsets[i+1] = int32(total)
	}
	part()
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	values, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	data := array.NewData(arrow.ListOf(values.DataType()), n, []*memory.Buffer{memory.NewBufferBytes(valid),
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))}, []arrow.ArrayData{values.Data()}, a.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// PlainValues returns the values to which the keys of a dictionary refer.
func PlainValues(d *array.Dictionary) (arrow.Array, error) {
	values := d.Dictionary()
	keys := make([]int, d.Len()) // -1: null
	for i := range keys {
		keys[i] = -1
		if d.IsNull(i) {
			continue
		}
		k := d.GetValueIndex(i)
		if k < 0 || k >= values.Len() {
			return nil, fmt.Errorf("row %d has key %d of %d", i, k, values.Len())
		}
		if values.IsValid(k) {
			keys[i] = k
		}
	}
	_, fixed := values.DataType().(arrow.FixedWidthDataType)
	if fixed && !arrow.IsNested(values.DataType().ID()) || column.Texts(values) != nil {
		return column.Gather(values, keys, math.MaxInt32)
	}
	return nil, fmt.Errorf("it has values of type %s", values.DataType())
}
