package rows

import (
	"context"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
)

// Split are the options on which rows stay together when some are held back. Their columns aren't features.
type Split struct {
	Group   string // column of groups
	OrderBy string // column of times
	how     flags.Choice
}

// AddTo adds the flags.
func (s *Split) AddTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Group, "group", "", "`COLUMN` Rows with the same value of this column, which is no feature, stay together: in one fold, and on one side of --validation.")
	flags.AddChoice(cmd, &s.how, "split", "`random|time` How rows are held back: at random within each class, or in order of time (the order of the rows), so that later rows are judged by models of earlier ones. "+
		"--cv 5 then cuts the rows into six pieces, and judges each but the first by the pieces before.", "random", "time")
	f.StringVar(&s.OrderBy, "order-by", "", "`COLUMN` --split time in the order of this column, which is no feature: numbers, dates, or texts such as 2006-01-02.")
}

// InOrder tells whether rows are held back in order of time.
func (s *Split) InOrder() bool { return s.how.Value == "time" }

// Check returns an error if the options exclude each other.
func (s *Split) Check() error {
	if s.Group != "" && (s.InOrder() || s.OrderBy != "") {
		return console.Usagef("--group with --split time or --order-by: leave one of them out")
	}
	return nil
}

// Name describes how rows are held back, as part of a cache's key.
func (s *Split) Name() string {
	switch {
	case s.Group != "":
		return ", groups of " + s.Group
	case s.OrderBy != "":
		return ", in order of " + s.OrderBy
	case s.InOrder():
		return ", in order"
	}
	return ""
}

// columns returns the columns that aren't features.
func (s *Split) columns() (names []string) {
	for _, name := range []string{s.Group, s.OrderBy} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Ranks returns the rank of each row's value in the column of groups or of times; nil without --group and --order-by.
func Ranks(ctx context.Context, o *Options, paths []string, bar *console.Progress) ([]int64, error) {
	columns := o.Split.columns()
	if columns == nil {
		return nil, nil
	}
	return o.options(bar).Ranks(ctx, paths, columns[0], o.Split.OrderBy != "")
}
