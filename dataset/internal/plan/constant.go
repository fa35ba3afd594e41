package plan

// oneValue describes a column of one value.
const oneValue = "left out: one value"

// constant leaves out columns whose values are all the same.
var constant = treatment{
	takes: func(c *Counts) bool {
		same := c.Min == c.Max && !c.Varies
		switch {
		case c.HasTexts:
			same = c.Distinct == 1
		case c.HasDates:
			same = c.Range.First == c.Range.Last
		}
		return same && c.noOption() && c.Missing == 0 && c.values() > 1
	},
	inputs:  noInputs,
	becomes: alwaysWords(oneValue),
}
