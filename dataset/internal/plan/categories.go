package plan

import (
	"fmt"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/schema"
)

// categories makes a feature of each text.
var categories = treatment{
	takes:   func(c *Counts) bool { return c.HasTexts },
	inputs:  ownInput,
	becomes: codingWords,
	notes:   textNotes,
}

// codedTexts takes the columns for which an option asks for categories or for hashes.
var codedTexts = treatment{
	takes:   func(c *Counts) bool { return c.HasTexts && (c.Word != "" || c.IsCategorical) },
	inputs:  ownInput,
	becomes: codingWords,
}

// codingWords returns the words for categories or their hashes.
func codingWords(_ *Counts, inputs []schema.Column) string {
	switch c := inputs[0]; {
	case c.Words != nil:
		return c.Words.String()
	case c.Hashed():
		return fmt.Sprintf("hashed to 2^%d", c.HashBits)
	}
	return "category"
}

// textNotes returns the reason that a column is text, if more than half of its texts are numbers or dates. If there
// are at most 20 different ones, they may be categories: four of five texts must be numbers.
func textNotes(c *Counts) []string {
	_, f := best(c, func(r reading) bool { return r.noun() != "" })
	if f == nil {
		return nil
	}
	rows, different := c.texts()
	odd, least := c.oddRows(f), int64(2)
	if different-len(f.odd) <= mostCodes {
		least = 5
	}
	if r, number := f.reading.(*numberReading); odd == 0 || least*odd >= rows || number && (r.hasCode || r.letters != "") {
		return nil
	}
	typed := column.InShell([]string{c.Input.Name + "=" + f.noun()})
	return []string{message.Sprintf("%s (%s), so it stays text: use --type %s if these values are missing",
		c.oddCount(f), c.quoteOdd(f, false), typed)}
}
