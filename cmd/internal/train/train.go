// Package train has the verbs that train models.
package train

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/train/learner"
)

func Train(a *console.App) *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:         "train DATA... --label COLUMN [--out m.json] [options]",
		Annotations: console.ReadsData,
		Short:       "Learn a model from data",
		Long:        fullPurpose() + trainHelp,
		Example: `  halfspace train train.csv --label y --validation 0.2 --out m.json
  halfspace train 'data/*.parquet' --label y --algo svm --grid l2=0.1,1`,
	}
	o.addFlags(cmd)
	for _, l := range train.Learners {
		cmd.Long += fmt.Sprintf("\n  %-18s %s", l.Name, l.WhenToUse)
	}
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if l := train.Describe(o.algo); l != nil && cmd.Flags().Changed("algo") {
			helpWith(cmd, l)
		} else if !o.helpAll {
			flags.WriteBrief(cmd, briefPurpose(), cmd.Example, briefOptions, briefMore) // errors of standard output are kept
			return
		}
		help(cmd, args)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.helpAll {
			return cmd.Help()
		}
		a.HoldNotes()
		paths, validation, err := o.prepare(a, cmd, args)
		if err != nil {
			return err
		}
		return trainAs(cmd.Context(), a, &o, paths, validation)
	}
	return cmd
}

func briefPurpose() string {
	return flags.Wrapped("Train a linear classifier. DATA are "+humanize.OneOf(dataset.FormatNames())+
		" files, folders of them, or - for standard input.", 0)
}

// briefOptions are the options of the help of one screen.
var briefOptions = [][2]string{
	{"--label COLUMN", "Column with the classes: a name, a number or last."},
	{"--out FILE", "Write the model to this file."},
	{"--validation SHARE|FILE", "Measure the accuracy on held-out rows, such as 0.2."},
	{"--cv FOLDS", "Measure the accuracy by cross-validation."},
	{"--report FILE", "Write a report: .html with plots, .txt without."},
	{"--algo LEARNER", "Choose the learner, such as logistic, svm or averaged."},
	{"--grid OPTION=VALUE,...", "Tune a hyperparameter: try values, keep the best."},
	{"--class-weight balanced", "Count the rows of rare classes for more."},
	{"--exclude COLUMN,...", "Leave columns out, by name or glob."},
	{"--where CONDITION", "Take only some rows, such as \"amount < 1000\"."},
	{"--memory SIZE", "Hold rows in this much memory, and stream the others."},
	{"--json", "Print the report as one JSON object."},
}

const briefMore = "All options: halfspace train --help-all. Of one learner: --algo svm --help."

// fullPurpose is the first paragraph of the full help.
func fullPurpose() string {
	return flags.Wrapped("Train learns a linear classifier from the rows of "+humanize.OneOf(dataset.FormatNames())+
		" files. DATA are files of one format, globs or directories, or - for standard input. --label takes a column's name, "+
		"its number or \"last\".", 0) + "\n\n"
}

// trainHelp is the help text of train between the formats and the list of the learners.
const trainHelp = `Without --algo, train standardizes the features (of svmlight rows and sparse
lists, 16,384 at most) and learns by logistic regression, which predicts
probabilities. With --algo, nothing is standardized unless you ask for it.
Texts, dates and missing values become features (--prepare). --validation counts
errors on hold-out rows. --cv evaluates the options by cross-validation. --grid
tries several values and keeps the best.

Rows that don't fit in --memory are read again in each pass; the model is the
same. Without --out the model is not kept. Ctrl-C stops the training and writes
the weights so far to --out; the exit status is 130. With --checkpoint, the same
command with --resume goes on from there.

Learners, and what to use them for (train --algo NAME --help has their options):
`

// prepare checks the options. It returns the training files and the validation files.
func (o *trainOptions) prepare(a *console.App, cmd *cobra.Command, args []string) (paths, validation []string, err error) {
	o.typed, o.args = typedOptions(cmd), args
	if err := o.loadInit(a, cmd); err != nil {
		return nil, nil, err
	}
	if err := o.check(cmd, args); err != nil {
		return nil, nil, err
	}
	if o.initModel != nil && o.share > 0 {
		a.Note("the model of --init may have seen the rows that --validation holds out: name a FILE of other rows")
	}
	if f := cmd.Flags(); o.hasDefaultLearner && !f.Changed("standardize") {
		o.Data.Standardize, o.Data.KeepWide = true, true
	}
	if o.out != "" {
		a.KeptFiles = ": no model was written"
	}
	if paths, err = o.Data.Expand(cmd.Context(), args, a.Warn); err != nil {
		return nil, nil, err
	}
	if o.validation != "" && o.share == 0 {
		held := dataset.Options{Raw: o.Data.Raw}
		if validation, err = held.Expand(cmd.Context(), []string{o.validation}, a.Warn); err != nil {
			return nil, nil, message.Errorf("--validation: %w", err)
		}
	}
	data := o.Data.With(slices.Concat(validation, paths))
	inputs := append(slices.Clone(data), o.init)
	if err := cmp.Or(console.Claim(a, o.out, data), // --out may replace the model of --init
		o.Data.Claim(a, inputs), o.checkReceipt(a, append(inputs, cmd.Flags().Lookup("cache").Value.String())),
		o.checkFolds(cmd), o.Split.Check(),
		o.tracing.check(a, cmd, o.Storage.Memory.Bytes, inputs, []string{o.out, o.receipt}),
		o.reporting.Check(a, cmd, args, inputs, []string{o.out, o.receipt, o.tracing.file}),
		o.checkTraining(), o.saving.check(cmd)); err != nil {
		return nil, nil, err
	}
	noteUnused(a, cmd, o)
	o.noteSplit(a)
	o.Storage.HasHoldOut, o.Storage.CachesEachPart = o.holdsBack(), o.share > 0
	o.Storage.HasFolds = o.holdsFolds() && o.Data.Learned()
	o.Storage.HasLearningCurve = o.reporting.File != "" && (o.validation != "" || o.folds > 0)
	if o.share > 0 {
		o.LearnFrom = o.keptRows
		o.LearnFromName = fmt.Sprintf("without %v of each class, seed %d%s", o.share, o.seed, o.Split.Name())
	}
	return paths, validation, nil
}

// addFlags adds the flags of train under their headings: learner, data, evaluation, output, machine.
func (o *trainOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.helpAll, "help-all", false, "Show all options, with those of every learner.")
	f.Lookup("help-all").Hidden = true
	o.addLearner(cmd)
	o.Options.AddData(cmd)
	o.Data.AddWeights(cmd)
	f.StringVar(&o.Data.SampleWeight, "sample-weight", "",
		"`COLUMN` Column with sample weights, numbers of 0 or more. A row with sample weight 2 counts as two rows. "+
			"A perceptron adds it with twice the step.")
	flags.SetGroup(f, "Data")
	f.StringVar(&o.validation, "validation", "",
		"`FILE|SHARE` Count errors on hold-out rows: those of a file, glob or directory, or a random share of each "+
			"class of DATA, such as 0.2. perceptron, pocket and averaged keep the weights with the fewest "+
			"errors on them.")
	f.IntVar(&o.folds, "cv", 0, "`NUMBER` Cross-validate with this many folds, then learn from all rows.")
	f.IntVar(&o.path, "path", 0, "`NUMBER` Learn with this many falling penalties l1, each from the weights before, "+
		"and keep the best by cross-validation. There are 5 folds without --cv.")
	f.StringArrayVar(&o.grid, "grid", nil, "`OPTION=VALUE,...` Try these values of an option, such as l2=0.1,1,10, "+
		"and keep the best by cross-validation. There are 5 folds without --cv. Give --grid again for a second "+
		"option: all combinations are tried.")
	o.addScore(cmd, "Choose by this metric on the held-back rows in --cv, --grid and --path", " For --path it is the loss that is learned.")
	f.BoolVar(&o.usesOneError, "one-standard-error", false,
		"Take the strongest penalty whose score is at most a standard error worse than the best, with --path, or "+
			"--grid of l1 or l2.")
	o.Split.AddTo(cmd)
	flags.SetGroup(f, "Evaluation")
	f.StringVar(&o.out, "out", "", "`FILE` Write the model to this file.")
	f.StringVar(&o.receipt, "receipt", "",
		"`FILE` Write to this file what halfspace verify compares: sums of the files, of the rows and of the weights "+
			"after each epoch.")
	o.reporting.AddFlag(f)
	o.tracing.addFlags(f)
	o.saving.addFlags(f)
	f.BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
	flags.SetGroup(f, "Output")
	o.AddMachine(cmd)
	flags.SetGroup(f, "Machine")
}

// addLearner adds the flags of the learners.
func (o *trainOptions) addLearner(cmd *cobra.Command) {
	f := cmd.Flags()
	o.algo = defaultLearner
	algo := flags.AddChoice(cmd, &o.algo, "algo", "`LEARNER` How to learn: "+humanize.OneOf(train.Names())+".",
		train.Names()...)
	algo.Advise = console.AdviseLearner
	addLearnerFlags(cmd)
	flags.AddChoice(cmd, &o.multiclass, "multiclass",
		"`auto|ovr|joint` How to learn more than two classes: each class versus the rest (ovr), or all together "+
			"(joint). auto is joint for logistic, lda and passive-aggressive, else ovr.", autoName, "ovr", "joint")
	o.addWeights(f, "")
	o.addSeed(f)
	flags.AddChoice(cmd, &o.calibrate, "calibrate",
		"`none|platt|isotonic` Learn probabilities of the scores of five held-out folds: by a sigmoid (platt), or by "+
			"ascending steps (isotonic), which take 1,000 rows or more. For learners without probabilities.",
		noCalibration, model.Platt, model.Isotonic)
	f.StringVar(&o.init, "init", "", "`FILE` Begin with the weights of this model, and make its features. Without "+
		"--algo the learner is that of the model; its other options are not taken. ["+
		strings.Join(train.NamesWithInit(), ", ")+"]")
	flags.SetGroup(f, "Learner")
}

// helpWith limits the help of train to one learner: its objective, examples, its options and their defaults.
func helpWith(cmd *cobra.Command, l *learner.Learner) {
	cmd.Long = "Train --algo " + l.Name + " learns from the rows of DATA.\n\n  minimizes   " + flags.Wrapped(l.Objective,
		14) + "\n  use it for  " + flags.Wrapped(l.WhenToUse, 14)
	cmd.Example = "  halfspace train data.csv --label y --algo " + l.Name + " --out m.json"
	if l.Example != "" {
		cmd.Example += "\n  halfspace train data.csv --label y --algo " + l.Name + " " + l.Example
	}
	s := l.New()
	for _, option := range flags.LearnerOptions(train.Learners) {
		flag, own := cmd.Flags().Lookup(option.Name), l.Option(option.Name)
		if own == nil && option.Name == thresholdName {
			flag.Usage = thresholdUsage
			continue
		}
		if own == nil {
			flag.Hidden = true
			continue
		}
		if flag.Usage, flag.DefValue = own.Help, own.Text(s); !own.IsBool(s) {
			flag.Usage = flags.Placeholder(own.Value, own.Words) + own.Help
		}
	}
	for name, hidden := range map[string]bool{"no-bias": l.WhyBias != "", "sample-weight": l.WhyNoWeights != "",
		"class-weight": l.WhyNoWeights != "", "multiclass": !l.IsMulti()} {
		if hidden {
			cmd.Flags().Lookup(name).Hidden = true
		}
	}
}
