package fit

import (
	"context"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/metrics"
	"halfspace/model"
	"halfspace/predict"
)

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
