package plan

import (
	"strings"
	"unicode"

	"halfspace/schema"
)

// pointNumbers takes texts of numbers with a decimal point, such as $1,234.5.
var pointNumbers = written(schema.Plain, "number")

// commaNumbers takes texts of numbers with a decimal comma, such as 1.234,5 €.
var commaNumbers = written(schema.Comma, "number with a decimal comma")

// written returns the treatment of texts of numbers. A code such as 0123 is no number, unless the option type says so.
func written(form schema.Derivation, words string) treatment {
	return treatment{
		readings: func() []reading { return []reading{&numberReading{form: form}} },
		takes: func(c *Column) bool {
			r, ok := fitting(c, func(r *numberReading) bool { return r.form == form })
			return ok && (c.Word == Number || !r.codes)
		},
		inputs:  func(c *Column) []schema.Column { return c.derived(form) },
		becomes: saying(words),
	}
}

// A numberReading reads texts as numbers.
type numberReading struct {
	form  schema.Derivation
	codes bool // some text begins with 0 and another digit
}

func (r *numberReading) read(text string) bool {
	trimmed := strings.TrimSpace(text)
	r.codes = r.codes || len(trimmed) > 1 && trimmed[0] == '0' && unicode.IsDigit(rune(trimmed[1]))
	_, ok := (&schema.Column{Derive: r.form}).Number(text)
	return ok
}
