package predict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
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
	"halfspace/metrics"
	"halfspace/plot"
	"halfspace/predict"
	"halfspace/schema"
)

type evalOptions struct {
	flags.Scan
	models []string

	threshold     flags.Threshold
	saveThreshold string // file of the model with the threshold; ownFile: the model's own file
	calibration   bool
	roc, pr       string
	json          bool
	reporting     report.Options
	told          map[string]bool // notes about the data, which each model reads
}

// evalHelp stands before the options in the help of eval.
const evalHelp = `Eval predicts the rows of DATA with each model and compares the predictions with
the labels. It reports:

  - errors and accuracy
  - balanced accuracy, which is the mean recall of the classes, and the mean F1
    of the classes: of all alike (macro), and by their rows (weighted)
  - the confusion matrix, with precision, recall and F1 of each class
  - of more than two classes, the area under the ROC curve (AUC) of each class
    versus the rest, by its probability, or by its score without probabilities
  - of two classes, the exact area under the ROC curve (AUC; equal scores count
    half) and the average precision (AP)
  - of models with probabilities, the log loss, which is the mean of
    -log(probability of the row's class), and the Brier score, the mean square
    of 1 - probability

Accuracy, precision and recall have 95 % intervals by Wilson's method. With
--sample-weight, every figure but the number of errors is by weight. Rows with
missing values are skipped if the training skipped them, and so are rows without
a label.

--threshold moves the score that a row needs for the positive class: to a
number, to the score of a probability (p=0.3), to the best F1 (f1), or to the
least cost. cost=1:5 says that a false positive costs 1 and a false negative 5.
The printed number gives the same predictions on these rows again, and so does
the printed probability. A threshold that is chosen on these rows looks better
than it is on new ones. --save-threshold keeps it in the model: predict, the
exports and programs then obey it.

--json prints the figures of the first model at the top, and those of every
model in the list "models".

--roc and --pr write curves: for each score, from the highest to the lowest, how
many rows of each class have at least that score. Points on the straight line
between two others are left out.`

func Eval(a *console.App) *cobra.Command {
	o := evalOptions{told: map[string]bool{}}
	cmd := &cobra.Command{
		Use:         "eval --model m.json [--model n.json] DATA... [options]",
		Annotations: console.ReadsData,
		Short:       "Measure how good models are on labelled data",
		Long:        evalHelp,
		Example: `  halfspace eval --model m.json test.parquet
  halfspace eval --model m.json --model n.json test.parquet
  halfspace eval --model m.json --label truth --json 'test/*.parquet'
  halfspace eval --model m.json --threshold cost=1:5 test.parquet
  halfspace eval --model m.json --model n.json --roc curves.csv test.parquet`,
	}
	o.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(o.models) == 0:
			return console.Usagef("--model is missing: name the file of a model")
		case len(args) == 0:
			return console.Usagef("no data: name a file, a glob or a directory")
		case len(o.models) > 1 && slices.Contains(args, "-"):
			return console.Usagef("%d models: standard input can be read once, name one model or save the data to a file", len(o.models))
		}
		if err := o.Scan.Check(); err != nil {
			return err
		}
		inputs := slices.Concat(args, o.models)
		if err := cmp.Or(o.Data.Claim(a, inputs), o.reporting.Check(a, cmd, args, inputs, []string{o.roc, o.pr})); err != nil {
			return err
		}
		return evalAll(cmd.Context(), a, &o, args)
	}
	return cmd
}

func (o *evalOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.models, "model", nil, "`FILE` Model to evaluate. Give --model again to evaluate more models. (required)")
	f.StringVar(&o.Data.Label, "label", "", "`COLUMN` Column with the classes. (default the label's name in training)")
	o.Data.AddLabels(cmd)
	o.Data.AddWeights(cmd)
	f.StringVar(&o.Data.SampleWeight, "sample-weight", "",
		"`COLUMN` Column with sample weights, numbers of 0 or more. A row with sample weight 2 counts as two rows.")
	f.Var(&o.threshold, "threshold", "`NUMBER|p=NUMBER|f1|cost=FP:FN` Predict the positive class where the score is "+
		"above this number, the probability above p, or the score above the number with the best F1 or the least "+
		"cost on these rows. (default the threshold of the model, which is 0 unless it keeps one)")
	f.StringVar(&o.saveThreshold, "save-threshold", "",
		"`FILE` Write the model with the threshold of --threshold to this file (--save-threshold=FILE), or without a "+
			"FILE to that of --model.")
	f.Lookup("save-threshold").NoOptDefVal = ownFile
	f.BoolVar(&o.calibration, "calibration", false,
		"Print the calibration table too: how often the positive class came true, by its predicted probability.")
	f.StringVar(&o.roc, "roc", "", "`FILE` Write the ROC curves of two classes to this file: .csv, .parquet or .arrow.")
	f.StringVar(&o.pr, "pr", "", "`FILE` Write the precision-recall curves of two classes to this file: .csv, .parquet or .arrow.")
	o.reporting.AddFlag(f)
	f.BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
	o.Scan.AddTo(cmd)
}

func evalAll(ctx context.Context, a *console.App, o *evalOptions, args []string) error {
	a.HoldNotes()
	models, err := loadAll(ctx, o)
	if err != nil {
		return err
	}
	paths, err := o.Data.Expand(ctx, args, a.Warn)
	if err = cmp.Or(o.suits(models), err, o.checkSave(a, paths)); err != nil {
		return err
	}
	curves, err := createCurves(ctx, a, o, models, paths)
	if err != nil {
		return err
	}
	defer curves.abort()
	var reports []*evalReport
	held := int64(0)
	for i, m := range models {
		r, err := evalModel(ctx, a, o, m, o.models[i], paths, held)
		if err != nil {
			return err
		}
		held += pointBytes * int64(len(r.roc)+len(r.pr))
		reports = append(reports, r)
	}
	for _, c := range curves {
		if err := c.write(reports); err != nil {
			return err
		}
	}
	for i, r := range reports {
		// Weights and thresholds aim at something else than few errors.
		aimed := r.Confusion.HasWeights() || r.Threshold != nil || len(models[i].Options.ClassWeight) > 0
		if b, accuracy := r.Baseline, r.Confusion.Accuracy(); b != nil && !aimed && accuracy <= b.Accuracy {
			r.Warning = console.WarnOfBaseline(a, o.models[i], accuracy, b, "these rows")
		}
	}
	if err := o.reporting.Write(ctx, func() (*plot.Page, error) { return o.page(a, models, reports, paths), nil }); err != nil {
		return err
	}
	if err := o.keepThreshold(ctx, a, models[0], reports[0]); err != nil {
		return err
	}
	return a.Report(o.json, evalReports{reports[0], reports}, func() *console.Sheet {
		if len(reports) == 1 {
			return reports[0].Sheet(o.thresholdText(reports[0]), o.calibration)
		}
		return compare(reports, o)
	})
}

// suits returns an error if an option doesn't suit a model: it needs two classes, or probabilities.
func (o *evalOptions) suits(models []*model.Model) error {
	for i, m := range models {
		for _, flag := range []struct {
			name  string
			given bool
			what  string
		}{
			{"roc", o.roc != "", "a ROC curve is one of two"}, {"pr", o.pr != "", "a precision-recall curve is one of two"},
			{"threshold", o.threshold.By != "", "a threshold needs two"},
			{"calibration", o.calibration, "the calibration table is one of two"},
		} {
			if n := len(m.Classes); flag.given && n > 2 {
				return console.Usagef("--%s: %s has %d classes, and %s", flag.name, o.models[i], n, flag.what)
			}
		}
		if o.calibration && !m.HasProbabilities() {
			return console.Usagef("--calibration: %s: %s", o.models[i], console.NoProbabilities(m))
		}
	}
	return nil
}

// loadAll loads the models. All models together may take at most half of the memory, which is also the bound for one
// model elsewhere.
func loadAll(ctx context.Context, o *evalOptions) (models []*model.Model, err error) {
	limit, undo := o.Memory.Hold()
	defer undo()
	held := int64(0)
	for _, path := range o.models {
		m, err := console.LoadModel(ctx, path, max(1, limit-held))
		if err != nil {
			return nil, err
		}
		if held += bytesOf(m); 2*held > limit && len(o.models) > 1 {
			return nil, message.Errorf("%w: the models, %s included, take more than half of %s: give more with "+
				"--memory, or evaluate fewer models at a time", model.ErrMemory, path, humanize.Size(limit))
		}
		models = append(models, m)
	}
	return models, nil
}

// bytesOf returns the bytes that the arrays of a model take: weights, voters, and the rows of a kernel's expansion.
func bytesOf(m *model.Model) (bytes int64) {
	for _, w := range m.Weights {
		bytes += int64(len(w)) * int64(unsafe.Sizeof(w[0]))
	}
	if v := m.Voters; v != nil {
		bytes += int64(len(v.Weights)) + int64(len(v.Counts))*int64(unsafe.Sizeof(v.Counts[0]))
	}
	if e := m.Expansion; e != nil {
		bytes += int64(len(e.Rows))*int64(unsafe.Sizeof(e.Rows[0])) + int64(len(e.Support)) + int64(len(e.Steps))
		for _, c := range e.Coefficients {
			bytes += int64(len(c))
		}
		for _, v := range e.Votes {
			bytes += int64(len(v.Mistakes)) + int64(len(v.Survived))
		}
	}
	return bytes
}

// judge evaluates a model on the rows of files. held is the number of bytes that the curves of other models take.
func judge(ctx context.Context, a *console.App, o *evalOptions, m *model.Model, paths []string, held int64) (*train.Evaluation, error) {
	bar := a.NewProgress(o.Progress)
	defer bar.End()
	e, err := train.NewEvaluation(m, o.Workers)
	if err != nil {
		return nil, err
	}
	opt, undo := o.scanOptions(a, m)
	defer undo()
	opt.Progress = bar.Reading("evaluating")
	added := func() error {
		if e.ClassScores != nil && checkRoom(opt.Memory, e.Confusion.Rows(), e.ClassScores.Bytes(), held) != nil {
			a.Note("no AUC: the scores of %s for %s take more than half of the memory: give more than %s with --memory",
				humanize.Plural(e.Confusion.Rows(), "row"), humanize.Plural(int64(len(m.Classes)), "class"), humanize.Size(opt.Memory))
			e.ClassScores = nil
		}
		return checkRoom(opt.Memory, e.Confusion.Rows(), e.Scores.Bytes(), held)
	}
	if a.Engine != nil {
		var src *dataset.Rows
		if src, err = dataset.Open(ctx, paths, opt, dataset.Budget{Engine: a.Engine}); err != nil {
			return nil, err
		}
		err = e.AddRemote(ctx, m, src.Source, added)
	} else {
		err = dataset.Scan(ctx, paths, opt, func(_ *schema.Spec, b *block.Block, _ arrow.Record) error {
			return cmp.Or(e.Add(ctx, b), added())
		})
	}
	switch {
	case err != nil:
		return nil, err
	case e.Confusion.Rows() == 0:
		return nil, fmt.Errorf("%s: no rows with a label: name data that has some", humanize.Files(paths))
	case e.Confusion.Total() == 0:
		return nil, message.Errorf("%s: column %q: every sample weight is 0: choose another column with "+
			"--sample-weight", humanize.Files(paths), o.Data.SampleWeight)
	}
	return e, nil
}

// scanOptions returns the options to read rows for a model. The caller must call undo.
func (o *evalOptions) scanOptions(a *console.App, m *model.Model) (opt dataset.Options, undo func()) {
	opt, undo = o.Options(a)
	opt.Spec, opt.Label, opt.DropUnlabelled = m.Spec(), cmp.Or(opt.Label, m.Label), true
	opt.Warn = func(note string) {
		if !o.told[note] {
			o.told[note] = true
			a.Warn(note)
		}
	}
	flags.NameArrays(&opt)
	return opt, undo
}

// evalModel evaluates the model of the file path on the rows of paths. held is as in judge.
func evalModel(ctx context.Context, a *console.App, o *evalOptions, m *model.Model, path string, paths []string,
	held int64) (*evalReport, error) {
	e, err := judge(ctx, a, o, m, paths, held)
	if err != nil {
		return nil, err
	}
	at, confusion := m.ScoreThreshold(), e.Confusion
	if o.threshold.By != "" {
		at, err = predict.ChooseThreshold(o.threshold.Threshold, m, &e.Scores)
		switch {
		case errors.Is(err, predict.ErrNoPositiveRows):
			return nil, message.Errorf("%s: no row of the positive class %s has a weight, so that no threshold has "+
				"the best F1: name data of this class, or give --threshold a number", humanize.Files(paths), m.Positive)
		case err != nil:
			return nil, console.Usagef("--threshold: %s: %w", path, err)
		}
		confusion = e.Scores.Confusion(at, m.Spec().PositiveClass())
	}
	r := &evalReport{Evaluation: report.NewEvaluation(m, e, confusion, o.reporting.File != "")}
	if o.reporting.File != "" && a.Engine == nil {
		opt, undo := o.scanOptions(a, m)
		defer undo()
		if r.values, err = r.NewValues(ctx, m, opt, paths); err != nil {
			return nil, err
		}
	}
	if r.Model = path; o.threshold.By != "" || m.Threshold != nil {
		r.setThreshold(o.threshold.Threshold, at, m, &e.Scores)
	}
	return r, setCurves(o, r, &e.Scores, held)
}

// setCurves sets the curves that the user asked for. held is the number of bytes that the
// curves of other models take.
func setCurves(o *evalOptions, r *evalReport, scores *metrics.Scores, held int64) error {
	if o.roc == "" && o.pr == "" {
		return nil
	}
	points := int64(0)
	atROC, atPR := scores.CurvePoints()
	if o.roc != "" {
		points += int64(atROC)
	}
	if o.pr != "" {
		points += int64(atPR)
	}
	if err := checkRoom(o.Memory.Limit(), r.Rows, scores.Bytes(), held+pointBytes*points); err != nil {
		return err
	}
	if o.roc != "" {
		r.roc = scores.ROC()
	}
	if o.pr != "" {
		r.pr = scores.PrecisionRecall()
	}
	return nil
}

// checkRoom returns an error if the scores of rows and the points of curves, in bytes, take more than half of the memory,
// and more than leastScores.
func checkRoom(memory, rows, scores, curves int64) error {
	switch {
	case scores+curves <= max(leastScores, memory/2):
		return nil
	case curves == 0:
		return message.Errorf("the scores of %s for the AUC take at least %s of memory: give more than %s with --memory",
			humanize.Plural(rows, "row"), humanize.Size(scores), humanize.Size(memory))
	}
	return message.Errorf("the scores of %s and the points of curves take at least %s of memory: give more than %s "+
		"with --memory, or leave --roc and --pr out",
		humanize.Plural(rows, "row"), humanize.Size(scores+curves), humanize.Size(memory))
}

const (
	leastScores = 48 << 20 // bytes that scores and curves may take even if --memory is smaller
	pointBytes  = 54       // bytes of a point of a curve: 24, times 9/4 while the slice grows
)

// setThreshold sets the threshold of a report, the probability that corresponds to it, and the cost.
func (r *evalReport) setThreshold(t predict.Threshold, at float64, m *model.Model, scores *metrics.Scores) {
	r.Threshold = &at
	low, high := scores.Neighbours(at)
	if t.By == predict.ByProbability {
		r.Probability = &t.Value
	} else if p, ok := predict.ProbabilityBetween(m, low, high); ok {
		r.Probability = &p
	}
	if t.By == predict.ByCost {
		positive := r.PositiveClass
		r.Cost = console.Finite(t.FalsePositive*r.Confusion.Weight(1-positive, positive) +
			t.FalseNegative*r.Confusion.Weight(positive, 1-positive))
	}
}

// thresholdText returns the threshold of a report for people, or "" if the report has none.
func (o *evalOptions) thresholdText(r *evalReport) string {
	if r.Threshold == nil {
		return ""
	}
	at := console.Threshold(*r.Threshold, r.Probability)
	switch {
	case o.threshold.By == "":
		return at + ", of the model"
	case o.threshold.By == predict.ByCost && r.Cost == nil: // the sample weights are enormous
		return at + ", of the least cost on these rows, which is infinite"
	case o.threshold.By == predict.ByCost:
		return at + ", of the least cost on these rows: " + humanize.Real(*r.Cost)
	case o.threshold.By == predict.ByF1:
		return at + ", of the best F1 on these rows: " + report.Fixed(r.PerClass[r.PositiveClass].F1, 4)
	}
	return at
}

// ownFile is the value of --save-threshold without a file. It stands for the model's own file.
const ownFile = "the file of the model"

// checkSave returns an error if --save-threshold can't be used.
func (o *evalOptions) checkSave(a *console.App, paths []string) error {
	switch {
	case o.saveThreshold == "":
		return nil
	case o.threshold.By == "":
		return console.Usagef("--save-threshold keeps the threshold of --threshold: add --threshold f1, or another one")
	case len(o.models) > 1:
		return console.Usagef("--save-threshold and %d models: name one", len(o.models))
	case o.saveThreshold == ownFile:
		o.saveThreshold = o.models[0]
	}
	if console.ToStdout(o.saveThreshold) {
		return console.Usagef("--save-threshold is %s: name a file for the model", o.saveThreshold)
	}
	if slices.Contains([]string{o.roc, o.pr, o.reporting.File}, o.saveThreshold) {
		return console.Usagef("--save-threshold and another option both write %s: name two files", o.saveThreshold)
	}
	return console.Claim(a, o.saveThreshold, paths)
}

// keepThreshold writes the model with the threshold of the report, if --save-threshold is given.
func (o *evalOptions) keepThreshold(ctx context.Context, a *console.App, m *model.Model, r *evalReport) error {
	if o.saveThreshold == "" {
		return nil
	}
	m.SetThreshold(*r.Threshold)
	if err := console.SaveModel(ctx, m, o.saveThreshold); err != nil {
		return err
	}
	a.Note("%s: the model with the threshold %s", o.saveThreshold, humanize.Exact(*r.Threshold))
	return nil
}
