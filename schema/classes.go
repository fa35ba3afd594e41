package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"halfspace/internal/message"
)

// ListClasses returns the names of up to ten classes, separated by commas, and the number of further classes.
func ListClasses(classes []Class) string {
	const most = 10
	var names []string
	for _, c := range classes[:min(len(classes), most)] {
		names = append(names, NameClass(c))
	}
	text := strings.Join(names, ", ")
	if len(classes) > most {
		text += fmt.Sprintf(" and %d more", len(classes)-most)
	}
	return text
}

// NameClass returns the text of a class. It quotes a string, and cuts it after 40 characters.
func NameClass(c Class) string {
	if c.Kind != String {
		return c.Text
	}
	if r := []rune(c.Text); len(r) > 40 {
		return strconv.Quote(string(r[:40])) + "..."
	}
	return strconv.Quote(c.Text)
}

// KindOf returns the kind of categories whose [Column.Values] is values.
func KindOf(values string) ClassKind {
	switch values {
	case Number.String():
		return Number
	case Bool.String():
		return Bool
	}
	return String
}

// TextAs returns the text by which the class matches classes of another kind: a text that is a number is written as the
// shortest decimal, so that 1.0 matches the number 1, and True matches the boolean true. A text with leading zeros or a
// plus, such as 01, is no number here.
func (c Class) TextAs(kind ClassKind) string {
	if c.Kind != String || kind == String || c.Text == "" {
		return c.Text
	}
	if kind == Bool {
		if lower := strings.ToLower(c.Text); lower == "true" || lower == "false" {
			return lower
		}
		return c.Text
	}
	digits := strings.TrimPrefix(c.Text, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return c.Text
	}
	if n, err := ParseNumber(c.Text); err == nil {
		return n.Text
	}
	return c.Text
}

// FindClass returns the index of the class with the given text, or -1 if there is none. A number matches in every
// spelling.
func FindClass(classes []Class, text string) int {
	if i := slices.IndexFunc(classes, func(c Class) bool { return c.Text == text }); i >= 0 {
		return i
	}
	number, err := ParseNumber(text)
	if err != nil {
		return -1
	}
	return slices.Index(classes, number)
}

// AdviseClasses returns the end of an error about too many classes: the remedy.
func AdviseClasses(classes []Class) string {
	if len(classes) > 50 && LookLikeQuantity(classes) {
		return message.Sprintf(": it looks like a quantity; halfspace classifies: name a column of classes with --label")
	}
	return message.Sprintf(": choose another column with --label, or keep the rows of two classes")
}

// LookLikeQuantity tells whether 95 % of the classes or more are numbers, also numbers written as text, with the same unit.
func LookLikeQuantity(classes []Class) bool {
	ofUnit := map[string]int{}
	most := 0
	for _, c := range classes {
		unit, isQuantity := "", c.Kind == Number
		if c.Kind == String {
			unit, isQuantity = quantityUnit(c.Text)
		}
		if isQuantity {
			ofUnit[unit]++
			most = max(most, ofUnit[unit])
		}
	}
	return 20*most >= 19*len(classes)
}

// quantityUnit returns the currency before a number and the unit behind it: "$" of "$1,200", "EUR" of "EUR 3", "kg" of "70 kg", "" of
// 12.50. It returns false for a text that is no number with a unit.
func quantityUnit(text string) (unit string, isQuantity bool) {
	r := []rune(text)
	before := 0
	switch {
	case len(r) > 1 && unicode.Is(unicode.Sc, r[0]):
		before = 1
	case len(r) > 4 && r[3] == ' ' && strings.IndexFunc(string(r[:3]), func(c rune) bool { return !unicode.IsUpper(c) }) < 0:
		before = 4
	}
	number := string(r[before:])
	digits := strings.TrimLeft(number, "+-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(number)-len(digits) > 1 {
		return "", false
	}
	after := strings.TrimSpace(strings.TrimLeft(digits, "0123456789.,' "))
	if exponent, isPower := strings.CutPrefix(strings.ToLower(after), "e"); isPower && strings.Trim(exponent, "0123456789+-") == "" {
		after = ""
	}
	const longestUnit = 12
	isUnit := func(c rune) bool {
		return unicode.IsLetter(c) || strings.ContainsRune("%/°²³", c) || unicode.Is(unicode.Sc, c)
	}
	if len([]rune(after)) > longestUnit || strings.IndexFunc(after, func(c rune) bool { return !isUnit(c) }) >= 0 {
		return "", false
	}
	return strings.TrimSpace(string(r[:before])) + after, true
}
