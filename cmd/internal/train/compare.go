package train

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/dataset"
	"halfspace/train"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/cmd/internal/report"
	"halfspace/cmd/internal/rows"

	"halfspace/internal/humanize"
	"halfspace/schema"
	"halfspace/train/learner"
)

type compareOptions struct {
	rows.Options
	folds       int
	seed        uint64
	json        bool
	score       flags.Choice
	algo, skip  []string // names of learners
	classWeight []string
	reporting   report.Options

	balanced bool
	weights  map[string]float64 // values of --class-weight, by class
}

// An entrant is a learner that compare tries, with options that bound its time.
type entrant struct {
	options string // options of train, without the options on data
	most    int64  // largest number of rows; 0 is any number
	classes int    // 2: only two classes; 3: only more than two; 0: any number
	boolean bool   // it takes features that are 0 or 1, and no standardized ones
}

var entrants = []entrant{
	{options: "--algo averaged --order shuffle --epochs 10"},
	{options: "--algo perceptron --order shuffle --epochs 10"},
	{options: "--algo passive-aggressive --C 0.1 --order shuffle --epochs 10"},
	{options: "--algo ftrl --order shuffle --epochs 10"},
	{options: "--algo adagrad --order shuffle --epochs 10"},
	{options: "--algo pocket --order shuffle --epochs 10 --max-updates 10000", classes: 2},
	{options: "--algo pocket --pocket epoch --order shuffle --epochs 10", classes: 3},
	{options: "--algo voted --order shuffle --epochs 10", most: 10_000},
	{options: "--algo winnow --winnow balanced --epochs 10", boolean: true},
	{options: "--algo kernel-perceptron --kernel rbf --form averaged --order shuffle --epochs 10", most: 3_000},
	{options: "--algo logistic"},
	{options: "--algo lda"},
	{options: "--algo svm"},
	{options: "--algo svm --loss hinge", most: 100_000},
}

const compareLong = `Compare judges every learner that suits the rows of DATA by cross-validation.
All learners get the same folds. A model of the other folds predicts each fold.
Rows are dealt at random within each class, or as --group and --split say.
Features are standardized within each fold, unless --standardize=false.
Rows of svmlight or of sparse lists with more than 16,384 features stay as they
are.

The table shows the best learner first, by --score. Of equal learners, the one
with the least log loss comes first. Learners without the score come last. The
columns are:

  - the score, if it is none of the figures below
  - the errors and the accuracy over all rows
  - the area under the ROC curve (mean over the folds); of more than two
    classes the mean of the areas of each class versus the rest
  - the log loss, for learners with probabilities
  - train s: the seconds of one training (mean over the folds)
  - total s: the seconds of all trainings and of judging their models

With --class-weight or --sample-weight, the AUC, the log loss and all scores but
errors are by weight.

The last line is the baseline, which always predicts the class with the most
rows. The command below the table trains the best learner on all rows. Ctrl-C
prints the table of the folds so far; the exit status is 130.

Some limits keep the run short. Learners that visit rows one by one make 10
epochs, and pocket makes 10,000 updates. voted runs on up to 10,000 rows, the
kernel perceptron on 3,000, svm with --loss hinge on 100,000. A learner is left
out after its first training if its model takes more than 10^10 multiplications
to predict all rows, and more than 500 times those of a linear model. --algo
lifts the limits on rows and on multiplications. winnow runs with
--standardize=false if all features are 0 or 1. dual is left out: without a
kernel it equals perceptron.`

// Compare returns the command that judges all learners.
func Compare(a *console.App) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare DATA... --label COLUMN [options]",
		Short: "Judge all learners by cross-validation",
		Long:  compareLong,
		Example: `  halfspace compare train.parquet --label y
  halfspace compare train.csv --label y --exclude id --categorical onehot --cv 10 --json
  halfspace compare train.parquet --label y --score auc --class-weight balanced --skip voted,pocket --report compare.html`,
	}
	o.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("standardize") {
			o.Columns.Standardize, o.Columns.KeepWide = true, true
		}
		if err := o.check(cmd.Context(), args); err != nil {
			return err
		}
		paths, err := dataset.Expand(args)
		if err != nil {
			return err
		}
		if err := o.reporting.Check(a, cmd, args, paths, nil); err != nil {
			return err
		}
		best := func() string { return "halfspace train " + quoted(args) + givenOptions(cmd, &o) }
		return compareAs(cmd.Context(), a, &o, paths, best)
	}
	return cmd
}

func (o *compareOptions) addTo(cmd *cobra.Command) {
	o.AddTo(cmd)
	f := cmd.Flags()
	f.IntVar(&o.folds, "cv", defaultFolds, "`NUMBER` Number of folds.")
	scores := append([]string{autoName}, train.Scores...)
	flags.AddChoice(cmd, &o.score, "score", "`FIGURE` Rank the learners by this figure on the held-back rows: "+humanize.OneOf(scores)+". auto is weighted if rows or classes have weights, else errors.", scores...)
	f.StringSliceVar(&o.algo, "algo", nil, "`NAME,...` Judge these learners alone, whatever their time.")
	f.StringSliceVar(&o.skip, "skip", nil, "`NAME,...` Leave these learners out.")
	f.StringSliceVar(&o.classWeight, "class-weight", nil, "`CLASS=NUMBER,...|balanced` Multiply the sample weights of a class by a number, in the trainings and in the figures. balanced takes, for k classes, "+
		"all rows / (k * rows of the class). Quote an item whose class has a comma: '\"A,B=NUMBER\",...'.")
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` Seed of all random choices.")
	o.Split.AddTo(cmd)
	o.reporting.AddFlag(f)
	f.BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
}

// check returns an error if the options can't be used.
func (o *compareOptions) check(ctx context.Context, args []string) (err error) {
	if err = o.Check(ctx, args); err != nil {
		return err
	}
	if o.folds < 2 {
		return console.Usagef("--cv is %d: use 2 or more folds", o.folds)
	}
	if err = o.Split.Check(); err != nil {
		return err
	}
	if o.balanced, o.weights, err = classWeights(o.classWeight); err != nil {
		return err
	}
	o.Storage.Weighted = o.Columns.SampleWeight != "" || len(o.classWeight) > 0
	var names []string
	for _, e := range entrants {
		if !slices.Contains(names, e.name()) {
			names = append(names, e.name())
		}
	}
	for _, list := range []struct {
		flag  string
		words []string
	}{{"algo", o.algo}, {"skip", o.skip}} {
		for _, name := range list.words {
			if !slices.Contains(names, name) {
				return console.Usagef("--%s %s: compare has no such learner: use %s%s", list.flag, name, humanize.OneOf(names), console.DidYouMean(name, names, ""))
			}
		}
	}
	if !slices.ContainsFunc(names, o.wants) {
		return console.Usagef("--skip leaves no learner to judge: name fewer of them")
	}
	return nil
}

// wants tells whether --algo and --skip keep a learner.
func (o *compareOptions) wants(name string) bool {
	return (len(o.algo) == 0 || slices.Contains(o.algo, name)) && !slices.Contains(o.skip, name)
}

func compareAs(ctx context.Context, a *console.App, o *compareOptions, paths []string, command func() string) error {
	start := time.Now()
	bar := a.NewProgress(o.Progress.Value)
	defer bar.End()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	o.Storage.Access, o.Storage.Shared, o.Storage.Folds = learner.AnyOrder, true, o.Columns.Learned()
	split, err := splitOf(ctx, &o.Options, paths, bar)
	if err != nil {
		return err
	}
	data, err := rows.Open(ctx, a, &o.Options, paths, bar)
	if err != nil {
		return err
	}
	defer data.Close()
	if len(data.Spec().Classes) < 2 {
		return fmt.Errorf("%s: %w", humanize.Files(paths), learner.TwoClasses(data.Spec()))
	}
	bar.Show(console.Step{Name: "looking at the rows"})
	looked, err := train.NewDataProfile(ctx, data.Source)
	if err != nil {
		return err
	}
	c := &comparison{Rows: data.Rows(), Features: data.Spec().Width(), Folds: o.folds, Standardize: o.Columns.Standardize, LeftOut: []leftOut{},
		Baseline: train.NewBaseline(data.Spec().Classes, looked.Counts)}
	learners, names, err := c.enter(o, data.Spec())
	if err != nil {
		return err
	}
	if len(learners) == 0 {
		return c.nobody()
	}
	opt := train.Options{Memory: o.Storage.Memory.Bytes, Weights: train.Weights{Balanced: o.balanced, Classes: o.weights, Column: o.Columns.SampleWeight}, Split: split,
		CV: o.crossValidation(), Watch: train.Watch{Note: func(text string) { a.Note("%s", console.AsTyped(text)) }, Stage: console.Stage(bar)}}
	judged, err := train.Compare(ctx, data.Refiter(), opt, learners...)
	if err = unfinished(a, err); judged == nil {
		return console.OfLearner(err)
	}
	c.Interrupted = err != nil
	c.Split = judged.Split
	c.add(names, judged)
	if len(c.Learners) == 0 {
		return cmp.Or(err, c.nobody())
	}
	if c.Learners[0].Score != nil {
		c.Best = command() + " " + c.Learners[0].Options + " --out model.json"
	}
	c.Seconds = time.Since(start).Seconds()
	bar.End()
	if o.reporting.File != "" {
		o.reporting.Interrupted = c.Interrupted
		if bad := o.reporting.Write(ctx, c.page(a, o, paths, looked.Counts, data.Spec().Classes)); bad != nil {
			return bad
		}
	}
	if o.json {
		return cmp.Or(a.PrintJSON(c), err)
	}
	return cmp.Or(a.Print(c.sheet().Bytes()), err)
}

// crossValidation returns the options for judging the learners.
func (o *compareOptions) crossValidation() train.CV {
	cv := train.CV{Folds: o.folds, Bounded: len(o.algo) == 0}
	if o.score.Value != autoName {
		cv.Score = o.score.Value
	}
	return cv
}

// others tells whether the entrant needs another number of classes.
func (e *entrant) others(classes int) bool {
	return e.classes != 0 && min(classes, 3) != e.classes
}

// name returns the name of the learner.
func (e *entrant) name() string { return strings.Fields(e.options)[1] }

// unfit returns the reason why the entrant can't take these rows, or "" if it can.
func (e *entrant) unfit(o *compareOptions, rows int64) string {
	switch l := train.Describe(e.name()); {
	case e.most > 0 && rows > e.most && len(o.algo) == 0:
		return fmt.Sprintf("tried up to %s: name it with --algo to judge it anyway", humanize.Plural(e.most, "row"))
	case e.boolean && o.Columns.Standardize:
		return "takes features that are 0 or 1; if all of yours are, add --standardize=false"
	case o.Storage.Weighted && l.NoWeights != "":
		return "takes no weights"
	}
	return ""
}

// enter returns the learners that suit the rows, and the options that name them. It adds entrants that can't take the
// rows to LeftOut, with the reason.
func (c *comparison) enter(o *compareOptions, spec *schema.Spec) (learners []train.Learner, names []string, err error) {
	for _, e := range entrants {
		if e.others(len(spec.Classes)) || !o.wants(e.name()) {
			continue
		}
		if reason := e.unfit(o, c.Rows); reason != "" {
			c.LeftOut = append(c.LeftOut, leftOut{e.options, reason})
		} else {
			l, err := o.learner(e.options)
			if err != nil {
				return nil, nil, err
			}
			learners, names = append(learners, l), append(names, e.options)
		}
	}
	return learners, names, nil
}

// learner returns the learner that an entrant's options name.
func (o *compareOptions) learner(entrant string) (train.Learner, error) {
	words := strings.Fields(entrant)
	l, err := train.Named(words[1])
	for i := 2; i < len(words) && err == nil; i += 2 {
		l, err = l.With(strings.TrimPrefix(words[i], "--"), words[i+1])
	}
	if err == nil {
		l.Settings.Shared().SetSeed(o.seed)
		l.Settings.Shared().Workers = o.Workers
	}
	return l, err
}

// givenOptions returns the options that the user gave and that train has too, each after a space.
func givenOptions(cmd *cobra.Command, o *compareOptions) string {
	var text strings.Builder
	if o.Columns.Standardize && !cmd.Flags().Changed("standardize") {
		text.WriteString(" --standardize")
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"cv", "json", "progress", "quiet", "workers", "isa", "score", "algo", "skip", "report", "split"}, f.Name) {
			return
		}
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		switch {
		case f.Value.Type() == "bool" && value == "true":
			text.WriteString(" --" + f.Name)
		case f.Value.Type() == "bool":
			text.WriteString(" --" + f.Name + "=" + value)
		default:
			text.WriteString(" --" + f.Name + " " + quoted([]string{value}))
		}
	})
	return text.String()
}

// quoted returns words, separated by spaces, with the quotes that a shell needs.
func quoted(words []string) string {
	var typed []string
	for _, w := range words {
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%") != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		typed = append(typed, w)
	}
	return strings.Join(typed, " ")
}
