package transform

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// maxClasses is the largest number of classes.
const maxClasses = schema.MaxClasses

// Labels numbers the classes of the label column, in the order in which they appear or in the order of a model.
type Labels struct {
	Classes []schema.Class
	Numbers map[schema.Class]int
	fixed   bool   // no class may be added
	Whose   string // owner of the fixed classes, for messages
	Given   bool   // a model has the classes, and its Spec determines the treatment of missing labels
}

// NewLabels returns the Labels with the classes of spec, to which no class may be added. If spec is nil, it returns
// Labels without classes.
func NewLabels(spec *schema.Spec) *Labels {
	l := &Labels{Numbers: map[schema.Class]int{}}
	if spec != nil {
		l.fixed, l.Whose, l.Given = true, "the model, which has", true
		for i, c := range spec.Classes {
			l.Classes = append(l.Classes, c)
			l.Numbers[c] = i
		}
	}
	return l
}

// number returns the number of the class of row i, or an error text.
func (l *Labels) number(a arrow.Array, i int) (int, string) {
	c, what := ClassOf(a, i)
	if what != "" && column.IsMissing(a, i) {
		what += l.advice()
	}
	if what != "" {
		return 0, what
	}
	if n, ok := l.Numbers[c]; ok {
		return n, ""
	}
	if l.fixed {
		for n, known := range l.Classes {
			if known.Text == c.TextAs(known.Kind) || known.TextAs(c.Kind) == c.Text {
				return n, ""
			}
		}
		return 0, fmt.Sprintf("%s is no class of %s %s: change the label, or leave the row out", schema.NameClass(c), l.Whose,
			schema.ListClasses(l.Classes))
	}
	if len(l.Classes) == maxClasses {
		return 0, l.tooMany()
	}
	if what := schema.CheckText(c.Text, "label"); what != "" {
		return 0, what + message.Sprintf(": choose another column with --label")
	}
	n := len(l.Classes)
	l.Classes = append(l.Classes, c)
	l.Numbers[c] = n
	return n, ""
}

// Add adds the classes of another part of the rows. It returns their numbers in l, or an error text.
func (l *Labels) Add(other *Labels) (numbers []int, what string) {
	for _, c := range other.Classes {
		n, ok := l.Numbers[c]
		if !ok {
			if n = len(l.Classes); n == maxClasses {
				return nil, l.tooMany()
			}
			l.Classes, l.Numbers[c] = append(l.Classes, c), n
		}
		numbers = append(numbers, n)
	}
	return numbers, ""
}

func (l *Labels) tooMany() string {
	return fmt.Sprintf("more than %d classes (%s)%s", maxClasses, schema.ListClasses(l.Classes),
		schema.AdviseClasses(l.Classes))
}

// Spec returns the classes of a training set in sorted order, and the number of the positive class: the class with
// the text positive, or the greatest class if positive is "". It also returns stands, the label values of the classes
// in the order of appearance.
func (l *Labels) Spec(label, positive string) (classes []schema.Class, pos int, stands []float64, err error) {
	classes = slices.Clone(l.Classes)
	slices.SortFunc(classes, schema.Class.Compare)
	pos = len(classes) - 1
	if positive != "" {
		if pos = schema.FindClass(classes, positive); pos < 0 {
			return nil, 0, nil, message.Errorf("column %q: no class %q: name one of %s in --positive", label, positive,
				schema.ListClasses(classes))
		}
	}
	spec := schema.Spec{Classes: classes}
	spec.SetPositive(pos)
	stands = make([]float64, len(classes))
	for i, v := range spec.LabelValues() {
		stands[l.Numbers[classes[i]]] = v
	}
	return classes, pos, stands, nil
}

// classNote returns a note about classes that may be meant otherwise: some are infinity and the others numbers, or two are the
// same number. It returns "" if there are none. words are as plan.Plan.NullWords.
func classNote(label string, classes []schema.Class, words []string) string {
	var infinite, same []string
	numbers, areNumbers := map[float64]string{}, true
	for _, c := range classes {
		v, err := humanize.ParseNumber(c.Text)
		if c.Kind != schema.String || err != nil {
			areNumbers = false
			continue
		}
		if math.IsInf(v, 0) {
			infinite = append(infinite, c.Text)
			continue
		}
		if other, there := numbers[v]; there && same == nil {
			same = []string{other, c.Text}
		}
		numbers[v] = c.Text
	}
	if same != nil {
		return message.Sprintf("column %q: classes %q and %q are the same number, and two classes, since their texts differ", label,
			same[0], same[1])
	}
	if len(infinite) == 0 || len(numbers) == 0 || !areNumbers {
		return ""
	}
	is, it := "is a class", "it stands"
	if len(infinite) > 1 {
		is, it = "are classes", "they stand"
	}
	if words == nil {
		words = []string{"NA"}
	}
	return message.Sprintf("column %q: %s %s beside numbers: if %s for no value, use --null-values %s, which replaces the "+
		"default texts", label, strings.Join(infinite, " and "), is, it, column.InShell(append(infinite, words...)))
}

// A numbering returns the number of a value, from 0 on, or -1 for an unknown value. If the value is wrong, it returns
// an error text.
type numbering interface {
	number(a arrow.Array, i int) (n int, what string)
}

// Encode writes the class numbers of the len(dst) rows from lo on to dst. It returns the first row without a usable
// label and the error text, or "".
func Encode(l *Labels, a arrow.Array, lo int, dst []float32) (row int, what string) {
	n := len(dst)
	if a.NullN() > 0 {
		for n = 0; n < len(dst) && !a.IsNull(lo+n); n++ {
		}
	}
	row, what = encodeValid(l, a, lo, dst[:n])
	if what == "" && n < len(dst) {
		return lo + n, noLabel + l.advice()
	}
	return row, what
}

const noLabel = "null"

// advice returns the remedy for a missing label. Commands that take a model have no option for missing labels.
func (l *Labels) advice() string {
	if l.Given {
		return " (fill the label in, or leave the row out)"
	}
	return message.Sprintf(" (fill the label in, or use --nulls drop)")
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

// Sign replaces class numbers in y by the label values of the classes.
func Sign(y []float32, signs []float64) {
	for i, n := range y {
		y[i] = float32(signs[int(n)])
	}
}

// Number returns the class numbers of the kept rows of a batch, if there are labels, and these rows. first is the number of the batch's
// first row among all rows. Number marks the error about a wrong label by Unfit.
func (l *Labels) Number(ctx context.Context, bound *Binding, p column.Pool, bt *column.Batch,
	first int64) (numbers []float32, kept Cut, err error) {
	kept, err = bound.Kept(ctx, p, bt)
	if err != nil || bound.Label < 0 {
		return nil, kept, err
	}
	a := bt.Label(bound.Label)
	numbers = make([]float32, kept.Len())
	for i, span := range kept.Spans() {
		bad, what := Encode(l, a, span.Lo, numbers[i:][:span.Len()])
		if what == "" {
			continue
		}
		err = bt.RowError(first, bad, bound.Columns[bound.Label].Name, what)
		if column.IsMissing(a, bad) {
			err = column.Mark(err, column.ErrNulls)
		}
		return nil, kept, Unfit(err)
	}
	return numbers, kept, nil
}
