package text

import (
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
)

// nullWords are the texts that mean a missing value in CSV files.
type nullWords struct {
	words   []string  // nil: the default texts, see column.IsNull
	numbers []float64 // the values of the words that are numbers
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

// number returns true if a number means a null.
func (n *nullWords) number(v float64) bool {
	return len(n.numbers) > 0 && slices.Contains(n.numbers, v)
}

// A meaning is the meaning of a field of text.
type meaning uint8

const (
	aValue    meaning = iota
	aNull             // a null in every column
	ambiguous         // a null in a column of numbers or booleans, a value in a column of text
)

// of returns the meaning of a field:
//
//   - An empty field is a null. With quotes, it is an empty text in a text column.
//   - A text that the user named is a null, with and without quotes.
//   - A dash is a value in a text column, where it may be a class or a category, and a null in other columns. So is a
//     text such as #N/A, unless the user named texts.
//   - If the user named no texts, a default text is a null. With quotes, it is a value in a text column.
func (n *nullWords) of(text []byte, quoted bool) meaning {
	switch {
	case len(text) == 0 && quoted:
		return ambiguous
	case len(text) == 0:
		return aNull
	case n.words != nil && slices.Contains(n.words, string(text)):
		return aNull
	case string(text) == "-", n.words == nil && len(text) <= column.LongestSheetNull && column.SheetNull(string(text)):
		return ambiguous
	case n.words != nil || !column.IsNull(text):
		return aValue
	case quoted:
		return ambiguous
	}
	return aNull
}

// advice returns the option to type if text, which isn't a number, may mean a null. seen are other texts of the file
// that may mean a null.
func (n *nullWords) advice(text string, seen []string) string {
	words := append([]string{text}, n.words...)
	if n.words == nil {
		words = append(words, seen...)
	}
	return message.Option("null-values") + " " + column.InShell(words)
}
