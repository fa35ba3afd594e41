package plan

import (
	"fmt"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/internal/words"
	"halfspace/schema"
)

// Counts are the counts of a column's values, by which a treatment takes it.
type Counts struct {
	Input         *schema.Column // how the column becomes features if its values stay as they are
	Type          string         // the type of the values, in messages
	Word          Word           // the type that an option names
	IsNamed       bool           // the option features names the column
	IsCategorical bool           // the option categorical names the column, or all columns
	HasTexts      bool           // the values are texts, or used as texts
	HasDates      bool           // the values are dates or times by their type
	Layout        string         // schema.ClockLayout if the values are times of day by their type, otherwise ""
	HasIntegers   bool           // the type is an integer type

	LacksTypes bool // the command has no option type
	Semicolons bool // the fields of the text file are apart by semicolons, which a decimal comma suggests

	Rows, Missing int64    // number of values, and of missing ones
	Distinct      int      // number of different values; of numbers and dates only if they are counted
	HasMore       bool     // there are more different values than Distinct
	Examples      []string // of the values

	Min, Max   float64 // of numbers
	Varies     bool    // two whole numbers differ, though Min and Max may be the same float64
	CountsRows bool    // each number is above the number of its row by the same amount
	Range      Range   // of dates

	byteValues  int64  // number of values that are bytes and no text
	firstBytes  string // the first of these values
	typeOfBytes bool   // it is of a type of bytes, not of texts

	OddTexts []OddText // texts that some reading can't read
	fits     []fit     // the readings that can read most texts so far
	sampled  wordSample
}

// A reading reads the texts of a column in one way, such as numbers with a decimal comma.
type reading interface {
	// read records the value of a text, whose first row is row. It returns false if the text has none.
	read(text string, row int64) bool
	// noun returns the name of a value, such as number. "": a column with a text that the reading can't read has other
	// values.
	noun() string
}

// A fit is a reading, and the texts of a column that the reading can't read.
type fit struct {
	reading
	odd []int // their numbers in Counts.OddTexts
}

// An OddText is a text of a column that some reading can't read.
type OddText struct {
	Text string
	Rows int64  // number of rows with the text
	Row  int64  // the first of them
	File string // the file of Row, if the table has several files
	Line int64  // the line of Row; 0: unknown

	missing bool // people write the text where they have no value
}

// place returns the line of the first row with the text, or the row if its line is unknown.
func (o OddText) place() string {
	switch {
	case o.Line == 0:
		return fmt.Sprintf("row %d", o.Row)
	case o.File != "":
		return fmt.Sprintf("%s: line %d", o.File, o.Line)
	}
	return fmt.Sprintf("line %d", o.Line)
}

// values returns the number of values that aren't missing.
func (c *Counts) values() int64 { return c.Rows - c.Missing }

// noOption returns true if the values alone decide how the column becomes features.
func (c *Counts) noOption() bool { return c.Word == "" && !c.IsNamed }

// derived returns the input whose number derives from the texts of the column.
func (c *Counts) derived(d schema.Derivation) []schema.Column {
	return []schema.Column{{Name: c.Input.Name, Kind: schema.NumberColumn, Derive: d}}
}

// otherReading returns the end of a note: another value that a text could be, and the type by which it is that value.
func (c *Counts) otherReading(value, typ string) string {
	if c.LacksTypes {
		return "; it could be " + value
	}
	return message.Sprintf("; if it is %s, use --type %s", value, column.InShell([]string{c.Input.Name + "=" + typ}))
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
