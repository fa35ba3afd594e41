package predict

import (
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"

	"halfspace/schema"
)

// A column makes features from a value.
type column struct{ schema.Column }

func newColumns(spec *schema.Spec) []column {
	var columns []column
	for _, c := range spec.Columns() {
		columns = append(columns, column{c})
	}
	return columns
}

// append appends the features of a value to row.
func (c *column) append(row []float64, value any) ([]float64, error) {
	switch c.Kind {
	case schema.NumberColumn:
		v, err := number(value)
		return append(row, v), err
	case schema.ListColumn:
		return c.appendList(row, value)
	}
	first := len(row)
	if v := reflect.ValueOf(value); v.CanFloat() && v.Float()-v.Float() != 0 {
		value = nil // NaN or infinite
	}
	for range c.Width() {
		row = append(row, 0)
	}
	class, err := c.class(value)
	switch {
	case err != nil:
		return row, err
	case value == nil:
		row[first] = math.NaN()
	default:
		if i := c.Feature(class.Text); i >= 0 {
			row[first+i] = 1
		}
	}
	return row, nil
}

// number returns a value as a number, NaN for nil.
func number(value any) (float64, error) {
	switch v := reflect.ValueOf(value); {
	case value == nil:
		return math.NaN(), nil
	case v.CanFloat():
		return v.Float(), nil
	case v.CanInt():
		return float64(v.Int()), nil
	case v.CanUint():
		return float64(v.Uint()), nil
	case v.Kind() == reflect.Bool && v.Bool():
		return 1, nil
	case v.Kind() == reflect.Bool:
		return 0, nil
	}
	return 0, fmt.Errorf("a value of the type %T, and the column has numbers", value)
}

// appendList appends the elements of a list of numbers, all NaN for nil.
func (c *column) appendList(row []float64, value any) ([]float64, error) {
	n := 0
	switch list := value.(type) {
	case nil:
		for ; n < c.Elements; n++ {
			row = append(row, math.NaN())
		}
	case []float64:
		n = len(list)
		row = append(row, list...)
	case []float32:
		n = len(list)
		for _, v := range list {
			row = append(row, float64(v))
		}
	case []any:
		n = len(list)
		for i, element := range list {
			v, err := number(element)
			if err != nil {
				return row, fmt.Errorf("element %d: %w", i, err)
			}
			row = append(row, v)
		}
	default:
		return row, fmt.Errorf("a value of the type %T, and the column has lists of %d numbers", value, c.Elements)
	}
	if n != c.Elements {
		return row, fmt.Errorf("a list of %d numbers, and the training had lists of %d", n, c.Elements)
	}
	return row, nil
}

// class returns the class whose text is the category of a value that isn't nil.
func (c *column) class(value any) (schema.Class, error) {
	v := reflect.ValueOf(value)
	switch {
	case value == nil:
		return schema.Class{}, nil
	case c.Values == "" && v.Kind() == reflect.String:
		if text := v.String(); !utf8.ValidString(text) {
			return schema.Class{}, fmt.Errorf("%.40q is not valid UTF-8 text", text)
		}
		return schema.StringClass(v.String()), nil
	case c.Values == schema.Bool.String() && v.Kind() == reflect.Bool:
		return schema.BoolClass(v.Bool()), nil
	case c.Values == schema.Number.String() && v.CanInt():
		return schema.IntClass(v.Int()), nil
	case c.Values == schema.Number.String() && v.CanUint():
		return schema.UintClass(v.Uint()), nil
	case c.Values == schema.Number.String() && v.CanFloat():
		if f := v.Float(); v.Kind() == reflect.Float32 && f-f == 0 {
			return schema.Float32Class(float32(f)), nil
		}
		return schema.FloatClass(v.Float()), nil
	}
	kind := c.Values
	if kind == "" {
		kind = schema.String.String()
	}
	return schema.Class{}, fmt.Errorf("a value of the type %T, and the column has categories of the type %s", value, kind)
}
