// Package plan decides how the columns of a table become features.
package plan

import (
	"slices"

	"halfspace/internal/message"
	"halfspace/schema"
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
	{&names, []Word{""}},                                              // texts that nearly all differ
	{&hashedTexts, []Word{"", Text}},                                  // many texts
	{&categories, []Word{"", Text}},                                   // other texts
}

// A registration is a treatment with the words of --type that name it.
type registration struct {
	*treatment
	words []Word // nil: all but Ignore
}

// A treatment is a way in which a column becomes features, or the reason to leave a column out.
type treatment struct {
	// readings returns the ways in which the treatment reads texts. nil: it reads none.
	readings func() []reading
	// reads returns the reading by which the treatment takes texts. nil: it doesn't take the column.
	reads func(c *Counts) *fit
	// takes returns true if the treatment takes the values of a column. nil: see reads.
	takes func(c *Counts) bool
	// inputs returns how the column becomes features. nil: the column is left out.
	inputs func(c *Counts) []schema.Column
	// becomes returns a few words for the features that inputs returned, or for the reason to leave the column out.
	becomes func(c *Counts, inputs []schema.Column) string
	// notes returns the decisions about a column that could have gone another way. nil: there are none.
	notes func(c *Counts) []string
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

// alwaysWords returns the function becomes of a treatment that always has the same words.
func alwaysWords(words string) func(*Counts, []schema.Column) string {
	return func(*Counts, []schema.Column) string { return message.Translate(words) }
}

// noInputs returns the function inputs of a treatment that leaves columns out.
func noInputs(*Counts) []schema.Column { return nil }
