package where

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/internal/require"
	"halfspace/schema"
)

// A testColumn is a column of random values, which are *big.Rat, float64 (NaN or an infinity), string or bool; nil is
// null.
type testColumn struct {
	name    string
	typ     arrow.DataType
	values  []any
	array   arrow.Array
	literal func(r *rand.Rand) (text string, value any) // value is what the column's values are compared with
}

// rat returns the exact value of a decimal text.
func rat(text string) *big.Rat {
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return v
}

func ratOf(v float64) any {
	if v-v != 0 {
		return v
	}
	return new(big.Rat).SetFloat64(v)
}

// order compares two values of a column in SQL's order, in which NaN is the greatest number.
func order(a, b any) int {
	rank := func(v any) int {
		f, is := v.(float64)
		switch {
		case !is:
			return 0
		case f < 0:
			return -1
		case f > 0:
			return 1
		}
		return 2
	}
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case bool:
		return map[bool]int{true: 1}[a] - map[bool]int{true: 1}[b.(bool)]
	case *big.Rat:
		if b, is := b.(*big.Rat); is {
			return a.Cmp(b)
		}
	}
	return cmp.Compare(rank(a), rank(b))
}

// halves are the finite half-precision numbers.
var halves = func() (all []float64) {
	for bits := range 1 << 16 {
		if v := float64(column.HalfFloat(float16.FromBits(uint16(bits)))); v-v == 0 {
			all = append(all, v)
		}
	}
	return all
}()

// nearestOf returns the number of a floating-point type that is nearest to a decimal text: halves by trying all of
// them. It returns the text's own value if that is beyond the type's finite numbers.
func nearestOf(id arrow.Type, text string) any {
	if bits := map[arrow.Type]int{arrow.FLOAT32: 32, arrow.FLOAT64: 64}[id]; bits != 0 {
		if v, err := strconv.ParseFloat(text, bits); err == nil {
			return ratOf(v)
		}
		return rat(text)
	}
	want, _ := rat(text).Float64()
	if math.Abs(want) >= 65520 {
		return rat(text)
	}
	best := 0.0
	for _, h := range halves {
		if near, far := math.Abs(h-want), math.Abs(best-want); near < far || near == far &&
			math.Float64bits(h*0x1p24)&1 == 0 && math.Mod(h/spacing(h), 2) == 0 {
			best = h
		}
	}
	return ratOf(best)
}

// spacing returns the distance of the half-precision numbers at h.
func spacing(h float64) float64 {
	_, e := math.Frexp(h)
	return math.Ldexp(1, max(e-11, -24))
}

// numberTexts are literals at the edges of the types.
var numberTexts = []string{"0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "32767", "65535",
	"2147483648", "4294967295", "4294967296", "9007199254740993",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551610",
	"18446744073709551615", "18446744073709551616",
	"170141183460469231731687303715884105727", "170141183460469231731687303715884105728", "1e76", "1e77", "1e300", "0.1",
	"0.10", "0.1000000000000000055", "1.5", "-1.5", "1e-400", "-1e-400", "0.5e-7",
	"16777217", "65504", "65519.9", "65520", "3.4028235e38", "3.5e38", "0.33333334", "0.3333333333333333", "9.95", "9.949",
	"5.960464477539063e-08", "2.9e-8", "2.99e-8"}

// testColumns returns a column of n random values of each type. A third of the values are at the edges of the type,
// and a sixth are null.
func testColumns(r *rand.Rand, n int) (all []*testColumn) {
	p := arrow.PrimitiveTypes
	types := []arrow.DataType{p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32, p.Uint64,
		arrow.FixedWidthTypes.Float16, p.Float32, p.Float64,
		&arrow.Decimal128Type{Precision: 38, Scale: 0}, &arrow.Decimal128Type{Precision: 10,
			Scale: 1}, &arrow.Decimal128Type{Precision: 10, Scale: -2}, &arrow.Decimal256Type{Precision: 76, Scale: 3},
		arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean, p.Date32, &arrow.TimestampType{Unit: arrow.Second},
		&arrow.TimestampType{Unit: arrow.Nanosecond},
		&arrow.Time32Type{Unit: arrow.Second}, &arrow.DictionaryType{IndexType: p.Int8, ValueType: p.Uint64}}
	for k, typ := range types {
		c := &testColumn{name: fmt.Sprintf("c%d", k), typ: typ}
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for range n {
			if r.IntN(6) == 0 {
				b.AppendNull()
				c.values = append(c.values, nil)
				continue
			}
			c.values = append(c.values, c.add(r, b))
		}
		c.array = b.NewArray()
		if c.literal == nil {
			c.literal = func(r *rand.Rand) (string, any) {
				text := numberTexts[r.IntN(len(numberTexts))]
				if v, is := c.values[r.IntN(n)].(*big.Rat); is && r.IntN(3) > 0 {
					text = v.FloatString(4)
					if r.IntN(4) == 0 {
						text = new(big.Rat).Add(v, big.NewRat(int64(r.IntN(5)-2), 10)).FloatString(4)
					}
				}
				if arrow.IsFloating(typ.ID()) {
					return text, nearestOf(typ.ID(), text)
				}
				return text, rat(text)
			}
		}
		all = append(all, c)
	}
	return all
}

// add appends a random value to a builder, and returns it.
func (c *testColumn) add(r *rand.Rand, b array.Builder) any {
	small, edge := int64(r.IntN(7)-3), r.IntN(3) == 0
	bits := r.Uint64() >> r.IntN(64)
	whole := func(v int64) any { return new(big.Rat).SetInt64(v) }
	pick := func(v int64) int64 {
		if edge {
			return v
		}
		return small
	}
	switch b := b.(type) {
	case *array.Int8Builder:
		v := int8(pick(int64(bits)))
		b.Append(v)
		return whole(int64(v))
	case *array.Int16Builder:
		v := int16(pick(int64(bits)))
		b.Append(v)
		return whole(int64(v))
	case *array.Int32Builder:
		v := int32(pick(int64(bits)))
		b.Append(v)
		return whole(int64(v))
	case *array.Int64Builder:
		v := pick(int64(bits))
		b.Append(v)
		return whole(v)
	case *array.Uint8Builder:
		v := uint8(pick(int64(bits)))
		b.Append(v)
		return whole(int64(v))
	case *array.Uint16Builder:
		v := uint16(pick(int64(bits)))
		b.Append(v)
		return whole(int64(v))
	case *array.Uint32Builder:
		v := uint32(pick(int64(bits)))
		b.Append(v)
		return whole(int64(v))
	case *array.Uint64Builder:
		v := uint64(pick(int64(^bits)))
		b.Append(v)
		return new(big.Rat).SetInt(new(big.Int).SetUint64(v))
	case *array.Uint64DictionaryBuilder:
		v := math.MaxUint64 - uint64(r.IntN(20))
		if err := b.Append(v); err != nil {
			panic(err)
		}
		return new(big.Rat).SetInt(new(big.Int).SetUint64(v))
	case *array.Float16Builder:
		h := float16.FromBits(uint16(bits))
		b.Append(h)
		return ratOf(float64(column.HalfFloat(h)))
	case *array.Float32Builder:
		v := [...]float32{0.1, 1 / 3., float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32,
			16777216, math.SmallestNonzeroFloat32, float32(r.NormFloat64())}[r.IntN(9)]
		b.Append(v)
		return ratOf(float64(v))
	case *array.Float64Builder:
		v := [...]float64{0.1, 1 / 3., math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 1 << 53,
			math.SmallestNonzeroFloat64, math.Round(4*r.NormFloat64()) / 4}[r.IntN(9)]
		b.Append(v)
		return ratOf(v)
	case *array.Decimal128Builder:
		v := decimal128.New(pick(int64(bits)), r.Uint64())
		if !edge {
			v = decimal128.FromI64(small * 5)
		}
		b.Append(v)
		return scaledBy(v.BigInt(), c.typ.(*arrow.Decimal128Type).Scale)
	case *array.Decimal256Builder:
		v := decimal256.New(uint64(pick(int64(bits))), bits, bits, bits)
		if !edge {
			v = decimal256.FromI64(small * 500)
		}
		b.Append(v)
		return scaledBy(v.BigInt(), c.typ.(*arrow.Decimal256Type).Scale)
	}
	return c.addOther(r, b, small)
}

// addOther is add for values that are no numbers, and sets their literals.
func (c *testColumn) addOther(r *rand.Rand, b array.Builder, small int64) any {
	times := func(layout string, unit time.Duration) {
		c.literal = func(r *rand.Rand) (string, any) {
			at := time.Unix(int64(r.IntN(5))*43200, int64(r.IntN(3))*5e8).UTC()
			if layout == time.TimeOnly {
				at = at.Truncate(time.Second)
			}
			text := at.Format(layout)
			at, _ = time.Parse(layout, text)
			if layout == time.TimeOnly {
				at = at.AddDate(1970, 0, 0)
			}
			return "'" + text + "'", big.NewRat(at.UnixNano(), int64(unit))
		}
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		texts := []string{"", "a", "ab", "it's", "ä", "Z"}
		c.literal = func(r *rand.Rand) (string, any) {
			text := texts[r.IntN(len(texts))]
			return "'" + strings.ReplaceAll(text, "'", "''") + "'", text
		}
		text := texts[r.IntN(len(texts))]
		b.Append(text)
		return text
	case *array.BooleanBuilder:
		c.literal = func(r *rand.Rand) (string, any) { v := r.IntN(2) == 0; return fmt.Sprint(v), v }
		b.Append(small > 0)
		return small > 0
	case *array.Date32Builder:
		times("2006-01-02 15:04:05.0", 24*time.Hour)
		b.Append(arrow.Date32(small))
		return new(big.Rat).SetInt64(small)
	case *array.TimestampBuilder:
		unit := c.typ.(*arrow.TimestampType).Unit.Multiplier()
		times("2006-01-02 15:04:05.0", unit)
		v := small * 21600 * int64(time.Second/unit)
		b.Append(arrow.Timestamp(v))
		return new(big.Rat).SetInt64(v)
	case *array.Time32Builder:
		times(time.TimeOnly, time.Second)
		b.Append(arrow.Time32(21600 * (small + 3)))
		return new(big.Rat).SetInt64(21600 * (small + 3))
	}
	panic(fmt.Sprintf("%T", b))
}

func scaledBy(v *big.Int, scale int32) *big.Rat {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	if scale < 0 {
		return new(big.Rat).SetInt(ten.Mul(ten, v))
	}
	return new(big.Rat).SetFrac(v, ten)
}

// A testCondition is a condition: its text, and its truth in a row after SQL's rules: 0 false, 1 unknown, 2 true.
type testCondition struct {
	text string
	of   func(row int) int
}

func randomCondition(r *rand.Rand, columns []*testColumn, depth int) testCondition {
	if depth > 0 && r.IntN(4) > 0 {
		a, b := randomCondition(r, columns, depth-1), randomCondition(r, columns, depth-1)
		switch r.IntN(3) {
		case 0:
			return testCondition{"(" + a.text + " and " + b.text + ")", func(row int) int { return min(a.of(row), b.of(row)) }}
		case 1:
			return testCondition{"(" + a.text + " or " + b.text + ")", func(row int) int { return max(a.of(row), b.of(row)) }}
		}
		return testCondition{"not (" + a.text + ")", func(row int) int { return 2 - a.of(row) }}
	}
	c := columns[r.IntN(len(columns))]
	truth := func(holds func(v any) bool) func(row int) int {
		return func(row int) int {
			if c.values[row] == nil {
				return 1
			}
			return 2 * map[bool]int{true: 1}[holds(c.values[row])]
		}
	}
	text, v := c.literal(r)
	more, w := c.literal(r)
	_, isBool := v.(bool)
	switch kind := r.IntN(6); {
	case kind == 0:
		return testCondition{c.name + " is not null",
			func(row int) int { return 2 * map[bool]int{true: 1}[c.values[row] != nil] }}
	case kind == 1:
		return testCondition{fmt.Sprintf("%s in (%s, %s)", c.name, text, more), truth(func(x any) bool {
			return order(x,
				v) == 0 || order(x, w) == 0
		})}
	case kind == 2:
		return testCondition{fmt.Sprintf("%s not between %s and %s", c.name, text, more),
			truth(func(x any) bool { return order(x, v) < 0 || order(x, w) > 0 })}
	case kind == 3 && isBool:
		return testCondition{c.name, truth(func(x any) bool { return x.(bool) })}
	}
	holds := map[string]func(o int) bool{"=": func(o int) bool { return o == 0 }, "<>": func(o int) bool { return o != 0 },
		"<":  func(o int) bool { return o < 0 },
		"<=": func(o int) bool { return o <= 0 }, ">": func(o int) bool { return o > 0 },
		">=": func(o int) bool { return o >= 0 }}
	op := []string{"=", "<>", "<", "<=", ">", ">="}[r.IntN(6)]
	if r.IntN(4) == 0 {
		return testCondition{text + op + c.name, truth(func(x any) bool { return holds[op](order(v, x)) })}
	}
	return testCondition{c.name + op + text, truth(func(x any) bool { return holds[op](order(x, v)) })}
}

// chosenColumns returns for each column of a condition the test's column.
func chosenColumns(c *Condition, columns []*testColumn) (all []*testColumn) {
	for _, name := range c.Columns() {
		for _, t := range columns {
			if t.name == name {
				all = append(all, t)
			}
		}
	}
	return all
}

// TestRows: random conditions hold in the rows in which they are true with fractions and SQL's three truths.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	trials, held := 3000, 0
	if require.Small() {
		trials = 600
	}
	for range trials / 30 {
		columns := testColumns(r, 100)
		for range 30 {
			e := randomCondition(r, columns, 3)
			c := require.Value(Parse(e.text))(t)
			var values []Values
			for _, of := range chosenColumns(c, columns) {
				values = append(values, Values{Array: of.array})
			}
			matches, err := c.Rows(values)
			if err != nil {
				t.Fatalf("%s: %v", e.text, err)
			}
			for row, m := range matches {
				if want := map[bool]Match{true: All}[e.of(row) == 2]; m != want {
					t.Fatalf("%s: row %d is %d, want %d: %v", e.text, row, m, want, show(chosenColumns(c, columns), row))
				}
				held += int(m)
			}
		}
	}
	if all := 2 * 100 * trials; held < all/10 || held > all*9/10 {
		t.Errorf("conditions hold in %d of %d rows: the test decides little", held/2, all/2)
	}
}

func show(columns []*testColumn, row int) (text string) {
	for _, c := range columns {
		text += fmt.Sprintf("%s %s = %s (%v) ", c.name, c.typ, c.array.ValueStr(row), c.values[row])
	}
	return text
}

// boundsOf returns the bounds of the rows from lo to hi of a column, as the statistics of a file may state them.
func boundsOf(c *testColumn, r *rand.Rand, lo, hi int) column.Bounds {
	b := column.Bounds{}
	least, greatest := -1, -1
	for i := lo; i < hi; i++ {
		v := c.values[i]
		if v == nil {
			b.Nulls++
			continue
		}
		if f, is := v.(float64); is && f != f {
			continue
		}
		if least < 0 || order(v, c.values[least]) < 0 {
			least = i
		}
		if greatest < 0 || order(v, c.values[greatest]) > 0 {
			greatest = i
		}
	}
	if least >= 0 && r.IntN(8) > 0 {
		low, high := array.NewSlice(c.array, int64(least), int64(least)+1), array.NewSlice(c.array, int64(greatest),
			int64(greatest)+1)
		if c.typ.ID() != arrow.DICTIONARY {
			joined, err := array.Concatenate([]arrow.Array{low, high}, memory.DefaultAllocator)
			if err != nil {
				panic(err)
			}
			b.Ends = joined
		}
	}
	if r.IntN(8) == 0 {
		b.Nulls = -1
	}
	return b
}

// TestWithin: of rows of which one matches, the bounds never say None, and of rows of which one does not match, never
// All. Bounds of one value say None or All.
func TestWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	trials, decided := 20_000, 0
	if require.Small() {
		trials = 4000
	}
	for range trials / 100 {
		columns := testColumns(r, 60)
		for range 100 {
			e := randomCondition(r, columns, 2)
			c := require.Value(Parse(e.text))(t)
			lo := r.IntN(59)
			hi := lo + 1 + r.IntN(min(5, 60-lo))
			var bounds []column.Bounds
			for _, of := range chosenColumns(c, columns) {
				bounds = append(bounds, boundsOf(of, r, lo, hi))
			}
			m, err := c.Within(int64(hi-lo), bounds)
			if err != nil {
				t.Fatalf("%s: %v", e.text, err)
			}
			for row := lo; row < hi; row++ {
				if matches := e.of(row) == 2; matches && m == None || !matches && m == All {
					t.Fatalf("%s: %d for the rows %d to %d, but in row %d it is %t: %v", e.text, m, lo, hi-1, row, matches,
						show(chosenColumns(c, columns), row))
				}
			}
			if m != Some {
				decided++
			}
		}
	}
	if decided < trials/3 {
		t.Errorf("%d of %d bounds decide a condition", decided, trials)
	}
}

// TestNumbers: literals that a rounding to float64 or to the column's scale would change.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		typ         arrow.DataType
		value, cond string
		want        Match
	}{
		{arrow.PrimitiveTypes.Uint64, "18446744073709551609", "x < 18446744073709551610", All},
		{arrow.PrimitiveTypes.Uint64, "18446744073709551615", "x < 18446744073709551610", None},
		{arrow.PrimitiveTypes.Uint64, "18446744073709551610", "x = 18446744073709551610", All},
		{arrow.PrimitiveTypes.Uint64, "18446744073709551610", "x = 18446744073709551610.5", None},
		{arrow.PrimitiveTypes.Uint64, "18446744073709551610", "x < 18446744073709551610.5", All},
		{arrow.PrimitiveTypes.Uint64, "0", "x > -0.5", All},
		{arrow.PrimitiveTypes.Int64, "9007199254740993", "x <= 9007199254740992.5", None},
		{arrow.PrimitiveTypes.Int64, "-1", "x > -1.5", All},
		{arrow.PrimitiveTypes.Int64, "-2", "x < -1.5", All},
		{arrow.PrimitiveTypes.Int8, "100", "x < 1e30", All},
		{arrow.PrimitiveTypes.Float32, "0.1", "x = 0.1", All},
		{arrow.PrimitiveTypes.Float32, "0.33333334", "x = 0.33333334", All},
		{arrow.PrimitiveTypes.Float32, "0.1", "x > 0.1", None},
		{arrow.PrimitiveTypes.Float32, "3.4028235e38", "x < 1e39", All},
		{arrow.FixedWidthTypes.Float16, "0.1", "x = 0.1", All},
		{arrow.FixedWidthTypes.Float16, "2048", "x = 2049", All},
		{arrow.FixedWidthTypes.Float16, "2050", "x = 2049", None},
		{arrow.FixedWidthTypes.Float16, "2052", "x = 2051", All},
		{&arrow.Decimal128Type{Precision: 10, Scale: 1}, "0.1", "x = 0.1", All},
		{&arrow.Decimal128Type{Precision: 10, Scale: 1}, "0.1", "x >= 0.11", None},
		{&arrow.Decimal128Type{Precision: 38, Scale: 2}, "123456789012345678901234567890123456.78",
			"x < 123456789012345678901234567890123456.79", All},
		{&arrow.Decimal256Type{Precision: 76, Scale: 0},
			"1157920892373161954235709850086879078532699846656405640394575840079131296399",
			"x > 1157920892373161954235709850086879078532699846656405640394575840079131296398", All},
	} {
		b := array.NewBuilder(memory.DefaultAllocator, c.typ)
		require.NoError(t, b.AppendValueFromString(c.value))
		cond := require.Value(Parse(c.cond))(t)
		if got := require.Value(cond.Rows([]Values{{Array: b.NewArray()}}))(t); got[0] != c.want {
			t.Errorf("%s %s: %s is %d, want %d", c.typ, c.value, c.cond, got[0], c.want)
		}
	}
}

// TestDigits: integers of text files are compared with all their digits, and other numbers as float64.
func TestDigits(t *testing.T) {
	texts := []string{"18446744073709551615", "123456789012345678901234567890", "-9223372036854775809", "7", "0.1", "1e3",
		"+12"}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(texts, nil)
	rounded := column.Floats(make([]float64, len(texts)))
	digits := b.NewArray()
	for _, text := range texts {
		for op, holds := range map[string]func(o int) bool{"=": func(o int) bool { return o == 0 },
			"<": func(o int) bool { return o < 0 }, ">=": func(o int) bool { return o >= 0 }} {
			for _, add := range []string{"0", "1", "-1", "0.25"} {
				literal := new(big.Rat).Add(rat(text), rat(add))
				cond := require.Value(Parse(fmt.Sprintf("x %s %s", op, literal.FloatString(2))))(t)
				got := require.Value(cond.Rows([]Values{{Array: rounded, Digits: digits}}))(t)
				for i, m := range got {
					if want := map[bool]Match{true: All}[holds(rat(texts[i]).Cmp(literal))]; m != want {
						t.Errorf("%s %s %s is %d, want %d", texts[i], op, literal.FloatString(2), m, want)
					}
				}
			}
		}
	}
}

// TestForms: texts are compared as the feature that derives from them, and a text from which none derives matches
// neither a condition nor its negation.
func TestForms(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	texts := []string{"1,211.59 €", "$900", "-", "1,000"}
	b.AppendValues(texts, nil)
	a := b.NewArray()
	text := column.Column{Name: "price", Type: arrow.BinaryTypes.String}
	for cond, want := range map[string][]Match{"price > 1000": {All, None, None, None}, "not price > 1000": {None, All,
		None, All}, "price = 1211.59": {All, None, None, None},
		"price <> '$900' and price < 1001": {None, None, None, All}} {
		c := require.Value(Parse(cond))(t)
		if !c.NeedsForm(0, text) {
			t.Errorf("%s needs no form", cond)
		}
		if what := c.SetForm(0, text, &schema.Column{Name: "price", Kind: schema.NumberColumn, Derive: schema.Plain},
			texts); what != "" {
			t.Errorf("%s: %s", cond, what)
		}
		if got := require.Value(c.Rows([]Values{{Array: a}}))(t); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", cond, got, want)
		}
	}
	c := require.Value(Parse("\"the price\" > 1000"))(t)
	if _, err := c.Rows([]Values{{Array: a}}); err == nil || !strings.Contains(err.Error(),
		"it is text, and 1000 is a number") {
		t.Errorf("no form: %v", err)
	}
	want := `it is text such as "cheap", and 1000 is a number: compare it with a text, by =, <>, in or like, ` +
		`as in "the price" = 'cheap'`
	if what := c.SetForm(0, text, nil, []string{"cheap"}); what != want {
		t.Errorf("%s, want %s", what, want)
	}
	dates := column.Column{Name: "day", Type: arrow.BinaryTypes.String, Content: column.Dates, FirstText: "31.01.2026"}
	for cond, needs := range map[string]bool{"day > '2026-01-01'": true, "day = '2026-01-01'": true,
		"day < '1.2.2026'": true, "day = '31.01.2026'": false, "day like '2026-01-01'": false, "day is null": false,
		"day > 'b'": true, "day = 'b'": false} {
		if got := require.Value(Parse(cond))(t).NeedsForm(0, dates); got != needs {
			t.Errorf("%s needs a form: %t, want %t", cond, got, needs)
		}
	}
	for cond, want := range map[string]string{"day > '2026-01-01'": "", "day > '3.4.2026'": "",
		"day > 'b'": `it is text such as "31.01.2026", "1.2.2026", and 'b' is no date such as '2026-01-31'`} {
		if what := require.Value(Parse(cond))(t).SetForm(0, dates, &schema.Column{Derive: schema.Days, Layout: "2.1.2006"},
			[]string{"1.2.2026"}); what != want {
			t.Errorf("%s: %q, want %q", cond, what, want)
		}
	}
	for cond, want := range map[string]string{"day > 'b'": "",
		"day > '2026-01-01'": `it is text such as "31.01.2026", not dates of one form, and '2026-01-01' is a date: ` +
			`use = or in, as in day = '31.01.2026'`} {
		if what := require.Value(Parse(cond))(t).SetForm(0, dates, nil, nil); what != want {
			t.Errorf("%s: %q, want %q", cond, what, want)
		}
	}
	other := column.Column{Name: "day", Type: arrow.BinaryTypes.String} // of another file than text
	for cond, needs := range map[string]bool{"day > '2026-01-01'": true, "day < '1.2.2026'": true, "day > 'b'": false, "day = 'b'": false} {
		if got := require.Value(Parse(cond))(t).NeedsForm(0, other); got != needs {
			t.Errorf("%s needs a form of a Parquet file: %t, want %t", cond, got, needs)
		}
	}
}

// FuzzParse: every text is a condition or an error in one line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a < 3 and b in ('x', 'y')", `not ("a b" is not null or 3 >= c)`, "a between -1 and 1e3",
		"a like '%x_'", "((((", "'", `"`, "a=.5", "not a", "a = 1e-999999999", "a > 0e99999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without a text")
		}
		for k := range c.Columns() {
			c.Unfit(k, column.Column{Type: arrow.PrimitiveTypes.Int64})
		}
	})
}
