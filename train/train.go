// Package train does whole trainings on the rows of any block.Source.
//
// Run learns a complete *model.Model with a learner, such as logistic.New(logistic.Options{L2: 1}) or the learner that
// LearnerNamed returns. Options hold rows out, cross-validate, choose from a grid, or give weights to classes. Compare
// evaluates learners on rows that they didn't learn from, and Evaluate evaluates a model.
//
// The model is byte for byte the model of the command with the same options and seed. An option that the learner
// doesn't use is an error.
//
// Package train uses neither files nor Arrow: package dataset opens files as sources, and package block makes sources of
// rows in memory.
//
// Package halfspace/internal/train defines the types: "go doc halfspace/internal/train.Options" prints fields and methods.
package train

import (
	"context"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/train"
)

// Learner is a learning algorithm with its options. The package of the algorithm makes it, such as logistic.New. Its
// method With sets an option by the name that the option has in the command.
type Learner = train.Learner

// Options are the options of a training beside the options of the learner: HoldOut, a share of the rows to count errors
// on, or Validation, other rows; Split, rows that stay together; CV, a cross-validation; Weights of classes; Multiclass;
// Init, a model to begin with; Output, results beside the weights; Workers; Seed; Memory; Checkpoint; and Watch. The zero
// value is a plain training on all rows and cores.
type Options = train.Options

// CV is a cross-validation: Folds, a Grid of options or a Path of penalties, and the Score to choose by.
type CV = train.CV

// Split says which rows stay together in a hold-out or in folds: Groups, or Times, or the order of the rows. The zero
// value draws rows at random within each class.
type Split = train.Split

// Weights are factors of the sample weights by class: Classes, a weight for the text of each class, or Balanced.
type Weights = train.Weights

// Output says which results a training has beside the weights: Calibrate, a method that makes probabilities of scores;
// Threshold; HeldOut, metrics and curves of held-out rows; and Receipt.
type Output = train.Output

// Watch has functions that are called while a training runs: Progress, Stage, Note and Trace. Each may be nil.
type Watch = train.Watch

// Progress tells how far a training has come.
type Progress = train.Progress

// Trace asks for the history of a training, update by update or pass by pass. The training's result doesn't depend on it.
type Trace = train.Trace

// TracePoint is an update of a perceptron, or the end of a pass of another learner.
type TracePoint = train.TracePoint

// Checkpoint says where and how often the state of a training is saved, and whether to resume from the state. When ctx
// ends, Run saves the last state. After another error, the last checkpoint stays.
type Checkpoint = train.Checkpoint

// Outcome is the result of a training: the complete Model, and its metrics on the training rows and on held-out rows.
type Outcome = train.Outcome

// CrossValidation is the result of a cross-validation: for each combination of options or each learner, how well its
// models predict rows that they didn't learn from. Best returns the chosen learner.
type CrossValidation = train.CrossValidation

// Evaluation has the metrics of a model on rows.
type Evaluation = train.Evaluation

// Axis is an option, and the values that a grid sets it to; see Vary.
type Axis = train.Axis

// Vary returns the axis of a grid that sets an option to each of the values: numbers, bools, or texts as a user types
// them.
func Vary(option string, values ...any) Axis { return train.Vary(option, values...) }

// LearnerNamed returns the learner with the name that the option --algo of the command takes, with the defaults of the
// command.
func LearnerNamed(name string) (Learner, error) { return train.LearnerNamed(name) }

// Run learns a model from the rows of src. If ctx ends the training after one update or more, Run returns the model so
// far with ctx's error. Errors: an option of the learner that is out of range or has no effect, fewer than two classes,
// wrong rows, and errors of the learner.
//
// A learner that visits rows in another order than the order of the source needs a *block.Data, or rows that package
// dataset opened. The dual form needs a *block.Data. The result depends neither on the number of workers nor on where
// the rows are.
func Run(ctx context.Context, src block.Source, l Learner, opt Options) (*Outcome, error) {
	return train.Run(ctx, src, l, opt)
}

// Compare evaluates learners on the same folds, by the seed of the first learner. It deals the rows into folds at random,
// so that each fold has its share of every class, or as Options.Split says, and predicts each fold by a model of the
// other folds. It trains one learner after another, so that their times can be compared. If ctx ends the comparison,
// Compare returns the metrics of the folds so far with ctx's error.
func Compare(ctx context.Context, src block.Source, opt Options, learners ...Learner) (*CrossValidation, error) {
	return train.Compare(ctx, src, opt, learners...)
}

// CrossValidate evaluates a learner, or with CV.Grid each combination of its options, on folds; see Compare. It leaves
// out a combination that fails on a fold, and returns an error if all combinations fail.
func CrossValidate(ctx context.Context, src block.Source, l Learner, opt Options) (*CrossValidation, error) {
	return train.CrossValidate(ctx, src, l, opt)
}

// Evaluate returns the evaluation of a model on the rows of src, which must have the columns and the classes of the
// model. It uses at most workers goroutines at once; 0: all cores.
func Evaluate(ctx context.Context, m *model.Model, src block.Source, workers int) (*Evaluation, error) {
	return train.Evaluate(ctx, m, src, workers)
}
