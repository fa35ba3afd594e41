package plan

import (
	"slices"
	"strconv"
	"strings"

	"halfspace/internal/words"
	"halfspace/schema"
)

// The words of the option type for columns whose words become features. ":bits=" and a number of bits may follow, and ":all".
const (
	SingleWords Word = "words"
	WordPairs   Word = "words:2"
	WordChars   Word = "words:chars"
)

// freeTexts makes features of the words of texts, if most texts differ and have several words.
var freeTexts = treatment{
	takes: func(c *Counts) bool {
		mostDiffer := c.values() >= leastRows && (c.HasMore || 2*int64(c.Distinct) >= c.values())
		return c.HasTexts && c.noOption() && mostDiffer && c.sampled.several()
	},
	inputs: func(c *Counts) []schema.Column {
		return []schema.Column{{Name: c.Input.Name, Kind: schema.WordsColumn, Words: &schema.Words{Bits: schema.DefaultWordBits}}}
	},
	becomes: codingWords,
	notes:   textNotes,
}

// A wordSample counts the words of the first different texts of a column.
type wordSample struct{ texts, words int }

func (s *wordSample) add(text string) {
	const most, longest = 1000, 10_000
	if s.texts < most {
		s.texts++
		s.words += words.Count(text[:min(len(text), longest)])
	}
}

// several reports whether the texts have three words or more on average.
func (s *wordSample) several() bool { return s.words >= 3*s.texts }

// WordOf returns the word of the option type for columns of words of a form.
func WordOf(form schema.WordForm) Word {
	return Word(strings.TrimSuffix(string(SingleWords)+":"+string(form), ":"))
}

// family returns the word without a number: hash: for hash:BITS, and a word for columns of words without its bits.
func (w Word) family() Word {
	if w.Hash() {
		return hash
	}
	if of := w.Words(); of != nil {
		return WordOf(of.Form)
	}
	return w
}

// Words returns how the words of a column become features by a word such as words:2:bits=20, or nil for another word. Nothing is
// learned for the word words:all: each bucket is a feature, and there are no weights of words.
func (w Word) Words() *schema.Words {
	parts := strings.Split(string(w), ":")
	if parts[0] != string(SingleWords) {
		return nil
	}
	of, parts := &schema.Words{Bits: schema.DefaultWordBits}, parts[1:]
	if len(parts) > 0 && slices.Contains([]string{"2", "chars"}, parts[0]) {
		of.Form, parts = schema.WordForm(parts[0]), parts[1:]
	}
	if len(parts) > 0 && strings.HasPrefix(parts[0], "bits=") {
		bits, err := strconv.Atoi(parts[0][len("bits="):])
		if err != nil || bits < schema.MinWordBits || bits > schema.MaxWordBits {
			return nil
		}
		of.Bits, parts = bits, parts[1:]
	}
	if len(parts) > 0 && parts[0] == "all" {
		of.AllBuckets, parts = true, parts[1:]
	}
	if len(parts) > 0 {
		return nil
	}
	return of
}

// IndexOfType returns the position of the equals sign between the column and the type in an item COLUMN=TYPE, or -1.
func IndexOfType(item string) int {
	i := strings.LastIndexByte(item, '=')
	if i > 0 && strings.HasSuffix(item[:i], ":bits") {
		i = strings.LastIndexByte(item[:i], '=')
	}
	return i
}
