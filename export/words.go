package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"halfspace/internal/words"
	"halfspace/schema"
)

// wordForms are the forms of words, by their numbers in written files.
var wordForms = []schema.WordForm{schema.SingleWords, schema.WordPairs, schema.WordChars}

// wordsStatement returns the statement that sets the features of the words of a text.
func (s *source) wordsStatement(l *language, value string, p *placedInput) string {
	buckets, weights := l.null, l.null
	if !p.Words.AllBuckets {
		buckets = l.wholeTable(s.name, fmt.Sprintf("buckets%d", p.first))
		weights = l.wholeTable(s.name, fmt.Sprintf("weights%d", p.first))
	}
	return strings.NewReplacer("NAME", s.name, "AT", strconv.Itoa(p.first), "VALUE", value,
		"FORM", strconv.Itoa(slices.Index(wordForms, p.Words.Form)),
		"MASK", strconv.Itoa(1<<p.Words.Bits-1), "BUCKETS", buckets, "WEIGHTS", weights,
		"COUNT", strconv.Itoa(p.Words.Width())).Replace(l.statements["words"])
}

// wholeTable returns the expression for a whole table.
func (l *language) wholeTable(name, table string) string {
	if l.extension == ".c" {
		return name + "_" + table
	}
	return table + "[:]"
}

// wordTables writes the tables of the columns of words: their buckets and weights, and once the classes and case foldings of code
// points and logarithms.
func (s *source) wordTables(l *language, all []field) {
	const whole, float = 0, 2
	write := func(kind int, name, comment string, length int, elements []string) {
		s.line(l.table, l.types[kind], name, length, comment)
		for _, e := range elements {
			s.line("%s%s,", l.tab, e)
		}
		s.line("%s", l.blockEnd)
	}
	any := false
	for i := range all {
		for k := range all[i].inputs {
			p := &all[i].inputs[k]
			if p.Words == nil {
				continue
			}
			any = true
			if of := fmt.Sprintf(" // of the words of %q", p.Name); !p.Words.AllBuckets {
				write(whole, fmt.Sprintf("buckets%d", p.first), of, len(p.Words.Buckets), textsOf(p.Words.Buckets, strconv.Itoa))
				write(float, fmt.Sprintf("weights%d", p.first), of, len(p.Words.Weights), textsOf(p.Words.Weights, number))
			}
		}
	}
	if !any {
		return
	}
	joined := func(numbers []int) string { return strings.Join(textsOf(numbers, strconv.Itoa), ", ") }
	codes, folds := words.Classes(), words.Folds()
	write(whole, "codes", " // of code points: first, last, class", 3*len(codes), textsOf(codes, joined))
	write(whole, "folds", " // of code points: first, last, step, distance to the folded case", 4*len(folds), textsOf(folds, joined))
	logarithms := words.Logarithms()
	write(float, "logarithms", "", len(logarithms), textsOf(logarithms, number))
}
