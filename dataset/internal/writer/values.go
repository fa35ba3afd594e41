package writer

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"

	"halfspace/dataset/internal/column"
)

// parquetNode returns the node of a plain column in a Parquet schema. Elements of lists are OPTIONAL.
func parquetNode(f arrow.Field) (pschema.Node, error) {
	repetition := parquet.Repetitions.Required
	if f.Nullable {
		repetition = parquet.Repetitions.Optional
	}
	if list, ok := f.Type.(*arrow.ListType); ok {
		element, err := parquetNode(arrow.Field{Name: f.Name, Type: list.Elem(), Nullable: true})
		if err != nil {
			return nil, err
		}
		return pschema.ListOf(element, repetition, -1)
	}
	physical, logical, width := parquetType(f.Type)
	if logical == nil {
		return nil, fmt.Errorf("column %q is %s, which can't be written to Parquet: leave it out", f.Name, column.Describe(f.Type))
	}
	return pschema.NewPrimitiveNodeLogical(f.Name, repetition, logical, physical, width, -1)
}

// parquetType returns the types with which Parquet stores values of a type, and the bytes of a value in columns of
// fixed length, otherwise -1. logical is nil if values of the type can't be written.
func parquetType(t arrow.DataType) (physical parquet.Type, logical pschema.LogicalType, width int) {
	none := pschema.NoLogicalType{}
	switch t := t.(type) {
	case *arrow.NullType:
		return parquet.Types.Int32, pschema.NullLogicalType{}, -1
	case *arrow.BooleanType:
		return parquet.Types.Boolean, none, -1
	case *arrow.Float32Type:
		return parquet.Types.Float, none, -1
	case *arrow.Float64Type:
		return parquet.Types.Double, none, -1
	case *arrow.StringType, *arrow.LargeStringType:
		return parquet.Types.ByteArray, pschema.StringLogicalType{}, -1
	case *arrow.BinaryType, *arrow.LargeBinaryType:
		return parquet.Types.ByteArray, none, -1
	case *arrow.FixedSizeBinaryType:
		return parquet.Types.FixedLenByteArray, none, t.ByteWidth
	case *arrow.Float16Type:
		return parquet.Types.FixedLenByteArray, pschema.Float16LogicalType{}, arrow.Float16SizeBytes
	case arrow.DecimalType:
		return parquet.Types.FixedLenByteArray, pschema.NewDecimalLogicalType(t.GetPrecision(), t.GetScale()), decimalBytes(t)
	case *arrow.Date32Type, *arrow.Date64Type:
		return parquet.Types.Int32, pschema.DateLogicalType{}, -1
	case *arrow.Time32Type:
		return parquet.Types.Int32, pschema.NewTimeLogicalType(true, pschema.TimeUnitMillis), -1
	case *arrow.Time64Type:
		return parquet.Types.Int64, pschema.NewTimeLogicalType(true, parquetUnit(t.Unit)), -1
	case *arrow.TimestampType:
		return parquet.Types.Int64, pschema.NewTimestampLogicalTypeForce(t.TimeZone != "", parquetUnit(t.Unit)), -1
	}
	if !arrow.IsInteger(t.ID()) {
		return 0, nil, -1
	}
	bits := t.(arrow.FixedWidthDataType).BitWidth()
	if bits == 64 {
		physical = parquet.Types.Int64
	} else {
		physical = parquet.Types.Int32
	}
	return physical, pschema.NewIntLogicalType(int8(bits), arrow.IsSignedInteger(t.ID())), -1
}

// decimalBytes returns the number of bytes for a decimal of the type's precision and its sign.
func decimalBytes(t arrow.DecimalType) int {
	return int(math.Ceil((float64(t.GetPrecision())*math.Log2(10) + 1) / 8))
}

// parquetUnit returns the unit in which times are written. Parquet has no seconds.
func parquetUnit(unit arrow.TimeUnit) pschema.TimeUnitType {
	switch unit {
	case arrow.Nanosecond:
		return pschema.TimeUnitNanos
	case arrow.Microsecond:
		return pschema.TimeUnitMicros
	}
	return pschema.TimeUnitMillis
}

// writeValues adds the values that aren't null, and the levels, to a column of a row group.
func writeValues(w file.ColumnChunkWriter, a arrow.Array, l *levels) (err error) {
	switch w := w.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(gathered(a, a.(*array.Boolean).Value), l.def, l.rep)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(int32Values(a), l.def, l.rep)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(int64Values(a), l.def, l.rep)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(present(a, a.(*array.Float32).Float32Values()), l.def, l.rep)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(present(a, a.(*array.Float64).Float64Values()), l.def, l.rep)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(gathered(a, textValue(a.(array.BinaryLike))), l.def, l.rep)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(gathered(a, fixedValue(a)), l.def, l.rep)
	default:
		err = fmt.Errorf("no values of type %s can be written", a.DataType())
	}
	return err
}

// gathered returns value(i) for each i whose value isn't null.
func gathered[T any](a arrow.Array, value func(i int) T) []T {
	values := make([]T, 0, a.Len()-a.NullN())
	for i := range a.Len() {
		if a.IsValid(i) {
			values = append(values, value(i))
		}
	}
	return values
}

// present returns the values that aren't null. It doesn't copy them if no value is null.
func present[T any](a arrow.Array, values []T) []T {
	if a.NullN() == 0 {
		return values
	}
	return gathered(a, func(i int) T { return values[i] })
}

func int32Values(a arrow.Array) []int32 {
	whole := column.Whole(a)
	switch t := a.DataType(); {
	case t.ID() == arrow.NULL:
		return nil
	case t.ID() == arrow.DATE64:
		const day = 24 * 60 * 60 * 1000 // milliseconds
		return gathered(a, func(i int) int32 { return int32(whole(i) / day) })
	case t.(arrow.FixedWidthDataType).Bytes() < 4:
		return gathered(a, func(i int) int32 { return int32(whole(i)) })
	}
	values := arrow.Int32Traits.CastFromBytes(column.FixedBytes(a))
	if t, ok := a.DataType().(*arrow.Time32Type); ok && t.Unit == arrow.Second {
		return gathered(a, func(i int) int32 { return values[i] * 1000 })
	}
	return present(a, values)
}

func int64Values(a arrow.Array) []int64 {
	values := arrow.Int64Traits.CastFromBytes(column.FixedBytes(a))
	if t, ok := a.DataType().(*arrow.TimestampType); ok && t.Unit == arrow.Second {
		return gathered(a, func(i int) int64 { return values[i] * 1000 })
	}
	return present(a, values)
}

// textValue returns the function for value i of texts or binary values. It doesn't copy them.
func textValue(a array.BinaryLike) func(i int) parquet.ByteArray {
	var bytes []byte
	if buffer := a.Data().Buffers()[2]; buffer != nil {
		bytes = buffer.Bytes()
	}
	return func(i int) parquet.ByteArray {
		at := a.ValueOffset64(i)
		return bytes[at : at+int64(a.ValueLen(i))]
	}
}

// fixedValue returns the function for value i of a column of values of a fixed length. Parquet stores a decimal as
// big-endian bytes, as many as its precision requires.
func fixedValue(a arrow.Array) func(i int) parquet.FixedLenByteArray {
	bytes, width := column.FixedBytes(a), a.DataType().(arrow.FixedWidthDataType).Bytes()
	value := func(i int) parquet.FixedLenByteArray { return bytes[i*width:][:width] }
	t, ok := a.DataType().(arrow.DecimalType)
	if !ok {
		return value
	}
	kept := decimalBytes(t)
	return func(i int) parquet.FixedLenByteArray {
		words, turned := value(i), make([]byte, 0, width)
		for at := width - 8; at >= 0; at -= 8 {
			turned = binary.BigEndian.AppendUint64(turned, binary.NativeEndian.Uint64(words[at:]))
		}
		return turned[width-kept:]
	}
}
