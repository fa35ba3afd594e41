package scoring

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/fit"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/facts"
	"halfspace/internal/cli/files"
	"halfspace/internal/cli/flags"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/metrics"
	"halfspace/model"
	"halfspace/schema"
)

type evalOptions struct {
	flags.Machine
	text   flags.Text
	memory flags.Size
	models []string
	label  string
	roc    string
	json   bool
}

// Eval returns the command that measures how good models are.
func Eval(a *console.App) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval --model m.json [--model n.json] DATA... [options]",
		Short: "Measure how good models are on labelled data",
		Long: `Eval predicts the rows of DATA with each model and compares the predictions with
the labels. It reports:

  - errors and accuracy
  - the confusion matrix, with precision, recall and F1 of each class
  - the exact area under the ROC curve (equal scores count half)
  - the log loss of models with probabilities (logistic, lda, ftrl, adagrad):
    the mean of -log(probability of the row's class)

Rows with missing values are skipped if the training skipped them.

--json prints the figures of the first model at the top, and those of every
model in the list "models".

--roc writes the ROC curve: for each score, from the highest to the lowest, how
many rows of each class have at least that score. Points on the straight line
between two others are left out.`,
		Example: `  halfspace eval --model m.json test.parquet
  halfspace eval --model m.json --model n.json test.parquet
  halfspace eval --model m.json --label truth --json 'test/*.parquet'
  halfspace eval --model m.json --model n.json --roc curves.csv test.parquet`,
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.models, "model", nil, "`FILE` Model to judge. Give --model again to judge more models. (required)")
	f.StringVar(&o.label, "label", "", "`COLUMN` Column with the classes. (default the label's name in training)")
	f.StringVar(&o.roc, "roc", "", "`FILE` Write the ROC curves of two classes to this file: .csv, .parquet or .arrow.")
	f.BoolVar(&o.json, "json", false, "Print the report as one JSON object.")
	o.text.AddTo(cmd)
	o.memory.AddTo(cmd)
	o.Machine.AddTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(o.models) == 0:
			return console.Usagef("--model is missing: name the file of a model")
		case len(args) == 0:
			return console.Usagef("no data: name a file, a glob or a directory")
		case len(o.models) > 1 && slices.Contains(args, "-"):
			return console.Usagef("%d models: standard input can be read once, name one model or save the data to a file", len(o.models))
		}
		if err := o.text.Check(); err != nil {
			return err
		}
		if err := o.Machine.Apply(); err != nil {
			return err
		}
		return evalAll(cmd.Context(), a, &o, args)
	}
	return cmd
}

func evalAll(ctx context.Context, a *console.App, o *evalOptions, paths []string) error {
	models, err := loadAll(ctx, o)
	if err != nil {
		return err
	}
	roc, err := createROC(ctx, a, o, models, paths)
	if err != nil {
		return err
	}
	if roc != nil {
		defer roc.Abort()
	}
	var reports []*evalReport
	for i, m := range models {
		evaluate := evalAs[float32]
		if m.Dtype == "float64" {
			evaluate = evalAs[float64]
		}
		r, err := evaluate(ctx, a, o, m, paths)
		if err != nil {
			return err
		}
		r.Model = o.models[i]
		reports = append(reports, r)
	}
	if roc != nil {
		if err := writeROC(roc, reports); err != nil {
			return err
		}
	}
	switch {
	case o.json:
		return a.PrintJSON(evalReports{reports[0], reports})
	case len(reports) == 1:
		return a.Print(reports[0].text())
	}
	return a.Print(compare(reports))
}

// loadAll loads the models. The weights of all together take at most half of the memory, as those of one model do elsewhere.
func loadAll(ctx context.Context, o *evalOptions) (models []*model.Model, err error) {
	left := o.memory.Limit()
	for _, path := range o.models {
		m, err := files.LoadModel(ctx, path, max(1, left))
		if err != nil {
			return nil, err
		}
		for _, w := range m.Weights {
			left -= 2 * int64(len(w)) * int64(unsafe.Sizeof(w[0]))
		}
		models = append(models, m)
	}
	return models, nil
}

// evalReports is what eval --json prints: the figures of the first model, and a list with those of every model.
type evalReports struct {
	*evalReport
	Models []*evalReport `json:"models"`
}

// An evalReport is what eval --json prints for a model. Undefined shares are null.
type evalReport struct {
	Model     string             `json:"model"`
	Rows      int64              `json:"rows"`
	Errors    int64              `json:"errors"`
	Accuracy  *float64           `json:"accuracy"`
	AUC       *float64           `json:"auc"`
	LogLoss   *float64           `json:"log_loss"`
	Classes   []schema.Class     `json:"classes"`
	Positive  schema.Class       `json:"positive"`
	Confusion *metrics.Confusion `json:"confusion"` // [class][predicted class], in the order of classes
	PerClass  []classReport      `json:"per_class"`
	Baseline  *fit.Baseline      `json:"baseline"`
	auc       float64
	logLoss   float64         // NaN of models without probabilities
	curve     []metrics.Point // only with --roc
}

type classReport struct {
	Class     schema.Class `json:"class"`
	Rows      int64        `json:"rows"`
	Precision *float64     `json:"precision"`
	Recall    *float64     `json:"recall"`
	F1        *float64     `json:"f1"`
}

func evalAs[T kernel.Float](ctx context.Context, a *console.App, o *evalOptions, m *model.Model, paths []string) (*evalReport, error) {
	bar := a.NewProgress(o.Progress.Value)
	defer bar.End()
	label := o.label
	if label == "" {
		label = m.Label
	}
	e, err := fit.NewEvaluation[T](m, o.Workers)
	if err != nil {
		return nil, err
	}
	memory, undo := o.memory.Hold()
	defer undo()
	err = dataset.Scan(ctx, paths, dataset.Options{
		Spec: m.Spec(), Label: label, Workers: o.Workers, Text: o.text.Options(), Storage: dataset.Auto, Memory: memory,
		Warn:     func(s string) { bar.End(); a.Note("%s", s) },
		Progress: func(rows, total int64) { bar.Show("evaluating", "", rows, total) },
	}, func(_ *schema.Spec, b *block.Block[T], _ arrow.Record) error {
		if err := e.Add(ctx, b); err != nil {
			return err
		}
		if held := e.Scores.Bytes(); held > max(leastScores, memory/2) {
			return fmt.Errorf("the scores of %s for the AUC take at least %s of memory: give more than %s with --memory",
				say.Plural(e.Confusion.Rows(), "row"), say.Size(held), say.Size(memory))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if e.Confusion.Rows() == 0 {
		return nil, fmt.Errorf("%s: no rows: name data that has some", strings.Join(paths, " "))
	}
	r := newEvalReport(m, e.Confusion, e.Scores.AUC(), e.LogLoss())
	if o.roc != "" {
		r.curve = e.Scores.ROC()
	}
	return r, nil
}

// leastScores is the number of bytes that scores may take whatever --memory is.
const leastScores = 48 << 20

func newEvalReport(m *model.Model, c *metrics.Confusion, auc, logLoss float64) *evalReport {
	r := &evalReport{Rows: c.Rows(), Errors: c.Errors(), Accuracy: console.Finite(c.Accuracy()), AUC: console.Finite(auc), LogLoss: console.Finite(logLoss),
		Classes: m.Classes, Positive: m.Positive, Confusion: c, auc: auc, logLoss: logLoss}
	counts := c.Counts()
	for i, class := range m.Classes {
		r.PerClass = append(r.PerClass, classReport{class, counts[i], console.Finite(c.Precision(i)), console.Finite(c.Recall(i)), console.Finite(c.F1(i))})
	}
	r.Baseline = fit.NewBaseline(m.Classes, counts)
	return r
}

// text is the report for people.
func (r *evalReport) text() []byte {
	var s console.Sheet
	pairs := []string{"errors", facts.Errors(r.Errors, r.Rows),
		"baseline", facts.Baseline(r.Baseline)}
	if len(r.Classes) == 2 {
		s.Line("%s: %s, positive class %s\n", r.Model, say.Plural(r.Rows, "row"), r.Positive)
		pairs = append(pairs, "AUC", say.Fixed(r.auc, 6))
	} else {
		s.Line("%s: %s of %d classes\n", r.Model, say.Plural(r.Rows, "row"), len(r.Classes))
	}
	if !math.IsNaN(r.logLoss) {
		pairs = append(pairs, "log loss", say.Fixed(r.logLoss, 6))
	}
	s.Pairs(pairs...)
	wide := len(r.Classes) > maxPredicted
	head := []string{"class"}
	if wide {
		head = append(head, "rows", "right")
	} else {
		for _, c := range r.Classes {
			head = append(head, "predicted "+c.String())
		}
	}
	rows := [][]string{append(head, "precision", "recall", "F1")}
	if wide {
		rows[0] = append(rows[0], "mostly taken for")
	}
	for i, c := range r.Classes {
		row := []string{c.String()}
		if wide {
			row = append(row, say.Count(r.PerClass[i].Rows), say.Count(r.Confusion.Count(i, i)))
		} else {
			for k := range r.Classes {
				row = append(row, say.Count(r.Confusion.Count(i, k)))
			}
		}
		row = append(row, say.Fixed(r.Confusion.Precision(i), 4), say.Fixed(r.Confusion.Recall(i), 4), say.Fixed(r.Confusion.F1(i), 4))
		if wide {
			row = append(row, r.takenFor(i))
		}
		rows = append(rows, row)
	}
	s.Line("")
	s.Table(rows)
	if wide {
		s.Line("\n--json has the whole confusion of classes.")
	}
	return s.Bytes()
}

// maxPredicted is the most classes that have a column each in the table.
const maxPredicted = 6

// takenFor returns the wrong class that was predicted most often for a class, and how often.
func (r *evalReport) takenFor(class int) string {
	best, most := -1, int64(0)
	for other := range r.Classes {
		if n := r.Confusion.Count(class, other); other != class && n > most {
			best, most = other, n
		}
	}
	if best < 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", r.Classes[best], say.Count(most))
}

// compare is the report on several models for people.
func compare(reports []*evalReport) []byte {
	rows := [][]string{{"model", "rows", "errors", "accuracy", "AUC", "log loss"}}
	for _, r := range reports {
		rows = append(rows, []string{r.Model, say.Count(r.Rows), say.Count(r.Errors), say.Percent(r.Confusion.Accuracy()), say.Fixed(r.auc, 6), say.Fixed(r.logLoss, 6)})
	}
	if b := reports[0].Baseline; !slices.ContainsFunc(reports, func(r *evalReport) bool { return r.Rows != reports[0].Rows || *r.Baseline != *b }) {
		rows = append(rows, []string{"always " + schema.NameClass(b.Class), say.Count(reports[0].Rows), say.Count(b.Errors), say.Percent(b.Accuracy), "-", "-"})
	}
	var s console.Sheet
	s.Table(rows)
	return s.Bytes()
}
