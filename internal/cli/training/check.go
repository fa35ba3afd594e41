package training

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/fit"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/files"
	"halfspace/internal/cli/rows"
	"halfspace/internal/cli/slips"
	"halfspace/internal/decimal"
	"halfspace/internal/say"
	"halfspace/kernel"
)

// check returns an error if an option can't be used.
func (o *trainOptions) check(cmd *cobra.Command, args []string) error {
	o.Storage.Out, o.unnamed = o.out, !cmd.Flags().Changed("algo") && o.init == ""
	if err := o.Options.Check(cmd.Context(), args); err != nil {
		return err
	}
	if o.validation == "-" {
		return console.Usagef("--validation is -: name a file, a glob or a directory")
	}
	if _, err := os.Stat(o.validation); err != nil {
		if share := slips.Share(o.validation); share != "" {
			return console.Usagef("--validation is %s: use --validation %s to hold out that share of the rows", o.validation, share)
		}
		if strings.HasSuffix(o.validation, "%") {
			return console.Usagef("--validation is %s: use a share above 0 and below 1, such as 0.2", o.validation)
		}
	}
	if share, err := decimal.Parse(o.validation); err == nil {
		if !(share > 0 && share < 1) {
			return console.Usagef("--validation is %s: a share of the rows is above 0 and below 1, and a file of that name ./%s", o.validation, o.validation)
		}
		o.share = share
	}
	if files.ToStdout(o.out) {
		return console.Usagef("--out is %s: name a file for the model", o.out)
	}
	return o.checkLearner(cmd)
}

// checkLearner returns an error if an option can't be used with the learner, and sets the learner.
func (o *trainOptions) checkLearner(cmd *cobra.Command) error {
	l := fit.Describe(o.algo.Value)
	if l.NeedsBias != "" && o.Columns.NoBias {
		return console.Usagef("--no-bias with --algo %s, %s: leave it out", l.Name, l.NeedsBias)
	}
	if err := o.checkMulticlass(l); err != nil {
		return err
	}
	if err := o.checkWeights(l); err != nil {
		return err
	}
	return o.setLearner(cmd)
}

// openValidation opens the rows to judge on: those of paths, or the share that --validation holds out. Without either there are none.
func openValidation[T kernel.Float](ctx context.Context, a *console.App, o *trainOptions, paths []string, learned *rows.Rows[T],
	bar *console.Progress) (*rows.Rows[T], error) {
	switch {
	case o.share > 0:
		v := new(rows.Rows[T])
		return v, holdOut(ctx, o, learned, v, bar)
	case len(paths) == 0:
		return new(rows.Rows[T]), nil
	}
	return rows.OpenValidation(ctx, a, &o.Options, paths, learned, bar)
}

// holdOut takes a share of the rows out of those that are learned from.
func holdOut[T kernel.Float](ctx context.Context, o *trainOptions, learned, validation *rows.Rows[T], bar *console.Progress) error {
	opt := o.fitOptions(nil, bar)
	opt.HoldOut = o.share
	all := *learned
	parts, err := fit.HoldOut(ctx, all.Source, o.learner, opt)
	if errors.Is(err, fit.ErrEmptyShare) {
		return fmt.Errorf("%s of %s %w: take another share, or another --seed", o.validation, say.Plural(all.Rows(), "row"), err)
	}
	if err != nil {
		return err
	}
	density := learned.Density
	*learned, *validation = *rows.New(parts.Kept, nil), *rows.New(parts.Held, parts.Close)
	learned.Density = density
	return all.Close()
}
