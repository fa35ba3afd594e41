// Package frame has what the readers of all formats share: columns in batches, the choice of columns, workers, errors.
package frame

import (
	"halfspace/schema"
)

// Chosen are the columns that are read, each once, and what for.
type Chosen struct {
	Columns  []Column // as in the first file
	Features []int    // numbers in columns
	Label    int      // or -1
	Weight   int      // of rows; or -1
	Keep     []int
	Odd      []string // what to do about columns of text that are mostly numbers and were left out
	Plain    bool     // the features are numbers of the file as they are
}

// A columnChooser chooses the columns to read.
type columnChooser interface {
	// First chooses among the columns of the first file. A label may be the number of a column if numbered is set.
	First(file string, cols []Column, numbered bool) (*Chosen, error)
	// Further returns the chosen columns as a further file has them.
	Further(file string, cols []Column) ([]Column, error)
}

// A Request is what a format must know to open files.
type Request struct {
	Choose   columnChooser
	Spec     *schema.Spec // of a model whose features are wanted; nil: none
	Words    []string     // that are nulls in text; nil: the default ones
	Memory   int64        // bytes that may be taken; 0: no bound
	Count    bool         // find the number of rows, and of their values, at once
	Most     int          // features of numbered columns
	Live     bool         // rows are handed on as they come
	Progress func(rows, total int64)
}
