package cli

import (
	"github.com/spf13/cobra"

	"halfspace/dataset"
	"halfspace/internal/cli/console"
)

// textOptions are the options on how CSV and svmlight files are written.
type textOptions struct {
	header, indexBase choice
	delimiter         string
	nullValues        []string
}

func (o *textOptions) addTo(cmd *cobra.Command) {
	addChoice(cmd, &o.header, "header", "`auto|yes|no` Whether the first line of a CSV file names the columns. auto finds out.", "auto", "yes", "no")
	cmd.Flags().StringVar(&o.delimiter, "delimiter", "", "`CHARACTER` Character between the fields of a CSV file. Also comma, tab, semicolon, pipe, or "+
		"space for any number of blanks. (default found out)")
	cmd.Flags().StringSliceVar(&o.nullValues, "null-values", nil, "`TEXT,...` Texts and numbers that mean a missing value in CSV files. An empty field always does, and so does - "+
		"in a column of numbers. (default those of the model, or NA,N/A,NaN,null,None,\\N,?)")
	addChoice(cmd, &o.indexBase, "index-base", "`auto|0|1` Index of the first feature in svmlight files. auto is 0 if the index 0 appears, else 1.", "auto", "0", "1")
}

// options returns them as package dataset takes them.
func (o *textOptions) options() dataset.TextOptions {
	return dataset.TextOptions{Header: o.header.value, Delimiter: o.delimiter, IndexBase: o.indexBase.value, NullValues: o.nullValues}
}

// check looks for what is wrong in them.
func (o *textOptions) check() error {
	if err := o.options().Check(); err != nil {
		return console.Usagef("--%w", err)
	}
	return nil
}
