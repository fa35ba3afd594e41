package cli

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/kernel"
	"halfspace/schema"
)

// classColumn returns the type of a column of classes, and what makes one of class numbers. Whole numbers are 64-bit integers, other
// numbers doubles.
func classColumn(spec *schema.Spec) (arrow.DataType, func([]int, []bool) arrow.Array) {
	mem := memory.DefaultAllocator
	switch spec.Classes[0].Kind {
	case schema.Bool:
		values, _ := parseAll(spec.Classes, strconv.ParseBool)
		return arrow.FixedWidthTypes.Boolean, func(classes []int, valid []bool) arrow.Array {
			return fill(array.NewBooleanBuilder(mem), values, classes, valid)
		}
	case schema.String:
		values, _ := parseAll(spec.Classes, func(s string) (string, error) { return s, nil })
		return arrow.BinaryTypes.String, func(classes []int, valid []bool) arrow.Array {
			return fill(array.NewStringBuilder(mem), values, classes, valid)
		}
	}
	if v, ok := parseAll(spec.Classes, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }); ok {
		return arrow.PrimitiveTypes.Int64, func(classes []int, valid []bool) arrow.Array {
			return fill(array.NewInt64Builder(mem), v, classes, valid)
		}
	}
	if v, ok := parseAll(spec.Classes, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }); ok {
		return arrow.PrimitiveTypes.Uint64, func(classes []int, valid []bool) arrow.Array {
			return fill(array.NewUint64Builder(mem), v, classes, valid)
		}
	}
	v, _ := parseAll(spec.Classes, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	return arrow.PrimitiveTypes.Float64, func(classes []int, valid []bool) arrow.Array {
		return fill(array.NewFloat64Builder(mem), v, classes, valid)
	}
}

// parseAll returns the values of classes, if parse can read all of them.
func parseAll[V any](classes []schema.Class, parse func(string) (V, error)) (values []V, ok bool) {
	for _, c := range classes {
		v, err := parse(c.Text)
		if err != nil {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// builder is an Arrow builder of a column of V.
type builder[V any] interface {
	array.Builder
	Append(V)
}

// fill makes a column of the values of classes, nulls where they aren't valid, and releases b. Without valid all are.
func fill[V any](b builder[V], values []V, classes []int, valid []bool) arrow.Array {
	defer b.Release()
	b.Reserve(len(classes))
	for i, c := range classes {
		if valid != nil && !valid[i] {
			b.AppendNull()
			continue
		}
		b.Append(values[c])
	}
	return b.NewArray()
}

// floatColumn makes a column of scores, nulls where they aren't valid.
func floatColumn[T kernel.Float](scores []T, valid []bool) arrow.Array {
	switch scores := any(scores).(type) {
	case []float32:
		b := array.NewFloat32Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(scores, valid)
		return b.NewArray()
	case []float64:
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(scores, valid)
		return b.NewArray()
	}
	panic("cli: scores are float32 or float64")
}
