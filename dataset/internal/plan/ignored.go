package plan

// ignoredColumns leaves out columns of the type ignore.
var ignoredColumns = treatment{
	takes:   func(*Column) bool { return true },
	inputs:  noInputs,
	becomes: alwaysWords("left out: --type says so"),
}
