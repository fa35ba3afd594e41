package records

import (
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

// Classes returns a column of classes: row i has the class classes[numbers[i]]. Its type is boolean or text for
// classes of these kinds; for numbers it is int64 if int64 holds all classes, otherwise uint64 or float64. Row i is
// null if valid[i] is false. If valid is nil, all rows are valid.
func Classes(classes []schema.Class, numbers []int, valid []bool) arrow.Array {
	values := classValues(classes)
	defer values.Release()
	all, err := column.Gather(values, nullsOf(numbers, valid), math.MaxInt64)
	if err != nil { // more than 2 GiB of text, at which Arrow's builders panic too
		panic(err)
	}
	return all
}

// ClassDictionary is Classes with a dictionary of the classes.
func ClassDictionary(classes []schema.Class, numbers []int, valid []bool) arrow.Array {
	values := classValues(classes)
	defer values.Release()
	return column.NewDictionary(values, nullsOf(numbers, valid))
}

// nullsOf returns numbers with -1 where valid is false.
func nullsOf(numbers []int, valid []bool) []int {
	if valid == nil {
		return numbers
	}
	numbers = slices.Clone(numbers)
	for i, ok := range valid {
		if !ok {
			numbers[i] = -1
		}
	}
	return numbers
}

// classValues returns a column of the classes themselves.
func classValues(classes []schema.Class) arrow.Array {
	mem := memory.DefaultAllocator
	kind := schema.String
	if len(classes) > 0 {
		kind = classes[0].Kind
	}
	switch kind {
	case schema.Bool:
		values, _ := parseAll(classes, strconv.ParseBool)
		return build(array.NewBooleanBuilder(mem), values)
	case schema.String:
		values, _ := parseAll(classes, func(s string) (string, error) { return s, nil })
		return build(array.NewStringBuilder(mem), values)
	}
	if v, ok := parseAll(classes, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }); ok {
		return build(array.NewInt64Builder(mem), v)
	}
	if v, ok := parseAll(classes, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }); ok {
		return build(array.NewUint64Builder(mem), v)
	}
	v, _ := parseAll(classes, func(s string) (float64, error) { return humanize.ParseNumber(s) })
	return build(array.NewFloat64Builder(mem), v)
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

// build returns a column of values, and releases b.
func build[V any](b builder[V], values []V) arrow.Array {
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewArray()
}

// Floats returns a column of numbers. Row i is null if valid[i] is false. If valid is nil, all rows are valid.
func Floats(values []float32, valid []bool) arrow.Array {
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, valid)
	return b.NewArray()
}
