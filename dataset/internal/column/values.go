package column

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Whole returns the function that reads element i of an array of whole numbers, dates or times, or nil for an array of another type. The
// function returns math.MaxInt64 for a greater number.
func Whole(a arrow.Array) func(i int) int64 {
	d := a.Data()
	switch a.DataType().ID() {
	case arrow.INT8:
		return wholeAt(arrow.GetValues[int8](d, 1))
	case arrow.INT16:
		return wholeAt(arrow.GetValues[int16](d, 1))
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		return wholeAt(arrow.GetValues[int32](d, 1))
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return wholeAt(arrow.GetValues[int64](d, 1))
	case arrow.UINT8:
		return wholeAt(arrow.GetValues[uint8](d, 1))
	case arrow.UINT16:
		return wholeAt(arrow.GetValues[uint16](d, 1))
	case arrow.UINT32:
		return wholeAt(arrow.GetValues[uint32](d, 1))
	case arrow.UINT64:
		values := arrow.GetValues[uint64](d, 1)
		return func(i int) int64 { return int64(min(values[i], math.MaxInt64)) }
	}
	return nil
}

func wholeAt[S integer](values []S) func(i int) int64 {
	return func(i int) int64 { return int64(values[i]) }
}

// Texts returns the function that reads element i of an array of texts or binary values, or nil for an array of another type.
func Texts(a arrow.Array) func(i int) string {
	switch a := a.(type) {
	case array.StringLike:
		return a.Value
	case *array.Binary:
		return a.ValueString
	case *array.LargeBinary:
		return a.ValueString
	}
	return nil
}

// Floats returns an array that shares the memory of its numbers.
func Floats(v []float64) arrow.Array {
	data := array.NewData(arrow.PrimitiveTypes.Float64, len(v), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes(v))}, nil, 0, 0)
	defer data.Release()
	return array.NewFloat64Data(data)
}
