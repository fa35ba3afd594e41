package plan

import (
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

// The words of the option type for columns whose words become features. ":bits=" and a number of bits may follow, and ":all".
const (
	SingleWords Word = "words"
	WordPairs   Word = "words:2"
	WordChars   Word = "words:chars"
)

// SplitType splits an item COLUMN=TYPE. The name is "" if the item has none.
func SplitType(item string) (name string, word Word) {
	i := IndexOfType(item)
	return item[:max(0, i)], Word(item[i+1:])
}

// IndexOfType returns the position of the equals sign between the column and the type in an item COLUMN=TYPE, or -1.
func IndexOfType(item string) int {
	i := strings.LastIndexByte(item, '=')
	if i > 0 && strings.HasSuffix(item[:i], ":bits") {
		i = strings.LastIndexByte(item[:i], '=')
	}
	return i
}

// OfValues returns true for the words, with or without a form, of columns whose texts stand for numbers.
func (w Word) OfValues() bool { return slices.Contains([]Word{Number, Boolean, Date}, w.kind()) }

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

// WordOf returns the word of the option type for columns of words of a form.
func WordOf(form schema.WordForm) Word {
	return Word(strings.TrimSuffix(string(SingleWords)+":"+string(form), ":"))
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
