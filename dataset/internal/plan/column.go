package plan

import (
	"fmt"
	"math"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// A Column has the counts of a column's values, by which a treatment takes it.
type Column struct {
	Input schema.Column // how the column becomes features if its values stay as they are
	Type  string        // the type of the values, in messages
	Word  Word          // the type that an option names
	Named bool          // the option features names the column
	Coded bool          // the option categorical names the column, or all columns
	Text  bool          // the values are texts, or used as texts
	Dated bool          // the values are dates or times by their type
	Whole bool          // the type is an integer type

	Semicolons bool // the fields of the text file are apart by semicolons, which a decimal comma suggests

	Rows, Missing int64    // number of values, and of missing ones
	Distinct      int      // number of different values; of numbers and dates only if they are counted
	More          bool     // there are more different values than Distinct
	Examples      []string // of the values

	Min, Max float64 // of numbers
	Counts   bool    // each number is above the number of its row by the same amount
	Range    Range   // of dates

	readings []reading // that fit all texts so far
}

// A reading reads the texts of a column in one way, such as numbers with a decimal comma.
type reading interface {
	// read records the value of a text. It returns false if the text has none.
	read(text string) bool
}

// Begin prepares a column for the counts. Its fields up to Semicolons are known.
func (c *Column) Begin() {
	c.Min, c.Max, c.Counts, c.Range = math.Inf(1), math.Inf(-1), true, newRange()
	if !c.Text {
		return
	}
	for _, t := range treatments {
		if t.readings != nil {
			c.readings = append(c.readings, t.readings()...)
		}
	}
}

// AddText counts a text that differs from the texts before.
func (c *Column) AddText(text string) {
	if column.MeansMissing(text) {
		return
	}
	fit := c.readings[:0]
	for _, r := range c.readings {
		if r.read(text) {
			fit = append(fit, r)
		}
	}
	c.readings = fit
}

// fitting returns the first reading of a type that fits all texts of a column, and for which the function is returns true.
func fitting[R reading](c *Column, is func(R) bool) (r R, ok bool) {
	for _, one := range c.readings {
		if r, ok = one.(R); ok && is(r) {
			return r, true
		}
	}
	return r, false
}

// values returns the number of values that aren't missing.
func (c *Column) values() int64 { return c.Rows - c.Missing }

// free returns true if the values alone decide how the column becomes features.
func (c *Column) free() bool { return c.Word == "" && !c.Named }

// derived returns the input whose number derives from the texts of the column.
func (c *Column) derived(d schema.Derivation) []schema.Column {
	return []schema.Column{{Name: c.Input.Name, Kind: schema.NumberColumn, Derive: d}}
}

// span returns the least and the greatest value of numbers or dates, or "". t is the treatment of the column.
func (c *Column) span(t *treatment) string {
	dates := c.Range
	if r, ok := fitting(c, anyLayout); ok && t == &textDates {
		dates = r.Range
	}
	switch {
	case dates.First <= dates.Last:
		return dates.String()
	case !c.Text && c.Min <= c.Max:
		return fmt.Sprintf("%.6g to %.6g", c.Min, c.Max)
	}
	return ""
}

// unfit returns the error that no treatment with the column's word takes it.
func (c *Column) unfit() error {
	wanted := map[Word]string{Boolean: "yes or no", Number: "numbers", Date: "dates of one form"}[c.Word.kind()]
	has := "has the texts " + strings.Join(quoteAll(c.Examples), ", ")
	if !c.Text {
		wanted, has = "dates", "has numbers"
	}
	return column.Mark(fmt.Errorf("column %q is to be %s by --type, and %s: choose another type", c.Input.Name, wanted, has), column.ErrColumn)
}

func quoteAll(texts []string) (all []string) {
	for _, t := range texts {
		all = append(all, fmt.Sprintf("%.40q", t))
	}
	return all
}
