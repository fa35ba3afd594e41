package text

import (
	"slices"
	"strings"
)

// withoutRepeats returns records without the first ones that the next record repeats.
func withoutRepeats(records []sampledRecord) []sampledRecord {
	for len(records) > 1 && sameTexts(records[0].fields, records[1].fields) {
		records = records[1:]
	}
	return records
}

// sameTexts returns true if two records have the same fields.
func sameTexts(a, b []csvField) bool {
	return slices.EqualFunc(a, b, func(x, y csvField) bool { return x.text == y.text })
}

// noUnits are texts that stand for a missing value more often than for a unit.
var noUnits = []string{"unknown", "missing", "none", "nil", "err", "error", "nodata", "no data", "not available", "tbd",
	"n.d.", "nd", "null", "empty"}

// longestUnit is the length of the longest text that is taken for a unit.
const longestUnit = 20

// detectUnits finds the lines below the header that repeat it, and finds out whether the next line is a rule, or has units: each column
// of numbers has a short text there, or at least two have one and the others nothing, and each column of text has nothing.
// nulls are the texts that the user named for missing values.
func (d *dialect) detectUnits(c Chunk, nulls []string) {
	records := d.sample(c)
	if rest := withoutRepeats(records); isNamed(rest, nil) {
		if d.repeated, records = len(records)-len(rest), rest; d.repeated > 0 {
			d.recurs = ""
		}
	}
	if len(records) < 4 || len(records[1].fields) != len(records[2].fields) {
		return
	}
	units := records[1].fields
	if !isRule(units) && !areUnits(units, records[2:], nulls) {
		return
	}
	d.units, d.unitsAt = []string{}, records[1].line
	for _, f := range units {
		d.units = append(d.units, f.text)
	}
}

// isRule returns true if the fields are a line of dashes, as Markdown has below a header: two or more have two or more
// dashes, and the others nothing.
func isRule(fields []csvField) bool {
	drawn := 0
	for _, f := range fields {
		switch {
		case len(f.text) > 1 && strings.Trim(f.text, "-=:") == "":
			drawn++
		case f.text != "":
			return false
		}
	}
	return drawn > 1
}

// areUnits returns true if the fields are units of the columns of records; see detectUnits.
func areUnits(units []csvField, records []sampledRecord, nulls []string) bool {
	found, columns := 0, 0 // number of units, and of columns of numbers
	for i, f := range units {
		numbers, others := columnOf(records, i)
		if numbers > 0 && others == 0 {
			columns++
		}
		bracketed := len(f.text) > 1 && strings.Contains("[](){}", f.text[:1]) && strings.Contains("[](){}", f.text[len(f.text)-1:])
		switch {
		case f.missing() || slices.Contains(nulls, f.text):
		case numbers > 0 && others == 0 && !f.isNumberOrBoolean() && len(f.text) <= longestUnit &&
			!slices.Contains(noUnits, strings.ToLower(f.text)):
			found++
		case !bracketed:
			return false
		}
	}
	return found > 1 || found == 1 && columns <= 1
}
