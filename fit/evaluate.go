package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/features"
	"halfspace/kernel"
	"halfspace/metrics"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/train"
)

// Evaluation adds up how a model predicts rows. It keeps every score of two classes, for the ROC curve.
type Evaluation[T kernel.Float] struct {
	Confusion metrics.Confusion // [class][predicted class], in the order of the model's classes

	spec       *schema.Spec
	multiclass string
	scorer     *predict.Scorer[T]
	auc        metrics.AUC[T]
	loss       metrics.LogLoss
	odds       bool
}

// NewEvaluation returns an evaluation of a model. It has no rows yet.
func NewEvaluation[T kernel.Float](m *model.Model, workers int) (*Evaluation[T], error) {
	scorer, err := predict.NewScorer[T](m, workers)
	return &Evaluation[T]{Confusion: metrics.NewConfusion(len(m.Classes)), spec: m.Spec(), multiclass: m.Options.Multiclass, scorer: scorer, odds: m.HasProbabilities()}, err
}

// Evaluate returns the evaluation of the rows of src by a model. Their columns and labels are those of the model.
func Evaluate[T kernel.Float](ctx context.Context, m *model.Model, src block.Source[T], workers int) (*Evaluation[T], error) {
	e, err := NewEvaluation[T](m, workers)
	if err != nil {
		return nil, err
	}
	if src, err = block.Check(ctx, src, workers); err == nil {
		err = suits(src.Spec(), e.spec)
	}
	if err != nil {
		return nil, err
	}
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = e.Add(ctx, b)
		}
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Add adds the next rows.
func (e *Evaluation[T]) Add(ctx context.Context, b *block.Block[T]) error {
	scores, err := e.scorer.Scores(ctx, b)
	if err != nil {
		return err
	}
	positive := e.spec.PositiveClass()
	for r, y := range b.Y {
		e.Confusion.Add(predict.Labelled(y, len(scores), positive), predict.Predicted(scores, r, positive))
	}
	if len(scores) == 1 {
		e.auc.Add(scores[0], b.Y)
	}
	if e.odds {
		e.loss.Add(predict.LogLosses(scores, b.Y, positive, e.multiclass))
	}
	return nil
}

// Bytes returns the memory that the scores take.
func (e *Evaluation[T]) Bytes() int64 { return e.auc.Bytes() }

// AUC returns the area under the ROC curve, or NaN for more than two classes.
func (e *Evaluation[T]) AUC() float64 { return e.auc.Value() }

// Curve returns the corners of the ROC curve.
func (e *Evaluation[T]) Curve() []metrics.Point[T] { return e.auc.Curve() }

// LogLoss returns the mean of -log p over the rows, where p is the probability of the row's class. It returns NaN for a
// model without probabilities.
func (e *Evaluation[T]) LogLoss() float64 {
	if !e.odds {
		return math.NaN()
	}
	return e.loss.Value()
}

// suits returns an error if rows have other features or classes than a model's. Names of features may differ.
func suits(rows, model *schema.Spec) error {
	what := ""
	switch {
	case rows.Width() != model.Width() || rows.Bias != model.Bias:
		what = fmt.Sprintf("%d columns, the bias included, where the model has %d", rows.Cols(), model.Cols())
	case !slices.Equal(rows.Classes, model.Classes):
		what = fmt.Sprintf("the classes %s, where the model has %s", schema.ListClasses(rows.Classes), schema.ListClasses(model.Classes))
	case rows.PositiveClass() != model.PositiveClass():
		what = "another positive class than the model"
	case rows.Preprocessing != nil && rows.Preprocessing.Check(rows.Features) != nil:
		what = "preprocessing that doesn't suit their features"
	case !features.New(rows).SameScale(features.New(model)):
		what = "features that aren't standardized as the model's are"
	default:
		return nil
	}
	return fmt.Errorf("the rows to judge on have %s: make them with the model's Spec in block.RowOptions or dataset.Options", what)
}

// Tally counts the rows that a model predicts wrongly.
type Tally struct {
	Rows, Errors int64
	Weight       float64 // of the rows that are wrong
}

// Count counts the rows whose prediction by a model isn't their label. It adds up their weights within runs, then over
// runs.
func Count[T kernel.Float](ctx context.Context, m *model.Model, src block.Source[T], workers int) (t Tally, err error) {
	scorer, err := predict.NewScorer[T](m, workers)
	if err != nil {
		return t, err
	}
	positive := src.Spec().PositiveClass()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return t, err
		}
		scores, err := scorer.Scores(ctx, b)
		if err != nil {
			return t, err
		}
		run := 0.0
		for i, y := range b.Y {
			if predict.Predicted(scores, i, positive) != predict.Labelled(y, len(scores), positive) {
				t.Errors++
				run += b.Weight(i)
			}
			if (i+1)%block.RunRows == 0 || i == len(b.Y)-1 {
				t.Weight += run
				run = 0
			}
		}
		t.Rows += int64(b.Len())
	}
	return t, nil
}

// validate counts errors on rows that the model didn't learn from, and writes them to the model.
func validate[T kernel.Float](ctx context.Context, m *model.Model, rows block.Source[T], workers int) (*Tally, error) {
	v := &model.Validation{Rows: rows.Rows()}
	var err error
	if v.Fingerprint, err = block.Fingerprint(ctx, rows, workers); err != nil {
		return nil, err
	}
	judges := rows
	if classes := m.Options.ClassWeight; classes != nil {
		judges = train.WithClassWeights(judges, classes)
	}
	wrong, err := Count(ctx, m, judges, workers)
	if err != nil {
		return nil, err
	}
	v.Errors, m.Training.Validation = wrong.Errors, v
	return &wrong, nil
}

// Merit is figures of merit over the folds of a comparison.
type Merit struct {
	AUC     []float64 // area under the ROC curve of each fold; NaN of more than two classes
	LogLoss metrics.LogLoss
	Seconds float64 // of all trainings
}

// MeanAUC returns the mean of the folds' areas.
func (m *Merit) MeanAUC() float64 {
	mean := 0.0
	for _, x := range m.AUC {
		mean += x / float64(len(m.AUC))
	}
	return mean
}

// addMerit adds the figures of a model on a fold, which was learned in so many seconds.
func addMerit[T kernel.Float](ctx context.Context, f *Merit, m *model.Model, j *job[T], held block.Source[T], seconds float64) error {
	scorer, err := predict.NewScorer[T](m, j.workers())
	if err != nil {
		return err
	}
	auc, positive := new(metrics.AUC[T]), held.Spec().PositiveClass()
	sum := f.LogLoss
	for b, err := range held.Blocks(ctx) {
		if err != nil {
			return err
		}
		scores, err := scorer.Scores(ctx, b)
		if err != nil {
			return err
		}
		if len(scores) == 1 {
			auc.Add(scores[0], b.Y)
		}
		if m.HasProbabilities() {
			sum.Add(predict.LogLosses(scores, b.Y, positive, m.Options.Multiclass))
		}
	}
	f.AUC, f.LogLoss, f.Seconds = append(f.AUC, auc.Value()), sum, f.Seconds+seconds
	return nil
}
