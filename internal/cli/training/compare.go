package training

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
	"halfspace/fit"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/rows"
	"halfspace/internal/cli/slips"
	"halfspace/internal/cli/watching"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
)

type compareOptions struct {
	rows.Options
	folds int
	seed  uint64
	json  bool
}

// An entrant is a learner that compare tries, with options that bound its time.
type entrant struct {
	options string // of train, without those on data
	most    int64  // rows; 0 is any number
	classes int    // 2 for two classes alone, 3 for more alone; 0 is any number
	boolean bool   // it takes features that are 0 or 1, not standardized ones
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

// Compare returns the command that judges all learners.
func Compare(a *console.App) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare DATA... --label COLUMN [options]",
		Short: "Judge all learners by cross-validation",
		Long: `Compare judges every learner that suits the rows of DATA by cross-validation.
All learners get the same folds. A model of the other folds predicts each fold.
Features are standardized within each fold, unless --standardize=false.
Rows of svmlight or of sparse lists with more than 16,384 features stay as they
are.

The table shows the best learner first. Its columns are:

  - the errors and the accuracy over all rows
  - the area under the ROC curve, for two classes (mean over the folds)
  - the log loss, for learners with probabilities
  - the seconds of one training

The last line is the baseline, which always predicts the class with the most
rows. The command below the table trains the best learner on all rows. Ctrl-C
prints the table of the folds so far; the exit status is 130.

Some limits keep the run short. Learners that visit rows one by one make 10
epochs, and pocket makes 10,000 updates. voted runs on up to 10,000 rows, the
kernel perceptron on 3,000, svm with --loss hinge on 100,000. winnow runs with
--standardize=false if all features are 0 or 1. dual is left out: without a
kernel it equals perceptron.`,
		Example: `  halfspace compare train.parquet --label y
  halfspace compare train.csv --label y --exclude id --categorical onehot --cv 10 --json`,
	}
	o.AddTo(cmd, "float32", "float64")
	f := cmd.Flags()
	f.IntVar(&o.folds, "cv", defaultFolds, "`NUMBER` Number of folds.")
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` Seed of all random choices.")
	f.BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("standardize") {
			o.Columns.Standardize, o.Columns.KeepWide = true, true
		}
		if err := o.Check(cmd.Context(), args); err != nil {
			return err
		}
		if o.folds < 2 {
			return console.Usagef("--cv is %d: use 2 or more folds", o.folds)
		}
		paths, err := dataset.Expand(args)
		if err != nil {
			return err
		}
		best := func() string { return "halfspace train " + quoted(args) + givenOptions(cmd, &o) }
		if o.Dtype.Value == "float64" {
			return compareAs[float64](cmd.Context(), a, &o, paths, best)
		}
		return compareAs[float32](cmd.Context(), a, &o, paths, best)
	}
	return cmd
}

// A comparison is what compare --json prints.
type comparison struct {
	Rows        int64         `json:"rows"`
	Features    int           `json:"features"`
	Folds       int           `json:"folds"`
	Standardize bool          `json:"standardize"`
	Learners    []contestant  `json:"learners"` // the best first
	LeftOut     []leftOut     `json:"left_out"`
	Baseline    *fit.Baseline `json:"baseline"`
	Best        string        `json:"best"`                  // the command that learns from all rows with the best learner
	Interrupted bool          `json:"interrupted,omitempty"` // the learners were judged on some folds alone
	Seconds     float64       `json:"seconds"`
}

// A contestant is a learner's result. Figures that it lacks are null.
type contestant struct {
	Options  string   `json:"options"`
	Folds    int      `json:"folds,omitempty"` // that it was judged on, if the comparison was interrupted
	Errors   int64    `json:"errors"`          // of all rows, each predicted by a model of the other folds
	Accuracy float64  `json:"accuracy"`
	AUC      *float64 `json:"auc"` // mean of the folds'
	LogLoss  *float64 `json:"log_loss"`
	Seconds  float64  `json:"seconds"` // of a training, the mean of the folds'
}

type leftOut struct {
	Options string `json:"options"`
	Reason  string `json:"reason"`
}

func compareAs[T kernel.Float](ctx context.Context, a *console.App, o *compareOptions, paths []string, command func() string) error {
	start := time.Now()
	bar := a.NewProgress(o.Progress.Value)
	defer bar.End()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	o.Storage.Access, o.Storage.Shared, o.Storage.Folds = train.AnyOrder, true, o.Columns.Learned()
	data, err := rows.Open[T](ctx, a, &o.Options, paths, bar)
	if err != nil {
		return err
	}
	defer data.Close()
	if len(data.Spec().Classes) < 2 {
		return fmt.Errorf("%s: %w", dataset.Name(paths), train.TwoClasses(data.Spec()))
	}
	bar.Show(console.Step{Name: "looking at the rows"})
	looked, err := fit.NewSurvey(ctx, data.Source)
	if err != nil {
		return err
	}
	c := &comparison{Rows: data.Rows(), Features: data.Spec().Width(), Folds: o.folds, Standardize: o.Columns.Standardize, LeftOut: []leftOut{},
		Baseline: fit.NewBaseline(data.Spec().Classes, looked.Counts)}
	learners, names, err := c.enter(o, data.Spec())
	if err != nil {
		return err
	}
	opt := fit.Options{Memory: o.Storage.Memory.Bytes, Stage: watching.Stage(bar)}
	cv, err := fit.Compare(ctx, data.Relearner(), learners, fit.CV{Folds: o.folds}, opt)
	if err = unfinished(a, err); cv == nil {
		return slips.OfLearner(err)
	}
	c.Interrupted = err != nil
	c.add(names, cv)
	if len(c.Learners) == 0 {
		return err
	}
	c.Best = command() + " " + c.Learners[0].Options + " --out model.json"
	c.Seconds = time.Since(start).Seconds()
	bar.End()
	if o.json {
		return cmp.Or(a.PrintJSON(c), err)
	}
	return cmp.Or(a.Print(c.text()), err)
}

// others tells whether the entrant needs another number of classes.
func (e *entrant) others(classes int) bool {
	return e.classes != 0 && min(classes, 3) != e.classes
}

// unfit says why the entrant can't take such rows. It is empty if it can.
func (e *entrant) unfit(rows int64, classes int, standardize bool) string {
	switch {
	case e.others(classes):
		return ""
	case e.most > 0 && rows > e.most:
		return fmt.Sprintf("tried up to %s", say.Plural(e.most, "row"))
	case e.boolean && standardize:
		return "takes features that are 0 or 1; if all of yours are, add --standardize=false"
	}
	return ""
}

// enter returns the learners that fit the rows, and the options that name them. It lists the others as left out.
func (c *comparison) enter(o *compareOptions, spec *schema.Spec) (learners []fit.Learner, names []string, err error) {
	for _, e := range entrants {
		if reason := e.unfit(c.Rows, len(spec.Classes), o.Columns.Standardize); reason != "" {
			c.LeftOut = append(c.LeftOut, leftOut{e.options, reason})
		} else if !e.others(len(spec.Classes)) {
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
func (o *compareOptions) learner(entrant string) (fit.Learner, error) {
	words := strings.Fields(entrant)
	l, err := fit.Named(words[1])
	for i := 2; i < len(words) && err == nil; i += 2 {
		l, err = l.With(strings.TrimPrefix(words[i], "--"), words[i+1])
	}
	if err == nil {
		l.Settings.Shared().Seed, l.Settings.Shared().Workers = o.seed, o.Workers
	}
	return l, err
}

// add adds the results of a cross-validation, and sorts the learners by errors. Equal ones keep their order.
func (c *comparison) add(names []string, cv *fit.CrossValidation) {
	for i := range cv.Points {
		p := &cv.Points[i]
		if p.Errors == nil {
			c.LeftOut = append(c.LeftOut, leftOut{names[i], cmp.Or(slips.AsTyped(p.Failed), "interrupted before its first fold was judged")})
			continue
		}
		folds := len(p.FoldAccuracy)
		l := contestant{Options: names[i], Errors: *p.Errors, Accuracy: *p.Accuracy, AUC: console.Finite(p.Figures.MeanAUC()), LogLoss: console.Finite(p.Figures.LogLoss.Value()),
			Seconds: p.Figures.Seconds / float64(folds)}
		if c.Interrupted {
			l.Folds = folds
		}
		c.Learners = append(c.Learners, l)
	}
	slices.SortStableFunc(c.Learners, func(x, y contestant) int {
		if c.Interrupted {
			return cmp.Compare(y.Accuracy, x.Accuracy) // the numbers of rows differ
		}
		return cmp.Compare(x.Errors, y.Errors)
	})
}

// text is the report for people.
func (c *comparison) text() []byte {
	var s console.Sheet
	how := "as they are"
	if c.Standardize {
		how = "standardized"
	}
	s.Line("%s of %s, %s, in %d folds, each predicted by a model of the others\n", say.Plural(c.Rows, "row"), say.Plural(int64(c.Features), "feature"), how, c.Folds)
	number := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return say.Fixed(*v, 6)
	}
	rows := [][]string{{"learner", "errors", "accuracy", "AUC", "log loss", "seconds"}}
	for _, l := range c.Learners {
		rows = append(rows, []string{strings.TrimPrefix(l.Options, "--algo "), say.Count(l.Errors), say.Percent(l.Accuracy), number(l.AUC), number(l.LogLoss), say.Fixed(l.Seconds, 3)})
	}
	b := c.Baseline
	rows = append(rows, []string{"always " + schema.NameClass(b.Class), say.Count(b.Errors), say.Percent(b.Accuracy), "-", "-", "-"})
	if c.Interrupted {
		rows[0] = append(rows[0], "folds")
		for i, l := range c.Learners {
			rows[i+1] = append(rows[i+1], fmt.Sprintf("%d of %d", l.Folds, c.Folds))
		}
	}
	s.Table(rows)
	if len(c.LeftOut) > 0 {
		s.Line("")
		for _, l := range c.LeftOut {
			s.Line("Left out: %s: %s", strings.TrimPrefix(l.Options, "--algo "), l.Reason)
		}
	}
	if c.Learners[0].Accuracy <= b.Accuracy {
		s.Line("\nNo learner is better than the baseline.")
	}
	s.WriteString("\nTo learn from all rows with the best:\n\n  " + say.Visible(c.Best) + "\n") // never shortened, since it is copied
	return s.Bytes()
}

// givenOptions returns the given options that train has too, each after a space.
func givenOptions(cmd *cobra.Command, o *compareOptions) string {
	var text strings.Builder
	if o.Columns.Standardize && !cmd.Flags().Changed("standardize") {
		text.WriteString(" --standardize")
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"cv", "json", "progress", "quiet", "workers", "isa"}, f.Name) {
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

// quoted returns words with the quotes that a shell needs.
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
