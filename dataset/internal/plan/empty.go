package plan

// noValue describes a column without a value.
const noValue = "left out: no value"

// emptyColumns leaves out columns without a value.
var emptyColumns = treatment{
	takes:   func(c *Counts) bool { return c.values() == 0 && !c.IsNamed },
	inputs:  noInputs,
	becomes: alwaysWords(noValue),
}
