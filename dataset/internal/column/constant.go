package column

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Absent is the Index of a column that a file lacks. Each row of the file has the column's Constant, or a null if that
// is nil.
const Absent = -1

// A Constant is the value of a column in all rows of a file.
type Constant struct {
	Text     string
	Null     bool
	Fallback bool // counts only if the file lacks the column; otherwise the file must have the same values
}

// Lacks returns true if each row of a file has a null in the column, since neither the file nor its folders have the
// column.
func (c *Column) Lacks() bool { return c.Index == Absent && c.Constant == nil }

// Complete sets the columns of a batch that a file lacks. It returns an error if a column of the file has another value
// than the file's folders say. columns are the columns of the batch in the file, and typed has their types in the
// batch.
func (b *Batch) Complete(columns, typed []Column) error {
	for k := range columns {
		c := &columns[k]
		switch {
		case c.Index == Absent:
			if b.Columns[k] != nil {
				b.Columns[k].Release()
			}
			if c.Constant == nil {
				if b.absent == nil {
					b.absent = make([]bool, len(columns))
				}
				b.absent[k] = true
			}
			b.Columns[k] = c.fill(typed[k].Type, int(b.Rows))
		case c.Constant != nil && !b.Unread:
			if err := Recovered(func() error { return c.check(b.Columns[k]) }); err != nil {
				return ErrorIn(b.File, "column %q %w", c.Name, err)
			}
		}
	}
	return nil
}

// Ends returns the bounds of the values of a column that a file lacks in some rows of the file.
func (c *Column) Ends(rows int64) Bounds {
	if c.Constant == nil || c.Constant.Null {
		return Bounds{Nulls: rows}
	}
	return Bounds{Ends: c.fill(c.Type, 2)}
}

// fill returns rows values of a type, each of them the column's constant.
func (c *Column) fill(typ arrow.DataType, rows int) arrow.Array {
	if c.Constant == nil || c.Constant.Null {
		return array.MakeArrayOfNull(memory.DefaultAllocator, typ, rows)
	}
	values, _ := c.Constant.Values(typ, rows) // the texts of all files, or a table, determined the type
	return values
}

// Values returns an array of rows values of a type, each of them the constant. It returns an error if the text is no value of the
// type: a number, true or false, a date as 2006-01-02, a time by RFC 3339, or the bytes themselves.
func (c *Constant) Values(typ arrow.DataType, rows int) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	b.Reserve(rows)
	err := c.append(b, typ, rows)
	return b.NewArray(), err
}

func (c *Constant) append(b array.Builder, typ arrow.DataType, rows int) (err error) {
	text := c.Text
	if arrow.IsSignedInteger(typ.ID()) {
		whole, err := strconv.ParseInt(text, 10, typ.(arrow.FixedWidthDataType).BitWidth())
		repeatWhole(b, whole, rows)
		return err
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		repeat(b.Append, text, rows)
	case *array.BinaryBuilder:
		repeat(b.Append, []byte(text), rows)
	case *array.FixedSizeBinaryBuilder:
		if width := typ.(*arrow.FixedSizeBinaryType).ByteWidth; len(text) != width {
			return fmt.Errorf("%d bytes, not %d", len(text), width)
		}
		repeat(b.Append, []byte(text), rows)
	case *array.Float32Builder:
		v, err := strconv.ParseFloat(text, 32)
		repeat(b.Append, float32(v), rows)
		return err
	case *array.Float64Builder:
		v, err := strconv.ParseFloat(text, 64)
		repeat(b.Append, v, rows)
		return err
	case *array.BooleanBuilder:
		repeat(b.Append, text == "true", rows)
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case *array.Decimal128Builder:
		t := typ.(*arrow.Decimal128Type)
		v, err := decimalOf(text, t)
		repeat(b.Append, v, rows)
		return err
	case *array.Date32Builder:
		day, err := time.Parse(time.DateOnly, text)
		repeat(b.Append, arrow.Date32FromTime(day), rows)
		return err
	case *array.Time64Builder:
		t, err := time.Parse("15:04:05.999999", text)
		v := arrow.Time64(t.Sub(t.Truncate(24*time.Hour)) / typ.(*arrow.Time64Type).Unit.Multiplier())
		repeat(b.Append, v, rows)
		return err
	case *array.TimestampBuilder:
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return err
		}
		v, err := arrow.TimestampFromTime(t, typ.(*arrow.TimestampType).Unit)
		repeat(b.Append, v, rows)
		return err
	default:
		return fmt.Errorf("a value of type %s", typ)
	}
	return nil
}

// repeatWhole appends rows times a whole number that is in the range of the builder's type.
func repeatWhole(b array.Builder, v int64, rows int) {
	switch b := b.(type) {
	case *array.Int8Builder:
		repeat(b.Append, int8(v), rows)
	case *array.Int16Builder:
		repeat(b.Append, int16(v), rows)
	case *array.Int32Builder:
		repeat(b.Append, int32(v), rows)
	case *array.Int64Builder:
		repeat(b.Append, v, rows)
	}
}

// decimalOf returns the decimal in a text, which may have fewer digits behind the point than the type, and no more.
func decimalOf(text string, t *arrow.Decimal128Type) (v decimal128.Num, err error) {
	digits, sign := strings.CutPrefix(text, "-")
	whole, rest, _ := strings.Cut(digits, ".")
	if len(rest) > int(t.Scale) {
		if strings.Trim(rest[t.Scale:], "0") != "" {
			return v, fmt.Errorf("%q has more than %d digits behind the point", text, t.Scale)
		}
		rest = rest[:t.Scale]
	}
	n, ok := new(big.Int).SetString(whole+rest+strings.Repeat("0", int(t.Scale)-len(rest)), 10)
	if !ok || n.Sign() < 0 || n.BitLen() > 127 {
		return v, fmt.Errorf("%q is no decimal", text)
	}
	if sign {
		n.Neg(n)
	}
	if v = decimal128.FromBigInt(n); !v.FitsInPrecision(t.Precision) {
		err = fmt.Errorf("%q has more than %d digits", text, t.Precision)
	}
	return v, err
}

func repeat[T any](add func(T), v T, rows int) {
	for range rows {
		add(v)
	}
}

// check returns an error if a value of the file isn't the column's constant.
func (c *Column) check(values arrow.Array) error {
	equal := c.Constant.equal(values)
	for i := range values.Len() {
		if values.IsNull(i) != c.Constant.Null || !c.Constant.Null && !equal(i) {
			return fmt.Errorf("is %s in the file, and %s by the name of its folder: rename the folder, or leave the column "+
				"out of the file", valueText(values, i), c.Constant.text())
		}
	}
	return nil
}

func (c *Constant) text() string {
	if c.Null {
		return "null"
	}
	return strconv.Quote(c.Text)
}

// valueText returns value i of an array for messages.
func valueText(values arrow.Array, i int) string {
	if values.IsNull(i) {
		return "null"
	}
	return strconv.Quote(values.ValueStr(i))
}

// equal returns the function that compares value i of an array, which isn't null, with the constant: numbers, dates and
// times by value, and other values by text.
func (c *Constant) equal(values arrow.Array) func(i int) bool {
	switch a := values.(type) {
	case *array.Dictionary:
		of := c.equal(a.Dictionary())
		return func(i int) bool { return of(a.GetValueIndex(i)) }
	case *array.Boolean:
		truth, err := strconv.ParseBool(c.Text)
		return func(i int) bool { return err == nil && a.Value(i) == truth }
	case *array.Date32:
		t, is := c.time()
		return func(i int) bool { return is && a.Value(i).ToTime().Equal(t) }
	case *array.Timestamp:
		t, is := c.time()
		unit := a.DataType().(*arrow.TimestampType).Unit
		return func(i int) bool { return is && a.Value(i).ToTime(unit).Equal(t) }
	}
	if text := Texts(values); text != nil {
		return func(i int) bool { return text(i) == c.Text }
	}
	if v, err := strconv.ParseInt(c.Text, 10, 64); err == nil {
		if whole := Whole(values); whole != nil {
			return func(i int) bool { return whole(i) == v }
		}
	}
	v, err := strconv.ParseFloat(c.Text, 64)
	view, bad := NewView64(values)
	if err != nil || bad != nil {
		return func(i int) bool { return values.ValueStr(i) == c.Text }
	}
	if values.DataType().ID() == arrow.FLOAT32 {
		v = float64(float32(v))
	}
	one := make([]float64, 1)
	return func(i int) bool {
		read, _ := view.Read(i, i+1, one)
		return read[0] == v
	}
}

// time returns the date or the time that the constant is, if it is one.
func (c *Constant) time() (t time.Time, is bool) {
	for _, form := range []string{time.DateOnly, time.DateTime, time.RFC3339} {
		if t, err := time.Parse(form, c.Text); err == nil {
			return t, true
		}
	}
	return t, false
}
