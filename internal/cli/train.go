package cli

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/pocket"
	"halfspace/train"
	"halfspace/train/dual"
	"halfspace/train/perceptron"
)

// averagedName is the learner that keeps the mean of the perceptron's weights.
const averagedName = "averaged"

// votedName is the learner that keeps all of the perceptron's weights.
const votedName = "voted"

// judged tells whether a learner has its weights judged on other rows than it learns from, if it is given some.
func judged(algorithm string) bool {
	return !solves(algorithm) && !isDual(algorithm) && algorithm != votedName && algorithm != winnowName
}

// losing tells whether models of a learner tell the perceptron's loss.
func losing(algorithm string) bool {
	return !solves(algorithm) && algorithm != winnowName && algorithm != onlineName
}

type trainOptions struct {
	rowOptions

	algo, order, pocket, winnow, loss choice
	validation                        string
	share                             float64 // of the rows, where validation is one and used
	epochs, maxUpdates                int64
	earlyStop                         int64
	eta, margin, l2                   float64
	dual                              dualOptions
	seed                              uint64

	out  string
	json bool
}

func (a *app) train() *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:   "train DATA... --label COLUMN [--out m.json] [options]",
		Short: "Learn a model from data",
		Long: `Train learns a linear classifier of two classes from the rows of Parquet, CSV,
svmlight or Arrow IPC files.

DATA are files of one format, globs or directories, or - for standard input. The
extension tells the format, or the content where it doesn't. Columns of a CSV
file without a header are c1, c2, ...; --label takes a name, a column's number
or "last". In a svmlight file the label is "label" and feature 7 is f7.

The perceptron learns row by row until every row is right, which happens only
where a hyperplane separates the classes; --algo pocket keeps the weights with
the fewest errors, so it serves for any data; --algo averaged keeps the mean of
the weights after every visit, which takes hardly longer than the perceptron;
--algo voted keeps all of them and puts rows to the vote, in 64 MiB at most.
--algo winnow is for features that are 0 or 1, of which few matter: it makes
mistakes in proportion to the logarithm of their number, by multiplying weights.
Ending without such a plane, after --epochs, is not a failure. --algo logistic
finds the most likely weights by Newton's method, with standard errors (see
inspect), in at most --epochs passes; --algo lda is Fisher's discriminant. Both
give probabilities (predict --proba). --algo svm is the support vector machine;
the duality gap in its report is the most that its objective may be above the
optimum.

--algo dual and kernel-perceptron learn in the dual form, on inner products of
rows, or on a --kernel in their place, and of any number of classes, one versus
the rest. The products of all pairs are kept where they fit in --memory, else as
many as do; the rows must fit. --form averaged or voted mostly errs less.

Features are columns of numbers, booleans, dates and times (in the unit of their
type), and lists of numbers, of equal length, with a feature for each element;
--categorical adds columns of text. --nulls says what becomes of nulls, NaN and
infinities; a label may be null only with --nulls drop. The model remembers how
features were made, and predict and eval make them the same way.

Rows that don't fit in --memory are read again in each pass. For --algo pocket
and every order but cyclic that takes a --cache; without one, a temporary file
is made beside --out. The model is the same.

Without --out the model is reported and thrown away.`,
		Example: `  halfspace train train.parquet --label y --out m.json
  halfspace train 'data/*.parquet' --label survived --exclude id,name --algo pocket --epochs 20 --out m.json
  halfspace train train.parquet --label y --order shuffle --seed 7 --json`,
	}
	f := cmd.Flags()
	o.addTo(cmd, "float32", "float64")
	addChoice(cmd, &o.algo, "algo", "`LEARNER`: perceptron keeps the last weights, pocket the best, averaged their mean, voted all of them; winnow multiplies them; "+
		"dual and kernel-perceptron work on inner products of rows; logistic, lda and svm solve for an optimum", "perceptron", "pocket",
		averagedName, votedName, winnowName, dualName, kernelName, logisticName, ldaName, svmName)
	addChoice(cmd, &o.order, "order", "`ORDER` of the rows in an epoch: cyclic is as in the files, shuffle a new permutation "+
		"each time, fixed-shuffle one permutation for all, random draws with replacement", orderNames()...)
	f.Int64Var(&o.epochs, "epochs", 100, "most passes over the rows, `N`")
	f.Int64Var(&o.maxUpdates, "max-updates", 0, "most updates of the weights, `N`; 0 is no limit")
	f.Float64Var(&o.eta, "eta", 1, "learning `RATE`, above 0 and up to 1")
	f.Float64Var(&o.margin, "margin", 0, "rows whose score is on the right side by at most this `NUMBER` change the perceptron's weights too")
	f.Int64Var(&o.earlyStop, "early-stop", 0, "end after `N` epochs in a row without fewer errors on the validation; 0 is never")
	f.Float64Var(&o.l2, "l2", 0, "`PENALTY` on weights of --algo logistic and svm: 1/2 l2 |w|^2 is added to the sum of losses, the bias not penalised (default 0, svm 1)")
	addChoice(cmd, &o.loss, "loss", "`LOSS` of --algo svm: squared_hinge is max(0, 1-y(w.x+b))^2, hinge the same without the square", lossNames()...)
	o.dual.addTo(cmd)
	f.Uint64Var(&o.seed, "seed", 1, "`N` that every random choice follows from")
	addChoice(cmd, &o.pocket, "pocket", "`WAY` that the pocket judges weights, always on all rows: exact is after every update, ratchet "+
		"once they are right for more rows in a row than the kept ones were, epoch at the end of each epoch", pocketNames()...)
	addChoice(cmd, &o.winnow, "winnow", "`VARIANT`: winnow2 divides the weights of a row that is wrongly positive, winnow1 sets them to zero, balanced "+
		"has weights of either sign", winnowNames()...)
	f.StringVar(&o.validation, "validation", "", "rows that weights are judged on, at the ends of epochs or as the pocket does, instead of those that are "+
		"learned from: of a `FILE`, glob or directory, or a share of DATA, such as 0.2, chosen at random and not learned from")
	f.StringVar(&o.out, "out", "", "model `FILE` to write, replaced at once")
	f.BoolVar(&o.json, "json", false, "print the report as one JSON object")
	return a.verb(cmd, func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd.Context(), args); err != nil {
			return err
		}
		paths, err := dataset.Expand(args)
		if err != nil {
			return err
		}
		var validation []string
		if o.validation != "" && o.share == 0 && judged(o.algo.value) {
			if validation, err = dataset.Expand([]string{o.validation}); err != nil {
				return fmt.Errorf("--validation: %w", err)
			}
		}
		if err := checkOut(o.out, append(validation, paths...)); err != nil {
			return err
		}
		if err := a.settle(cmd, &o); err != nil {
			return err
		}
		a.noteUnused(cmd, &o)
		o.storage.access, o.storage.shared = o.access(), o.share > 0
		if o.dtype.value == "float64" {
			return trainAs[float64](cmd.Context(), a, &o, paths, validation)
		}
		return trainAs[float32](cmd.Context(), a, &o, paths, validation)
	})
}

func orderNames() []string {
	var names []string
	for _, o := range train.Orders {
		names = append(names, string(o))
	}
	return names
}

func pocketNames() []string {
	var names []string
	for _, m := range pocket.Modes {
		names = append(names, string(m))
	}
	return names
}

// check does what rowOptions.check does, for all options.
func (o *trainOptions) check(ctx context.Context, args []string) error {
	o.storage.out = o.out
	if err := o.rowOptions.check(ctx, args); err != nil {
		return err
	}
	if o.epochs < 1 {
		return usagef("--epochs is %d: use 1 or more", o.epochs)
	}
	if o.validation == "-" {
		return usagef("--validation is -: name a file, a glob or a directory")
	}
	if share, err := strconv.ParseFloat(o.validation, 64); err == nil {
		if !(share > 0 && share < 1) {
			return usagef("--validation is %s: a share of the rows is above 0 and below 1, and a file of that name ./%s", o.validation, o.validation)
		}
		if judged(o.algo.value) {
			o.share = share
		}
	}
	if toStdout(o.out) {
		return usagef("--out is %s: name a file for the model", o.out)
	}
	if o.eta == 0 || o.dtype.value == "float32" && float32(o.eta) == 0 {
		return usagef("--eta is %v: use a learning rate above 0 that a %s can hold", o.eta, o.dtype.value)
	}
	if !(o.margin >= 0) || math.IsInf(o.margin, 0) || o.dtype.value == "float32" && (o.margin > math.MaxFloat32 || o.margin > 0 && float32(o.margin) == 0) {
		return usagef("--margin is %v: use a number of 0 or more that a %s can hold", o.margin, o.dtype.value)
	}
	if o.algo.value == winnowName && o.data.noBias {
		return usagef("--no-bias with --algo winnow, which has a threshold: leave it out")
	}
	if o.earlyStop < 0 {
		return usagef("--early-stop is %d: use 1 or more epochs, or 0 for none", o.earlyStop)
	}
	if o.earlyStop > 0 && o.validation == "" && o.algo.value != "pocket" && judged(o.algo.value) {
		return usagef("--early-stop needs --validation, rows to judge on")
	}
	if err := checkL2(o.l2); err != nil {
		return err
	}
	if err := o.dual.check(); err != nil {
		return err
	}
	if _, err := o.trainer(nil).Options.WithDefaults(); err != nil {
		return usagef("--%w", err)
	}
	return nil
}

// noteUnused tells about options that the user gave for nothing.
func (a *app) noteUnused(cmd *cobra.Command, o *trainOptions) {
	if cmd.Flags().Changed("pocket") && o.algo.value != "pocket" {
		a.note("--pocket has no effect with --algo %s", o.algo.value)
	}
	if cmd.Flags().Changed("winnow") && o.algo.value != winnowName {
		a.note("--winnow has no effect with --algo %s", o.algo.value)
	}
	if o.validation != "" && !judged(o.algo.value) {
		a.note("--validation has no effect with --algo %s", o.algo.value)
	}
	if cmd.Flags().Changed("seed") && !o.random() {
		a.note("--seed has no effect with --order %s", o.order.value)
	}
	if o.out == "" {
		a.note("no --out: the model won't be kept")
	}
}

// access returns how the training reads rows.
func (o *trainOptions) access() access {
	switch {
	case isDual(o.algo.value): // in memory or not at all
	case train.Order(o.order.value) != train.Cyclic:
		return anyOrder
	case o.algo.value == "pocket":
		return nested
	}
	return inOrder
}

// random tells whether the training makes random choices.
func (o *trainOptions) random() bool {
	return train.Order(o.order.value) != train.Cyclic || o.share > 0
}

// trainer returns the options of the learner.
func (o *trainOptions) trainer(show func(train.Progress)) perceptron.Options {
	opt := perceptron.Options{
		Options: train.Options{Order: train.Order(o.order.value), Epochs: o.epochs, MaxUpdates: o.maxUpdates, Eta: o.eta,
			Seed: o.seed, Workers: o.workers, Progress: show},
	}
	if o.algo.value == "pocket" {
		opt.Pocket = pocket.Mode(o.pocket.value)
	}
	opt.Average, opt.Vote, opt.Margin = o.algo.value == averagedName, o.algo.value == votedName, o.margin
	if judged(o.algo.value) {
		opt.EarlyStop = o.earlyStop
	}
	return opt
}

func trainAs[T kernel.Float](ctx context.Context, a *app, o *trainOptions, paths, validationPaths []string) error {
	start := time.Now()
	bar := a.newProgress(o.progress.value)
	defer bar.end()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	data, err := openRows[T](ctx, a, &o.rowOptions, paths, bar)
	if err != nil {
		return err
	}
	defer func() { data.close() }()
	vectors := 1
	if n := len(data.Spec().Classes); n > 2 && isDual(o.algo.value) {
		vectors = n
	} else if err := train.TwoClasses(data.Spec()); err != nil {
		return fmt.Errorf("%s: %w", dataset.Name(paths), err)
	}
	if err := model.New(data.Spec(), make([]T, vectors*data.Spec().Cols())).Check(); err != nil {
		return fmt.Errorf("a model can't be made of this data: %w", err) // of its names, which no training changes
	}
	validation, err := openValidation(ctx, a, o, validationPaths, data, bar)
	if err != nil {
		return fmt.Errorf("--validation: %w", err)
	}
	defer validation.close()
	load := time.Since(start).Seconds()
	show := func(p train.Progress) { bar.show("training", detail(p), p.Visits, p.Rows*p.Epochs) }
	learned, describe, err := solve(ctx, a, o, data.Source, show)
	if learned == nil && err == nil {
		learned, err = perceptron.TrainValidated(ctx, data.Source, validation.Source, o.trainer(show))
	}
	if err != nil {
		return err
	}
	fingerprint, err := block.Fingerprint(ctx, data.Source, o.workers)
	if err != nil {
		return err
	}
	m := newModel(o, data.Source, learned, fingerprint)
	if validation.Source != nil {
		v := &model.Validation{Rows: validation.Rows(), Errors: learned.Curve[len(learned.Curve)-1].Errors}
		if v.Fingerprint, err = block.Fingerprint(ctx, validation.Source, o.workers); err != nil {
			return err
		}
		m.Training.Validation = v
	}
	if describe != nil {
		describe(m)
	}
	if o.out != "" {
		if err := m.Save(o.out); err != nil {
			return err
		}
	}
	bar.end()
	r := newTrainReport(o, m)
	r.Candidates, r.RowsScored, r.Curve = learned.Candidates, learned.RowsScored, learned.Curve
	_, inMemory := data.Source.(*block.Data[T])
	r.Streamed = !inMemory
	r.Seconds = trainSeconds{Load: load, Train: learned.Seconds, Total: time.Since(start).Seconds()}
	if o.json {
		return a.printJSON(r)
	}
	return a.print(r.text(o, m))
}

// detail is what the bar of a training says beside the epochs.
func detail(p train.Progress) string {
	s := fmt.Sprintf(": epoch %s, %s", count(p.Epoch), plural(p.Updates, "update"))
	if p.Best >= 0 {
		s += ", best " + plural(p.Best, "error")
	}
	return s
}

func newModel[T kernel.Float](o *trainOptions, data block.Source[T], learned *train.Result[T], fingerprint string) *model.Model {
	m := model.New(data.Spec(), learned.Weights)
	m.Algorithm = o.algo.value
	m.Options = model.Options{Order: o.order.value, Epochs: o.epochs, MaxUpdates: o.maxUpdates, Eta: o.eta, Margin: o.margin}
	if judged(o.algo.value) {
		m.Options.EarlyStop = o.earlyStop
	}
	if learned.Counts != nil {
		m.Voters = model.NewVoters(learned.Voters, learned.Counts, data.Spec().Cols())
	}
	if o.random() {
		m.Options.Seed = &o.seed
	}
	m.Data = model.Data{Fingerprint: fingerprint, Rows: data.Rows()}
	m.Training = model.Training{Rows: data.Rows(), Epochs: learned.Epochs, Visits: learned.Visits, Updates: learned.Updates,
		Errors: &learned.Errors, Converged: learned.Converged, Loss: learned.Loss, Radius: learned.Radius, Norm: learned.Norm}
	if o.algo.value == "pocket" {
		m.Options.Pocket = o.pocket.value
	}
	if m.Options.Validation = o.share; len(learned.Curve) > 0 {
		m.Training.Kept = &learned.Kept
	}
	if bound := learned.MistakeBound(); !math.IsInf(bound, 0) {
		m.Training.Margin, m.Training.MistakeBound = &learned.Margin, &bound
	}
	return m
}

// marginText tells the margin of weights that separate the rows, and what follows from it.
func marginText(t *model.Training) string {
	return fmt.Sprintf("%s, so no order takes more than %s updates", real(*t.Margin), bound(*t.MistakeBound))
}

// A trainReport is what train --json prints.
type trainReport struct {
	Algorithm     string            `json:"algorithm"`
	Rows          int64             `json:"rows"`
	Features      int               `json:"features"`
	Classes       []block.Class     `json:"classes"`
	Positive      block.Class       `json:"positive"`
	Epochs        int64             `json:"epochs"`
	Updates       int64             `json:"updates"`
	Visits        int64             `json:"visits"`
	TrainErrors   int64             `json:"train_errors"`
	TrainAccuracy float64           `json:"train_accuracy"`
	Converged     bool              `json:"converged"`
	Loss          float64           `json:"loss"`
	Optimum       *model.Optimum    `json:"optimum,omitempty"` // of a support vector machine
	Radius        float64           `json:"radius"`
	Norm          float64           `json:"norm"`
	Voters        int               `json:"voters,omitempty"`      // vectors of weights that vote
	Kept          *int64            `json:"kept,omitempty"`        // the update whose weights the pocket kept
	Candidates    int64             `json:"candidates,omitempty"`  // that the pocket judged
	RowsScored    int64             `json:"rows_scored,omitempty"` // for that, a row counting once for each candidate
	Curve         []pocket.Point    `json:"curve,omitempty"`       // where it found better weights
	Validation    *model.Validation `json:"validation,omitempty"`  // rows that it judged on
	Margin        *float64          `json:"margin,omitempty"`      // of weights that separate the rows
	MistakeBound  *float64          `json:"mistake_bound,omitempty"`
	Fingerprint   string            `json:"fingerprint"`
	Dtype         string            `json:"dtype"`
	ISA           string            `json:"isa"`
	Workers       int               `json:"workers"`
	Streamed      bool              `json:"streamed"` // the rows weren't in memory
	ResumedAt     *int64            `json:"resumed_at"`
	PeakRSSBytes  int64             `json:"peak_rss_bytes"`
	Seconds       trainSeconds      `json:"seconds"`
	Model         *string           `json:"model"` // path of the file, null if none was written
}

type trainSeconds struct {
	Load  float64 `json:"load"`  // from opening the files to all blocks ready
	Train float64 `json:"train"` // learning alone
	Total float64 `json:"total"`
}

func newTrainReport(o *trainOptions, m *model.Model) *trainReport {
	t := &m.Training
	r := &trainReport{
		Algorithm: m.Algorithm, Rows: t.Rows, Features: len(m.Features), Classes: m.Classes, Positive: m.Positive,
		Epochs: t.Epochs, Updates: t.Updates, Visits: t.Visits,
		TrainErrors: *t.Errors, TrainAccuracy: float64(t.Rows-*t.Errors) / float64(t.Rows), Converged: t.Converged,
		Loss: t.Loss, Optimum: t.Optimum, Radius: t.Radius, Norm: t.Norm, Kept: t.Kept, Validation: t.Validation, Margin: t.Margin, MistakeBound: t.MistakeBound, Fingerprint: m.Data.Fingerprint,
		Dtype: m.Dtype, ISA: kernel.Active().String(), Workers: o.workers, PeakRSSBytes: peakRSS(),
	}
	if m.Voters != nil {
		r.Voters = len(m.Voters.Counts)
	}
	if o.out != "" {
		r.Model = &o.out
	}
	return r
}

// text is the report for people.
func (r *trainReport) text(o *trainOptions, m *model.Model) []byte {
	var s sheet
	converged := "no"
	if r.Converged {
		converged = "yes, after " + plural(r.Updates, "update")
		switch r.Algorithm {
		case averagedName:
			converged += ", as the last weights tell; the mean of all is kept"
		case votedName:
			converged += ", as the last weights tell; all are kept"
		}
		if r.MistakeBound != nil {
			converged += "; bound " + bound(*r.MistakeBound)
		}
	}
	streamed := ""
	if r.Streamed {
		streamed = "streamed, "
	}
	s.line("%s: %s of %s, %s\n", r.Algorithm, plural(r.Rows, "row"), plural(int64(r.Features), "feature"), describeClasses(m))
	pairs := []string{
		"converged", converged,
		"updates", fmt.Sprintf("%s in %s (%s)", count(r.Updates), plural(r.Epochs, "epoch"), plural(r.Visits, "visit")),
	}
	if solves(r.Algorithm) {
		pairs = howSolved(m)
	}
	if m.Voters != nil {
		pairs = append(pairs, "voters", votersText(m.Voters))
	}
	pairs = append(pairs, "errors", errorsText(r.TrainErrors, r.Rows))
	scored := r.Rows
	if v := r.Validation; v != nil {
		scored = v.Rows
		pairs = append(pairs, "validation", "errors "+errorsText(v.Errors, v.Rows))
	}
	if r.Kept != nil {
		pairs = append(pairs, "kept", keptText(*r.Kept))
	}
	if r.Candidates > 0 {
		share := float64(r.RowsScored) / float64(r.Candidates) / float64(scored)
		pairs = append(pairs, "judged", fmt.Sprintf("%s, scoring %s of the rows for each", plural(r.Candidates, "candidate"), percent(share)))
	}
	if e := m.Expansion; e != nil {
		pairs = append(pairs, kernelText(e)...)
	}
	voted := m.Options.Form == string(dual.Voted) // of many machines, with a loss and a norm each
	if losing(r.Algorithm) && !voted {
		pairs = append(pairs, "loss", real(r.Loss))
	}
	pairs = append(pairs, "radius", real(r.Radius)+", the largest norm of a row")
	if !voted {
		pairs = append(pairs, "norm", real(r.Norm)+", of the weights")
	}
	if r.Margin != nil {
		pairs = append(pairs, "margin", marginText(&m.Training))
	}
	pairs = append(pairs,
		"time", fmt.Sprintf("load %s, train %s, total %s", seconds(r.Seconds.Load), seconds(r.Seconds.Train), seconds(r.Seconds.Total)),
		"ran on", fmt.Sprintf("%s, %s, %s, %s%s at the peak", r.ISA, r.Dtype, plural(int64(r.Workers), "worker"), streamed, size(r.PeakRSSBytes)),
	)
	if r.Model != nil {
		pairs = append(pairs, "model", *r.Model)
	}
	s.pairs(pairs...)
	if advice := r.advice(o); advice != "" {
		s.line("\n%s", advice)
	}
	return s.Bytes()
}

// advice says what to try where the training did not converge.
func (r *trainReport) advice(o *trainOptions) string {
	switch {
	case r.Converged:
		return ""
	case solves(r.Algorithm):
		return "Not converged: more --epochs than " + strconv.FormatInt(o.epochs, 10) + " may do better."
	case r.Validation != nil && r.Validation.Errors == 0:
		return "Not converged: it stopped since no row of the validation is wrong. More rows there may find better weights."
	case o.earlyStop > 0 && r.Epochs < o.epochs && (o.maxUpdates == 0 || r.Updates < o.maxUpdates):
		return fmt.Sprintf("Not converged: it stopped after %s without fewer errors, since --early-stop is %d.", plural(o.earlyStop, "epoch"), o.earlyStop)
	case r.Algorithm == "perceptron" && r.Validation == nil && r.TrainErrors > 0:
		advice := "Not converged: the last weights may not be the best seen. Try --algo pocket, which keeps those, or averaged"
		if o.order.value == string(train.Cyclic) {
			advice += ", or --order shuffle if the rows are sorted"
		}
		return advice + ".\n" + adviceCheck
	case r.Algorithm == winnowName:
		return "Not converged: no disjunction, or other plane that this variant finds, was found in " + plural(o.epochs, "epoch") + "."
	case o.maxUpdates > 0 && r.Updates >= o.maxUpdates:
		return "Not converged: it stopped at --max-updates. More of them may do better."
	}
	return "Not converged: no plane that separates the classes was found. More --epochs than " +
		strconv.FormatInt(o.epochs, 10) + " may do better.\n" + adviceCheck
}

const adviceCheck = "halfspace check finds out whether any plane separates them."

// keptText tells which weights a pocket kept.
func keptText(update int64) string {
	if update == 0 {
		return "the initial zeros, which no weights were better than"
	}
	return "the weights after update " + count(update)
}

// votersText tells how many weights vote, and how much the strongest counts.
func votersText(v *model.Voters) string {
	total := int64(0)
	for _, n := range v.Counts {
		total += n
	}
	return fmt.Sprintf("%s of weights, of which one has %s of the votes", plural(int64(len(v.Counts)), "vector"), percent(float64(slices.Max(v.Counts))/float64(total)))
}

// errorsText tells how many of some rows are wrong.
func errorsText(errors, rows int64) string {
	return fmt.Sprintf("%s of %s, accuracy %s", count(errors), plural(rows, "row"), percent(float64(rows-errors)/float64(rows)))
}

func seconds(s float64) string { return fmt.Sprintf("%.3f s", s) }

// describeClasses names the classes and tells which one is positive.
func describeClasses(m *model.Model) string {
	if len(m.Classes) > 2 {
		return "classes " + classNames(m.Classes)
	}
	return fmt.Sprintf("classes %s (positive: %s)", classNames(m.Classes), m.Positive)
}
