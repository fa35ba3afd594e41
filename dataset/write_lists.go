package dataset

import (
	"errors"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// plainLists is a schema whose lists of every kind are Arrow's plain ones, the only ones that its Parquet writer gets right.
func plainLists(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		if elements, _, ok := listOf(f.Type); ok {
			fields[i].Type = arrow.ListOf(elements)
		}
	}
	return arrow.NewSchema(fields, nil)
}

// plainList returns lists as plain ones. Null ones have no elements in it.
func plainList(a array.ListLike) (arrow.Array, error) {
	n := a.Len()
	offsets, valid := make([]int32, n+1), make([]byte, bitutil.BytesForBits(int64(n)))
	var parts []arrow.Array
	from, to, total := int64(0), int64(0), int64(0) // of the elements that lie together
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
