package column

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
)

// Content is the kind of text in a column; "" means words.
type Content string

const (
	Dates  Content = "dates"
	Commas Content = "numbers with commas"
)

// A Column is a column of a file or of a record reader, as its schema describes it.
type Column struct {
	Name      string
	Type      arrow.DataType // type of the arrays it is read into; nil if it can't be read
	Desc      string         // the type's name in messages
	Advice    string         // message that a text column has mostly numbers; "" for other columns
	Remedy    string         // remedy for Advice
	Content   Content        // of a text column
	FirstText string         // of a text column of a text file: its first value that is no number
	// TextType, for a column of a text file, is the type that keeps each text: 64-bit integers if every text of the first rows is
	// the canonical decimal of one, booleans if every text is true or false, otherwise text. nil: Type keeps each value.
	TextType           arrow.DataType
	ReadsTextAsNumbers bool // the first rows have texts where a model takes numbers
	KeepsTexts         bool // Type is TextType: a text that Type can't keep is an error
	IsNumberLabel      bool // the label of a model whose classes are numbers or booleans: a dash is missing, as in its training
	SkipsTexts         bool // of a model's column of numbers: a text that is no number is missing
	ReadsMarks         bool // of a model's column of numbers: texts with marks, such as $1,234, are read; see MarkedNumber
	RefusesCodes       bool // of integers: one with leading zeros contradicts the first rows
	LosesDigits        bool // some integer of the first rows has digits that its number lacks: leading zeros, or more than 64 bits
	IsCode             bool // the first rows have integers alone, some of them with leading zeros
	CountsForms        bool // of a kept column: a text that isn't written as its number is counted; see Batch.OddTexts
	// a kept column of integers: a later number makes it a column of numbers, a later integer with leading zeros one of
	// text
	WidensToNumbers bool
	Nullable        bool
	Empty           bool           // no value in the first rows determines the type
	Integers        bool           // of a text file: the first rows have integers alone, some of them beyond int64
	Digits          bool           // a text file gets Batch.Digits for the column
	ExactDigits     bool           // Batch.Digits has each number as it is written
	ListDef         int            // for lists of a Parquet file: definition level from which on a list has an element; otherwise 0
	Float           arrow.DataType // type of arrays that may be read instead of Type; nil: none
	Physical        int32          // Parquet type of the values; Width is their bytes if fixed, MaxDef the largest definition level
	Width           int
	MaxDef          int
	MaxList         int // maximum number of elements of a list of a Parquet file; 0: the maximum for a dense row
	// among a Parquet file's leaf columns or a record's fields; for svmlight, index of the (first) feature; or Absent
	Index            int
	NumberedFeatures int       // number of svmlight features in the column; 0: the column is one feature
	Labels           bool      // the labels of svmlight: the column is a feature only if an option names it
	Parts            []Column  // for sparse lists in a Parquet file: their leaf columns; otherwise nil
	Constant         *Constant // the value that the file's folders name; nil: they name none
	File             string    // the path of the first file that has the column; "": the first file

	Stored arrow.DataType // the type of the values in the file, if Type is the one of a lake table; nil: Type
	// OutOfRange is for INT96 in Parquet: a timestamp out of the range of nanoseconds is null, and sets OutOfRange. nil: such a
	// timestamp is an error.
	OutOfRange *atomic.Bool
}

// Texts returns the column as it is read for a label, a category or a column to keep: with each text as the file has it.
func (c Column) Texts() Column {
	if c.TextType != nil {
		c.Type, c.Desc, c.KeepsTexts = c.TextType, Describe(c.TextType), true
	}
	return c
}

// As returns the column of another file as it is read in the place of a column of the first file.
func (c Column) As(first Column) Column {
	if c.Float, c.OutOfRange = first.Float, first.OutOfRange; first.KeepsTexts {
		c.Type, c.Desc, c.KeepsTexts = first.Type, first.Desc, true
	}
	return c
}

// HasBooleans returns true if the values are booleans by their type, or are all written true and false in the first rows.
func (c Column) HasBooleans() bool {
	return c.Type.ID() == arrow.BOOL || c.TextType != nil && c.TextType.ID() == arrow.BOOL
}

// Label returns the name for a list of columns: quoted if it has characters that would break the line.
func (c Column) Label() string {
	if strconv.CanBackquote(c.Name) {
		return c.Name
	}
	return strconv.Quote(c.Name)
}

// List returns texts of up to 20 columns, and the number of further columns.
func List(cols []Column, text func(Column) string) string {
	const most = 20
	var all []string
	for _, c := range cols[:min(len(cols), most)] {
		all = append(all, text(c))
	}
	if n := len(cols) - most; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, ", ")
}
