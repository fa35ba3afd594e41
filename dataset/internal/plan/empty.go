package plan

// empty leaves out columns without a value.
var empty = treatment{
	takes:   func(c *Column) bool { return c.values() == 0 && !c.Named },
	inputs:  leftOut,
	becomes: saying("left out: no value"),
}
