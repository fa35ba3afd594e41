package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"halfspace/schema"
)

// The words for dates in texts with the day first, the month first, and the year first.
const (
	DateDMY Word = "date:DMY"
	DateMDY Word = "date:MDY"
	DateYMD Word = "date:YMD"
)

// textDates takes texts of dates and times, all in one layout.
var textDates = treatment{
	readings: func() (all []reading) {
		for _, layout := range slices.Concat([]string{""}, schema.Layouts) {
			all = append(all, &dateReading{layout: layout, Range: newRange()})
		}
		return all
	},
	reads: func(c *Counts) *fit {
		if _, f := c.layout(); f != nil && c.accepts(f) {
			return f
		}
		return nil
	},
	inputs: func(c *Counts) []schema.Column {
		r, _ := c.layout()
		return r.inputs(c.Input.Name, r.layout)
	},
	becomes: dateParts,
	notes:   dateNotes,
}

// layout returns the first of the layouts that can read the most rows. The type may name the order of a layout; names
// of months need none.
func (c *Counts) layout() (*dateReading, *fit) {
	_, named, _ := strings.Cut(string(c.Word), ":")
	return best(c, func(r *dateReading) bool {
		order := schema.DateOrder(r.layout)
		return named == "" || order == "" || order == named
	})
}

// A dateReading reads texts as dates in a layout.
type dateReading struct {
	layout string
	first  string // the first text in which the day is not the month
	Range
}

func (r *dateReading) noun() string { return "date" }

func (r *dateReading) read(text string, _ int64) bool {
	t, ok := schema.ParseTime(text, r.layout)
	if ok {
		r.Add(schema.DaysOf(t))
		if _, month, day := t.Date(); r.first == "" && int(month) != day {
			r.first = strings.Clone(text)
		}
	}
	return ok
}

// dateNotes returns notes about other dates that the texts could be.
func dateNotes(c *Counts) (notes []string) {
	r, f := c.layout()
	taken, _ := schema.ParseTime(r.first, r.layout)
	note := fmt.Sprintf("%q is read as %s", r.first, taken.Format(time.DateOnly))
	orders := []string{schema.DateOrder(r.layout)}
	for i := range c.fits {
		other, is := c.fits[i].reading.(*dateReading)
		if !is || c.Word.kind() != c.Word || r.first == "" || c.oddRows(&c.fits[i]) > c.oddRows(f) {
			continue
		}
		order := schema.DateOrder(other.layout)
		if could, ok := schema.ParseTime(r.first, other.layout); ok && !slices.Contains(orders, order) {
			orders = append(orders, order)
			note += c.otherReading(could.Format(time.DateOnly), string(Date)+":"+order)
		}
	}
	if len(orders) > 1 {
		notes = append(notes, note)
	}
	if schema.ShortYear(r.layout) {
		notes = append(notes, "years of two digits are 1969 to 2068")
	}
	return notes
}
