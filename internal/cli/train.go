package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

type trainOptions struct {
	rowOptions

	algo, order, pocket, winnow, loss choice
	solver                            choice
	shrinkage                         string
	shrink                            float64 // what it says
	epochsGiven                       bool
	unnamed                           bool // no --algo was given: the defaults are those for a first look at data
	multiclass                        choice
	learner                           *learner // that algo names
	validation                        string
	share                             float64 // of the rows, where validation is one and used
	folds                             int     // of a cross-validation
	grid                              []string
	variations                        []variation // that it chooses from
	epochs, maxUpdates                int64
	earlyStop                         int64
	eta, margin, l2                   float64
	dual                              dualOptions
	classWeight                       []string
	seed                              uint64

	out  string
	json bool
}

func (a *app) train() *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:   "train DATA... --label COLUMN [--out m.json] [options]",
		Short: "Learn a model from data",
		Long: `Train learns a linear classifier from the rows of Parquet, CSV, svmlight or
Arrow IPC files.

DATA are files of one format, globs or directories, or - for standard input. The
extension tells the format, or the content where it doesn't. Columns of a CSV
file without a header are c1, c2, ...; --label takes a name, a column's number
or "last". In a svmlight file the label is "label" and feature 7 is f7.

Without --algo, train standardizes the features (--standardize), shuffles the
rows (--order shuffle) and learns an averaged perceptron. With --algo, nothing
is standardized or shuffled unless you ask for it.

--algo perceptron learns row by row until every row is right, which happens only
where a hyperplane separates the classes; --algo pocket keeps the weights with
the fewest errors, so it serves for any data; --algo averaged keeps the mean of
the weights after every visit, which takes hardly longer than the perceptron;
--algo voted keeps all of them and puts rows to the vote, in 64 MiB at most.
--algo winnow is for features that are 0 or 1, of which few matter: it makes
mistakes in proportion to the logarithm of their number, by multiplying weights.
Ending without such a plane, after --epochs, is not a failure. --algo logistic
finds the most likely weights by Newton's method, with standard errors (see
inspect), in at most --epochs passes, or of wide data by L-BFGS (--solver);
--algo lda is Fisher's discriminant. Both give probabilities (predict --proba).
--algo svm is the support vector machine; the duality gap in its report is the
most that its objective may be above the optimum.

--algo dual and kernel-perceptron learn in the dual form, on inner products of
rows, or on a --kernel in their place. The products of all pairs are kept where
they fit in --memory, else as many as do; the rows must fit. --form averaged or
voted mostly errs less.

More than two classes are learned one versus the rest (--multiclass ovr), or
together (joint) where the learner can: logistic and lda, which do unless told
otherwise, perceptron and averaged. The greatest score predicts the class.

Features are columns of numbers, booleans, dates and times (in the unit of their
type), and lists of numbers, of equal length, with a feature for each element;
--categorical adds columns of text, or the columns that it names, also of
numbers. --nulls says what to do with nulls, NaN and infinities. A label may be
null only with --nulls drop. The model keeps these options, and predict and eval
apply them.

--sample-weight and --class-weight give rows weights. All learners but winnow
use them. Errors in reports are counts of rows, with or without weights.

Rows that don't fit in --memory are read again in each pass. For --algo pocket
and every order but cyclic that takes a --cache; without one, a temporary file
is made beside --out. The model is the same.

--cv judges the options: the rows are dealt into folds, each with its share of
every class. Each fold is predicted by a model of the others. --grid does that
for every combination of values and keeps the best. The model is then learned
from all rows. --standardize, --nulls mean and --categorical are learned for
each fold from the other folds, and with --validation 0.2 from the rows not held
out.

Without --out the model is reported and thrown away. Ctrl-C stops the training
and writes the weights so far to --out. The exit status is 130 then.`,
		Example: `  halfspace train train.parquet --label y --algo svm --grid l2=0.1,1,10 --cv 10 --out m.json
  halfspace train train.parquet --label y --out m.json
  halfspace train 'data/*.parquet' --label survived --exclude id,name --algo pocket --epochs 20 --out m.json
  halfspace train train.parquet --label y --order shuffle --seed 7 --json
  halfspace train iris.parquet --label species --algo averaged --multiclass joint --out m.json`,
	}
	o.addFlags(cmd)
	return a.verb(cmd, func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd.Context(), args); err != nil {
			return err
		}
		if f := cmd.Flags(); !f.Changed("algo") && !f.Changed("standardize") {
			o.data.standardize = true
		}
		paths, err := dataset.Expand(args)
		if err != nil {
			return err
		}
		var validation []string
		if o.validation != "" && o.share == 0 {
			if validation, err = dataset.Expand([]string{o.validation}); err != nil {
				return fmt.Errorf("--validation: %w", err)
			}
		}
		if err := checkOut(o.out, append(validation, paths...)); err != nil {
			return err
		}
		if err := o.settle(cmd); err != nil {
			return err
		}
		o.storage.access = o.access()
		if err := o.checkFolds(cmd); err != nil {
			return err
		}
		a.noteUnused(cmd, &o)
		o.storage.shared, o.storage.parted = o.share > 0 || o.folds > 0, o.share > 0
		o.storage.folds = o.folds > 0 && o.data.learned()
		if o.share > 0 {
			o.learned = func(counts []int64) dataset.Choice { return stratified(o.seed, o.share, counts).others() }
			o.learnedName = fmt.Sprintf("without %v of each class, seed %d", o.share, o.seed)
		}
		if o.dtype.value == "float64" {
			return trainAs[float64](cmd.Context(), a, &o, paths, validation)
		}
		return trainAs[float32](cmd.Context(), a, &o, paths, validation)
	})
}

func (o *trainOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.addTo(cmd, "float32", "float64")
	o.algo.value = defaultLearner
	addChoice(cmd, &o.algo, "algo", "`LEARNER`: perceptron keeps the last weights, pocket the best, averaged their mean, voted all of them; winnow multiplies them; "+
		"dual and kernel-perceptron work on inner products of rows; logistic, lda and svm solve for an optimum", learnerNames()...)
	o.algo.advise = adviseLearner
	addChoice(cmd, &o.order, "order", "`ORDER` of the rows in an epoch: cyclic is as in the files, shuffle a new permutation "+
		"each time, fixed-shuffle one permutation for all, random draws with replacement; without --algo the default is shuffle", orderNames()...)
	f.Int64Var(&o.epochs, "epochs", 100, "most passes over the rows, `N`; L-BFGS and the hinge make up to 1,000 if --epochs isn't given")
	f.Int64Var(&o.maxUpdates, "max-updates", 0, "most updates of the weights, `N`; 0 is no limit")
	f.Float64Var(&o.eta, "eta", 1, "learning `RATE`, above 0 and up to 1")
	f.Float64Var(&o.margin, "margin", 0, "rows whose score is on the right side by at most this `NUMBER` change the perceptron's weights too")
	f.Int64Var(&o.earlyStop, "early-stop", 0, "end after `N` epochs in a row without fewer errors on the validation; 0 is never")
	f.Float64Var(&o.l2, "l2", 0, "`PENALTY` on weights of --algo logistic, svm, perceptron and averaged: 1/2 l2 |w|^2 is added to the sum of losses, the bias not penalised (default 1 for logistic and svm, else 0)")
	addChoice(cmd, &o.loss, "loss", "`LOSS` of --algo svm: squared_hinge is max(0, 1-y(w.x+b))^2, hinge the same without the square", lossNames()...)
	addChoice(cmd, &o.solver, "solver", "`WAY` to the optimum: of --algo logistic newton, lbfgs or sgd, auto is newton up to 256 columns; of --algo lda cholesky "+
		"or eigen, which adds the directions for predict --project", allSolvers()...)
	f.StringVar(&o.shrinkage, "shrinkage", "0", "`SHARE` that a multiple of the identity gets in the covariance of --algo lda, from 0 to 1; auto estimates it "+
		"for each class (Ledoit and Wolf)")
	o.dual.addTo(cmd)
	f.StringVar(&o.data.sampleWeight, "sample-weight", "", "`COLUMN` of what rows weigh, numbers of 0 or more, which is no feature; a row that weighs 2 counts as two, "+
		"and changes a perceptron's weights twice as much")
	f.StringSliceVar(&o.classWeight, "class-weight", nil, "`WEIGHTS` of classes, multiplied by those of rows: CLASS=W,..., 1 where none is given, or balanced: "+
		"for k classes, the number of rows divided by k times that of the class")
	f.Uint64Var(&o.seed, "seed", 1, "`N` that every random choice follows from")
	addChoice(cmd, &o.pocket, "pocket", "`WAY` that the pocket judges weights, always on all rows: exact is after every update, ratchet "+
		"once they are right for more rows in a row than the kept ones were, epoch at the end of each epoch", pocketNames()...)
	addChoice(cmd, &o.winnow, "winnow", "`VARIANT`: winnow2 divides the weights of a row that is wrongly positive, winnow1 sets them to zero, balanced "+
		"has weights of either sign", winnowNames()...)
	addChoice(cmd, &o.multiclass, "multiclass", "`WAY` to learn more than two classes: ovr is each versus the rest, joint all together; auto is joint "+
		"for logistic and lda, else ovr", multiclassNames...)
	f.StringVar(&o.validation, "validation", "", "hold-out rows to count errors on: of a `FILE`, glob or directory, or a share of each class of DATA, such as 0.2, "+
		"chosen at random; perceptron, pocket and averaged also choose their weights by them")
	f.IntVar(&o.folds, "cv", 0, "cross-validate on `K` folds, each judged by a model of the others, before learning from all")
	f.StringArrayVar(&o.grid, "grid", nil, "`OPTION=VALUES`, such as l2=0.1,1,10, of which the best by cross-validation, 5-fold without --cv, is chosen; "+
		"given again, every combination is tried")
	f.StringVar(&o.out, "out", "", "model `FILE` to write, replaced at once")
	f.BoolVar(&o.json, "json", false, "print the report as one JSON object")
}

// mostNumbers is how many classes of numbers are taken for classes without a note.
const mostNumbers = 50

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

func lossNames() []string {
	var names []string
	for _, l := range svm.Losses {
		names = append(names, string(l))
	}
	return names
}

func winnowNames() []string {
	var names []string
	for _, v := range winnow.Variants {
		names = append(names, string(v))
	}
	return names
}

// check does what rowOptions.check does, for all options.
func (o *trainOptions) check(ctx context.Context, args []string) error {
	o.storage.out, o.learner = o.out, learnerNamed(o.algo.value)
	if err := o.rowOptions.check(ctx, args); err != nil {
		return err
	}
	if o.validation == "-" {
		return usagef("--validation is -: name a file, a glob or a directory")
	}
	if _, err := os.Stat(o.validation); err != nil {
		if share := shareText(o.validation); share != "" {
			return usagef("--validation is %s: use --validation %s to hold out that share of the rows", o.validation, share)
		}
		if strings.HasSuffix(o.validation, "%") {
			return usagef("--validation is %s: use a share above 0 and below 1, such as 0.2", o.validation)
		}
	}
	if share, err := strconv.ParseFloat(o.validation, 64); err == nil {
		if !(share > 0 && share < 1) {
			return usagef("--validation is %s: a share of the rows is above 0 and below 1, and a file of that name ./%s", o.validation, o.validation)
		}
		o.share = share
	}
	if toStdout(o.out) {
		return usagef("--out is %s: name a file for the model", o.out)
	}
	return o.checkLearner()
}

// checkLearner looks for options of learners that can't be used.
func (o *trainOptions) checkLearner() error {
	if o.epochs < 1 {
		return usagef("--epochs is %d: use 1 or more", o.epochs)
	}
	if o.eta == 0 || o.dtype.value == "float32" && float32(o.eta) == 0 {
		return usagef("--eta is %v: use a learning rate above 0 that a %s can hold", o.eta, o.dtype.value)
	}
	if !(o.margin >= 0) || math.IsInf(o.margin, 0) || o.dtype.value == "float32" && (o.margin > math.MaxFloat32 || o.margin > 0 && float32(o.margin) == 0) {
		return usagef("--margin is %v: use a number of 0 or more that a %s can hold", o.margin, o.dtype.value)
	}
	if o.learner.needsBias != "" && o.data.noBias {
		return usagef("--no-bias with --algo %s, %s: leave it out", o.algo.value, o.learner.needsBias)
	}
	if err := o.checkMulticlass(); err != nil {
		return err
	}
	if o.earlyStop < 0 {
		return usagef("--early-stop is %d: use 1 or more epochs, or 0 for none", o.earlyStop)
	}
	if o.earlyStop > 0 && o.validation == "" && o.has("early-stop") && !o.has("pocket") {
		return usagef("--early-stop needs --validation, rows to judge on")
	}
	if err := o.checkWeights(); err != nil {
		return err
	}
	if err := checkL2(o.l2); err != nil {
		return err
	}
	if err := o.checkSolver(); err != nil {
		return err
	}
	if err := o.dual.check(); err != nil {
		return err
	}
	if _, err := o.common().WithDefaults(); err != nil {
		return usagef("--%w", err)
	}
	return nil
}

// noteUnused tells about options that the user gave for nothing.
func (a *app) noteUnused(cmd *cobra.Command, o *trainOptions) {
	for _, name := range particular {
		used := func(v variation) bool { return v.options.has(name) }
		if cmd.Flags().Changed(name) && !slices.ContainsFunc(o.variations, used) {
			a.note("--%s has no effect with %s", name, o.deaf(name))
		}
	}
	if cmd.Flags().Changed("seed") && !o.random() {
		a.note("--seed has no effect with --order %s", o.order.value)
	}
	if o.out == "" {
		a.note("no --out: the model won't be kept")
	}
}

// random tells whether the training makes random choices.
func (o *trainOptions) random() bool {
	return train.Order(o.order.value) != train.Cyclic || o.share > 0 || o.folds > 0
}

// common returns the options that learners share.
func (o *trainOptions) common() train.Options {
	return train.Options{Order: train.Order(o.order.value), Epochs: o.epochs, MaxUpdates: o.maxUpdates, Eta: o.eta, Seed: o.seed, Workers: o.workers}
}

func trainAs[T kernel.Float](ctx context.Context, a *app, o *trainOptions, paths, validationPaths []string) error {
	start := time.Now()
	if o.out != "" {
		a.kept = ": no model was written"
	}
	bar := a.newProgress(o.progress.value)
	defer bar.end()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	data, err := openRows[T](ctx, a, &o.rowOptions, paths, bar)
	if errors.Is(err, dataset.ErrNoWeights) {
		return usagef("--sample-weight %s: %w", o.data.sampleWeight, err)
	}
	if err != nil {
		return err
	}
	defer func() { data.close() }()
	vectors, classes := 1, data.Spec().Classes
	if len(classes) > 2 {
		vectors = len(classes)
	} else if err := train.TwoClasses(data.Spec()); err != nil {
		return fmt.Errorf("%s: %w", dataset.Name(paths), err)
	}
	a.noteClasses(o, data.Spec())
	if err := model.New(data.Spec(), make([]T, vectors*data.Spec().Cols())).Check(); err != nil {
		return fmt.Errorf("a model can't be made of this data: %w", err) // of its names, which no training changes
	}
	validation, err := openValidation(ctx, a, o, validationPaths, data, bar)
	if err != nil {
		return fmt.Errorf("--validation: %w", err)
	}
	defer validation.close()
	var looked *survey
	_, inMemory := data.Source.(*block.Data[T])
	if inMemory { // else a pass that is made anyway looks at the rows
		if looked, err = surveyed(ctx, data.Source); err != nil {
			return err
		}
		bar.end()
		a.noteSurvey(o, data.Spec(), looked)
	}
	load := time.Since(start).Seconds()
	show := func(p train.Progress) { bar.show("training", detail(p), p.Visits, p.Rows*p.Epochs) }
	var cv *crossValidation
	judged := 0.0
	if o.folds > 0 {
		if cv, err = crossValidate(ctx, o, data, bar); err != nil {
			return ofLearner(err)
		}
		o, judged = o.variations[cv.Chosen].options, time.Since(start).Seconds()-load
	}
	j := &job[T]{trainOptions: o, held: block.Bytes[T](data.Rows(), data.Spec().Cols(), o.storage.weighted), src: data.Source,
		validation: validation.Source, survey: looked, show: show, note: a.note}
	m, learned, interrupted := j.run(ctx)
	if m == nil {
		return ofLearner(interrupted)
	}
	if cv != nil {
		m.Training.CrossValidation = &model.CrossValidation{Folds: cv.Folds, Errors: *cv.Points[cv.Chosen].Errors}
	}
	if o.out != "" {
		if err := m.Save(o.out); err != nil {
			a.kept = ": " + err.Error()
			return err
		}
		a.kept = ": " + o.out + " has the weights so far"
	}
	bar.end()
	if !inMemory {
		a.noteSurvey(o, data.Spec(), j.survey)
	}
	r := newTrainReport(o, m)
	r.Baseline = newBaseline(m.Classes, j.survey.counts)
	r.Candidates, r.RowsScored, r.Curve = learned.Candidates, learned.RowsScored, learned.Curve
	r.NeverPredicted = neverPredicted(m.Classes, learned.Predicted)
	a.noteNeverPredicted(o, r.NeverPredicted)
	r.Streamed = !inMemory
	r.CrossValidation = cv
	if r.Validation != nil && o.storage.weighted {
		r.Validation.ErrorWeight = &j.wrong.weight
	}
	r.Seconds = trainSeconds{Load: load, CrossValidation: judged, Train: learned.Seconds, Total: time.Since(start).Seconds()}
	r.Interrupted = interrupted != nil
	print := func() error { return a.print(r.text(o, m)) }
	if o.json {
		print = func() error { return a.printJSON(r) }
	}
	if err := print(); err != nil {
		return err
	}
	return interrupted
}

// noteClasses tells of options that the number of classes leaves without an effect, and of a label that may be a quantity.
func (a *app) noteClasses(o *trainOptions, spec *schema.Spec) {
	n := len(spec.Classes)
	switch {
	case n == 2 && o.multiclass.value != "auto":
		a.note("--multiclass has no effect with two classes")
	case n > 2 && o.data.positive != "":
		a.note("--positive has no effect with %d classes", n)
	}
	if n > mostNumbers && spec.Classes[0].Kind == schema.Number {
		a.note("column %q: %d classes of numbers: if it is a quantity to predict, choose another column with --label", spec.Label, n)
	}
}

// noteNeverPredicted names a class that no row is predicted to be.
func (a *app) noteNeverPredicted(o *trainOptions, never []schema.Class) {
	if len(never) == 0 {
		return
	}
	more, advice := "", ""
	if n := len(never) - 1; n > 0 {
		more = fmt.Sprintf(", nor are %d more", n)
	}
	if len(o.classWeight) == 0 && o.learner.noWeights == "" {
		advice = ": try --class-weight balanced"
	}
	a.note("class %s is never predicted on the training rows%s%s", schema.NameClass(never[0]), more, advice)
}

// detail is what the bar of a training says beside the epochs.
func detail(p train.Progress) string {
	s := fmt.Sprintf(": epoch %s, %s", say.Count(p.Epoch), say.Plural(p.Updates, "update"))
	if p.Best >= 0 {
		s += ", best " + say.Plural(p.Best, "error")
	}
	return s
}

func checkL2(l2 float64) error {
	if !(l2 >= 0) || math.IsInf(l2, 0) {
		return usagef("--l2 is %v: use a penalty of 0 or more", l2)
	}
	return nil
}
