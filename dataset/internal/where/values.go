package where

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// A literal is a number, a boolean or a text of a condition.
type literal struct {
	kind   schema.ClassKind
	text   string
	number *big.Rat // of a number
}

// leastPlaces is the number of decimal places from which on a number, which is not 0, counts as 10^-leastPlaces:
// float64 and decimals have no such number.
const leastPlaces = 400

func newLiteral(kind schema.ClassKind, text string) (literal, error) {
	l := literal{kind: kind, text: text}
	if kind != schema.Number {
		return l, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return l, fmt.Errorf("%s is no number that float64 can hold", text)
	}
	digits, _, _ := strings.Cut(strings.ToLower(text), "e")
	switch {
	case v != 0:
		l.number, _ = new(big.Rat).SetString(text)
	case strings.ContainsAny(digits, "123456789"):
		l.number = new(big.Rat).SetFrac(big.NewInt(1), tenTo(leastPlaces))
		if text[0] == '-' {
			l.number.Neg(l.number)
		}
	default:
		l.number = new(big.Rat)
	}
	return l, nil
}

// mostFloatDigits is the largest number of significant digits that the text of a float64 needs.
const mostFloatDigits = 17

// BeyondFloat returns true if column k is compared with a number that has more digits than float64 has. Numbers of text files are then
// compared by their digits. A number of fewer digits stands for the nearest float64, as a number of the column does: programs write 0.1
// as 0.10000000000000001 too.
func (c *Condition) BeyondFloat(k int) bool {
	return !c.root.each(func(n *comparison) bool {
		if n.column != k || n.value.number == nil {
			return true
		}
		digits, _, _ := strings.Cut(strings.ToLower(n.value.text), "e")
		return len(strings.Trim(strings.Replace(strings.TrimLeft(digits, "+-"), ".", "", 1), "0")) <= mostFloatDigits
	})
}

func tenTo(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

func (l literal) String() string {
	if l.kind == schema.String {
		return "'" + strings.ReplaceAll(l.text, "'", "''") + "'"
	}
	return l.text
}

// Unfit returns the text of an error unless values of col can be compared with the literals of column k. Numbers
// and booleans may be compared with texts: SetForm says how these are read.
func (c *Condition) Unfit(k int, col column.Column) (what string) {
	if col.Type == nil {
		return fmt.Sprintf("it is %s, which can't be read: leave it out of the condition", col.Desc)
	}
	kind, ok := column.ClassKind(col.Type)
	c.root.each(func(n *comparison) bool {
		if n.column == k && !(ok && kind == schema.String && n.value.kind != schema.String) {
			what = n.unfit(col.Type)
		}
		return what == ""
	})
	return what
}

// unfit returns the text of an error unless values of the type can be compared with the literal.
func (c *comparison) unfit(t arrow.DataType) string {
	if c.null {
		return ""
	}
	kind, ok := column.ClassKind(t)
	_, dated := column.PerDay(t)
	switch {
	case dated && c.value.kind == schema.String && c.like == nil:
		if _, ok := timeOf(t, c.value.text); !ok {
			return fmt.Sprintf("%s is no date or time such as '2026-01-31' or '2026-01-31 12:00:00'", c.value)
		}
		return ""
	case c.bare && ok && kind == schema.Number:
		return "it is a number, and a condition alone is a boolean: compare it with a number, as in <> 0"
	case c.bare && kind != schema.Bool:
		return fmt.Sprintf("it is %s, and a condition alone is a boolean: compare it with a value", column.Describe(t))
	case dated:
		return fmt.Sprintf("it is %s, and %s is no date in single quotes", column.Describe(t), c.value)
	case !ok:
		return fmt.Sprintf("it is %s, which can't be compared", column.Describe(t))
	case kind == c.value.kind:
		return ""
	}
	return fmt.Sprintf("it is a %s, and %s is a %s", kind, c.value, c.value.name())
}

// name returns the name of the literal's kind in messages.
func (l literal) name() string {
	return map[schema.ClassKind]string{schema.Number: "number", schema.Bool: "boolean", schema.String: "text"}[l.kind]
}

// timeOf returns the date or time that a text is, for a column of a type.
func timeOf(t arrow.DataType, text string) (time.Time, bool) {
	if id := t.ID(); id == arrow.TIME32 || id == arrow.TIME64 {
		at, ok := schema.ParseTime(text, "15:04:05")
		if !ok {
			at, ok = schema.ParseTime(text, "15:04")
		}
		return at, ok
	}
	return schema.ParseTime(text, "")
}

// ordersOf returns the order of each value of an array against the literal, and any order for a null. form is the form
// of texts; nil: they are no numbers, dates or booleans.
func (c *comparison) ordersOf(a arrow.Array, form *schema.Column) ([]orders, error) {
	if d, is := a.(*array.Dictionary); is {
		of, err := c.ordersOf(d.Dictionary(), form)
		if err != nil {
			return nil, err
		}
		for i := range of {
			if d.Dictionary().IsNull(i) {
				of[i] = missing
			}
		}
		sets := make([]orders, d.Len())
		for i := range sets {
			if d.IsValid(i) {
				sets[i] = of[d.GetValueIndex(i)]
			}
		}
		return sets, nil
	}
	sets := make([]orders, a.Len())
	if text := column.Texts(a); text != nil {
		return sets, c.compareTexts(sets, text, form)
	}
	if what := c.unfit(a.DataType()); what != "" {
		return nil, fmt.Errorf("%s", what)
	}
	if perDay, dated := column.PerDay(a.DataType()); dated {
		at, _ := timeOf(a.DataType(), c.value.text)
		day, nanos := schema.DayOf(at)
		units := new(big.Rat).SetFrac64(nanos, dayNanos/int64(perDay))
		units.Add(units, new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(day), big.NewInt(int64(perDay)))))
		compareIntegers(sets, a, units)
		return sets, nil
	}
	if b, is := a.(*array.Boolean); is {
		of := map[bool]orders{c.value.text == "true": equal, c.value.text != "true": above}
		if c.value.text == "true" {
			of[false] = below
		}
		for i := range sets {
			sets[i] = of[b.Value(i)]
		}
		return sets, nil
	}
	c.compareNumbers(sets, a)
	return sets, nil
}

// dayNanos is the number of nanoseconds of a day.
const dayNanos = int64(24 * time.Hour)

// compareNumbers sets the orders of the values of an array of numbers against the literal. Integers and decimals are
// compared exactly. For an array of floating-point numbers, the literal is the nearest number of its type, which is
// the number that prints as the literal. NaN is greater than every other number.
func (c *comparison) compareNumbers(sets []orders, a arrow.Array) {
	d := a.Data()
	switch a := a.(type) {
	case *array.Float16:
		wide := make([]float32, a.Len())
		for i, v := range a.Values() {
			wide[i] = column.HalfFloat(v)
		}
		compareFloats(sets, wide, nearestHalf(c.value.number))
	case *array.Float32:
		v, _ := c.value.number.Float32()
		compareFloats(sets, arrow.GetValues[float32](d, 1), v)
	case *array.Float64:
		v, _ := c.value.number.Float64()
		compareFloats(sets, arrow.GetValues[float64](d, 1), v)
	case *array.Decimal128:
		at, exact := floor(scaled(c.value.number, a.DataType().(*arrow.Decimal128Type).Scale))
		if set, outside := outside(at, 127); outside {
			fill(sets, set)
			return
		}
		compareEach(sets, a.Values(), decimal128.FromBigInt(at), exact, decimal128.Num.Cmp)
	case *array.Decimal256:
		at, exact := floor(scaled(c.value.number, a.DataType().(*arrow.Decimal256Type).Scale))
		if set, outside := outside(at, 255); outside {
			fill(sets, set)
			return
		}
		compareEach(sets, a.Values(), decimal256.FromBigInt(at), exact, decimal256.Num.Cmp)
	default:
		compareIntegers(sets, a, c.value.number)
	}
}

// floor returns the greatest integer up to a number. exact is true if they are equal.
func floor(v *big.Rat) (at *big.Int, exact bool) {
	at = new(big.Int).Div(v.Num(), v.Denom()) // it rounds down, as the denominator is positive
	return at, v.IsInt()
}

// outside returns the order of all integers of some bits and a sign against a number that is none of them.
func outside(at *big.Int, bits int) (set orders, is bool) {
	switch {
	case at.Sign() >= 0 && at.BitLen() > bits:
		return below, true
	case at.Sign() < 0 && new(big.Int).Not(at).BitLen() > bits:
		return above, true
	}
	return 0, false
}

// scaled returns v * 10^scale.
func scaled(v *big.Rat, scale int32) *big.Rat {
	power := new(big.Rat).SetInt(tenTo(int64(max(scale, -scale))))
	if scale < 0 {
		return power.Quo(v, power)
	}
	return power.Mul(v, power)
}

// compareIntegers sets the orders of the values of an array of integers, dates or times against a number of their unit.
func compareIntegers(sets []orders, a arrow.Array, v *big.Rat) {
	at, exact := floor(v)
	d, id := a.Data(), a.DataType().ID()
	if id == arrow.UINT64 {
		switch {
		case at.Sign() < 0:
			fill(sets, above)
		case at.BitLen() > 64:
			fill(sets, below)
		default:
			compareWhole(sets, arrow.GetValues[uint64](d, 1), at.Uint64(), exact)
		}
		return
	}
	if set, outside := outside(at, 63); outside {
		fill(sets, set)
		return
	}
	switch n := at.Int64(); id {
	case arrow.INT8:
		compareSmall(sets, arrow.GetValues[int8](d, 1), n, exact)
	case arrow.INT16:
		compareSmall(sets, arrow.GetValues[int16](d, 1), n, exact)
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		compareSmall(sets, arrow.GetValues[int32](d, 1), n, exact)
	case arrow.UINT8:
		compareSmall(sets, arrow.GetValues[uint8](d, 1), n, exact)
	case arrow.UINT16:
		compareSmall(sets, arrow.GetValues[uint16](d, 1), n, exact)
	case arrow.UINT32:
		compareSmall(sets, arrow.GetValues[uint32](d, 1), n, exact)
	default:
		compareWhole(sets, arrow.GetValues[int64](d, 1), n, exact)
	}
}

func compareSmall[V int8 | int16 | int32 | uint8 | uint16 | uint32](sets []orders, values []V, at int64, exact bool) {
	wide := make([]int64, len(values))
	for i, v := range values {
		wide[i] = int64(v)
	}
	compareWhole(sets, wide, at, exact)
}

// compareWhole sets the orders of integers against at, or against a number between at and the next integer if exact is
// false.
func compareWhole[V int64 | uint64](sets []orders, values []V, at V, exact bool) {
	same := uint32(below)
	if exact {
		same = uint32(equal)
	}
	for i, v := range values[:len(sets)] {
		set := uint32(below)
		if v > at {
			set = uint32(above)
		}
		if v == at {
			set = same
		}
		sets[i] = orders(set)
	}
}

// compareEach is compareWhole for decimals.
func compareEach[V any](sets []orders, values []V, at V, exact bool, compare func(a, b V) int) {
	same := map[bool]orders{false: below, true: equal}[exact]
	of := [3]orders{below, same, above}
	for i, v := range values {
		sets[i] = of[compare(v, at)+1]
	}
}

// compareFloats sets the orders of floating-point numbers against one of them.
func compareFloats[V float32 | float64](sets []orders, values []V, at V) {
	if inf := V(math.Inf(1)); at == inf || at == -inf { // the literal is beyond the finite numbers
		for i, v := range values[:len(sets)] {
			if sets[i] = above; at > 0 && v < inf || v == -inf {
				sets[i] = below
			}
		}
		return
	}
	for i, v := range values[:len(sets)] {
		set := uint32(above)
		if v < at {
			set = uint32(below)
		}
		if v == at {
			set = uint32(equal)
		}
		sets[i] = orders(set)
	}
}

// nearestHalf returns the half-precision number nearest to v, rounded to even, or an infinity.
func nearestHalf(v *big.Rat) float32 {
	rounded, _ := v.Float64()
	_, exponent := math.Frexp(rounded)
	unit := new(big.Rat).SetFloat64(math.Ldexp(1, max(exponent-11, -24))) // of the last of 11 bits
	half := big.NewRat(1, 2)
	units := new(big.Rat).Quo(new(big.Rat).Abs(v), unit)
	n, tie := floor(half.Add(half, units))
	if tie && n.Bit(0) == 1 {
		n.Sub(n, big.NewInt(1))
	}
	f, _ := unit.Mul(unit, new(big.Rat).SetInt(n)).Float64()
	if f >= 1<<16 {
		f = math.Inf(1)
	}
	return float32(math.Copysign(f, rounded))
}

// compareTexts sets the orders of texts against the literal. A text from which no number, boolean or date derives is
// missing.
func (c *comparison) compareTexts(sets []orders, text func(i int) string, form *schema.Column) error {
	of := func(order int) orders { return [3]orders{below, equal, above}[order+1] }
	switch {
	case c.like != nil:
		for i := range sets {
			if sets[i] = below; c.like.MatchString(text(i)) {
				sets[i] = equal
			}
		}
	case c.value.kind == schema.String && !c.reads(form):
		for i := range sets {
			sets[i] = of(strings.Compare(text(i), c.value.text))
		}
	case !c.reads(form):
		return fmt.Errorf("it is text, and %s is a %s: write it in single quotes, behind =, <> or in",
			c.value, c.value.name())
	case form.Derive.Dated():
		at, _ := c.date(form)
		for i := range sets {
			if t, ok := schema.ParseTime(text(i), form.Layout); ok {
				sets[i] = of(t.Compare(at))
			} else {
				sets[i] = missing
			}
		}
	default:
		want := map[string]float64{"true": 1}[c.value.text]
		if c.value.kind == schema.Number {
			want, _ = c.value.number.Float64()
		}
		for i := range sets {
			if v, ok := form.Number(text(i)); ok {
				sets[i] = of(cmp.Or(cmp.Compare(v, want), c.compareWritten(v, text(i), form)))
			} else {
				sets[i] = missing
			}
		}
	}
	return nil
}

// compareWritten compares a text with the literal, whose float64 v is the same, by their digits if v may lack some of them. It
// returns 0 for texts with other characters than digits and the marks between them.
func (c *comparison) compareWritten(v float64, text string, form *schema.Column) int {
	if math.Abs(v) < 1<<53 || c.value.number == nil || len(text) > mostDecimal {
		return 0
	}
	mark := map[schema.Derivation]rune{schema.Plain: '.', schema.Comma: ','}[form.Derive]
	digits := strings.Map(func(r rune) rune {
		switch {
		case r == mark:
			return '.'
		case strings.ContainsRune(",.' \u00a0\u202f", r):
			return -1
		}
		return r
	}, text)
	exact, ok := new(big.Rat).SetString(digits)
	if near, _ := strconv.ParseFloat(digits, 64); !ok || near != v {
		return 0
	}
	return exact.Cmp(c.value.number)
}

// reads returns true if numbers, booleans or dates, of which the literal is one, derive from texts of a form.
func (c *comparison) reads(form *schema.Column) bool {
	switch {
	case form == nil:
		return false
	case c.value.kind == schema.Bool:
		return form.Derive == schema.Boolean
	case c.value.kind == schema.Number:
		return form.Derive.Written()
	}
	_, ok := c.date(form)
	return ok
}

// date returns the date or time that the literal is, for texts of a form.
func (c *comparison) date(form *schema.Column) (time.Time, bool) {
	at, ok := schema.ParseTime(c.value.text, form.Layout)
	if !ok {
		at, ok = schema.ParseTime(c.value.text, "")
	}
	return at, ok && form.Derive.Dated()
}

// ordersOfDigits returns the orders of numbers against the literal. They are compared exactly, whatever their number of digits.
func (c *comparison) ordersOfDigits(a arrow.Array) []orders {
	text, sets := column.Texts(a), make([]orders, a.Len())
	at, exact := floor(c.value.number)
	float, _ := c.value.number.Float64()
	same := map[bool]orders{false: below, true: equal}[exact]
	for i := range sets {
		digits, order := text(i), 0
		if v, err := strconv.ParseInt(digits, 10, 64); err == nil && at.IsInt64() {
			order = cmp.Compare(v, at.Int64())
		} else if n, ok := new(big.Int).SetString(digits, 10); ok {
			order = n.Cmp(at)
		} else {
			sets[i] = [3]orders{below, equal, above}[c.compareDecimal(digits, float)+1]
			continue
		}
		sets[i] = [3]orders{below, same, above}[order+1]
	}
	return sets
}

// mostDecimal is the length of the longest decimal that is compared exactly: more takes long.
const mostDecimal = 1000

// compareDecimal compares a number with the literal, whose nearest float64 is float. It compares their float64 first, and
// their digits if these are equal.
func (c *comparison) compareDecimal(digits string, float float64) int {
	v, _ := strconv.ParseFloat(digits, 64)
	if v != v {
		return 1
	}
	if order := cmp.Compare(v, float); order != 0 || v == 0 || math.IsInf(v, 0) || len(digits) > mostDecimal {
		return order
	}
	exact, ok := new(big.Rat).SetString(digits)
	if !ok {
		return 0
	}
	return exact.Cmp(c.value.number)
}
