package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/cmd/internal/report"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/train"
	"halfspace/plot"
	"halfspace/schema"
	"halfspace/train/learner"
)

type compareOptions struct {
	flags.Options
	judgingOptions
	json       bool
	algo, skip []string // names of learners
	budget     time.Duration
	reporting  report.Options
}

// An entrant is a learner that compare tries, with options that bound its time.
type entrant struct {
	options       string // options of train, without the options on data
	mostRows      int64  // largest number of rows; 0 is any number
	classes       int    // 2: only two classes; 3: only more than two; 0: any number
	takesBooleans bool   // it takes features that are 0 or 1, and no standardized ones
}

var entrants = []entrant{
	{options: "--algo averaged --order shuffle --epochs 10"},
	{options: "--algo perceptron --order shuffle --epochs 10"},
	{options: "--algo passive-aggressive --C 0.1 --order shuffle --epochs 10"},
	{options: "--algo ftrl --order shuffle --epochs 10"},
	{options: "--algo adagrad --order shuffle --epochs 10"},
	{options: "--algo pocket --order shuffle --epochs 10 --max-updates 10000", classes: 2},
	{options: "--algo pocket --pocket epoch --order shuffle --epochs 10", classes: 3},
	{options: "--algo voted --order shuffle --epochs 10", mostRows: 10_000},
	{options: "--algo winnow --winnow balanced --epochs 10", takesBooleans: true},
	{options: "--algo kernel-perceptron --kernel rbf --form averaged --order shuffle --epochs 10", mostRows: 3_000},
	{options: "--algo logistic"},
	{options: "--algo lda"},
	{options: "--algo svm"},
	{options: "--algo svm --loss hinge", mostRows: 100_000},
}

const compareLong = `Compare evaluates every learner that suits the rows of DATA by cross-validation.
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
to predict all rows, and more than 500 times those of a linear model. A learner
is timed on a part of the rows, and left out if it would take too much of
--budget; a line names it with its time. So which learners are judged depends on
the computer, but not their figures. --algo lifts the limits on rows,
multiplications and time. winnow runs with
--standardize=false if all features are 0 or 1. dual is left out: without a
kernel it equals perceptron.`

func Compare(a *console.App) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:         "compare DATA... --label COLUMN [options]",
		Annotations: console.ReadsData,
		Short:       "Compare all learners by cross-validation",
		Long:        compareLong,
		Example: `  halfspace compare train.parquet --label y
  halfspace compare train.csv --label y --exclude id --categorical onehot --cv 10 --json
  halfspace compare train.parquet --label y --score auc --class-weight balanced --skip voted,pocket --report compare.html`,
	}
	o.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.HoldNotes()
		if !cmd.Flags().Changed("standardize") {
			o.Data.Standardize, o.Data.KeepWide = true, true
		}
		if len(o.algo) > 0 && !cmd.Flags().Changed("budget") {
			o.budget = 0
		}
		if err := o.check(cmd.Context(), args); err != nil {
			return err
		}
		paths, err := o.Data.Expand(cmd.Context(), args, a.Warn)
		if err != nil {
			return err
		}
		if err := cmp.Or(o.Data.Claim(a, paths), o.reporting.Check(a, cmd, args, paths, nil)); err != nil {
			return err
		}
		best := func(learner string) string { return trainingCommand(cmd, &o, args, learner) }
		return compareAs(cmd.Context(), a, &o, paths, best)
	}
	return cmd
}

func (o *compareOptions) addTo(cmd *cobra.Command) {
	o.AddTo(cmd)
	o.Data.AddWeights(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Data.SampleWeight, "sample-weight", "",
		"`COLUMN` Column with sample weights, numbers of 0 or more, for the trainings and the metrics.")
	f.IntVar(&o.folds, "cv", defaultFolds, "`NUMBER` Number of folds.")
	o.addScore(cmd, "Rank the learners by this metric on the held-back rows", "")
	f.StringSliceVar(&o.algo, "algo", nil, "`NAME,...` Evaluate these learners alone, whatever their time.")
	f.StringSliceVar(&o.skip, "skip", nil, "`NAME,...` Leave these learners out.")
	f.DurationVar(&o.budget, "budget", time.Minute, "`TIME` Leave out the slowest learners, so that all others together "+
		"take about this time, such as 90s, 5m or 2h. 0 is any time, as with --algo.")
	o.addWeights(f, ", in the trainings and in the metrics")
	o.addSeed(f)
	o.Split.AddTo(cmd)
	o.reporting.AddFlag(f)
	f.BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
}

// check returns an error if the options can't be used.
func (o *compareOptions) check(ctx context.Context, args []string) (err error) {
	if err = o.Check(ctx, args); err != nil {
		return err
	}
	if err = cmp.Or(train.CheckFolds(o.folds), o.Split.Check(), o.readWeights()); err != nil {
		return err
	}
	if o.budget < 0 {
		return console.Usagef("--budget is %v: use a time such as 60s or 5m, or 0 for any time", o.budget)
	}
	o.Storage.HasWeights = o.Data.SampleWeight != "" || len(o.classWeight) > 0
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
				return console.Usagef("--%s %s: compare has no such learner: use %s%s", list.flag, name,
					humanize.OneOf(names), console.DidYouMean(name, names))
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

func compareAs(ctx context.Context, a *console.App, o *compareOptions, paths []string,
	command func(learner string) string) error {
	start := time.Now()
	bar := a.NewProgress(o.Progress)
	defer bar.End()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	o.Storage.Access, o.Storage.HasHoldOut, o.Storage.HasFolds = learner.AnyOrder, true, o.Data.Learned()
	split, err := flags.ReadSplit(ctx, a, &o.Options, paths, bar)
	if err != nil {
		return err
	}
	data, err := flags.OpenRows(ctx, a, &o.Options, paths, bar)
	if err != nil {
		return err
	}
	defer data.Close()
	bar.Show(console.Step{Name: "looking at the rows"})
	if len(data.Spec().Classes) < 2 {
		return fmt.Errorf("%s: %w", humanize.Files(paths), learner.TwoClasses(data.Spec()))
	}
	looked, err := train.NewDataProfile(ctx, data.Source)
	if err != nil {
		return err
	}
	c := &comparison{Rows: data.Rows(), Features: data.Spec().Width(), Standardize: o.Data.Standardize,
		judgedPoints: judgedPoints{LeftOut: []leftOutPoint{}, Baseline: train.NewBaseline(data.Spec().Classes, looked.Counts)}}
	learners, names, err := c.enter(o, data.Spec())
	if err != nil {
		return err
	}
	if len(learners) == 0 {
		return c.noLearnerError(nil)
	}
	opt := train.Options{Memory: o.Storage.Memory.Bytes,
		Weights: train.Weights{Balanced: o.isBalanced, Classes: o.weights, Column: o.Data.SampleWeight}, Split: split,
		CV:    train.CV{Folds: o.folds, SkipSlowLearners: len(o.algo) == 0, Score: o.figure(), Budget: o.budget},
		Watch: train.Watch{Note: a.Warn, Stage: console.Stage(bar)}}
	judged, err := train.Compare(ctx, data, opt, learners...)
	if err = unfinished(a, err); judged == nil {
		return console.OfLearner(err, true)
	}
	c.Interrupted, o.reporting.Interrupted = err != nil, err != nil
	c.add(names, judged)
	c.rank()
	if len(c.Points) == 0 {
		return c.noLearnerError(err)
	}
	if c.Points[0].Score != nil {
		c.Best = command(c.Points[0].Name)
	}
	c.warnOfBaseline(a, o.Storage.HasWeights)
	c.Seconds = time.Since(start).Seconds()
	bar.End()
	if bad := o.reporting.Write(ctx, func() (*plot.Page, error) {
		return c.page(a, o, paths, looked.Counts, data.Spec().Classes), nil
	}); bad != nil {
		return bad
	}
	return cmp.Or(a.Report(o.json, c, c.sheet), err)
}

func (e *entrant) name() string { return strings.Fields(e.options)[1] }

// unfitReason returns the reason why the entrant can't take these rows, or "" if it can.
func (e *entrant) unfitReason(o *compareOptions, rows int64) string {
	switch l := train.Describe(e.name()); {
	case e.mostRows > 0 && rows > e.mostRows && len(o.algo) == 0:
		return message.Sprintf("tried up to %s: name it with --algo to judge it anyway", humanize.Plural(e.mostRows, "row"))
	case e.takesBooleans && o.Data.Standardize:
		return "takes features that are 0 or 1; if all of yours are, add " + console.Setting("standardize", "false", true)
	case o.Storage.HasWeights && l.WhyNoWeights != "":
		return "takes no weights"
	}
	return ""
}

// enter returns the learners that suit the rows, and the options that name them. It adds entrants that can't take the
// rows to LeftOut, with the reason.
func (c *comparison) enter(o *compareOptions, spec *schema.Spec) (learners []train.Learner, names []string, err error) {
	for _, e := range entrants {
		if e.classes != 0 && e.classes != min(len(spec.Classes), 3) || !o.wants(e.name()) {
			continue
		}
		if reason := e.unfitReason(o, c.Rows); reason != "" {
			c.LeftOut = append(c.LeftOut, leftOutPoint{console.Settings(e.options), reason})
		} else {
			l, err := o.learner(e.options)
			if err != nil {
				return nil, nil, err
			}
			if hasWords(spec) {
				l = withWordsL2(l)
			}
			learners, names = append(learners, l), append(names, console.Settings(e.options))
		}
	}
	return learners, names, nil
}

// learner returns the learner that an entrant's options name.
func (o *compareOptions) learner(entrant string) (train.Learner, error) {
	words := strings.Fields(entrant)
	l, err := train.LearnerNamed(words[1])
	for i := 2; i < len(words) && err == nil; i += 2 {
		l, err = l.With(strings.TrimPrefix(words[i], "--"), words[i+1])
	}
	if err == nil {
		l.Settings.RunOptions().SetSeed(o.seed)
		l.Settings.RunOptions().Workers = o.Workers
	}
	return l, err
}

// trainingCommand returns the command that trains the given learner on the rows of compare: the command line, or the
// call of a function in Python.
func trainingCommand(cmd *cobra.Command, o *compareOptions, args []string, learner string) string {
	if !console.ForPython {
		words := append([]string{"halfspace train", console.Quote(args...)}, givenOptions(cmd, o)...)
		return strings.Join(append(words, learner, "--out model.json"), " ")
	}
	var data []string
	for _, a := range args {
		data = append(data, console.Literal(a))
	}
	rows := strings.Join(data, ", ")
	if len(data) > 1 {
		rows = "[" + rows + "]"
	}
	arguments := append([]string{rows}, givenOptions(cmd, o)...)
	return "halfspace.train(" + strings.Join(append(arguments, learner), ", ") + ")"
}

// givenOptions returns the options that the user gave and that train has too, as the user types them.
func givenOptions(cmd *cobra.Command, o *compareOptions) (options []string) {
	if o.Data.Standardize && !cmd.Flags().Changed("standardize") {
		options = append(options, console.Setting("standardize", "true", true))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := strings.Join(flags.Values(f), ",")
		switch f.Name {
		case "cv", "json", "progress", "quiet", "workers", "isa", "score", "algo", "skip", "report", "split", "budget":
			return
		case "labels", "weights": // Python passes arrays as label and sample_weight
			if name := message.Files[value]; name != "" {
				options = append(options, map[string]string{"labels": "label", "weights": "sample_weight"}[f.Name]+"="+name)
				return
			}
		}
		options = append(options, console.Setting(f.Name, value, f.Value.Type() == "bool"))
	})
	return options
}

// A comparison is the JSON object of compare --json. Its points are the learners, the best first.
type comparison struct {
	Rows        int64 `json:"rows"`
	Features    int   `json:"features"`
	Standardize bool  `json:"standardize"`
	judgedPoints
	Best    string  `json:"best"`              // trains it on all rows; empty if no learner has the score
	Warning string  `json:"warning,omitempty"` // no learner is better than the baseline
	Seconds float64 `json:"seconds"`
}

// noLearnerError returns the error for the case that no learner was judged: err, or if err is nil or a learner's lack of
// time, the reasons of all learners.
func (c *comparison) noLearnerError(err error) error {
	if slow := (*train.OverBudgetError)(nil); err != nil && !errors.As(err, &slow) {
		return err
	}
	var reasons []string
	for _, l := range c.LeftOut {
		reasons = append(reasons, shortName(l.Name)+": "+l.Reason)
	}
	return fmt.Errorf("no learner was judged: %s", strings.Join(reasons, "; "))
}

// rank sorts the learners by the score, then by the log loss, undefined metrics last. Equal learners keep their order.
func (c *comparison) rank() {
	sign := map[bool]float64{true: -1, false: 1}[train.GreatestIsBest(c.Score)]
	cost := func(sign float64, v *float64) float64 {
		if v == nil {
			return math.Inf(1)
		}
		return sign * *v
	}
	slices.SortStableFunc(c.Points, func(x, y judgedPoint) int {
		return cmp.Or(cmp.Compare(cost(sign, x.Score), cost(sign, y.Score)), cmp.Compare(cost(1, x.LogLoss), cost(1, y.LogLoss)))
	})
}

func (c *comparison) sheet() *console.Sheet {
	s := new(console.Sheet)
	how := "as they are"
	if c.Standardize {
		how = "standardized"
	}
	s.Line("%s of %s, %s, in %s\n", humanize.Plural(c.Rows, "row"), humanize.Plural(int64(c.Features), "feature"), how,
		foldsOf(c.Folds, c.Split, ", each predicted by a model of "))
	c.addTo(s)
	if c.Best != "" {
		// never shortened: people copy it
		s.WriteString("\nTo learn from all rows with the best:\n\n  " + humanize.EscapeControls(c.Best) + "\n")
	}
	return s
}

func (c *comparison) page(a *console.App, o *compareOptions, paths []string, counts []int64, classes []schema.Class) *plot.Page {
	p := &plot.Page{Title: report.Title(o.Data.Label, "comparison of learners"),
		Lead: c.verdict() + fmt.Sprintf("%s of %s, in %s.", humanize.Plural(c.Rows, "row"),
			humanize.Plural(int64(c.Features), "feature"),
			foldsOf(c.Folds, c.Split, ". Each fold is predicted by a model of ")), Sections: []plot.Section{c.section()}}
	if c.Best != "" {
		p.Sections = append(p.Sections,
			plot.Section{Heading: "The best learner",
				Text: []string{"To learn from all rows with the best learner:"}, Code: c.Best})
	}
	data := [][2]string{{"rows", humanize.Count(c.Rows)}, {"features", humanize.Count(int64(c.Features))}}
	for i, class := range classes {
		data = append(data, [2]string{"class " + class.Text, humanize.Plural(counts[i], "row")})
	}
	p.Sections = append(p.Sections, report.Data(a, paths, data), o.reporting.OptionsSection(), o.reporting.RepeatSection())
	return p
}

// verdict names the best learner, with its accuracy, or returns "" if no learner is ranked.
func (c *comparison) verdict() string {
	if c.Best == "" {
		return ""
	}
	best := &c.Points[0]
	text := fmt.Sprintf("The best of %s is %s: accuracy %s (%s wrong)%s. ", humanize.Plural(int64(len(c.Points)), "learner"),
		shortName(best.Name), humanize.Percent(*best.Accuracy), humanize.Count(*best.Errors), console.Baseline(c.Baseline))
	if c.Warning != "" {
		text += "Warning: " + c.Warning + ". "
	}
	return text
}

// warnOfBaseline warns if the best learner is no better than always predicting the largest class. Weights of rows or classes aim at
// something else than few errors.
func (c *comparison) warnOfBaseline(a *console.App, hasWeights bool) {
	if b := c.Baseline; c.Best != "" && b != nil && !hasWeights && *c.Points[0].Accuracy <= b.Accuracy {
		c.Warning = console.WarnOfBaseline(a, "the best learner", *c.Points[0].Accuracy, b, "the rows of the folds")
	}
}
