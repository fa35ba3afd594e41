package plan

import (
	"slices"
	"strings"

	"halfspace/schema"
)

// truths takes texts of yes and no: both words of one pair, in any case, with or without 1 and 0 among them, and no other
// word. A column with the words y and t, or n and f, has categories, unless the option type says boolean.
var truths = treatment{
	readings: func() []reading { return []reading{new(truthReading)} },
	reads: func(c *Counts) *fit {
		r, f := best(c, func(*truthReading) bool { return true })
		if f == nil || len(f.odd) > 0 {
			return nil
		}
		if !slices.Contains(truthPairs[:], r.withoutNumbers()) && (c.Word == "" || r.yes == "" || r.no == "") {
			return nil
		}
		return f
	},
	inputs:  func(c *Counts) []schema.Column { return c.derived(schema.Boolean) },
	becomes: alwaysWords("yes or no: 1 or 0"),
}

// truthPairs are the pairs of words for yes and no.
var truthPairs = [...]truthReading{{"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"on", "off"}}

// A truthReading has the words for yes, and the words for no, of a column, in lower case and in the order of their
// first rows.
type truthReading struct{ yes, no string }

// withoutNumbers returns the words other than 1 and 0.
func (r *truthReading) withoutNumbers() truthReading {
	words := func(all, number string) string {
		return strings.Join(slices.DeleteFunc(strings.Fields(all), func(w string) bool { return w == number }), " ")
	}
	return truthReading{words(r.yes, "1"), words(r.no, "0")}
}

func (r *truthReading) noun() string { return "" }

func (r *truthReading) read(text string, _ int64) bool {
	v, ok := (&schema.Column{Derive: schema.Boolean}).Number(text)
	words := &r.no
	if v == 1 {
		words = &r.yes
	}
	if word := strings.ToLower(strings.TrimSpace(text)); ok && !slices.Contains(strings.Fields(*words), word) {
		*words = strings.TrimSpace(*words + " " + word)
	}
	return ok
}
