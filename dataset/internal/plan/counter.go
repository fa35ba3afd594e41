package plan

// leastRows is the least number of values by which a column is an id.
const leastRows = 20

// counter leaves out columns of whole numbers that count the rows: from a row to the next one they grow by 1. Numbers that only grow may be
// the values of a sorted file.
var counter = treatment{
	takes: func(c *Column) bool {
		return c.Whole && !c.Text && c.Counts && c.free() && c.Missing == 0 && c.values() >= leastRows
	},
	inputs:  leftOut,
	becomes: saying("left out: it counts the rows"),
}
