package plan

// numbers takes numbers and booleans as they are.
var numbers = treatment{
	takes: func(c *Counts) bool {
		return !c.HasTexts && (c.Word != Boolean || c.Min >= 0 && c.Max <= 1 && (c.HasIntegers || c.Type == "bool"))
	},
	inputs:  ownInput,
	becomes: alwaysWords("number"),
}
