package column

import (
	"strconv"

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
	Name     string
	Type     arrow.DataType // type of the arrays it is read into; nil if it can't be read
	Desc     string         // the type's name in messages
	Advice   string         // message that a text column has mostly numbers; "" for other columns
	Remedy   string         // remedy for Advice
	Content  Content        // of a text column
	Nullable bool
	Empty    bool           // no value in the first rows determines the type
	ListDef  int            // for lists of a Parquet file: definition level from which on a list has an element; otherwise 0
	Float    arrow.DataType // type of arrays that may be read instead of Type; nil: none
	Physical int32          // Parquet type of the values; Width is their bytes if fixed, MaxDef the largest definition level
	Width    int
	MaxDef   int
	MaxList  int      // maximum number of elements of a list of a Parquet file; 0: the maximum for a dense row
	Index    int      // among a Parquet file's leaf columns or a record's fields; for svmlight, index of the (first) feature
	Numbered int      // number of svmlight features in the column; 0: the column is one feature
	Labels   bool     // the labels of svmlight: the column is a feature only if an option names it
	Parts    []Column // for sparse lists in a Parquet file: their leaf columns; otherwise nil
}

// Label returns the name for a list of columns: quoted if it has characters that would break the line.
func (c Column) Label() string {
	if strconv.CanBackquote(c.Name) {
		return c.Name
	}
	return strconv.Quote(c.Name)
}
