package predict

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"time"
	"unicode/utf8"

	"halfspace/schema"
)

// A column makes features from a value of the data.
type column struct {
	name   string
	inputs []input
	first  []int // for each input, the number of its first feature
}

// newColumns returns the columns of the data in the order of their first features. Several inputs may derive from a column.
func newColumns(spec *schema.Spec) (columns []column) {
	number, first := map[string]int{}, 0
	for _, c := range spec.Columns() {
		i, known := number[c.Name]
		if !known {
			i = len(columns)
			number[c.Name], columns = i, append(columns, column{name: c.Name})
		}
		columns[i].inputs, columns[i].first = append(columns[i].inputs, newInput(c)), append(columns[i].first, first)
		first += c.Width()
	}
	return columns
}

func (c *column) set(row []float64, value any) (err error) {
	for i := range c.inputs {
		in := &c.inputs[i]
		to := row[c.first[i]:][:in.Width()]
		if in.Derive == schema.Missing {
			to[0], err = c.missingIndicator(value)
		} else {
			err = in.set(to, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// missingIndicator returns 1 if the value is missing or no number derives from it, else 0.
func (c *column) missingIndicator(value any) (float64, error) {
	is := value == nil
	if v := reflect.ValueOf(value); v.CanFloat() {
		is = v.Float()-v.Float() != 0
	}
	for i := range c.inputs {
		if in := &c.inputs[i]; in.Derive != "" && in.Derive != schema.Missing {
			v, err := in.derivedNumber(value)
			if err != nil {
				return 0, err
			}
			is = v != v
			break
		}
	}
	if is {
		return 1, nil
	}
	return 0, nil
}

// An input makes adjacent features from a value.
type input struct {
	schema.Column
	makers *sync.Pool // *words.Maker, of a column of words
}

// derivedNumber returns the number that derives from a value; NaN if the value stands for none.
func (c *input) derivedNumber(value any) (float64, error) {
	if t, is := value.(time.Time); is && c.Derive.Dated() {
		days := schema.DaysOf(t)
		if c.IsClock() {
			days -= math.Floor(days)
		}
		return c.AtDays(days), nil
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.String {
		if n, ok := c.Number(v.String()); ok && utf8.ValidString(v.String()) {
			return n, nil
		}
		return math.NaN(), nil
	}
	v, err := number(value)
	switch {
	case err != nil && c.Derive.Dated():
		return 0, fmt.Errorf("a value of the type %T, and the column has dates: use text, a time.Time or the days since 1970-01-01", value)
	case err != nil:
		return 0, fmt.Errorf("a value of the type %T, and the column has texts of numbers", value)
	case v-v != 0:
		return math.NaN(), nil
	case c.Derive.Dated():
		return c.AtDays(v), nil
	}
	return v, nil
}

// set sets row to the features of a value.
func (c *input) set(row []float64, value any) (err error) {
	switch {
	case c.Derive != "":
		row[0], err = c.derivedNumber(value)
		return err
	case c.Kind == schema.NumberColumn:
		row[0], err = number(value)
		return err
	case c.Kind == schema.ListColumn || c.Kind == schema.NumberedColumn:
		return c.setList(row, value)
	case c.Words != nil:
		return c.setWords(row, value)
	}
	clear(row)
	text, missing, err := c.category(value)
	if err != nil {
		return err
	}
	if missing {
		row[0] = math.NaN()
	} else if i := c.Feature(text); i >= 0 {
		row[i] = 1
	}
	return nil
}

// category returns the category of a value, or tells that the value is missing. The value of a cross is a list with the
// values of its columns.
func (c *input) category(value any) (text string, missing bool, err error) {
	if c.Kind != schema.CrossColumn {
		return category(value, c.Values)
	}
	if value == nil {
		return "", true, nil
	}
	list, ok := value.([]any)
	if !ok || len(list) != len(c.Of) {
		return "", false, fmt.Errorf("a value of the type %T, and the cross takes []any with a value for each of its "+
			"%d columns", value, len(c.Of))
	}
	texts := make([]string, len(list))
	for i, part := range c.Of {
		var none bool
		if texts[i], none, err = category(list[i], part.Values); err != nil {
			return "", false, fmt.Errorf("%q: %w", part.Name, err)
		}
		missing = missing || none
	}
	return schema.Cross(texts...), missing, nil
}

// number returns a value as a number; NaN for nil.
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

// setList sets row to the elements of a list of numbers; all are NaN for nil. A map has the elements that aren't 0. setList
// ignores elements of a map that the training didn't have.
func (c *input) setList(row []float64, value any) error {
	n := len(row)
	switch list := value.(type) {
	case nil:
		for i := range row {
			row[i] = math.NaN()
		}
	case []float64:
		n = len(list)
		copy(row, list)
	case []float32:
		n = len(list)
		for i := range min(n, len(row)) {
			row[i] = float64(list[i])
		}
	case map[int]float64:
		clear(row)
		for i, v := range list {
			if i < 0 {
				return fmt.Errorf("index %d: write a number from 0 on", i)
			}
			if at := i - c.First; at >= 0 && at < len(row) { // c.First is 0 for lists
				row[at] = v
			}
		}
	case []any:
		n = len(list)
		for i, element := range list {
			v, err := number(element)
			if err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
			if i < len(row) {
				row[i] = v
			}
		}
	default:
		return fmt.Errorf("a value of the type %T, and the column has lists of %d numbers", value, c.Elements)
	}
	if n != len(row) {
		return fmt.Errorf("a list of %d numbers, and the training had lists of %d", n, c.Elements)
	}
	return nil
}

// category returns the text of a value's class, or tells that the value is missing: nil, NaN or infinite. values is the
// field Values of schema.Column.
func category(value any, values string) (text string, missing bool, err error) {
	v := reflect.ValueOf(value)
	switch {
	case value == nil || v.CanFloat() && v.Float()-v.Float() != 0:
		return "", true, nil
	case values == "" && v.Kind() == reflect.String:
		if text = v.String(); !utf8.ValidString(text) {
			return "", false, fmt.Errorf("%.40q is not valid UTF-8 text", text)
		}
		return text, false, nil
	case values == schema.Bool.String() && v.Kind() == reflect.Bool:
		return schema.BoolClass(v.Bool()).Text, false, nil
	case values == schema.Number.String() && v.CanInt():
		return schema.IntClass(v.Int()).Text, false, nil
	case values == schema.Number.String() && v.CanUint():
		return schema.UintClass(v.Uint()).Text, false, nil
	case values == schema.Number.String() && v.Kind() == reflect.Float32:
		return schema.Float32Class(float32(v.Float())).Text, false, nil
	case values == schema.Number.String() && v.CanFloat():
		return schema.FloatClass(v.Float()).Text, false, nil
	}
	if values == "" {
		values = schema.String.String()
	}
	return "", false, fmt.Errorf("a value of the type %T, and the column has categories of the type %s", value, values)
}
