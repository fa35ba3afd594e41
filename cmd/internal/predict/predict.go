// Package predict has the verbs that apply models to rows.
package predict

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/dataset"
	"halfspace/dataset/records"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/predict"
	"halfspace/schema"
)

type predictOptions struct {
	flags.Scan
	file      flags.RowsFile
	models    []string // values of --model
	model     string
	score     bool
	proba     bool
	project   bool
	explain   int             // number of features of an explanation; 0: none
	threshold flags.Threshold // replaces the model's threshold
}

func Predict(a *console.App) *cobra.Command {
	var o predictOptions
	cmd := &cobra.Command{
		Use:         "predict --model m.json DATA... --out FILE [options]",
		Annotations: console.ReadsData,
		Short:       "Apply a model to data",
		Long: `Predict writes one row for each row of DATA, in the same order. The column
"prediction" is the predicted class, in the type of the training labels. DATA
needs the features of the model, but no label. A row with a missing value gets a
null, unless the training filled missing values in. A line that --rejects leaves
out gets no row.

The extension of FILE chooses the format: .parquet, .csv, .jsonl, .arrow, .npy
or .svm; - writes CSV to standard output. Rows of standard input are predicted
as they arrive, unless --rejects is given. In a .svm file, which holds only
numbers, the prediction comes first. A .npy file holds one array: the
predictions, or with --score, --proba or --project these alone.`,
		Example: `  halfspace predict --model m.json new.parquet --out predictions.parquet
  halfspace predict --model m.json new.parquet --keep id --score --out predictions.csv
  halfspace predict --model m.json 'new/*.parquet' --keep id --out - | head`,
	}
	o.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(args); err != nil {
			return err
		}
		_, undo := o.Memory.Hold()
		defer undo()
		m, err := console.LoadModel(cmd.Context(), o.model, o.Memory.Bytes)
		switch {
		case err != nil:
			return err
		case o.proba && !m.HasProbabilities():
			return message.Errorf("%s: %s, or write --score", o.model, console.NoProbabilities(m))
		case o.project && m.Projection == nil:
			return message.Errorf("%s: the model has no projection: train one with --algo lda --solver eigen", o.model)
		}
		if err := o.checkExplains(m); err != nil {
			return err
		}
		if o.threshold.By != "" {
			at, err := o.threshold.Of(m)
			if err != nil {
				return console.Usagef("--threshold: %s: %w", o.model, err)
			}
			m.SetThreshold(at)
		}
		paths, err := o.Data.Expand(cmd.Context(), args, a.Warn)
		if err != nil {
			return err
		}
		inputs := append(paths, o.model)
		if err := cmp.Or(console.Claim(a, o.file.Out, inputs), o.Data.Claim(a, inputs)); err != nil {
			return err
		}
		return predictRows(cmd.Context(), a, &o, m, paths)
	}
	return cmd
}

func (o *predictOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.models, "model", nil, "`FILE` Model to apply. (required)")
	o.file.AddOut(cmd)
	f.StringSliceVar(&o.Data.Keep, "keep", nil, "`COLUMN,...` Columns of the data to write next to the predictions, by name or glob.")
	f.Var(&o.threshold, "threshold", "`NUMBER|p=NUMBER` Predict the positive class of two where the score is above "+
		"this number, or its probability above this one. (default the threshold of the model, which is 0 unless it "+
		"keeps one)")
	f.BoolVar(&o.score, "score", false, "Write the column \"score\" too. A score above the threshold predicts the "+
		"positive class. With more than two classes, write \"score_CLASS\" for each class.")
	f.BoolVar(&o.proba, "proba", false, "Write the columns \"probability_CLASS\" too, for models of logistic, lda, "+
		"ftrl and adagrad, and those of train --calibrate.")
	f.BoolVar(&o.project, "project", false,
		"Write the columns \"projection_1\", ... too, for models of lda with --solver eigen. They are coordinates "+
			"along the directions in which the classes differ most.")
	f.IntVar(&o.explain, "explain", 0, explainUsage)
	o.file.AddJSON(cmd)
	o.Scan.AddTo(cmd)
}

func (o *predictOptions) check(args []string) error {
	switch {
	case len(o.models) > 1:
		return console.Usagef("%d models: predict applies one, give --model once", len(o.models))
	case strings.Join(o.models, "") == "":
		return console.Usagef("--model is missing: name the file of a model")
	case len(args) == 0:
		return console.Usagef("no data: name a file, a glob or a directory")
	case o.file.Out != "" && o.threshold.NeedsRows():
		return console.Usagef("--threshold %s is chosen on rows with labels: find the number with halfspace eval "+
			"--threshold %s, or keep it in the model with eval --save-threshold", o.threshold.Threshold,
			o.threshold.Threshold)
	}
	if o.numpy() {
		asked := 0
		for _, given := range []bool{o.score, o.proba, o.project} {
			if given {
				asked++
			}
		}
		switch {
		case asked > 1:
			return console.Usagef("--score, --proba and --project: a .npy file holds one array, give one of them, or " +
				"write .parquet or .csv")
		case len(o.Data.Keep) > 0:
			return console.Usagef("--keep with a .npy file, which holds one array: leave it out, or write .parquet or .csv")
		}
	}
	o.model = o.models[0]
	return cmp.Or(o.checkExplain(), o.file.Check(), o.Scan.Check())
}

// numpy tells whether the predictions are written as an array of NumPy.
func (o *predictOptions) numpy() bool { return strings.EqualFold(filepath.Ext(o.file.Out), ".npy") }

type predictReport struct {
	Model     string  `json:"model"`
	Rows      int64   `json:"rows"`
	Out       string  `json:"out"`
	Threshold float64 `json:"threshold,omitempty"` // for two classes, if it isn't 0
	ISA       string  `json:"isa"`
	Workers   int     `json:"workers"`
	Seconds   float64 `json:"seconds"`
}

func predictRows(ctx context.Context, a *console.App, o *predictOptions, m *model.Model, paths []string) error {
	start := time.Now()
	bar := a.NewProgress(o.Progress)
	defer bar.End()
	p, err := newPredictions(o, m)
	if err != nil {
		return err
	}
	defer p.abort()
	opt, undo := o.Options(a)
	defer undo()
	p.warn, p.writesEachBlock = a.Warn, console.ToStdout(o.file.Out) && slices.Equal(paths, []string{"-"}) && o.Data.Rejects == nil
	opt.KeepTexts = dataset.WritesCSV(o.file.Out)
	opt.Live, opt.Spec, opt.Nulls, opt.Progress = p.writesEachBlock, m.Spec(), schema.NullsDrop, bar.Reading("predicting")
	opt.Memory = max(1, opt.Memory-dataset.GroupBytes) // the writer takes the rest
	if err := p.scan(ctx, paths, opt); err != nil {
		return err
	}
	if err := p.writer.Close(); err != nil {
		return err
	}
	bar.End()
	if p.missingRows > 0 {
		a.Note("%s without a prediction: a feature is null, NaN or infinite, and %s", humanize.Plural(p.missingRows, "row"), p.reason)
	}
	r := predictReport{o.model, p.rows, o.file.Out, m.ScoreThreshold(), kernel.Active().String(), o.Workers, time.Since(start).Seconds()}
	return o.file.Report(a, r, "%s: predictions for %s in %s", r.Out, humanize.Plural(r.Rows, "row"), humanize.Seconds(r.Seconds))
}

// predictions writes the predictions of a model, block by block.
type predictions struct {
	o               *predictOptions
	spec            *schema.Spec
	odds            predict.Odds
	threshold       float64
	scorer          *predict.Scorer
	writer          *dataset.Writer // nil before the first block
	warn            func(text string)
	rows            int64
	writesEachBlock bool  // each block's predictions are written at once
	classes         []int // numbers of the predicted classes of a block

	// classColumn makes the column of the predicted classes: records.ClassDictionary, or records.Classes for files that would
	// keep the dictionary.
	classColumn func(classes []schema.Class, numbers []int, valid []bool) arrow.Array

	weights    [][]float64 // of the model
	directions [][]float32 // weights of the columns "projection_1", ...

	dropsRows   bool   // rows with missing values get nulls
	reason      string // why they do
	missingRows int64  // number of these rows
}

func newPredictions(o *predictOptions, m *model.Model) (*predictions, error) {
	p := &predictions{o: o, spec: m.Spec(), odds: predict.OddsOf(m), threshold: m.ScoreThreshold(), weights: m.Weights,
		classColumn: records.Classes}
	if dataset.WritesDictionaries(o.file.Out) {
		p.classColumn = records.ClassDictionary
	}
	var err error
	if p.scorer, err = predict.NewScorer(m, o.Workers); err != nil {
		return nil, err
	}
	if o.project {
		for _, direction := range m.Projection.Directions {
			w := block.Alloc[float32](kernel.Stride(p.spec.Cols()))
			for i, v := range direction {
				w[i] = float32(v)
			}
			p.directions = append(p.directions, w)
		}
	}
	switch {
	case m.Preprocessing == nil || m.Preprocessing.Nulls == schema.NullsError:
		p.dropsRows, p.reason = true, "no training row had a missing value (train the model with --nulls mean, which fills such values in)"
	case m.Preprocessing.Nulls == schema.NullsDrop:
		p.dropsRows, p.reason = true, "the model was trained with --nulls drop"
	}
	return p, nil
}

// recordsAhead is the number of records that may wait for the file while a row group is written.
const recordsAhead = 32

// scan predicts the rows of files. It writes the records of one block while it reads and scores the next ones.
func (p *predictions) scan(ctx context.Context, paths []string, opt dataset.Options) error {
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	line := parallel.NewLine(reading, opt.Workers, recordsAhead)
	err := dataset.Scan(reading, paths, opt, func(_ *schema.Spec, b *block.Block, kept arrow.Record) error {
		rec, err := p.record(reading, b, kept)
		if err == nil && !line.Go(func() func() {
			return func() {
				defer rec.Release()
				if reading.Err() != nil { // a record before this one was not written
					return
				}
				if err := p.write(ctx, rec); err != nil {
					stop(err)
				}
			}
		}) {
			err = reading.Err()
		}
		return err
	})
	waited := line.Wait()
	return cmp.Or(context.Cause(reading), err, waited)
}

// record returns the predictions of a block beside the kept columns of its rows.
func (p *predictions) record(ctx context.Context, b *block.Block, kept arrow.Record) (arrow.Record, error) {
	scores, err := p.scorer.Scores(ctx, b)
	if err != nil {
		return nil, err
	}
	p.classes = predict.AppendPredictedClasses(p.classes[:0], scores, p.spec.PositiveClass(), p.threshold)
	valid := p.validRows(b, scores[0])
	var fields []arrow.Field
	var columns []arrow.Array
	if kept != nil {
		fields, columns = slices.Clone(kept.Schema().Fields()), slices.Clone(kept.Columns())
	}
	own := len(columns)
	p.columns(b, scores, valid, func(name string, column arrow.Array) {
		fields, columns = append(fields, arrow.Field{Name: name, Type: column.DataType(), Nullable: p.dropsRows}), append(columns, column)
	})
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(b.Len()))
	for _, c := range columns[own:] { // rec holds them
		c.Release()
	}
	return rec, nil
}

// validRows tells for each row of a block whether it has a prediction, and counts those without. It returns nil if all have one.
func (p *predictions) validRows(b *block.Block, scores []float32) []bool {
	if !p.dropsRows || !slices.ContainsFunc(scores, func(s float32) bool { return s != s }) { // a missing value makes a score NaN
		return nil
	}
	valid, missing := predict.ValidScores(b, scores), int64(0)
	for _, ok := range valid {
		if !ok {
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	p.missingRows += missing
	return valid
}

// write adds a record to the file, which the first one creates.
func (p *predictions) write(ctx context.Context, rec arrow.Record) error {
	if p.writer == nil {
		if err := p.create(ctx, rec.Schema()); err != nil {
			return err
		}
	}
	p.rows += rec.NumRows()
	if err := p.writer.Write(rec); err != nil || !p.writesEachBlock {
		return err
	}
	return p.writer.Flush()
}

// columns calls add for each column with the predictions of a block: class, scores, probabilities and projections.
func (p *predictions) columns(b *block.Block, scores [][]float32, valid []bool, add func(name string, column arrow.Array)) {
	if !p.o.numpy() || !p.o.score && !p.o.proba && !p.o.project {
		add(records.PredictionName, p.classColumn(p.spec.Classes, p.classes, valid))
	}
	if p.o.score {
		for c, name := range records.ScoreNames(p.spec.Classes) {
			add(name, records.Floats(scores[c], valid))
		}
	}
	if p.o.proba {
		for class, odds := range predict.Probabilities(scores, p.odds) {
			add(records.ProbabilityName(p.spec.Classes[class]), records.Floats(odds, valid))
		}
	}
	if p.o.explain > 0 {
		add(explanationName, explanations(p.spec, p.weights, b, p.classes, p.o.explain, valid))
	}
	for i, direction := range p.directions {
		coordinates := make([]float32, b.Len())
		b.Scores(direction, coordinates)
		add(projectionName(i), records.Floats(coordinates, valid))
	}
}

func (p *predictions) create(ctx context.Context, schema *arrow.Schema) error {
	names := append(records.ScoreNames(p.spec.Classes), records.PredictionName, explanationName)
	for _, c := range p.spec.Classes {
		names = append(names, records.ProbabilityName(c))
	}
	for i := range p.directions {
		names = append(names, projectionName(i))
	}
	for _, name := range names {
		if len(schema.FieldIndices(name)) > 1 {
			return message.Errorf("column %q of the data can't be kept beside the %s of the model: leave it out of --keep", name, name)
		}
	}
	opt := dataset.WriterOptions{Label: records.PredictionName, Warn: p.warn, Workers: p.o.Workers, Memory: p.o.Memory.Limit()}
	if at := schema.FieldIndices(records.PredictionName); len(at) > 0 {
		opt.Copied = at[0]
	}
	for _, c := range p.spec.Classes {
		opt.Texts = append(opt.Texts, c.Text)
	}
	var err error
	p.writer, err = dataset.Create(ctx, p.o.file.Out, schema, opt)
	return err
}

func (p *predictions) abort() {
	if p.writer != nil {
		p.writer.Abort()
	}
}

// projectionName returns the name of the column with the coordinates along direction i.
func projectionName(i int) string { return fmt.Sprintf("projection_%d", i+1) }
