package records

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/humanize"
	"halfspace/schema"
)

// Classes returns a column of classes: row i has the class classes[numbers[i]]. Its type is boolean or text for
// classes of these kinds; for numbers it is int64 if int64 holds all classes, otherwise uint64 or float64. Row i is
// null if valid[i] is false. If valid is nil, all rows are valid.
func Classes(classes []schema.Class, numbers []int, valid []bool) arrow.Array {
	mem := memory.DefaultAllocator
	kind := schema.String
	if len(classes) > 0 {
		kind = classes[0].Kind
	}
	switch kind {
	case schema.Bool:
		values, _ := parseAll(classes, strconv.ParseBool)
		return fill(array.NewBooleanBuilder(mem), values, numbers, valid)
	case schema.String:
		values, _ := parseAll(classes, func(s string) (string, error) { return s, nil })
		return fill(array.NewStringBuilder(mem), values, numbers, valid)
	}
	if v, ok := parseAll(classes, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }); ok {
		return fill(array.NewInt64Builder(mem), v, numbers, valid)
	}
	if v, ok := parseAll(classes, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }); ok {
		return fill(array.NewUint64Builder(mem), v, numbers, valid)
	}
	v, _ := parseAll(classes, func(s string) (float64, error) { return humanize.ParseNumber(s) })
	return fill(array.NewFloat64Builder(mem), v, numbers, valid)
}

// parseAll returns the values of classes. ok is false if parse fails for a class.
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
	AppendValues(values []V, valid []bool)
}

// fill returns a column of the values of classes, with nulls where valid is false, and releases b.
func fill[V any](b builder[V], values []V, numbers []int, valid []bool) arrow.Array {
	defer b.Release()
	all := make([]V, len(numbers))
	for i, c := range numbers {
		all[i] = values[c]
	}
	b.AppendValues(all, valid)
	return b.NewArray()
}

// Floats returns a column of numbers. Row i is null if valid[i] is false. If valid is nil, all rows are valid.
func Floats(values []float32, valid []bool) arrow.Array {
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, valid)
	return b.NewArray()
}
