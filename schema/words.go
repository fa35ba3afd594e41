package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Words describes how the words of a column of texts become features; see package internal/words.
type Words struct {
	Form WordForm `json:"form,omitempty"`
	Bits int      `json:"hash_bits"` // the bucket of a word is the lowest bits of its XXH3-64
	// AllBuckets: each of the 1<<Bits buckets is a feature, and nothing is learned from rows.
	AllBuckets bool      `json:"all_buckets,omitempty"`
	Buckets    []int     `json:"buckets,omitempty"` // of the training rows, ascending, one feature each
	Weights    []float64 `json:"idf,omitempty"`     // for each feature, its inverse document frequency: ln((1+rows)/(1+rows with it)) + 1
	Texts      []string  `json:"words,omitempty"`   // for each feature, the first word of the training rows in its bucket; "": left out
}

// WordForm is the parts of a text that are counted.
type WordForm string

const (
	SingleWords WordForm = ""      // words
	WordPairs   WordForm = "2"     // words, and pairs of adjacent words
	WordChars   WordForm = "chars" // 3 to 5 adjacent characters of a word
)

// DefaultWordBits is the number of bits of the buckets of words. MinWordBits and MaxWordBits are the least and the most.
const (
	DefaultWordBits = 18
	MinWordBits     = 8
	MaxWordBits     = 22
)

// MaxWordTexts is the largest number of bytes that the words in Words.Texts have together.
const MaxWordTexts = MaxNames / 4

// WordsColumn is the kind of a column whose words become features: a feature for each bucket of words. A row has for each of
// its words (1 + ln count) x Words.Weights, divided by the root of the sum of their squares.
const WordsColumn Kind = "words"

// String returns a few words on the features: "words, hashed to 18 bits".
func (w *Words) String() string {
	features := map[WordForm]string{SingleWords: "words", WordPairs: "words and pairs of words", WordChars: "3 to 5 characters of words"}
	return fmt.Sprintf("%s, hashed to %d bits", features[w.Form], w.Bits)
}

// Width returns the number of features.
func (w *Words) Width() int {
	if w.AllBuckets {
		return 1 << w.Bits
	}
	return len(w.Buckets)
}

// WithoutLearned returns the description without the values that were learned from rows.
func (w *Words) WithoutLearned() *Words {
	if w == nil {
		return nil
	}
	return &Words{Form: w.Form, Bits: w.Bits, AllBuckets: w.AllBuckets}
}

// MeanFeatures returns the mean number of features of a training row that aren't 0, rounded up, or a guess if it is unknown.
func (w *Words) MeanFeatures() int64 {
	const guess = 100
	if w.Weights == nil {
		return guess
	}
	sum := 0.0
	for _, v := range w.Weights { // of e^(1-weight) = (1+rows with it)/(1+rows)
		sum += math.Exp(1 - v)
	}
	return int64(math.Ceil(sum))
}

// featureName returns the name of feature i of the column with the given name.
func (w *Words) featureName(column string, i int) string {
	switch {
	case w.AllBuckets:
		return fmt.Sprintf("%s#words:%d[%d]", column, w.Bits, i)
	case i < len(w.Texts) && w.Texts[i] != "":
		return column + ": " + w.Texts[i]
	}
	return fmt.Sprintf("%s#words:%d[%d]", column, w.Bits, w.Buckets[i])
}

// nameBytes returns an upper bound of the bytes of the features' names.
func (w *Words) nameBytes(column string) int64 {
	bytes := int64(w.Width()) * int64(len(column)+len("#words:22[4194303]"))
	for _, text := range w.Texts {
		bytes += int64(len(text))
	}
	return bytes
}

// checkWords returns an error unless the column has Words exactly if it is of the kind WordsColumn, and these are valid.
func (c *Column) checkWords() error {
	w := c.Words
	switch {
	case (w != nil) != (c.Kind == WordsColumn):
		return fmt.Errorf("of the kind %q, but \"words\" is there: %t", c.Kind, w != nil)
	case w == nil:
		return nil
	case !slices.Contains([]WordForm{SingleWords, WordPairs, WordChars}, w.Form):
		return fmt.Errorf("the form %q of its words is unknown", w.Form)
	case w.Bits < MinWordBits || w.Bits > MaxWordBits:
		return fmt.Errorf("its words have %d bits of hash, not %d to %d", w.Bits, MinWordBits, MaxWordBits)
	case w.AllBuckets && len(w.Buckets)+len(w.Weights)+len(w.Texts) > 0:
		return errors.New("all buckets are features, but some are listed")
	case len(w.Weights) != len(w.Buckets) || len(w.Texts) != len(w.Buckets):
		return fmt.Errorf("its words have %d buckets, %d weights and %d texts", len(w.Buckets), len(w.Weights), len(w.Texts))
	case !w.AllBuckets && len(w.Buckets) == 0:
		return errors.New("its words have no bucket")
	}
	last := -1
	for _, b := range w.Buckets {
		if b <= last || b >= 1<<w.Bits {
			return fmt.Errorf("bucket %d after %d: they ascend, and are less than %d", b, last, 1<<w.Bits)
		}
		last = b
	}
	for _, v := range w.Weights {
		if !(v >= 1) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is among the weights of its words", v)
		}
	}
	if i := slices.IndexFunc(w.Texts, func(text string) bool { return !utf8.ValidString(text) }); i >= 0 {
		return fmt.Errorf("the word %q is not valid UTF-8 text", w.Texts[i])
	}
	return nil
}
