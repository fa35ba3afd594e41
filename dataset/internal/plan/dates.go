package plan

import (
	"strings"

	"halfspace/schema"
)

// dates takes dates and times.
var dates = treatment{
	takes:   func(c *Counts) bool { return c.HasDates },
	inputs:  func(c *Counts) []schema.Column { return c.Range.inputs(c.Input.Name, c.Layout) },
	becomes: dateParts,
}

// dateParts returns the words for features of dates.
func dateParts(_ *Counts, inputs []schema.Column) string {
	var words []string
	for _, c := range inputs {
		if word, _ := strings.CutSuffix(string(c.Derive), " sin"); !strings.HasSuffix(word, "cos") {
			words = append(words, word)
		}
	}
	return "date: " + strings.Join(words, ", ")
}
