package frame

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// Content says what the text of a column is: words where it is empty.
type Content string

const (
	Dates  Content = "dates"
	Commas Content = "numbers with commas"
)

// A Column is a column of a file or of a record reader, as its schema has it.
type Column struct {
	Name     string
	Type     arrow.DataType // of the arrays it is read into; nil if it can't be read
	Desc     string         // the type as messages name it
	Advice   string         // that it is a column of text that is mostly numbers; "" for others
	Remedy   string         // what to do about that
	Content  Content        // of a column of text
	Nullable bool
	Empty    bool           // the first rows have no value that tells the type
	ListDef  int            // of a Parquet file's lists: definition level from which on one has an element; else 0
	Float    arrow.DataType // of arrays that may be read in place of those of typ; nil: none
	Physical int32          // of a Parquet file's values; then the bytes of one, if they are fixed, and the greatest definition level
	Width    int
	MaxDef   int
	MaxList  int      // elements of a list of a Parquet file; 0: those of a dense row
	Index    int      // among a Parquet file's leaf columns, or a record's fields; of svmlight the feature's, or the first of Numbered
	Numbered int      // features of svmlight that the column stands for; 0: it is one
	Parts    []Column // of sparse lists in a Parquet file: their leaf columns; otherwise nil
}

// Label returns the name as a list of columns shows it: in quotes where it wouldn't stay on its line.
func (c Column) Label() string {
	if strconv.CanBackquote(c.Name) {
		return c.Name
	}
	return strconv.Quote(c.Name)
}
