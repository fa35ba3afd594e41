package plan

import (
	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/schema"
)

// mostOneHot is the largest number of different texts that become a feature each by default.
const mostOneHot = 64

// hashedTexts makes features of the hashes of texts if the texts are many. With more than MaxAllBuckets bits, only the
// buckets of the training rows are features. So wide hashes cost nothing, and few texts share a bucket.
var hashedTexts = treatment{
	takes: func(c *Counts) bool { return c.HasTexts && c.Distinct > mostOneHot },
	inputs: func(c *Counts) []schema.Column {
		in := *c.Input
		in.Kind, in.HashBits = schema.HashColumn, schema.MaxAllBuckets+1
		for in.HashBits < schema.MaxHashBits && 1<<in.HashBits < 16*c.Distinct {
			in.HashBits++
		}
		return []schema.Column{in}
	},
	becomes: codingWords,
	notes:   hashedNotes,
}

// hashedNotes says also how to make features of words where texts repeat and yet have several words.
func hashedNotes(c *Counts) []string {
	lines := textNotes(c)
	if c.noOption() && c.sampled.several() {
		typed := column.InShell([]string{c.Input.Name + "=" + string(SingleWords)})
		lines = append(lines, message.Sprintf("each text of %q is a category: use --type %s to make features of its words",
			c.Input.Name, typed))
	}
	return lines
}
