package export

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/schema"
)

// templates are functions that written source files need for columns of some kinds.
//
//go:embed source
var templates embed.FS

// A field is a member of the structure of a row: the value of a column of the data.
type field struct {
	name   string // of the member
	column string
	inputs []placedInput
	text   bool // the value is text, otherwise a number or a list
}

// A placedInput has the number of its first feature.
type placedInput struct {
	schema.Column
	first int
}

// fields returns the columns of a model whose features are other numbers than the data have. It returns nil if the features are
// the numbers in the data. member makes an identifier of a column's name; taken are names that fields can't have.
func fields(m *model.Model, member func(string) string, taken []string) ([]field, error) {
	var all []field
	first, plain := 0, true
	for _, c := range m.Spec().Columns() {
		switch c.Kind {
		case schema.CrossColumn:
			return nil, fmt.Errorf("column %q is a cross", c.Name)
		case schema.NumberedColumn:
			return nil, nil // of svmlight files, which have features in place of columns
		}
		plain = plain && !c.Categorical() && c.Derive == ""
		i := slices.IndexFunc(all, func(f field) bool { return f.column == c.Name })
		if i < 0 {
			i = len(all)
			f := field{name: unusedName(member(c.Name), taken), column: c.Name}
			all, taken = append(all, f), append(taken, f.name)
		}
		f := &all[i]
		text := c.Kind == schema.HashColumn || c.Words != nil || c.Kind == schema.OneHotColumn && c.Values == "" || c.Derive.Written()
		if c.Derive != schema.Missing {
			if len(f.inputs) > 0 && f.text != text {
				return nil, fmt.Errorf("column %q is text and a number", c.Name)
			}
			f.text = text
		}
		f.inputs = append(f.inputs, placedInput{c, first})
		first += c.Width()
	}
	if plain {
		return nil, nil
	}
	return all, nil
}

// unusedName returns name with a number appended, unless it isn't taken.
func unusedName(name string, taken []string) string {
	for n, base := 2, name; slices.Contains(taken, name); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name
}

// about returns a few words on the values of the field. none is a missing text.
func (f *field) about(none string) string {
	c := &f.inputs[0]
	missing := "NaN"
	if f.text {
		missing = none
	}
	var words string
	switch {
	case c.Derive == schema.Boolean:
		words = "text such as yes or no"
	case c.Derive == schema.Comma:
		words = "text of a number such as 1.234,5"
	case c.Derive == schema.Plain:
		words = "text of a number such as 1,234.5"
	case c.Derive.Dated():
		words = "days since 1970-01-01, with the time as a fraction"
	case c.Kind == schema.HashColumn && c.Values != "":
		words = fmt.Sprintf("text of a %s", c.Values)
	case f.text:
		words = "text in UTF-8"
	case c.Values == schema.Bool.String():
		words = "1 for true, 0 for false"
	case c.Unit != "":
		words = fmt.Sprintf("a number of %q", c.Unit)
	case c.Kind == schema.ListColumn:
		words = "numbers"
	default:
		words = "a number"
	}
	return fmt.Sprintf("%q: %s; %s if missing", f.column, words, missing)
}

// derivedFirst returns the number of the feature that is NaN if the field's text stands for no number, or -1 if there is none.
func (f *field) derivedFirst() int {
	for _, p := range f.inputs {
		if p.Derive.Written() {
			return p.first
		}
	}
	return -1
}

// categoryValues returns the categories of a column of numbers or booleans as numbers.
func categoryValues(c *schema.Column) ([]float64, error) {
	numbers := make([]float64, len(c.Categories))
	for i, text := range c.Categories {
		v, err := humanize.ParseNumber(text)
		if c.Values == schema.Bool.String() {
			v, err = map[string]float64{"false": 0, "true": 1}[text], nil
		}
		if err != nil {
			return nil, fmt.Errorf("the category %q is no number", text)
		}
		numbers[i] = v
	}
	return numbers, nil
}

// The parts of a date, as written files number them.
const (
	monthPart = iota
	weekdayPart
	hourPart
)

// datePart returns the part of a date that a cyclic derivation has, and its number for each value of the part.
func datePart(d schema.Derivation) (part int, table []float64) {
	c := schema.Column{Derive: d}
	switch d {
	case schema.MonthSin, schema.MonthCos:
		for month := range 12 {
			table = append(table, c.AtDays(schema.DaysOf(time.Date(1970, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC))))
		}
		return monthPart, table
	case schema.WeekdaySin, schema.WeekdayCos:
		for day := range 7 {
			table = append(table, c.AtDays(float64(day+3))) // 1970-01-04 was a Sunday
		}
		return weekdayPart, table
	}
	for hour := range 24 {
		table = append(table, c.AtDays(float64(hour)/24))
	}
	return hourPart, table
}

func tableName(d schema.Derivation) string { return strings.ReplaceAll(string(d), " ", "_") }
