package train

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/train"
	"halfspace/schema"
)

// check returns an error if an option can't be used, and sets the learner.
func (o *trainOptions) check(cmd *cobra.Command, args []string) error {
	o.Storage.Out, o.hasDefaultLearner = o.out, !cmd.Flags().Changed("algo") && o.init == ""
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
	if share, err := humanize.ParseNumber(o.validation); err == nil {
		if err := train.CheckShare(share); err != nil {
			return console.Usagef("%w, or ./%s for a file of that name", err, o.validation)
		}
		o.share = share
	}
	o.Storage.HasWeights = o.Data.SampleWeight != "" || len(o.classWeight) > 0
	if console.ToStdout(o.out) {
		return console.Usagef("--out is %s: name a file for the model", o.out)
	}
	if o.out != "" && o.saving.Dir != "" && sameFile(o.out, o.saving.Dir) {
		return console.Usagef("--out and --checkpoint are both %s: name a file for the model, and another folder", o.out)
	}
	if err := o.readWeights(); err != nil {
		return err
	}
	return o.setLearner(cmd)
}

// checkTraining returns an error if package train can't train the learners of the grid with the options.
func (o *trainOptions) checkTraining() error {
	s := &train.Session{Options: o.trainingOptions()}
	if s.HoldOut = o.share; o.validation != "" && o.share == 0 {
		s.Validation = new(block.Data) // the files aren't open yet
	}
	spec := &schema.Spec{Bias: !o.Data.NoBias, Weighted: o.Data.SampleWeight != "" || o.Data.Weights != ""}
	for _, l := range o.learners {
		if err := s.Check(l, spec); err != nil {
			return err
		}
	}
	return nil
}

// openValidation opens the validation rows, if there are any: the rows of paths, or the share that --validation holds out
// of the training rows.
func (t *trainer) openValidation(ctx context.Context, paths []string) (err error) {
	if t.share == 0 {
		if t.validation = new(dataset.Rows); len(paths) > 0 {
			t.validation, err = flags.OpenValidation(ctx, t.App, &t.Options, paths, t.data, t.bar)
		}
		return err
	}
	opt, all := t.fitOptions(), t.data
	opt.HoldOut = t.share
	parts, err := train.HoldOut(ctx, all.Source, t.learner, opt)
	if errors.Is(err, train.ErrEmptyShare) {
		return message.Errorf("%s of %s %w: take another share, or another --seed", t.trainOptions.validation,
			humanize.Plural(all.Rows(), "row"), err)
	}
	if err != nil {
		return err
	}
	t.parts = parts
	t.data, t.validation = dataset.NewRows(parts.KeptRows, nil), dataset.NewRows(parts.HeldRows, parts.Close)
	t.data.Density = all.Density
	return all.Close()
}

// balancedWeights is the value of --class-weight that gives all classes the same total weight.
const balancedWeights = "balanced"

// judgingOptions holds the options of train and compare on folds, on the score that judges, on chance and on class weights.
type judgingOptions struct {
	folds       int
	score       string
	seed        uint64
	classWeight []string

	isBalanced bool               // --class-weight is balanced
	weights    map[string]float64 // values of --class-weight, by class
}

// addScore adds --score. The help begins with lead and ends with more.
func (o *judgingOptions) addScore(cmd *cobra.Command, lead, more string) {
	scores := append([]string{autoName}, train.Scores...)
	flags.AddChoice(cmd, &o.score, "score", "`METRIC` "+lead+": "+humanize.OneOf(scores)+
		". auto is weighted if rows or classes have weights, else errors."+more, scores...)
}

// addWeights adds --class-weight. where says in the help in which places the weights count.
func (o *judgingOptions) addWeights(f *pflag.FlagSet, where string) {
	f.StringSliceVar(&o.classWeight, "class-weight", nil,
		"`CLASS=NUMBER,...|balanced` Multiply the sample weights of a class by a number"+where+
			". balanced takes, for k classes, "+
			"all rows / (k * rows of the class). Quote an item whose class has a comma: '\"A,B=NUMBER\",...'.")
}

func (o *judgingOptions) addSeed(f *pflag.FlagSet) {
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` Seed of all random choices.")
}

// figure returns the score to judge by, or "" for the learner's own.
func (o *judgingOptions) figure() string {
	if o.score == autoName {
		return ""
	}
	return o.score
}

// readWeights reads the value of --class-weight: the weights of classes, or balanced.
func (o *judgingOptions) readWeights() error {
	if o.isBalanced = slices.Equal(o.classWeight, []string{balancedWeights}); o.isBalanced {
		return nil
	}
	for _, item := range o.classWeight {
		i := strings.LastIndexByte(item, '=')
		if i < 0 {
			return console.Usagef("--class-weight %s: use %s, or CLASS=W,... with a weight for each class, or "+
				"\"A,B=W\",... for one with a comma", item, balancedWeights)
		}
		weight, err := humanize.ParseNumber(item[i+1:])
		if err != nil {
			return console.Usagef("--class-weight %s: %q is no weight, which is a number above 0", item, item[i+1:])
		}
		if o.weights == nil {
			o.weights = map[string]float64{}
		}
		if _, twice := o.weights[item[:i]]; twice {
			return console.Usagef("--class-weight %s: the class is named twice: name it once", item)
		}
		o.weights[item[:i]] = weight
	}
	return (&train.Weights{Classes: o.weights}).Check()
}

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
		return message.Errorf("%s: a model of --algo %s has no vector of weights to begin with: use one of --algo %s",
			o.init, m.Algorithm, humanize.OneOf(train.NamesWithInit()))
	}
	if !cmd.Flags().Changed("algo") {
		o.algo = m.Algorithm
		if m.Algorithm == train.OnlineName {
			o.algo = "perceptron"
		}
		if train.Describe(o.algo) == nil {
			return message.Errorf("%s: a model of %s can't go on without --algo: use %s", o.init, m.Algorithm,
				humanize.OneOf(train.NamesWithInit()))
		}
	}
	for _, name := range []string{"features", "exclude", "categorical", "positive", "no-bias", "nulls", "standardize"} {
		if cmd.Flags().Changed(name) {
			a.Note("--%s has no effect with --init: the model has its own", name)
		}
	}
	o.initModel = m
	o.Follow(m.Spec())
	return nil
}

func (o *trainOptions) holdsBack() bool { return o.share > 0 || o.holdsFolds() }

// noteSplit notes that the options on splitting have no effect, if no rows are held back.
func (o *trainOptions) noteSplit(a *console.App) {
	if o.holdsBack() {
		return
	}
	for _, s := range [][2]string{{"group", o.Split.Group}, {"order-by", o.Split.OrderBy}} {
		if s[1] != "" {
			a.Note("--%s leaves out column %q, and has no other effect without --validation SHARE, --cv, --grid, "+
				"--path, --calibrate or --threshold f1", s[0], s[1])
		}
	}
	if o.Split.InOrder() {
		a.Note("--split has no effect without --validation SHARE, --cv, --grid, --path, --calibrate or --threshold f1")
	}
}

// keptRows returns the choice of the rows that remain for the training after --validation held out its share.
func (o *trainOptions) keptRows(counts []int64) func(class int) bool {
	has, err := o.split.HoldOut(o.seed, o.share, counts)
	if err != nil { // the files changed: train.HoldOut reports it
		return func(int) bool { return true }
	}
	return has.Others()
}

// thresholdName is the option of the model's threshold. Winnow has an option with the same name for its own threshold,
// a number.
const thresholdName = "threshold"

// thresholdUsage is the help text of --threshold for learners other than winnow.
const thresholdUsage = "`NUMBER|p=NUMBER|f1|cost=FP:FN` Keep a threshold in the model, which predict, eval and the " +
	"exports obey: this number, the score of a probability (p=0.3), or the score with the best F1 (f1) or the least " +
	"cost on five held-out folds. cost=1:5 says that a false positive costs 1 and a false negative 5. (default 0)"

// choosesThreshold tells whether held-out folds choose the threshold.
func (o *trainOptions) choosesThreshold() bool { return o.threshold.NeedsRows() }

// holdsFolds tells whether the training deals the rows into folds: for a cross-validation, a calibration or a
// threshold.
func (o *trainOptions) holdsFolds() bool {
	return o.folds > 0 || o.calibrates() || o.choosesThreshold()
}
