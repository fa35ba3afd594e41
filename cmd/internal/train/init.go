package train

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/train"

	"halfspace/internal/humanize"
)

// loadInit loads the model of --init. It sets the options that the model determines: the features, their preprocessing,
// the type, and the learner if --algo isn't given.
func (o *trainOptions) loadInit(a *console.App, cmd *cobra.Command) error {
	if o.init == "" {
		return nil
	}
	m, err := console.LoadModel(cmd.Context(), o.init, o.Storage.Memory.Bytes)
	if err != nil {
		return err
	}
	if m.Expansion != nil || m.Voters != nil {
		return fmt.Errorf("%s: a model of --algo %s has no vector of weights to begin with: use one of --algo %s", o.init, m.Algorithm, humanize.OneOf(train.Beginners()))
	}
	if !cmd.Flags().Changed("algo") {
		o.algo.Value = m.Algorithm
		if m.Algorithm == train.OnlineName {
			o.algo.Value = "perceptron"
		}
		if train.Describe(o.algo.Value) == nil {
			return fmt.Errorf("%s: a model of %s can't go on without --algo: use %s", o.init, m.Algorithm, humanize.OneOf(train.Beginners()))
		}
	}
	if !slices.Contains(train.Beginners(), o.algo.Value) {
		return console.Usagef("--init with --algo %s, which begins with zeros: use --algo %s", o.algo.Value, humanize.OneOf(train.Beginners()))
	}
	if f := cmd.Flags(); f.Changed("cv") || f.Changed("grid") {
		return console.Usagef("--init with --cv or --grid, whose folds the model may have seen: leave one of them out")
	}
	for _, name := range []string{"features", "exclude", "categorical", "positive", "no-bias", "nulls", "standardize"} {
		if cmd.Flags().Changed(name) {
			a.Note("--%s has no effect with --init: the model has its own", name)
		}
	}
	o.begin = m
	o.Columns.Follow(m.Spec())
	return nil
}
