package text

import (
	"slices"

	"halfspace/dataset/internal/frame"
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
	case n.words != nil || !frame.IsNull(text):
		return aValue
	case quoted:
		return ambiguous
	}
	return aNull
}

// advice says what to type if text, which is no number, may stand for a null. The caller has seen other words of the
// file that may stand for one.
func (n *nullWords) advice(text string, seen []string) string {
	words := append([]string{text}, n.words...)
	if n.words == nil {
		words = append(words, seen...)
	}
	return "--null-values " + frame.InShell(words)
}
