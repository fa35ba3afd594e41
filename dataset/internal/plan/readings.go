package plan

import (
	"fmt"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
)

// mostCodes is the number of different numbers up to which they may be the codes of categories.
const mostCodes = 20

// mostOdd is the number of different texts that a reading of a column can't read, above which the column has other
// values.
const mostOdd = 100

// longestOdd is the largest number of bytes of a text in a column that some reading can read. It bounds the memory of Odd.
const longestOdd = 64 << 10

// AddText counts the first of some rows with a text. It returns the text's number in OddTexts plus 1, or 0 if all readings
// can read it, or all have failed.
func (c *Counts) AddText(text string, row int64) (odd int) {
	c.sampled.add(text)
	if len(text) > longestOdd {
		c.fits = nil
	}
	if len(c.fits) == 0 {
		return 0
	}
	missing := column.MeansMissing(text)
	var failed []int // the fits whose reading can't read the text
	for i := range c.fits {
		if !missing && !c.fits[i].read(text, row) {
			failed = append(failed, i)
		}
	}
	if !missing && failed == nil {
		return 0
	}
	if c.HasMore { // the text may have been counted
		if i := slices.IndexFunc(c.OddTexts, func(o OddText) bool { return o.Text == text }); i >= 0 {
			c.OddTexts[i].Rows++
			return i + 1
		}
	}
	for _, i := range failed {
		c.fits[i].odd = append(c.fits[i].odd, len(c.OddTexts))
	}
	c.fits = slices.DeleteFunc(c.fits, func(f fit) bool { return len(f.odd) > mostOdd })
	c.OddTexts = append(c.OddTexts, OddText{Text: strings.Clone(text), Rows: 1, Row: row, missing: missing})
	return len(c.OddTexts)
}

// BeginsFit returns true if a text, given by its number in OddTexts, is the first that some reading can't read.
func (c *Counts) BeginsFit(odd int) bool {
	return slices.ContainsFunc(c.fits, func(f fit) bool { return len(f.odd) > 0 && f.odd[0] == odd })
}

// WithoutFiles makes notes about odd texts name no file, because the table has only one.
func (c *Counts) WithoutFiles() {
	for i := range c.OddTexts {
		c.OddTexts[i].File = ""
	}
}

// oddRows returns the number of rows with a text that a reading can't read.
func (c *Counts) oddRows(f *fit) (rows int64) {
	for _, i := range f.odd {
		rows += c.OddTexts[i].Rows
	}
	return rows
}

// missingTexts returns the number of rows with a text by which people mean a missing value.
func (c *Counts) missingTexts() (rows int64) {
	for _, o := range c.OddTexts {
		if o.missing {
			rows += o.Rows
		}
	}
	return rows
}

// texts returns the number of rows with a text that doesn't mean a missing value, and the number of these texts.
func (c *Counts) texts() (rows int64, different int) {
	rows, different = c.values()-c.missingTexts(), c.Distinct
	for _, o := range c.OddTexts {
		if o.missing {
			different--
		}
	}
	return rows, different
}

// best returns the reading of a type, and for which is returns true, that can't read the fewest rows. nil: there is
// none.
func best[R reading](c *Counts, is func(R) bool) (r R, f *fit) {
	for i := range c.fits {
		if one, ok := c.fits[i].reading.(R); ok && is(one) && (f == nil || c.oddRows(&c.fits[i]) < c.oddRows(f)) {
			r, f = one, &c.fits[i]
		}
	}
	return r, f
}

// accepts returns true if a reading can read all texts of the column but a few, which count as missing: less than
// half of all texts if the option type names the reading.
func (c *Counts) accepts(f *fit) bool {
	rows, _ := c.texts()
	odd := c.oddRows(f)
	switch {
	case rows == 0:
		return c.Word != ""
	case odd == 0:
		return true
	case c.Word != "":
		return 2*odd < rows
	}
	_, lead := best(c, func(reading) bool { return true })
	return odd == c.oddRows(lead) && c.rare(f)
}

// rare returns true if the texts that a reading can't read are few: at most one of 20 rows, ten different ones, and
// one for four others. If the other texts are at most mostCodes numbers, each odd text has one row: otherwise it is a
// category, as they are.
func (c *Counts) rare(f *fit) bool {
	rows, different := c.texts()
	read, number := different-len(f.odd), Word(f.noun()) == Number
	return f.noun() != "" && 20*c.oddRows(f) <= rows && len(f.odd) <= 10 && 4*len(f.odd) <= read &&
		!(number && read <= mostCodes && slices.ContainsFunc(f.odd, func(i int) bool { return c.OddTexts[i].Rows > 1 }))
}

// oddNote returns the note that the texts that a reading can't read count as missing.
func (c *Counts) oddNote(f *fit) string {
	they := "they count as missing"
	if c.oddRows(f) == 1 {
		they = "it counts as missing"
	}
	return fmt.Sprintf("%s (%s): %s", c.oddCount(f), c.quoteOdd(f, true), they)
}

// oddCount returns the words for the number of rows that a reading can't read.
func (c *Counts) oddCount(f *fit) string {
	rows, _ := c.texts()
	odd, are := c.oddRows(f), "are no "+f.noun()+"s"
	if odd == 1 {
		are = "is no " + f.noun()
	}
	return fmt.Sprintf("%s of %s values %s", humanize.Count(odd), humanize.Count(rows), are)
}

// quoteOdd returns the first texts that a reading can't read, and the place of the first if hasPlace is true.
func (c *Counts) quoteOdd(f *fit, hasPlace bool) string {
	const most = 3
	var all []string
	between := ", "
	if hasPlace {
		between = "; "
	}
	for n, i := range f.odd[:min(len(f.odd), most)] {
		text := fmt.Sprintf("%.40q", c.OddTexts[i].Text)
		if n == 0 && hasPlace {
			text += ", " + c.OddTexts[i].place()
		}
		all = append(all, text)
	}
	if more := len(f.odd) - most; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, between)
}
