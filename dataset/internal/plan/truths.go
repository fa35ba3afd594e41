package plan

import "halfspace/schema"

// truths takes texts of yes and no.
var truths = treatment{
	readings: func() []reading { return []reading{new(truthReading)} },
	takes: func(c *Column) bool {
		_, ok := fitting(c, func(*truthReading) bool { return true })
		return ok && c.Distinct > 1
	},
	inputs:  func(c *Column) []schema.Column { return c.derived(schema.Boolean) },
	becomes: saying("yes or no: 1 or 0"),
}

type truthReading struct{}

func (*truthReading) read(text string) bool {
	_, ok := (&schema.Column{Derive: schema.Boolean}).Number(text)
	return ok
}
