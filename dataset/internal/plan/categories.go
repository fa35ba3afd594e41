package plan

import (
	"fmt"

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
