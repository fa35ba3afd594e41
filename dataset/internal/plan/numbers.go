package plan

// numbers takes numbers and booleans as they are.
var numbers = treatment{
	takes:   func(c *Counts) bool { return !c.HasTexts },
	inputs:  ownInput,
	becomes: alwaysWords("number"),
}
