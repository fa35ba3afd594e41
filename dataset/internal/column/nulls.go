package column

import (
	"bytes"
	"slices"
	"strings"
)

// IsNull returns true if text without quotes means that a value is missing. It applies unless the user gives other
// texts.
func IsNull(text []byte) bool {
	switch len(text) {
	case 0:
		return true
	case 1:
		return text[0] == '?'
	case 2:
		return string(text) == "NA" || string(text) == `\N`
	case 3:
		return bytes.EqualFold(text, []byte("nan")) || bytes.EqualFold(text, []byte("n/a"))
	case 4:
		return bytes.EqualFold(text, []byte("null")) || string(text) == "None"
	}
	return false
}

// SheetNull returns true for a text that spreadsheets and other programs write where a value is missing or can't be
// computed. It is a value in a column of text, where it may be a class or a category.
func SheetNull(text string) bool {
	return len(text) > 2 && len(text) <= LongestSheetNull && sheetStarts[text[0]] && inSheetNulls(text)
}

func inSheetNulls(text string) bool {
	return slices.ContainsFunc(sheetNulls, func(word string) bool { return strings.EqualFold(word, text) })
}

// LongestSheetNull is the length of the longest text for which SheetNull is true.
const LongestSheetNull = len("-1.#qnan")

// sheetNulls are the texts for which SheetNull is true. sheetStarts has their first bytes.
var (
	sheetNulls = strings.Fields("#n/a #na <na> n.a. n.a #ref! #value! #div/0! #name? #num! #null! " +
		"-nan 1.#ind -1.#ind 1.#qnan -1.#qnan")
	sheetStarts = [256]bool{'#': true, '<': true, 'n': true, 'N': true, '-': true, '1': true}
)

// MeansMissing returns true if people write the text where they have no value.
func MeansMissing(text string) bool {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "", "-", "--", ".", "?", "na", "n/a", "nan", "none", "null", "missing", "unknown":
		return true
	}
	return SheetNull(text)
}

// InShell returns a list of words, an option's value, as a user types it in a shell. Words with a comma or a quote are fields
// of CSV.
func InShell(words []string) string {
	fields := slices.Clone(words)
	for i, w := range fields {
		if strings.ContainsAny(w, "\",\n") {
			fields[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
		}
	}
	return ShellWord(strings.Join(fields, ","))
}

// ShellWord returns a word as a user types it in a shell.
func ShellWord(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(",.-/_+:=@%", r) && !isLetter(r) }) {
		word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

func isLetter(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }
