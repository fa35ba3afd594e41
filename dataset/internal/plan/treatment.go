package plan

import (
	"halfspace/internal/message"
	"halfspace/schema"
)

// A treatment is a way in which a column becomes features, or the reason to leave a column out.
type treatment struct {
	// readings returns the ways in which the treatment reads texts. nil: it reads none.
	readings func() []reading
	// reads returns the reading by which the treatment takes texts. nil: it doesn't take the column.
	reads func(c *Counts) *fit
	// takes returns true if the treatment takes the values of a column. nil: see reads.
	takes func(c *Counts) bool
	// inputs returns how the column becomes features. nil: the column is left out.
	inputs func(c *Counts) []schema.Column
	// becomes returns a few words for the features that inputs returned, or for the reason to leave the column out.
	becomes func(c *Counts, inputs []schema.Column) string
	// notes returns the decisions about a column that could have gone another way. nil: there are none.
	notes func(c *Counts) []string
}

// alwaysWords returns the function becomes of a treatment that always has the same words.
func alwaysWords(words string) func(*Counts, []schema.Column) string {
	return func(*Counts, []schema.Column) string { return message.Translate(words) }
}

// noInputs returns the function inputs of a treatment that leaves columns out.
func noInputs(*Counts) []schema.Column { return nil }

// ownInput returns the column as one input.
func ownInput(c *Counts) []schema.Column { return []schema.Column{*c.Input} }
