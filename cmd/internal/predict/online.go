package predict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/cmd/internal/report"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/plot"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

type onlineOptions struct {
	flags.Scan
	model     string
	json      bool
	reporting report.Options
	eta       float64
	words     []string // columns of words
	algo      string
	learner   *train.Learner // nil: the perceptron
	out       string
}

func Online(a *console.App) *cobra.Command {
	var o onlineOptions
	cmd := &cobra.Command{
		Use:         "online DATA... --label COLUMN [--model m.json] [--out n.json] [options]",
		Annotations: console.ReadsData,
		Short:       "Predict each row, then learn from it",
		Long: `Online visits the rows once, in their order. The learner predicts each row, then
learns from it. The report counts the mistakes after 1, 2, 4, 8... rows and at
the end, with the mean log loss of learners with probabilities. For the
perceptron, whose last weights separate the rows, it also shows Novikoff's bound
on the mistakes: (radius/margin)^2, or with --model the bound that depends on
its weights too. The perceptron takes two classes, the other learners any
number.

--model continues from a model of perceptron, pocket or averaged by the
perceptron, and from one of another learner by that learner, with the options of
its training.

Rows without a label are left out, with a note.

Ctrl-C ends the run; the report and the model are those of the rows so far.

DATA is as in train. Files are read three times: to find the classes, to learn,
and to measure the last weights. Standard input can be of any length: each row
is read once. Without --model, its first rows (up to 4 MiB) show the columns and
the classes. svmlight from standard input is then held in memory, since it
doesn't say how many features it has.`,
		Example: `  halfspace online train.csv --label y --out m.json
  halfspace online - --label y --model m.json --out m.json <new.csv
  halfspace online train.csv --label y --algo ftrl --l1 1 --out m.json`,
	}
	o.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(args); err != nil {
			return err
		}
		m, err := beginningModel(a, cmd, &o)
		if err = cmp.Or(err, o.setLearner(a, cmd, m)); err != nil {
			return err
		}
		flags.NameArrays(&o.Data.Options)
		o.codeWords(a)
		if o.Data.Label == "" {
			if o.Data.Label = dataset.DefaultLabel(cmd.Context(), args); o.Data.Label == "" {
				return console.Usagef("--label is missing: name the column that holds the classes")
			}
		}
		paths, err := o.Data.Expand(cmd.Context(), args, a.Warn)
		if err != nil {
			return err
		}
		if err := cmp.Or(console.Claim(a, o.out, paths), o.Data.Claim(a, append(paths, o.model)),
			o.reporting.Check(a, cmd, args, append(paths, o.model), []string{o.out})); err != nil {
			return err
		}
		return learnOnline(cmd.Context(), a, &o, m, paths)
	}
	return cmd
}

func (o *onlineOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Data.Label, "label", "",
		"`COLUMN` Column with the classes. (default the label of --model; required without --model, except for "+
			"svmlight)")
	o.Data.AddLabels(cmd)
	f.StringVar(&o.model, "model", "", "`FILE` Model to continue from.")
	f.StringVar(&o.model, "init", "", "`FILE` The same as --model.")
	f.StringSliceVar(&o.Data.Features, "features", nil,
		"`COLUMN,...` Columns to use as features, by name or glob. (default all except the label that can be features)")
	f.StringSliceVar(&o.Data.Exclude, "exclude", nil, "`COLUMN,...` Columns to leave out, by name or glob.")
	f.StringSliceVar(&o.words, "words", nil, wordsUsage)
	f.StringVar(&o.Data.Positive, "positive", "", "`CLASS` The class with label +1. (default the greater of two classes)")
	f.BoolVar(&o.Data.NoBias, "no-bias", false, "Leave out the bias: the plane goes through the origin.")
	names := onlineNames()
	o.algo = names[0]
	flags.AddChoice(cmd, &o.algo, "algo", "`"+strings.Join(names, "|")+
		"` Learner. With --model the default is that of the model.", names...)
	f.Float64Var(&o.eta, "eta", 1, "`NUMBER` Learning rate of perceptron and adagrad, above 0 and up to 1. For adagrad the default is 0.1.")
	for _, o := range learnerOptions() {
		var defaults []string
		for _, l := range o.Users {
			defaults = append(defaults, l.Name+" "+l.Option(o.Name).Text(l.New()))
		}
		f.String(o.Name, "", flags.Placeholder("NUMBER", o.Words)+o.Help+" (defaults: "+strings.Join(defaults, ", ")+")")
	}
	f.StringVar(&o.out, "out", "", "`FILE` Write the model to this file.")
	o.reporting.AddFlag(f)
	f.BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
	o.Scan.AddTo(cmd)
}

// beginningModel loads the model to continue from; it returns nil without --model. It also sets the options that the
// model determines.
func beginningModel(a *console.App, cmd *cobra.Command, o *onlineOptions) (*model.Model, error) {
	if o.model == "" {
		return nil, nil
	}
	m, err := console.LoadModel(cmd.Context(), o.model, o.Memory.Bytes)
	if err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("algo") && slices.Contains(onlineNames(), m.Algorithm) {
		o.algo = m.Algorithm
	}
	if err := checkContinues(o.model, o.algo, m); err != nil {
		return nil, err
	}
	of := &m.Options
	if o.algo == onlineNames()[0] && of.Eta > 0 && !cmd.Flags().Changed("eta") {
		o.eta = of.Eta
	}
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"margin", of.Margin > 0}, {"l2", of.L2 != nil && *of.L2 > 0 && m.Algorithm != o.algo},
		{"sample-weight", of.SampleWeight != ""}, {"class-weight", of.ClassWeight != nil},
	} {
		if option.set {
			a.Note("%s was trained with --%s: online continues without it", o.model, option.name)
		}
	}
	for _, name := range []string{"features", "exclude", "words", "positive", "no-bias"} {
		if cmd.Flags().Changed(name) {
			a.Note("--%s has no effect with --model", name)
		}
	}
	o.Data.Label = cmp.Or(o.Data.Label, m.Label)
	return m, nil
}

// checkContinues returns an error unless the learner can continue from the model. The model must have weights, but neither
// voters nor support rows. The perceptron also needs two classes, and a model of a perceptron learner.
func checkContinues(path, algo string, m *model.Model) error {
	switch {
	case m.Voters != nil:
		return message.Errorf("%s: the weights of a voted perceptron can't be continued: train one with --algo averaged", path)
	case m.Expansion != nil:
		return message.Errorf("%s: a model of support rows has no weights that can learn on: train one with --algo averaged", path)
	case algo != onlineNames()[0]:
		return nil
	case len(m.Classes) != 2:
		return message.Errorf("%s: the model has %d classes, and the perceptron takes two: use --algo "+
			"passive-aggressive, ftrl or adagrad", path, len(m.Classes))
	case m.Algorithm != train.OnlineName && !console.Learner(m.Algorithm).IsPerceptron():
		return message.Errorf("%s: the perceptron can't continue a model of --algo %s: use --algo ftrl, adagrad or passive-aggressive, "+
			"or train one with --algo averaged", path, m.Algorithm)
	}
	return nil
}

func (o *onlineOptions) check(args []string) error {
	switch {
	case len(args) == 0:
		return console.Usagef("no data: name a file, a glob, a directory, or - for standard input")
	case console.ToStdout(o.out):
		return console.Usagef("--out is %s: name a file for the model", o.out)
	}
	if err := learner.EtaOption.Check(&perceptron.Settings{Options: perceptron.Options{Eta: o.eta}}); err != nil {
		return console.Usage(err)
	}
	return o.Scan.Check()
}

type onlineReport struct {
	Algorithm string `json:"algorithm,omitempty"` // empty for the perceptron
	Rows      int64  `json:"rows"`
	Mistakes  int64  `json:"mistakes"`
	Updates   int64  `json:"updates"`
	// Errors are the errors of the last weights. They are null for standard input, which is read once, and if an
	// interrupt left no time.
	Errors       *int64                    `json:"errors"`
	LogLoss      *float64                  `json:"log_loss,omitempty"` // mean over the rows, each predicted before it was learned
	Progressive  []train.ProgressiveCounts `json:"progressive"`
	Radius       float64                   `json:"radius"`
	Margin       *float64                  `json:"margin,omitempty"`
	MistakeBound *float64                  `json:"mistake_bound,omitempty"` // for a perceptron that begins with zeros
	// UpdateBound is the largest number of updates of a perceptron that begins with the weights of --model.
	UpdateBound *float64 `json:"update_bound,omitempty"`
	Interrupted bool     `json:"interrupted"`
	Model       *string  `json:"model"`
}

func newOnlineReport(f *train.Outcome, interrupted bool) *onlineReport {
	t, c, algorithm := &f.Model.Training, f.Online, f.Model.Algorithm
	if algorithm == train.OnlineName {
		algorithm = ""
	}
	return &onlineReport{Algorithm: algorithm, LogLoss: c.ProgressiveCounts[len(c.ProgressiveCounts)-1].LogLoss,
		Rows: c.Rows, Mistakes: c.Mistakes, Updates: c.Updates, Errors: t.Errors, Progressive: c.ProgressiveCounts,
		Radius: *t.Radius, Margin: t.Margin, MistakeBound: t.MistakeBound, UpdateBound: f.UpdateBound, Interrupted: interrupted}
}

func learnOnline(ctx context.Context, a *console.App, o *onlineOptions, m *model.Model, paths []string) error {
	if o.out == "" {
		a.Note("no --out: the model isn't kept")
	}
	bar := a.NewProgress(o.Progress)
	defer bar.End()
	work, again, end := ctx, paths[0] != "-", (<-chan struct{})(nil)
	if !again { // an interrupt ends the stream; the rows so far are learned
		work, end = context.WithoutCancel(ctx), ctx.Done()
	}
	opt, undo := o.Options(a)
	defer undo()
	opt.DropUnlabelled = true
	if opt.End = end; m != nil {
		opt.Spec, opt.Features, opt.Exclude, opt.Categorical, opt.Positive, opt.NoBias = m.Spec(), nil, nil, "", "", false
	}
	table, err := dataset.Examine(work, paths, opt)
	if err != nil {
		return err
	}
	plan, err := table.Plan(work, opt)
	if err != nil {
		return err
	}
	open := plan.Stream
	if !again {
		open = plan.StreamOnce
	}
	src, err := open(work)
	if err != nil {
		return err
	}
	if err := learner.TwoClasses(src.Spec()); err != nil && (o.learner == nil || len(src.Spec().Classes) < 2) {
		return fmt.Errorf("%s: %w", humanize.Files(paths), err)
	}
	online := &train.Online{ReadOnce: !again, Show: func(rows int64) { bar.Rows("learning", rows, src.Rows()) }}
	f, err := o.learn(work, src, train.Options{Init: m, Workers: o.Workers, Online: online})
	if err == nil && !again {
		err = ctx.Err()
	}
	if errors.Is(err, train.ErrNoRows) {
		return fmt.Errorf("%s: %w: name data that has some", humanize.Files(paths), err)
	}
	if f == nil {
		return console.OfLearner(err, false)
	}
	f.Model.Data.Lake = table.Lake()
	r := newOnlineReport(f, err != nil)
	if o.out != "" {
		r.Model = &o.out
		if err := console.SaveModel(ctx, f.Model, o.out); err != nil {
			return err
		}
	}
	bar.End()
	if err := o.reporting.Write(ctx, func() (*plot.Page, error) { return o.page(a, f.Model, r, paths), nil }); err != nil {
		return err
	}
	return cmp.Or(a.Report(o.json, r, r.sheet), err)
}

func (r *onlineReport) sheet() *console.Sheet {
	s := new(console.Sheet)
	share := func(n, rows int64) string { return humanize.Percent(float64(n) / float64(rows)) }
	rows, last := [][]string{{"rows", "mistakes", "of all", "of the last", "updates"}}, train.ProgressiveCounts{}
	if r.LogLoss != nil {
		rows[0] = append(rows[0], "log loss")
	}
	for _, p := range r.Progressive {
		rows = append(rows, []string{humanize.Count(p.Rows), humanize.Count(p.Mistakes), share(p.Mistakes, p.Rows),
			share(p.Mistakes-last.Mistakes, p.Rows-last.Rows), humanize.Count(p.Updates)})
		if p.LogLoss != nil {
			rows[len(rows)-1] = append(rows[len(rows)-1], humanize.Fixed(*p.LogLoss, 6))
		}
		last = p
	}
	s.Table(rows)
	s.Line("")
	pairs := []string{"mistakes", console.Mistakes(r.Mistakes, r.Rows)}
	if r.Errors != nil {
		pairs = append(pairs, "errors", console.Errors(*r.Errors, r.Rows)+", of the last weights")
	}
	pairs = append(pairs, "radius", humanize.Real(r.Radius))
	switch {
	case r.Errors == nil || r.Algorithm != "":
	case r.MistakeBound != nil:
		pairs = append(pairs, "bound",
			fmt.Sprintf("%s mistakes, (radius/margin)^2 with the margin %s of the last weights",
				humanize.Bound(*r.MistakeBound), humanize.Real(*r.Margin)))
	case r.UpdateBound != nil:
		pairs = append(pairs, "bound",
			fmt.Sprintf("%s mistakes from the weights of --model, with the margin %s of the last weights",
				humanize.Bound(*r.UpdateBound), humanize.Real(*r.Margin)))
	case r.Margin == nil:
		pairs = append(pairs, "bound", "unknown: the last weights don't separate the rows")
	}
	if r.Model != nil {
		pairs = append(pairs, "model", *r.Model)
	}
	s.Pairs(pairs...)
	return s
}

func (o *onlineOptions) page(a *console.App, m *model.Model, r *onlineReport, paths []string) *plot.Page {
	result := report.Result(r.sheet())
	result.Tables[0].Caption = "Mistakes so far"
	var rows, mistakes []float64
	for _, p := range r.Progressive {
		rows, mistakes = append(rows, float64(p.Rows)), append(mistakes, float64(p.Mistakes))
	}
	pictures := plot.Section{Heading: "Plots", Figures: []*plot.Figure{plot.Mistakes(rows, mistakes)}}
	if w := plot.Weights(m, 0); w != nil && len(m.Weights) == 1 {
		pictures.Figures = append(pictures.Figures, w)
	}
	o.reporting.Interrupted = r.Interrupted
	return &plot.Page{Title: report.Title(m.Label, "learning online"), Lead: "Each row was predicted, then learned from.",
		Sections: []plot.Section{result, pictures,
			report.Data(a, paths, [][2]string{{"rows", humanize.Count(r.Rows)}, {"label", m.Label}}),
			o.reporting.OptionsSection(), o.reporting.RepeatSection(report.Hash(m, o.out)...)}}
}

// onlineNames lists the learners of online, the perceptron first.
func onlineNames() []string {
	return append([]string{"perceptron"}, train.Names(train.HasStepper)...)
}

// learnerOptions lists the options of the learners of online. It leaves out order and epochs, since online makes one pass
// in file order, and eta, which has its own flag.
func learnerOptions() []*flags.LearnerOption {
	var learners []*learner.Learner
	for _, name := range onlineNames()[1:] {
		learners = append(learners, train.Describe(name))
	}
	return slices.DeleteFunc(flags.LearnerOptions(learners), func(o *flags.LearnerOption) bool {
		return slices.Contains([]string{"order", "epochs", "eta"}, o.Name)
	})
}

// setLearner sets the learner of --algo. Its options are the options that the user gave, then the options of m, the
// model to continue from.
func (o *onlineOptions) setLearner(a *console.App, cmd *cobra.Command, m *model.Model) error {
	l := train.Learner{Learner: &learner.Learner{}}
	if o.algo != onlineNames()[0] {
		var err error
		if l, err = train.LearnerNamed(o.algo); err == nil {
			l, err = l.With(learner.OrderOption.Name, learner.Cyclic)
		}
		if err == nil {
			l, err = l.With(learner.EpochsOption.Name, 1)
		}
		if err != nil {
			return err
		}
		o.learner = &l
	}
	var names []string
	for _, option := range learnerOptions() {
		names = append(names, option.Name)
	}
	for _, name := range append(names, "eta") {
		flag, own := cmd.Flags().Lookup(name), l.Option(name)
		switch {
		case own == nil && flag.Changed && (name != "eta" || o.learner != nil):
			a.Note("--%s has no effect with --algo %s", name, o.algo)
		case own == nil:
		case flag.Changed:
			if err := own.Set(l.Settings, flag.Value.String()); err != nil {
				return console.Usage(err)
			}
		case m != nil && m.Algorithm == l.Name:
			if value := m.Options.Get(name); value != nil {
				if err := own.Set(l.Settings, fmt.Sprint(value)); err != nil {
					return fmt.Errorf("%s: %v", o.model, err) // the model has the option, not the command line
				}
			}
		}
	}
	return nil
}

// learn learns with the learner of --algo, or the perceptron with --eta if setLearner set none.
func (o *onlineOptions) learn(ctx context.Context, src block.Source, opt train.Options) (*train.Outcome, error) {
	if o.learner != nil {
		return train.Run(ctx, block.AssumeValid(src), *o.learner, opt)
	}
	return train.Run(ctx, block.AssumeValid(src), perceptron.New(perceptron.Options{Eta: o.eta}), opt)
}
