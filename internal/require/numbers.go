package require

import (
	"encoding/json"
	"iter"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// grammar is compiled at its first use, since only tests use it.
var grammar = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity))|(?i:nan))$`)
})

// IsNumber tells whether text is a number by the grammar of humanize.ParseNumber. It is the oracle of tests.
func IsNumber(text string) bool { return grammar().MatchString(text) }

// parts are characters and words that occur in numbers of Go and of other languages.
var parts = strings.Split("0 1 7 9 . . e E + - _ x 0x 0X p P inf Inf INFINITY nan NaN 0b 0o a f d L ' ,", " ")

// Texts yields n random texts without blanks, for tests of readers of numbers. Half of them are number literals of Go,
// with underscores and hexadecimal digits.
func Texts(seed uint64, n int) iter.Seq[string] {
	rng := rand.New(rand.NewPCG(seed, 0))
	return func(yield func(string) bool) {
		for i := range n {
			text := ""
			if i%2 == 0 {
				text = literal(rng)
			} else {
				for range 1 + rng.IntN(6) {
					text += parts[rng.IntN(len(parts))]
				}
			}
			if !yield(text) {
				return
			}
		}
	}
}

// literal returns a random number literal of Go.
func literal(rng *rand.Rand) string {
	text := []string{"", "", "-", "+"}[rng.IntN(4)]
	of, exponent := "0123456789", "e"
	if rng.IntN(4) == 0 {
		text, of, exponent = text+"0x", "0123456789abcdef", "p"
	}
	digits := func() {
		for i := range 1 + rng.IntN(4) {
			if i > 0 && rng.IntN(8) == 0 {
				text += "_"
			}
			text += string(of[rng.IntN(len(of))])
		}
	}
	digits()
	if rng.IntN(2) == 0 {
		text += "."
		digits()
	}
	if rng.IntN(3) == 0 || exponent == "p" {
		of = "0123456789"
		text += exponent + []string{"", "-", "+"}[rng.IntN(3)] + string(of[rng.IntN(10)])
	}
	return text
}

// A WrittenText is a text, the number that it is with a decimal point, and the number that it is with a decimal
// comma. nil: it is none.
type WrittenText struct {
	Text         string
	Point, Comma *float64
}

// WrittenTexts returns the texts in schema/testdata/written.json, which is at path.
func WrittenTexts(tb testing.TB, path string) (all []WrittenText) {
	tb.Helper()
	var rows []json.RawMessage
	NoError(tb, json.Unmarshal(Value(os.ReadFile(path))(tb), &rows))
	for _, row := range rows {
		var w WrittenText
		NoError(tb, json.Unmarshal(row, &[]any{&w.Text, &w.Point, &w.Comma}))
		all = append(all, w)
	}
	if len(all) < 100 {
		tb.Fatalf("%s: %d texts", path, len(all))
	}
	return all
}
