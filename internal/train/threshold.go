package train

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/metrics"
	"halfspace/predict"
)

// ChooseThreshold sets s.ChosenThreshold to the score above which a model of the learner predicts the positive class of
// two classes, chosen by the F1 or the costs of Output.Threshold. It deals the rows into five folds, as Calibrate does,
// and scores each fold by a model of the other folds. The scores of all folds together choose the threshold of a model
// that learns from all rows. Sample weights count; weights of classes don't. ChooseThreshold returns an error if the
// threshold needs no rows.
func (s *Session) ChooseThreshold(ctx context.Context) error {
	t := s.Output.Threshold
	if !t.NeedsRows() {
		return fmt.Errorf("the threshold %v needs no rows: set it in the model", t)
	}
	r, err := s.scoreFolds(ctx, "", "the choice of the threshold")
	if err != nil {
		return err
	}
	var scores metrics.Scores
	scores.Add(r.scores[0], r.labels, r.weights)
	at, err := predict.ChooseThreshold(t, nil, &scores)
	s.ChosenThreshold = &at
	return err
}

// setThreshold sets the threshold of a model to Output.Threshold, and counts the errors of its predictions on src again.
func (s *Session) setThreshold(ctx context.Context, m *model.Model, src block.Source, workers int) error {
	t := s.Output.Threshold
	if t.By == "" {
		return nil
	}
	at := s.ChosenThreshold
	if at == nil {
		v, err := t.Of(m)
		if err != nil {
			return err
		}
		at = &v
	}
	if m.SetThreshold(*at); t.By != predict.ByScore {
		m.Options.ThresholdBy = t.String()
	}
	if *at == 0 || m.Training.Errors == nil {
		return nil
	}
	wrong, err := CountErrors(ctx, m, src, workers)
	if err == nil {
		m.Training.Errors = &wrong.Errors
	}
	return err
}
