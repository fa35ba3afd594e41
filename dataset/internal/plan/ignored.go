package plan

// ignored leaves out columns of the type ignore.
var ignored = treatment{
	takes:   func(*Column) bool { return true },
	inputs:  leftOut,
	becomes: saying("left out: --type says so"),
}
