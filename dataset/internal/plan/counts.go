package plan

import (
	"fmt"
	"math"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/schema"
)

// Counts are the counts of a column's values, by which a treatment takes it.
type Counts struct {
	Input         *schema.Column // how the column becomes features if its values stay as they are
	Type          string         // the type of the values, in messages
	Word          Word           // the type that an option names
	IsNamed       bool           // the option features names the column
	IsCategorical bool           // the option categorical names the column, or all columns
	HasTexts      bool           // the values are texts, or used as texts
	HasDates      bool           // the values are dates or times by their type
	Layout        string         // schema.ClockLayout if the values are times of day by their type, otherwise ""
	HasIntegers   bool           // the type is an integer type

	LacksTypes bool // the command has no option type
	Semicolons bool // the fields of the text file are apart by semicolons, which a decimal comma suggests

	Rows, Missing int64    // number of values, and of missing ones
	Distinct      int      // number of different values; of numbers and dates only if they are counted
	HasMore       bool     // there are more different values than Distinct
	Examples      []string // of the values

	Min, Max   float64 // of numbers
	Varies     bool    // two whole numbers differ, though Min and Max may be the same float64
	CountsRows bool    // each number is above the number of its row by the same amount
	Range      Range   // of dates

	byteValues  int64  // number of values that are bytes and no text
	firstBytes  string // the first of these values
	typeOfBytes bool   // it is of a type of bytes, not of texts

	OddTexts []OddText // texts that some reading can't read
	fits     []fit     // the readings that can read most texts so far
	sampled  wordSample
}

// Begin prepares a column for the counts. Its fields up to Semicolons are known.
func (c *Counts) Begin() {
	c.Min, c.Max, c.CountsRows, c.Range = math.Inf(1), math.Inf(-1), true, newRange()
	if !c.HasTexts {
		return
	}
	for _, t := range treatments {
		if t.readings != nil {
			for _, r := range t.readings() {
				c.fits = append(c.fits, fit{reading: r})
			}
		}
	}
}

// values returns the number of values that aren't missing.
func (c *Counts) values() int64 { return c.Rows - c.Missing }

// noOption returns true if the values alone decide how the column becomes features.
func (c *Counts) noOption() bool { return c.Word == "" && !c.IsNamed }

// derived returns the input whose number derives from the texts of the column.
func (c *Counts) derived(d schema.Derivation) []schema.Column {
	return []schema.Column{{Name: c.Input.Name, Kind: schema.NumberColumn, Derive: d}}
}

// span returns the least and the greatest value of numbers or dates, or "". t is the treatment of the column.
func (c *Counts) span(t *treatment) string {
	dates := c.Range
	if r, f := c.layout(); f != nil && t == &textDates {
		dates = r.Range
	}
	switch {
	case dates.First <= dates.Last:
		return dates.String()
	case !c.HasTexts && c.Min <= c.Max:
		return fmt.Sprintf("%.6g to %.6g", c.Min, c.Max)
	}
	return ""
}

// unfit returns the error that no treatment with the column's word takes it.
func (c *Counts) unfit() error {
	if c.hasBytes() {
		return c.noTextError()
	}
	wanted := map[Word]string{Boolean: "yes or no", Number: "numbers", Date: "dates of one form"}[c.Word.kind()]
	has := "has the texts " + strings.Join(quoteAll(c.Examples), ", ")
	if _, f := best(c, func(r reading) bool { return Word(r.noun()) == c.Word.kind() }); f != nil && len(f.odd) > 0 {
		has = "has the texts " + c.quoteOdd(f, false)
	}
	if !c.HasTexts {
		has = "has numbers"
	}
	if !c.HasTexts && c.Word.kind() == Date {
		wanted = "dates"
	}
	err := message.Errorf("column %q is to be %s by --type, and %s: choose another type", c.Input.Name, wanted, has)
	return column.Mark(err, column.ErrColumn)
}

func quoteAll(texts []string) (all []string) {
	for _, t := range texts {
		all = append(all, fmt.Sprintf("%.40q", t))
	}
	return all
}

// otherReading returns the end of a note: another value that a text could be, and the type by which it is that value.
func (c *Counts) otherReading(value, typ string) string {
	if c.LacksTypes {
		return "; it could be " + value
	}
	return message.Sprintf("; if it is %s, use --type %s", value, column.InShell([]string{c.Input.Name + "=" + typ}))
}
