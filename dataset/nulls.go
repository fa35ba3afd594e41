package dataset

import (
	"bytes"
	"slices"
	"strings"
)

// nullWords are the texts that stand for a value that is absent in CSV files.
type nullWords struct {
	words   []string  // nil: the default ones, see isNull
	numbers []float64 // those of words that are numbers
}

func newNullWords(words []string) *nullWords {
	n := &nullWords{words: words}
	for _, w := range words {
		if v, err := parseNumber([]byte(w)); err == nil {
			n.numbers = append(n.numbers, v)
		}
	}
	return n
}

// number tells whether a number stands for a null.
func (n *nullWords) number(v float64) bool {
	return len(n.numbers) > 0 && slices.Contains(n.numbers, v)
}

// A meaning is what a field of text stands for.
type meaning uint8

const (
	aValue    meaning = iota
	aNull             // in any column
	ambiguous         // a null in a column of numbers or booleans, a value in a column of text
)

// of returns what a field means. By default quotes make a value of a word that is a null without them, in a column of text. Words that
// the user named are nulls everywhere. An empty field is always a null; quotes make an empty text of it. A dash is a value in a column of text,
// where it may be a class or a category.
func (n *nullWords) of(text []byte, quoted bool) meaning {
	switch {
	case len(text) == 0 && quoted:
		return ambiguous
	case len(text) == 0:
		return aNull
	case n.words != nil && slices.Contains(n.words, string(text)):
		return aNull
	case string(text) == "-":
		return ambiguous
	case n.words != nil || !isNull(text):
		return aValue
	case quoted:
		return ambiguous
	}
	return aNull
}

// isNull tells whether text without quotes stands for a value that is absent, unless the user names other words.
func isNull(text []byte) bool {
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

// advice says what to type where text, which is no number, may stand for a null: seen are the other words of the file that do.
func (n *nullWords) advice(text string, seen []string) string {
	words := append([]string{text}, n.words...)
	if n.words == nil {
		words = append(words, seen...)
	}
	return "--null-values " + inShell(words)
}

// inShell returns a list of words as it is typed in a shell.
func inShell(words []string) string {
	list := strings.Join(words, ",")
	if strings.ContainsFunc(list, func(r rune) bool { return !strings.ContainsRune(",.-/_+:=@%", r) && !isLetter(r) }) {
		list = "'" + strings.ReplaceAll(list, "'", `'\''`) + "'"
	}
	return list
}

func isLetter(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }
