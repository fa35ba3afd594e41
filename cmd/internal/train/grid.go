package train

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/train"
	"halfspace/train/learner"
)

// defaultFolds is the number of folds of a grid without --cv.
const defaultFolds = 5

// checkFolds returns an error if the options can't be cross-validated. It makes the learners of the grid; without a
// grid that is one learner.
func (o *trainOptions) checkFolds(cmd *cobra.Command) error {
	if (len(o.grid) > 0 || o.path > 0) && o.folds == 0 {
		o.folds = defaultFolds
	}
	if err := o.checkPath(cmd); err != nil {
		return err
	}
	if o.figure() != "" && o.folds == 0 {
		return console.Usagef("--score without --cv, --grid or --path: add one of them")
	}
	if err := cmp.Or(o.readGrid(cmd), o.setDefaultL2(cmd)); err != nil {
		return err
	}
	learners, err := o.learner.Grid(o.axes)
	if err != nil {
		return console.Usage(err)
	}
	for i := range learners {
		if learners[i], err = o.finish(learners[i]); err != nil {
			return err
		}
		shared := learners[i].Settings.Shared()
		o.Storage.Shards = max(o.Storage.Shards, min(shared.Shards, int64(shared.Workers)))
		o.Storage.Access = max(o.Storage.Access, learners[i].Access(learners[i].Settings), o.tracing.access())
	}
	o.learners = learners
	if len(o.axes) == 0 {
		o.learner = learners[0]
	}
	return o.checkEffect()
}

// limitShards lowers the workers of trainings with shards to Storage.Shards, the number for which rows.Open found
// memory. It notes the change.
func (o *trainOptions) limitShards(a *console.App) {
	most, wanted := max(1, o.Storage.Shards), int64(0)
	for _, l := range append([]train.Learner{o.learner}, o.learners...) {
		s := l.Settings.Shared()
		if n := min(s.Shards, int64(s.Workers)); n > most {
			l.Settings.RunOptions().Workers, wanted = int(most), max(wanted, n)
		}
	}
	if wanted > 0 {
		a.Note("memory has room for %s at a time, not for %d: give more with --memory to learn faster; the model "+
			"is the same", humanize.Plural(most, "shard"), wanted)
	}
}

// checkPath returns an error if --path can't be used with the other options.
func (o *trainOptions) checkPath(cmd *cobra.Command) error {
	switch {
	case !cmd.Flags().Changed("path"):
	case o.path < 2 || o.path > learner.MaxPoints:
		return console.Usagef("--path is %d: use 2 to %s penalties", o.path, humanize.Count(learner.MaxPoints))
	case o.learner.Option("l1") == nil || !o.learner.IsBatch():
		return console.Usagef("--path with --algo %s, which follows no path: use --algo logistic or svm", o.learner.Name)
	case cmd.Flags().Changed("l1"):
		return console.Usagef("--path with --l1, whose values it chooses: leave one of them out")
	case len(o.grid) > 0:
		return console.Usagef("--path with --grid: leave one of them out")
	case o.multiclass == "joint":
		return console.Usagef("--path with --multiclass joint: --path takes two classes")
	default:
		s := o.learner.Settings.Copy()
		*o.learner.Option("l1").Field(s).(*float64) = 1
		if err := o.learner.CheckCombination(s); err != nil {
			return console.Usage(err)
		}
		o.learner.Settings = s // with l1 > 0, as on the path
	}
	return nil
}

// setDefaultL2 sets l2 to 0 if l1 or a path is given and l2 isn't. It returns an error if l2 is 0, l1 isn't given and
// the learner needs a penalty.
func (o *trainOptions) setDefaultL2(cmd *cobra.Command) error {
	varied := func(name string) bool {
		return slices.ContainsFunc(o.axes, func(a train.Axis) bool { return a.Option == name })
	}
	l1 := o.learner.Text("l1")
	given := l1 != "" && (l1 != "0" || varied("l1") || o.path > 0)
	if given && !cmd.Flags().Changed("l2") && !varied("l2") {
		o.learner.Settings = o.learner.Settings.Copy()
		*o.learner.Option("l2").Field(o.learner.Settings).(*float64) = 0
	}
	zero := func(text string) bool {
		v, err := humanize.ParseNumber(text)
		return err == nil && v == 0
	}
	none := zero(o.learner.Text("l2")) || slices.ContainsFunc(o.axes, func(a train.Axis) bool {
		return a.Option == "l2" && slices.ContainsFunc(a.Values, func(v any) bool { return zero(v.(string)) })
	})
	if l2 := o.learner.Option("l2"); none && !given && l2 != nil && l2.ZeroMeansChosen {
		return console.Usagef("--l2 is 0: use %s", l2.AllowedNumbers)
	}
	return nil
}

// checkEffect returns an error if an option of the grid has no effect in any combination.
func (o *trainOptions) checkEffect() error {
	last := o.learners[len(o.learners)-1]
	for _, axis := range o.axes {
		scaled, effect := false, false
		for _, l := range o.learners {
			only := axis.Option == "eta" && scales(l)
			scaled = scaled || l.Has(axis.Option) && only
			effect = effect || l.Has(axis.Option) && !only
		}
		switch {
		case effect:
		case scaled:
			more := ""
			if last.Option("l2") != nil {
				more = message.Sprintf(" or --l2")
			}
			return console.Usagef("--grid varies %q, which only scales the weights of %s: leave it out, or add "+
				"--margin%s", axis.Option, blame(last, axis.Option), more)
		default:
			return console.Usagef("--grid varies %q, which has no effect with %s: leave it out", axis.Option, blame(last, axis.Option))
		}
	}
	return nil
}

// readGrid reads the options and values that --grid lists.
func (o *trainOptions) readGrid(cmd *cobra.Command) error {
	scratch := new(cobra.Command)
	addLearnerFlags(scratch)
	for _, g := range o.grid {
		name, list, ok := strings.Cut(g, "=")
		if name = strings.TrimPrefix(strings.TrimSpace(name), "--"); !ok || name == "" || strings.TrimSpace(list) == "" {
			return console.Usagef("--grid is %q: write an option and its values, such as l2=0.1,1,10", g)
		}
		if names := o.gridNames(); !slices.Contains(names, name) {
			advice := console.DidYouMean(name, names)
			if other := console.OtherOption(name); other != "" {
				advice = "; in place of " + name + other[1:]
			}
			return console.Usagef("--grid can't vary %q with --algo %s: vary %s%s", name, o.learner.Name, humanize.OneOf(names), advice)
		}
		if cmd.Flags().Changed(name) {
			return console.Usagef("--grid varies %q, which --%s sets: leave one of them out", name, name)
		}
		axis := train.Axis{Option: name}
		for value := range strings.SplitSeq(list, ",") {
			value = strings.TrimSpace(value)
			if err := scratch.Flags().Set(name, value); err != nil {
				return console.Usagef("--grid: %w", console.FlagError(scratch, err))
			}
			axis.Values = append(axis.Values, value)
		}
		o.axes = append(o.axes, axis)
	}
	return nil
}

// gridNames lists the options that a grid can vary: the learner's options. early-stop is one of them only if the
// learner has a pocket, since otherwise it needs validation rows.
func (o *trainOptions) gridNames() (names []string) {
	for _, option := range o.learner.Options {
		if option.Name != "early-stop" || o.learner.Has("pocket") {
			names = append(names, option.Name)
		}
	}
	return names
}
