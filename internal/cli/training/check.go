package training

import (
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/fit"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/files"
	"halfspace/internal/cli/slips"
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
	if share, err := strconv.ParseFloat(o.validation, 64); err == nil {
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
