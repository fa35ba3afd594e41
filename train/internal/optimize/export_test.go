package optimize

// Coordinate descent, which Elastic and Path take for more columns than a Hessian may have.
var (
	ByColumns     = (*Task).columns
	PathByColumns = (*Task).columnsPath
)
