package transform

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/schema"
)

// ClassOf returns the class of row i, or an error text.
func ClassOf(a arrow.Array, i int) (schema.Class, string) {
	if a.IsNull(i) {
		return schema.Class{}, noLabel
	}
	switch a := a.(type) {
	case *array.Float16:
		return floatClass(float64(column.HalfFloat(a.Value(i))), 32)
	case *array.Float32:
		return floatClass(float64(a.Value(i)), 32)
	case *array.Float64:
		return floatClass(a.Value(i), 64)
	case *array.Uint64:
		return schema.UintClass(a.Value(i)), ""
	case *array.Boolean:
		return schema.BoolClass(a.Value(i)), ""
	case *array.Decimal128:
		return decimalClass(a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale))
	case *array.Decimal256:
		return decimalClass(a.Value(i).ToString(a.DataType().(*arrow.Decimal256Type).Scale))
	case array.StringLike:
		return stringClass(a.Value(i))
	case *array.Date32:
		return dateClass(a.Value(i).ToTime())
	case *array.Date64:
		return dateClass(a.Value(i).ToTime())
	case *array.Dictionary:
		return ClassOf(a.Dictionary(), a.GetValueIndex(i))
	}
	if text := column.Texts(a); text != nil {
		return stringClass(text(i))
	}
	if arrow.IsInteger(a.DataType().ID()) {
		return schema.IntClass(column.Whole(a)(i)), ""
	}
	return schema.Class{}, fmt.Sprintf("a value of type %s can't be a label", column.Describe(a.DataType()))
}

const noLabel = "null"

// dateClass returns the class of a day, or an error text if a text file has no such day.
func dateClass(day time.Time) (schema.Class, string) {
	if day.Year() < 0 || day.Year() > 9999 {
		return schema.Class{}, "a date beyond the years 0 to 9999"
	}
	return stringClass(day.UTC().Format(time.DateOnly))
}

// floatClass returns the class of a number that has the given number of bits in the file, or an error text if the
// number isn't finite.
func floatClass(v float64, bits int) (schema.Class, string) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return schema.Class{}, fmt.Sprint(v)
	}
	if bits == 32 {
		return schema.Float32Class(float32(v)), ""
	}
	return schema.FloatClass(v), ""
}

// decimalClass returns the class of a decimal number; 1.00 and 1 are the same class.
func decimalClass(text string) (schema.Class, string) {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	c, err := schema.ParseNumber(text)
	if err != nil {
		return c, message.Sprintf("%s is too large for a class: choose another column with --label", text)
	}
	if v, err := strconv.ParseFloat(c.Text, 64); err == nil && c.Text != text && strconv.FormatFloat(v, 'f', -1, 64) != text {
		return c, fmt.Sprintf("%s has more digits than the numbers of classes and categories: write the column as text", text)
	}
	return c, ""
}

func stringClass(s string) (schema.Class, string) {
	if !utf8.ValidString(s) {
		return schema.Class{}, fmt.Sprintf("%q is not valid UTF-8: mend it, or leave the row out", s)
	}
	return schema.StringClass(strings.Clone(s)), ""
}

// textOf returns the text of row i, or an error text. The text is valid as long as the array.
func textOf(a arrow.Array, i int) (text, what string) {
	if a, ok := a.(*array.String); ok && a.IsValid(i) && utf8.ValidString(a.Value(i)) {
		return a.Value(i), ""
	}
	class, what := ClassOf(a, i)
	return class.Text, what
}

// A numbering returns the number of a value, from 0 on, or -1 for an unknown value. If the value is wrong, it returns
// an error text.
type numbering interface {
	number(a arrow.Array, i int) (n int, what string)
}

// encodeValid is Encode for rows without nulls.
func encodeValid(l numbering, a arrow.Array, lo int, dst []float32) (row int, what string) {
	d := a.Data()
	switch a.DataType().ID() { // the bits of a number tell it from others
	case arrow.INT8, arrow.UINT8:
		return encodeKeys(l, a, lo, dst, arrow.GetValues[uint8](d, 1)[lo:])
	case arrow.INT16, arrow.UINT16, arrow.FLOAT16:
		return encodeKeys(l, a, lo, dst, arrow.GetValues[uint16](d, 1)[lo:])
	case arrow.INT32, arrow.UINT32, arrow.FLOAT32:
		return encodeKeys(l, a, lo, dst, arrow.GetValues[uint32](d, 1)[lo:])
	case arrow.INT64, arrow.UINT64, arrow.FLOAT64:
		return encodeKeys(l, a, lo, dst, arrow.GetValues[uint64](d, 1)[lo:])
	}
	if text := column.Texts(a); text != nil {
		return encodeKeys(l, a, lo, dst, each(lo, len(dst), text))
	}
	switch v := a.(type) {
	case *array.Boolean:
		return encodeKeys(l, a, lo, dst, each(lo, len(dst), v.Value))
	case *array.Date32:
		return encodeKeys(l, a, lo, dst, v.Date32Values()[lo:])
	case *array.Date64:
		return encodeKeys(l, a, lo, dst, v.Date64Values()[lo:])
	case *array.Decimal128:
		return encodeKeys(l, a, lo, dst, v.Values()[lo:])
	case *array.Decimal256:
		return encodeKeys(l, a, lo, dst, v.Values()[lo:])
	case *array.Dictionary:
		return encodeKeys(l, a, lo, dst, each(lo, len(dst), v.GetValueIndex))
	}
	return lo, fmt.Sprintf("it is %s in a record, and a label is a number, a boolean, a string or a date", column.Describe(a.DataType()))
}

// each returns the keys of the n rows from lo on.
func each[K any](lo, n int, key func(i int) K) []K {
	keys := make([]K, n)
	for i := range keys {
		keys[i] = key(lo + i)
	}
	return keys
}

// encodeKeys is encodeValid with a key for each row. While there are only two classes, it compares keys instead of
// looking them up in a map.
func encodeKeys[K comparable](l numbering, a arrow.Array, lo int, dst []float32, keys []K) (int, string) {
	known := map[K]float32{}
	var two [2]K
	var numbers [2]float32
	for i := 0; i < len(dst); i++ {
		if n := len(known); n == 1 || n == 2 {
			if i += encodeTwo(two, numbers, keys[i:len(dst)], dst[i:]); i == len(dst) {
				break
			}
		}
		k := keys[i]
		n, ok := known[k]
		if !ok {
			number, what := l.number(a, lo+i)
			if what != "" {
				return lo + i, what
			}
			n = float32(number)
			known[k] = n
			if two[1], numbers[1] = k, n; len(known) == 1 {
				two[0], numbers[0] = k, n
			}
		}
		dst[i] = n
	}
	return 0, ""
}

// encodeTwo writes the numbers of the leading keys that equal one of two keys, and returns the index of the first
// other key, or len(keys). It doesn't branch on which of the two keys it finds, because the processor couldn't
// predict the branch.
func encodeTwo[K comparable](two [2]K, numbers [2]float32, keys []K, dst []float32) int {
	const step = 64
	for done := 0; ; done += step {
		part := keys[done:min(len(keys), done+step)]
		to, all := dst[done:][:len(part)], 1
		for i, k := range part {
			first, second := 0, 0
			if k == two[0] {
				first = 1
			}
			if k == two[1] {
				second = 1
			}
			all &= first | second
			to[i] = numbers[second]
		}
		if all == 0 {
			for k := part[0]; k == two[0] || k == two[1]; k = part[0] {
				part, done = part[1:], done+1
			}
			return done
		}
		if len(part) < step {
			return len(keys)
		}
	}
}
