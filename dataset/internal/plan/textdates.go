package plan

import (
	"slices"

	"halfspace/schema"
)

// TextDates counts the different texts of a column that must all be dates.
type TextDates struct{ Counts }

// NewTextDates returns the dates of no texts. word is the type of the column that an option names.
func NewTextDates(name string, word Word) *TextDates {
	t := &TextDates{Counts{Input: &schema.Column{Name: name}, Word: word, HasTexts: true}}
	t.Begin()
	return t
}

// Layout returns the layout of the dates, and notes about other dates that the texts could be. If some text is no
// date as the others are, it returns the text.
func (t *TextDates) Layout() (layout string, notes []string, odd *OddText) {
	r, f := t.layout()
	for i := range t.OddTexts {
		if f == nil || t.OddTexts[i].missing || slices.Contains(f.odd, i) {
			return "", nil, &t.OddTexts[i]
		}
	}
	return r.layout, dateNotes(&t.Counts), nil
}
