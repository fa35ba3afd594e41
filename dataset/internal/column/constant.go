package column

import (
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Absent is the Index of a column that a file lacks. Each row of the file has the column's Constant, or a null if that
// is nil.
const Absent = -1

// A Constant is the value of a column in all rows of a file.
type Constant struct {
	Text string
	Null bool
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
	text := c.Constant.Text
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	b.Reserve(rows)
	switch b := b.(type) {
	case *array.StringBuilder:
		repeat(b.Append, text, rows)
	case *array.Int64Builder:
		v, _ := strconv.ParseInt(text, 10, 64) // the texts of all files determined the type
		repeat(b.Append, v, rows)
	case *array.Float64Builder:
		v, _ := strconv.ParseFloat(text, 64)
		repeat(b.Append, v, rows)
	case *array.Date32Builder:
		day, _ := time.Parse(time.DateOnly, text)
		repeat(b.Append, arrow.Date32FromTime(day), rows)
	}
	return b.NewArray()
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
