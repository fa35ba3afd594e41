package cli

import (
	"github.com/spf13/cobra"

	"halfspace/dataset"
)

// textOptions are the options on how CSV and svmlight files are written.
type textOptions struct {
	header, indexBase choice
	delimiter         string
	nullValues        []string
}

func (o *textOptions) addTo(cmd *cobra.Command) {
	addChoice(cmd, &o.header, "header", "of CSV: `WHETHER` the first line names the columns: auto (found out), yes or no", "auto", "yes", "no")
	cmd.Flags().StringVar(&o.delimiter, "delimiter", "", "of CSV: `CHARACTER` between fields, or comma, tab, semicolon, pipe, or "+
		"space for any number of blanks (default found out)")
	cmd.Flags().StringSliceVar(&o.nullValues, "null-values", nil, "of CSV: `TEXTS` and numbers that stand for a null, comma-separated; an empty field, and - in columns of numbers, always do "+
		"(default those of the model, or NA,N/A,NaN,null,None,\\N,?)")
	addChoice(cmd, &o.indexBase, "index-base", "of svmlight: `INDEX` of the first feature: auto (0 where that appears), 0 or 1", "auto", "0", "1")
}

// options returns them as package dataset takes them.
func (o *textOptions) options() dataset.TextOptions {
	return dataset.TextOptions{Header: o.header.value, Delimiter: o.delimiter, IndexBase: o.indexBase.value, NullValues: o.nullValues}
}

// check looks for what is wrong in them.
func (o *textOptions) check() error {
	if err := o.options().Check(); err != nil {
		return usagef("--%w", err)
	}
	return nil
}
