package plan

import (
	"slices"

	"halfspace/schema"
)

// textDates takes texts of dates and times, all in one layout.
var textDates = treatment{
	readings: func() (all []reading) {
		for _, layout := range slices.Concat([]string{""}, schema.Layouts) {
			all = append(all, &dateReading{layout, newRange()})
		}
		return all
	},
	reads: func(c *Column) *fit {
		if _, f := best(c, anyLayout); f != nil && c.accepts(f) {
			return f
		}
		return nil
	},
	inputs: func(c *Column) []schema.Column {
		r, _ := best(c, anyLayout)
		return r.inputs(c.Input.Name, r.layout)
	},
	becomes: dateParts,
}

// A dateReading reads texts as dates in a layout.
type dateReading struct {
	layout string
	Range
}

func anyLayout(*dateReading) bool { return true }

func (r *dateReading) noun() string { return "date" }

func (r *dateReading) read(text string, _ int64) bool {
	t, ok := schema.ParseTime(text, r.layout)
	if ok {
		r.Add(schema.DaysOf(t))
	}
	return ok
}
