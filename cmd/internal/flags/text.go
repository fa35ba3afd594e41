package flags

import (
	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
)

// Text holds the options for CSV and svmlight files.
type Text struct {
	header, indexBase Choice
	delimiter         string
	nullValues        []string
}

// AddTo adds the flags.
func (o *Text) AddTo(cmd *cobra.Command) {
	AddChoice(cmd, &o.header, "header", "`auto|yes|no` Whether the first line of a CSV file names the columns. auto finds out.", "auto", "yes", "no")
	cmd.Flags().StringVar(&o.delimiter, "delimiter", "", "`CHARACTER` Character between the fields of a CSV file. Also comma, tab, semicolon, pipe, or "+
		"space for any number of blanks. (default found out)")
	cmd.Flags().StringSliceVar(&o.nullValues, "null-values", nil, "`TEXT,...` Texts and numbers that mean a missing value in CSV files. An empty field always does, and so does - "+
		"in a column of numbers. (default those of the model, or NA,N/A,NaN,null,None,\\N,?)")
	AddChoice(cmd, &o.indexBase, "index-base", "`auto|0|1` Index of the first feature in svmlight files. auto is 0 if the index 0 appears, else 1.", "auto", "0", "1")
}

// Options returns the options for package dataset.
func (o *Text) Options() dataset.TextOptions {
	return dataset.TextOptions{Header: o.header.Value, Delimiter: o.delimiter, IndexBase: o.indexBase.Value, NullValues: o.nullValues}
}

// Check returns an error if an option can't be used.
func (o *Text) Check() error {
	if err := o.Options().Check(); err != nil {
		return console.Usagef("--%w", err)
	}
	return nil
}
