// Package plan decides how the columns of a table become features.
package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// treatments are the ways in which columns become features. A column goes to the first treatment that takes it, of
// those with the word that --type has for the column. The word "" is for columns without a word.
var treatments = []registration{
	{&ignoredColumns, []Word{Ignore}},
	{&lists, nil},              // lists of numbers, features of svmlight
	{&emptyColumns, nil},       // no value
	{&byteColumns, []Word{""}}, // bytes that are no text
	{&codedTexts, []Word{"", Category, hash, SingleWords, WordPairs, WordChars}}, // categories, hashes or words, by an option
	{&constant, []Word{""}},                                           // one value
	{&counter, []Word{""}},                                            // whole numbers that count the rows
	{&truths, []Word{"", Boolean}},                                    // texts of yes and no
	{&pointNumbers, []Word{"", Number, NumberPoint}},                  // texts such as $1,234.5
	{&commaNumbers, []Word{"", Number, NumberComma}},                  // texts such as 1.234,5 €
	{&textDates, []Word{"", Date, DateDMY, DateMDY, DateYMD}},         // texts of dates and times
	{&dates, []Word{"", Date, DateDMY, DateMDY, DateYMD}},             // dates and times
	{&numbers, []Word{"", Number, NumberPoint, NumberComma, Boolean}}, // other numbers, booleans
	{&freeTexts, []Word{""}},                                          // texts of several words that mostly differ
	{&nameTexts, []Word{""}},                                          // texts that nearly all differ
	{&hashedTexts, []Word{"", Text}},                                  // many texts
	{&categories, []Word{"", Text}},                                   // other texts
}

// A registration is a treatment with the words of --type that name it.
type registration struct {
	*treatment
	words []Word // nil: all but Ignore
}

// Begin prepares a column for the counts. Its fields up to Semicolons are known.
func (c *Counts) Begin() {
	c.Min, c.Max, c.CountsRows, c.Range = math.Inf(1), math.Inf(-1), true, newRange()
	if !c.HasTexts {
		return
	}
	for _, t := range treatments {
		if t.readings != nil {
			for _, r := range t.readings() {
				c.fits = append(c.fits, fit{reading: r})
			}
		}
	}
}

// treatmentOf returns the treatment of a column, or nil if none with the column's word takes it.
func treatmentOf(c *Counts) *treatment {
	word := c.Word.family()
	for _, t := range treatments {
		switch {
		case t.treatment != &byteColumns && t.treatment != &ignoredColumns && c.hasBytes(): // an option names it
		case t.words != nil && !slices.Contains(t.words, word):
		case t.takes != nil && t.takes(c), t.reads != nil && t.reads(c) != nil:
			return t.treatment
		}
	}
	return nil
}

// unfit returns the error that no treatment with the column's word takes it.
func (c *Counts) unfit() error {
	if c.hasBytes() {
		return c.noTextError()
	}
	wanted := map[Word]string{Boolean: "yes or no", Number: "numbers", Date: "dates of one form"}[c.Word.kind()]
	has := "has the texts " + strings.Join(quoteAll(c.Examples), ", ")
	if _, f := best(c, func(r reading) bool { return Word(r.noun()) == c.Word.kind() }); f != nil && len(f.odd) > 0 {
		has = "has the texts " + c.quoteOdd(f, false)
	}
	if !c.HasTexts {
		has = "has numbers"
	}
	if !c.HasTexts && c.Word.kind() == Date {
		wanted = "dates"
	}
	err := message.Errorf("column %q is to be %s by --type, and %s: choose another type", c.Input.Name, wanted, has)
	return column.Mark(err, column.ErrColumn)
}

func quoteAll(texts []string) (all []string) {
	for _, t := range texts {
		all = append(all, fmt.Sprintf("%.40q", t))
	}
	return all
}

// ParseTypes parses the option type: COLUMN=TYPE items.
func ParseTypes(items []string) (map[string]Word, error) {
	types := map[string]Word{}
	for _, item := range items {
		name, word := SplitType(item)
		if name == "" || word == hash || !slices.Contains(allWords(), word.family()) {
			return nil, fmt.Errorf("use COLUMN=TYPE, with the type %s, in place of %q", humanize.OneOf(TypeWords()), item)
		}
		types[name] = word
	}
	return types, nil
}

// TypeWords returns the words of the option type, as its help lists them.
func TypeWords() (names []string) {
	for _, word := range allWords() {
		if word == hash {
			word += "BITS"
		}
		names = append(names, string(word))
	}
	return names
}

// allWords returns the words of all treatments, in order.
func allWords() (all []Word) {
	for _, t := range treatments {
		all = append(all, slices.DeleteFunc(slices.Clone(t.words), func(w Word) bool { return w == "" })...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
