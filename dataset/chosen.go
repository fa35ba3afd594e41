package dataset

import "halfspace/schema"

// chosen are the columns that are read, each once, and what for.
type chosen struct {
	columns  []column // as in the first file
	features []int    // numbers in columns
	label    int      // or -1
	weight   int      // of rows; or -1
	keep     []int
	odd      []string // what to do about columns of text that are mostly numbers and were left out
	plain    bool     // the features are numbers of the file as they are
}

// A columnChooser chooses the columns to read.
type columnChooser interface {
	// first chooses among the columns of the first file. A label may be the number of a column where numbered is set.
	first(file string, cols []column, numbered bool) (*chosen, error)
	// further returns the chosen columns as a further file has them.
	further(file string, cols []column) ([]column, error)
}

// A request is what a format must know to open files.
type request struct {
	choose   columnChooser
	spec     *schema.Spec // of a model whose features are wanted; nil: none
	words    []string     // that are nulls in text; nil: the default ones
	memory   int64        // bytes that may be taken; 0: no bound
	live     bool         // rows are handed on as they come
	progress func(rows, total int64)
}
