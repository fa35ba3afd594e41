package writer

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
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
	switch values := values.(type) {
	case *array.Boolean:
		return takeBooleans(values, keys), nil
	case array.BinaryLike:
		return takeTexts(values, keys)
	}
	if _, ok := values.DataType().(arrow.FixedWidthDataType); ok && !arrow.IsNested(values.DataType().ID()) {
		return takeFixed(values, keys), nil
	}
	return nil, fmt.Errorf("it has values of type %s", values.DataType())
}

func takeBooleans(values *array.Boolean, keys []int) arrow.Array {
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(keys))
	for _, k := range keys {
		if k < 0 {
			b.AppendNull()
		} else {
			b.Append(values.Value(k))
		}
	}
	return b.NewArray()
}

func takeTexts(values array.BinaryLike, keys []int) (arrow.Array, error) {
	total := 0
	for _, k := range keys {
		if k >= 0 {
			total += values.ValueLen(k)
		}
	}
	if total > math.MaxInt32 {
		return nil, errors.New("a record has more than 2^31 bytes of text: write smaller records")
	}
	b := array.NewBuilder(memory.DefaultAllocator, values.DataType()).(interface {
		array.Builder
		ReserveData(bytes int)
		UnsafeAppend(value []byte)
	})
	defer b.Release()
	b.Reserve(len(keys))
	b.ReserveData(total)
	text := textValue(values)
	for _, k := range keys {
		if k < 0 {
			b.AppendNull()
		} else {
			b.UnsafeAppend(text(k))
		}
	}
	return b.NewArray(), nil
}

// takeFixed returns the values of the given keys, of a fixed width in whole bytes.
func takeFixed(values arrow.Array, keys []int) arrow.Array {
	width := values.DataType().(arrow.FixedWidthDataType).Bytes()
	from, to := fixedBytes(values), make([]byte, len(keys)*width)
	valid, nulls := make([]byte, bitutil.BytesForBits(int64(len(keys)))), 0
	for i, k := range keys {
		if k < 0 {
			nulls++
			continue
		}
		bitutil.SetBit(valid, i)
		copy(to[i*width:], from[k*width:][:width])
	}
	data := array.NewData(values.DataType(), len(keys), []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(to)},
		nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
