package plan

import (
	"halfspace/schema"
)

// lists takes lists of numbers, and the features of svmlight files, as they are.
var lists = treatment{
	takes: func(c *Counts) bool {
		return c.Input.Kind == schema.ListColumn || c.Input.Kind == schema.NumberedColumn
	},
	inputs:  ownInput,
	becomes: alwaysWords("numbers"),
}
