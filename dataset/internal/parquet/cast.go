package parquet

import (
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// castable returns true if cast converts values of one type to another. Lake tables may change the type of a column so without
// writing its files again: no value changes.
func castable(from, to arrow.DataType) bool {
	if arrow.TypeEqual(from, to) {
		return true
	}
	switch to := to.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		return arrow.IsSignedInteger(from.ID()) && (widthOf(from) <= widthOf(to) || from.ID() == arrow.INT32)
	case *arrow.Float64Type:
		return from.ID() == arrow.FLOAT32 || arrow.IsSignedInteger(from.ID()) && widthOf(from) <= 32
	case *arrow.Decimal128Type:
		if of, is := from.(*arrow.Decimal128Type); is {
			return to.Scale >= of.Scale && to.Precision-to.Scale >= of.Precision-of.Scale
		}
		return arrow.IsSignedInteger(from.ID())
	case *arrow.TimestampType:
		return from.ID() == arrow.TIMESTAMP || from.ID() == arrow.DATE32
	case *arrow.StringType:
		return from.ID() == arrow.BINARY
	case *arrow.BinaryType:
		return from.ID() == arrow.STRING
	case *arrow.ListType:
		of, is := from.(*arrow.ListType)
		return is && castable(of.Elem(), to.Elem())
	}
	return false
}

func widthOf(t arrow.DataType) int { return t.(arrow.FixedWidthDataType).BitWidth() }

// cast returns an array with the values of a in another type, which castable allows. It returns an error if a value is out of the
// range of the type. It releases a.
func cast(a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	if arrow.TypeEqual(a.DataType(), to) {
		return a, nil
	}
	defer a.Release()
	switch to := to.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return relabelled(a, to), nil
	case *arrow.Int8Type:
		return castInts(a, to, func(v int64) (int8, bool) { return int8(v), v == int64(int8(v)) })
	case *arrow.Int16Type:
		return castInts(a, to, func(v int64) (int16, bool) { return int16(v), v == int64(int16(v)) })
	case *arrow.Int32Type:
		return castInts(a, to, func(v int64) (int32, bool) { return int32(v), v == int64(int32(v)) })
	case *arrow.Int64Type:
		return castInts(a, to, func(v int64) (int64, bool) { return v, true })
	case *arrow.Float64Type:
		if from, is := a.(*array.Float32); is {
			return made(a, to, func(i int) (float64, error) { return float64(from.Value(i)), nil })
		}
		return castInts(a, to, func(v int64) (float64, bool) { return float64(v), true })
	case *arrow.Decimal128Type:
		return castDecimals(a, to)
	case *arrow.TimestampType:
		return castTimes(a, to)
	case *arrow.ListType:
		list := a.(*array.List)
		values := list.ListValues()
		values.Retain()
		elements, err := cast(values, to.Elem())
		if err != nil {
			return nil, err
		}
		defer elements.Release()
		of := list.Data()
		data := array.NewData(to, of.Len(), of.Buffers(), []arrow.ArrayData{elements.Data()}, of.NullN(), of.Offset())
		defer data.Release()
		return array.MakeFromData(data), nil
	}
	return nil, fmt.Errorf("%s can't be read as %s", a.DataType(), to)
}

// relabelled returns the values of an array with another type that stores them in the same way.
func relabelled(a arrow.Array, to arrow.DataType) arrow.Array {
	of := a.Data()
	data := array.NewData(to, of.Len(), of.Buffers(), of.Children(), of.NullN(), of.Offset())
	defer data.Release()
	return array.MakeFromData(data)
}

// made returns an array of the values that value returns. It has nulls where a has them.
func made[V any](a arrow.Array, to arrow.DataType, value func(i int) (V, error)) (arrow.Array, error) {
	b := memory.NewResizableBuffer(memory.DefaultAllocator)
	defer b.Release()
	b.Resize(a.Len() * sizeOf[V]())
	clear(b.Bytes())
	values := As[V](b.Bytes())
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		v, err := value(i)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	of := a.Data() // read from a page, so that its offset is 0
	data := array.NewData(to, a.Len(), []*memory.Buffer{of.Buffers()[0], b}, nil, of.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// whole64 returns the function that returns the value i of an array of signed integers.
func whole64(a arrow.Array) func(i int) int64 {
	switch a := a.(type) {
	case *array.Int8:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int16:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int32:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int64:
		return a.Value
	}
	return nil
}

func outOfRange(v any, to arrow.DataType) error {
	return fmt.Errorf("%v is out of the range of %s", v, to)
}

func castInts[V any](a arrow.Array, to arrow.DataType, narrow func(v int64) (V, bool)) (arrow.Array, error) {
	from := whole64(a)
	return made(a, to, func(i int) (V, error) {
		v, fits := narrow(from(i))
		if !fits {
			return v, outOfRange(from(i), to)
		}
		return v, nil
	})
}

func castDecimals(a arrow.Array, to *arrow.Decimal128Type) (arrow.Array, error) {
	var from func(i int) decimal128.Num
	scale := int32(0)
	if d, is := a.(*array.Decimal128); is {
		from, scale = d.Value, d.DataType().(*arrow.Decimal128Type).Scale
	} else {
		whole := whole64(a)
		from = func(i int) decimal128.Num { return decimal128.FromI64(whole(i)) }
	}
	return made(a, to, func(i int) (decimal128.Num, error) {
		v := from(i)
		wide := v.IncreaseScaleBy(to.Scale - scale)
		if !v.FitsInPrecision(to.Precision - to.Scale + scale) {
			return v, outOfRange(v.ToString(scale), to)
		}
		return wide, nil
	})
}

// castTimes converts dates and timestamps. It rounds down to the unit of the type.
func castTimes(a arrow.Array, to *arrow.TimestampType) (arrow.Array, error) {
	perSecond := func(u arrow.TimeUnit) int64 { return int64(time.Second / u.Multiplier()) }
	times, divisor := int64(1), int64(1)
	var from func(i int) int64
	switch a := a.(type) {
	case *array.Date32:
		from, times = func(i int) int64 { return int64(a.Value(i)) }, 86400*perSecond(to.Unit)
	case *array.Timestamp:
		of := a.DataType().(*arrow.TimestampType).Unit
		if of == to.Unit {
			return relabelled(a, to), nil
		}
		from, times, divisor = func(i int) int64 { return int64(a.Value(i)) }, max(1, perSecond(to.Unit)/perSecond(of)),
			max(1, perSecond(of)/perSecond(to.Unit))
	}
	return made(a, to, func(i int) (int64, error) {
		v := from(i)
		if v > math.MaxInt64/times || v < math.MinInt64/times {
			return v, outOfRange(v, to)
		}
		v *= times
		down := v / divisor
		if v%divisor < 0 {
			down--
		}
		return down, nil
	})
}
