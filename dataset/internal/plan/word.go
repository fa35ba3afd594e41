package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
		i := strings.LastIndexByte(item, '=')
		word := Word(item[i+1:])
		if i < 1 || !word.known() {
			return nil, fmt.Errorf("use COLUMN=TYPE, with the type number, boolean, date, category, text, hash:BITS or ignore, in place of %q", item)
		}
		types[item[:i]] = word
	}
	return types, nil
}

// Hash returns true for the word hash:BITS.
func (w Word) Hash() bool {
	digits, is := strings.CutPrefix(string(w), string(hash))
	bits, err := strconv.Atoi(digits)
	return is && err == nil && bits >= 1 && bits <= schema.MaxHashBits
}

func (w Word) known() bool {
	return w.Hash() || slices.Contains([]Word{Number, Boolean, Date, Category, Text, Ignore}, w)
}
