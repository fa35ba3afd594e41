package plan

// ofTypeIgnore describes a column of the type ignore.
const ofTypeIgnore = "left out: --type says so"

// ignoredColumns leaves out columns of the type ignore.
var ignoredColumns = treatment{
	takes:   func(*Counts) bool { return true },
	inputs:  noInputs,
	becomes: alwaysWords(ofTypeIgnore),
}
