package plan

// leastRows is the least number of values by which a column is an id.
const leastRows = 20

// counter leaves out columns of whole numbers that count the rows.
var counter = treatment{
	takes: func(c *Column) bool {
		return c.Whole && !c.Text && c.Ascends && c.free() && c.Missing == 0 && c.values() >= leastRows
	},
	inputs:  leftOut,
	becomes: saying("left out: it counts the rows"),
}
