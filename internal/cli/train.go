package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"halfspace/dataset"
	"halfspace/fit"
)

type trainOptions struct {
	rowOptions

	algo        choice
	unnamed     bool // no --algo was given: the defaults are those for a first look at data
	learner     fit.Learner
	multiclass  choice
	validation  string
	share       float64 // of the rows, where validation is one and used
	folds       int     // of a cross-validation
	grid        []string
	axes        []fit.Axis    // what it varies
	learners    []fit.Learner // that it chooses from: one without a grid
	classWeight []string
	weights     map[string]float64 // that it says, by class
	seed        uint64

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
	return a.verb(cmd, func(cmd *cobra.Command, args []string) error { return a.runTrain(cmd, &o, args) })
}

// runTrain checks the options, and trains in the type that they name.
func (a *app) runTrain(cmd *cobra.Command, o *trainOptions, args []string) error {
	if err := o.check(cmd, args); err != nil {
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
	if err := o.checkFolds(cmd); err != nil {
		return err
	}
	a.noteUnused(cmd, o)
	o.storage.shared, o.storage.parted = o.share > 0 || o.folds > 0, o.share > 0
	o.storage.folds = o.folds > 0 && o.data.learned()
	if o.share > 0 {
		o.learned = func(counts []int64) dataset.Choice { return fit.Stratified(o.seed, o.share, counts).Others() }
		o.learnedName = fmt.Sprintf("without %v of each class, seed %d", o.share, o.seed)
	}
	if o.dtype.value == "float64" {
		return trainAs[float64](cmd.Context(), a, o, paths, validation)
	}
	return trainAs[float32](cmd.Context(), a, o, paths, validation)
}

func (o *trainOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.addTo(cmd, "float32", "float64")
	o.algo.value = defaultLearner
	addChoice(cmd, &o.algo, "algo", "`LEARNER`: perceptron keeps the last weights, pocket the best, averaged their mean, voted all of them; winnow multiplies them; "+
		"dual and kernel-perceptron work on inner products of rows; logistic, lda and svm solve for an optimum", fit.Names()...)
	o.algo.advise = adviseLearner
	addLearnerFlags(cmd)
	f.StringVar(&o.data.sampleWeight, "sample-weight", "", "`COLUMN` of what rows weigh, numbers of 0 or more, which is no feature; a row that weighs 2 counts as two, "+
		"and changes a perceptron's weights twice as much")
	f.StringSliceVar(&o.classWeight, "class-weight", nil, "`WEIGHTS` of classes, multiplied by those of rows: CLASS=W,..., 1 where none is given, or balanced: "+
		"for k classes, the number of rows divided by k times that of the class")
	f.Uint64Var(&o.seed, "seed", 1, "`N` that every random choice follows from")
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
