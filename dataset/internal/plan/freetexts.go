package plan

import (
	"halfspace/schema"
)

// freeTexts makes features of the words of texts, if most texts differ and have several words.
var freeTexts = treatment{
	takes: func(c *Counts) bool {
		mostDiffer := c.values() >= leastRows && (c.HasMore || 2*int64(c.Distinct) >= c.values())
		return c.HasTexts && c.noOption() && mostDiffer && c.sampled.several()
	},
	inputs: func(c *Counts) []schema.Column {
		return []schema.Column{{Name: c.Input.Name, Kind: schema.WordsColumn, Words: &schema.Words{Bits: schema.DefaultWordBits}}}
	},
	becomes: codingWords,
	notes:   textNotes,
}
