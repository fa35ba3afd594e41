package text

import (
	"slices"
	"strconv"
	"strings"
)

// hasNumberedNames returns true if the first record has the names of the columns although some of them are numbers: a known name is among
// them, or the numbers count up, as positions and years do, and the values below are others.
func hasNumberedNames(records []sampledRecord, known []string) bool {
	first := records[0].fields
	names := map[string]bool{}
	for i, f := range first {
		if names[f.text] || f.text == "" && i > 0 {
			return false
		}
		names[f.text] = true
	}
	counts := countsUp(first)
	for _, name := range known {
		if _, err := parseNumber([]byte(name)); names[name] && (counts || err != nil) {
			return true
		}
	}
	if len(known) > 0 && !slices.ContainsFunc(known, func(name string) bool { return !names[name] }) {
		return len(known) > 1
	}
	return counts && isApart(records)
}

// namesByPosition returns true if a known name, such as c2, is the name of a column without a name, and isn't among the first record.
func namesByPosition(first []csvField, known []string) bool {
	return slices.ContainsFunc(known, func(name string) bool {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "c"))
		return err == nil && strings.HasPrefix(name, "c") && 0 < n && n <= len(first) &&
			!slices.ContainsFunc(first, func(f csvField) bool { return f.text == name })
	})
}

// countsUp returns true if the numbers of a record, at least two, are neighbouring integers from 0 or 1 on, or years.
func countsUp(fields []csvField) bool {
	const firstYear, lastYear = 1800, 2200
	n, last := 0, 0
	for _, f := range fields {
		if !f.number() {
			continue
		}
		v, err := strconv.Atoi(f.text)
		if err != nil || n == 0 && v != 0 && v != 1 && v < firstYear || v > lastYear || n > 0 && v != last+1 {
			return false
		}
		n, last = n+1, v
	}
	return n > 1
}

// isApart returns true if the values below the first record are of another kind: fractions in half of three or more
// columns of numbers; or texts that recur but for the text of the first record, below years or beside fractions.
func isApart(records []sampledRecord) bool {
	fractions, columns, texts, years := 0, 0, 0, false
	for i, f := range records[0].fields {
		if !f.number() {
			if f.text != "" && recursBelow(records, i) {
				texts++
			}
			continue
		}
		columns++
		years = years || len(f.text) == len("2000")
		if slices.ContainsFunc(records[1:], func(r sampledRecord) bool {
			return i < len(r.fields) && r.fields[i].number() && strings.Contains(r.fields[i].text, ".")
		}) {
			fractions++
		}
	}
	return columns > 2 && fractions > 1 && 2*fractions >= columns && len(records) > 2 || texts > 0 && (fractions > 0 || years)
}

// recursBelow returns true if some texts of a column recur, and the text of the first record doesn't.
func recursBelow(records []sampledRecord, i int) bool {
	seen := map[string]int{}
	for _, r := range records[1:] {
		if i < len(r.fields) {
			seen[r.fields[i].text]++
		}
	}
	return len(records) > 4 && seen[records[0].fields[i].text] == 0 && 2*len(seen) <= len(records)-1
}

// lacksNames returns true if the first record has none of the known names, and a text of it recurs below: it is a row then.
func (l *look) lacksNames(known []string) bool {
	isKnown := func(f csvField) bool { return slices.Contains(known, f.text) }
	return l.recurring != "" && len(known) > 0 && !slices.ContainsFunc(l.first, isKnown)
}
