package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/train"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/rows"
	"halfspace/internal/decimal"
	"halfspace/internal/humanize"
	"halfspace/train/learner"
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
		if share := console.Share(o.validation); share != "" {
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
	if console.ToStdout(o.out) {
		return console.Usagef("--out is %s: name a file for the model", o.out)
	}
	return o.checkLearner(cmd)
}

// checkLearner returns an error if an option can't be used with the learner, and sets the learner.
func (o *trainOptions) checkLearner(cmd *cobra.Command) error {
	l := train.Describe(o.algo.Value)
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

// openValidation opens the validation rows: the rows of paths, or the share that --validation holds out. Without both
// it returns empty Rows.
func openValidation(ctx context.Context, a *console.App, o *trainOptions, paths []string, learned *rows.Rows,
	bar *console.Progress) (*rows.Rows, error) {
	switch {
	case o.share > 0:
		v := new(rows.Rows)
		return v, holdOut(ctx, o, learned, v, bar)
	case len(paths) == 0:
		return new(rows.Rows), nil
	}
	return rows.OpenValidation(ctx, a, &o.Options, paths, learned, bar)
}

// holdOut moves a share of the rows from learned to validation.
func holdOut(ctx context.Context, o *trainOptions, learned, validation *rows.Rows, bar *console.Progress) error {
	opt := o.fitOptions(nil, bar)
	opt.HoldOut = o.share
	all := *learned
	parts, err := train.HoldOut(ctx, all.Source, o.learner, opt)
	if errors.Is(err, train.ErrEmptyShare) {
		return fmt.Errorf("%s of %s %w: take another share, or another --seed", o.validation, humanize.Plural(all.Rows(), "row"), err)
	}
	if err != nil {
		return err
	}
	density := learned.Density
	*learned, *validation = *rows.New(parts.Kept, nil), *rows.New(parts.Held, parts.Close)
	learned.Density = density
	return all.Close()
}

// balanced is the value of --class-weight that gives all classes the same total weight.
const balanced = "balanced"

// checkWeights returns an error if the options on weights can't be used, and reads the class weights.
func (o *trainOptions) checkWeights(l *learner.Learner) error {
	o.Storage.Weighted = o.Columns.SampleWeight != "" || len(o.classWeight) > 0
	if o.Storage.Weighted && l.NoWeights != "" {
		name := "sample-weight"
		if o.Columns.SampleWeight == "" {
			name = "class-weight"
		}
		return console.Usagef("--%s with --algo %s, %s: leave it out", name, l.Name, l.NoWeights)
	}
	var err error
	_, o.weights, err = classWeights(o.classWeight)
	return err
}

// classWeights reads the value of --class-weight: the weights of classes, or balanced.
func classWeights(items []string) (isBalanced bool, weights map[string]float64, err error) {
	if len(items) == 1 && items[0] == balanced {
		return true, nil, nil
	}
	for _, item := range items {
		class, weight, err := classWeight(item)
		if err != nil {
			return false, nil, err
		}
		if weights == nil {
			weights = map[string]float64{}
		}
		if weights[class] > 0 {
			return false, nil, console.Usagef("--class-weight %s: the class is named twice: name it once", item)
		}
		weights[class] = weight
	}
	return false, weights, nil
}

func (o *trainOptions) balanced() bool {
	return len(o.classWeight) == 1 && o.classWeight[0] == balanced
}

// classWeight reads an item of --class-weight, CLASS=NUMBER.
func classWeight(item string) (class string, weight float64, err error) {
	i := strings.LastIndexByte(item, '=')
	if i < 0 {
		return "", 0, console.Usagef("--class-weight %s: use %s, or CLASS=W,... with a weight for each class, or \"A,B=W\",... for one with a comma", item, balanced)
	}
	weight, err = decimal.Parse(item[i+1:])
	if err != nil || !(weight > 0) || math.IsInf(weight, 0) {
		return "", 0, console.Usagef("--class-weight %s: %q is no weight, which is a number above 0", item, item[i+1:])
	}
	return item[:i], weight, nil
}
