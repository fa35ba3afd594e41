package where

import (
	"fmt"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// NeedsForm returns true if a comparison needs the numbers, the booleans or the dates that derive from the texts of
// column k.
func (c *Condition) NeedsForm(k int, col column.Column) bool {
	kind, ok := column.ClassKind(col.Type)
	if !ok || kind != schema.String || c.forms[k] != nil {
		return false
	}
	return !c.root.each(func(n *comparison) bool { return n.column != k || !n.needsForm(col) })
}

// needsForm returns true unless the texts of a column and the literal are compared as they are. If the literal is a date,
// or the order of dates matters, a column may have dates, of any form and with words for missing values.
func (c *comparison) needsForm(col column.Column) bool {
	switch {
	case c.null || c.like != nil:
		return false
	case c.value.kind != schema.String:
		return true
	}
	return plainDate(c.value.text) || c.ordered() && (col.Content == column.Dates || col.FirstText == "" && anyDate(c.value.text))
}

// ordered returns true if the comparison is neither = nor <>.
func (c *comparison) ordered() bool { return c.holds != equal && c.holds != below|above }

// plainDate returns true if a text is a date in the default layout.
func plainDate(text string) bool {
	_, ok := schema.ParseTime(text, "")
	return ok
}

// anyDate returns true if a text is a date in some layout.
func anyDate(text string) bool {
	return plainDate(text) || slices.ContainsFunc(schema.Layouts, func(layout string) bool {
		_, ok := schema.ParseTime(text, layout)
		return ok
	})
}

// SetForm makes comparisons read the texts of column k as numbers, booleans or dates, in the form of a feature that
// derives from the column. form is nil if no feature derives from the texts; examples are some of them. SetForm
// returns the text of an error if a comparison needs another form.
func (c *Condition) SetForm(k int, col column.Column, form *schema.Column, examples []string) (what string) {
	c.forms[k] = form
	if col.FirstText != "" && !slices.Contains(examples, col.FirstText) {
		examples = append([]string{col.FirstText}, examples[:min(len(examples), 2)]...)
	}
	c.root.each(func(n *comparison) bool {
		if n.column == k && n.needsForm(col) && !n.reads(form) {
			what = n.misread(inCondition(c.columns[k]), form, examples)
		}
		return what == ""
	})
	return what
}

// misread returns the text of the error that the literal can't be compared with texts of a form, or "" if their
// letters can be.
func (c *comparison) misread(name string, form *schema.Column, examples []string) string {
	var quoted []string
	for _, text := range examples {
		quoted = append(quoted, fmt.Sprintf("%.40q", text))
	}
	what := "it is text"
	if len(quoted) > 0 {
		what += " such as " + strings.Join(quoted, ", ")
	}
	example := literal{kind: schema.String, text: "text"}
	if len(examples) > 0 {
		example.text = examples[0]
	}
	switch dated := form != nil && form.Derive.Dated(); {
	case c.bare && form != nil && form.Derive.Written():
		return fmt.Sprintf("%s, and a condition alone is a boolean: compare it, as in %s <> 0", what, name)
	case c.bare:
		return fmt.Sprintf("%s, and a condition alone is a boolean: compare it, as in %s = %s", what, name, example)
	case c.value.kind != schema.String:
		return fmt.Sprintf("%s, and %s is a %s: compare it with a text, by =, <>, in or like, as in %s = %s",
			what, c.value, c.value.name(), name, example)
	case dated:
		return fmt.Sprintf("%s, and %s is no date such as '2026-01-31'", what, c.value)
	case c.ordered() && anyDate(c.value.text):
		return fmt.Sprintf("%s, not dates of one form, and %s is a date: use = or in, as in %s = %s",
			what, c.value, name, example)
	}
	return ""
}
