package plan

// nameTexts leaves out columns in which nine of ten texts differ.
var nameTexts = treatment{
	takes: func(c *Counts) bool {
		return c.HasTexts && c.noOption() && c.values() >= leastRows && (c.HasMore || 10*int64(c.Distinct) >= 9*c.values())
	},
	inputs:  noInputs,
	becomes: alwaysWords("left out: nearly all texts differ"),
	notes:   textNotes,
}
