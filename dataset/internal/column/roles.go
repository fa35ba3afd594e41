// Package column has the types that the readers of all file formats share.
package column

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/schema"
)

// Roles lists the columns that are read, and which of them are features, label, weight and kept columns.
type Roles struct {
	Columns  []Column // as they are in the first file that has them
	Features []int    // numbers in Columns
	Label    int      // number in Columns, or -1
	Weight   int      // number in Columns of the sample weights, or -1
	Keep     []int
	Remedies []string // for text columns that have mostly numbers and were left out
	Plain    bool     // the features are numbers of the file, unchanged

	// NoRowMatches, unless nil, returns true if no row of a part of a file is chosen. bounds has an element for each
	// column.
	NoRowMatches func(file string, rows int64, bounds []Bounds) bool
}

// HandsOn returns true if the values of column k become features, labels or weights, or are kept. Other columns choose
// rows.
func (c *Roles) HandsOn(k int) bool {
	return k == c.Label || k == c.Weight || slices.Contains(c.Features, k) || slices.Contains(c.Keep, k)
}

// Bounds are the statistics of the values of a column in some rows.
type Bounds struct {
	Ends  arrow.Array // a lower and an upper bound of the values that are neither null nor NaN; nil: unknown
	Nulls int64       // number of nulls; -1: unknown
}

// A columnBinder chooses the columns to read.
type columnBinder interface {
	// BindAll chooses among the columns of all files, which is the name of the files. The label may be given as the number of one of the
	// first numbered columns.
	BindAll(files string, cols []Column, numbered int) (*Roles, error)
	// Unnamed returns true if the choices name no column but the label, and don't change the numbers of width features:
	// BindAll may get these features as one numbered column.
	Unnamed(width int) bool
	// BindFile returns the chosen columns as they are in a file.
	BindFile(file string, cols []Column) ([]Column, error)
}

// OpenOptions are the parameters for opening files of any format.
type OpenOptions struct {
	Binder       columnBinder
	Spec         *schema.Spec // Spec of a model whose features are requested; nil: none
	Words        []string     // texts that are nulls; nil: the default texts
	Memory       int64        // maximum number of bytes of memory; 0: no limit
	Count        bool         // count the rows and their values when the files are opened
	MostFeatures int          // maximum number of features of numbered columns
	Live         bool         // pass on rows as soon as they arrive
	Texts        []string     // columns of text, whatever the first rows of a text file have
	TypedColumns []string     // columns whose type an option names: numbers may stand beside other texts in them
	// KeepsCodes: a column of integers of which some have leading zeros is text, unless TypedColumns has it
	KeepsCodes bool
	SkipsTexts bool     // for Spec: a text in a column of numbers is missing
	Rejects    *Rejects // gets the lines of text files that can't be read; nil: they are an error
	Progress   func(rows, total int64)

	Constants [][]Column // of each file: the columns that its folders name, the same in each; nil: none
}
