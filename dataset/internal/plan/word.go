package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/schema"
)

// A Word is the use of a column that the option --type names; "" lets the values decide.
type Word string

const (
	Number   Word = "number"
	Boolean  Word = "boolean"
	Date     Word = "date"
	Category Word = "category"
	Text     Word = "text" // a category if the texts are few, otherwise hashed
	Ignore   Word = "ignore"
	hash     Word = "hash:" // and the number of bits
)

// ParseTypes parses the option type: COLUMN=TYPE items.
func ParseTypes(items []string) (map[string]Word, error) {
	types := map[string]Word{}
	for _, item := range items {
		name, word := SplitType(item)
		if name == "" || word == hash || !slices.Contains(allWords(), word.family()) {
			return nil, fmt.Errorf("use COLUMN=TYPE, with the type %s, in place of %q", humanize.OneOf(Words()), item)
		}
		types[name] = word
	}
	return types, nil
}

// SplitType splits an item COLUMN=TYPE. The name is "" if the item has none.
func SplitType(item string) (name string, word Word) {
	i := IndexOfType(item)
	return item[:max(0, i)], Word(item[i+1:])
}

// OfValues returns true for the words, with or without a form, of columns whose texts stand for numbers.
func (w Word) OfValues() bool { return slices.Contains([]Word{Number, Boolean, Date}, w.kind()) }

// allWords returns the words of all treatments, in order.
func allWords() (all []Word) {
	for _, t := range treatments {
		all = append(all, slices.DeleteFunc(slices.Clone(t.words), func(w Word) bool { return w == "" })...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Words returns the words of the option type, as its help lists them.
func Words() (names []string) {
	for _, word := range allWords() {
		if word == hash {
			word += "BITS"
		}
		names = append(names, string(word))
	}
	return names
}

// Hash returns true for the word hash:BITS.
func (w Word) Hash() bool {
	digits, is := strings.CutPrefix(string(w), string(hash))
	bits, err := strconv.Atoi(digits)
	return is && err == nil && bits >= 1 && bits <= schema.MaxHashBits
}

// kind returns the word without the form behind its colon.
func (w Word) kind() Word {
	kind, _, _ := strings.Cut(string(w), ":")
	return Word(kind)
}

// NamesOfTexts returns the columns whose words say how their texts are read. A reader of text files must not read their
// numbers.
func NamesOfTexts(types map[string]Word) (names []string) {
	for name, word := range types {
		if word == Date || word == SingleWords || word.kind() != word && !word.Hash() {
			names = append(names, name)
		}
	}
	return names
}
