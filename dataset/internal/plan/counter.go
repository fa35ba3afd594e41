package plan

// leastRows is the least number of values by which a column is an id.
const leastRows = 20

// counter leaves out columns of whole numbers that count the rows: from a row to the next one they grow by 1. Numbers
// that only grow may be the values of a sorted file. A column of a text file whose last line has a sum, or the like,
// has texts.
var counter = treatment{
	takes: func(c *Counts) bool {
		counts := c.HasIntegers && c.CountsRows
		if c.HasTexts {
			r, f := c.numbers('.')
			counts = f != nil && len(f.odd) > 0 && r.countsRows && r.texts+len(f.odd) == int(c.values())
		}
		return counts && c.noOption() && c.Missing == 0 && c.values() >= leastRows
	},
	inputs:  noInputs,
	becomes: alwaysWords("left out: it counts the rows"),
}
