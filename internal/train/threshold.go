package train

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/metrics"
	"halfspace/predict"
	"halfspace/schema"
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

// checkThreshold returns an error if a model of the learner can't have Output.Threshold, or the other options don't allow
// to choose it.
func (o *Session) checkThreshold(l Learner, spec *schema.Spec) error {
	t := o.Output.Threshold
	switch {
	case t.By == "":
		return nil
	case t.By != predict.ByScore && t.By != predict.ByProbability && !t.NeedsRows():
		return fmt.Errorf("the threshold is chosen by %q: use predict.ParseThreshold", t.By)
	case len(spec.Classes) > 2:
		return fmt.Errorf("a threshold of %d classes: only a model of two classes has a threshold", len(spec.Classes))
	case t.By == predict.ByProbability && !l.HasOdds() && o.Output.Calibrate == "" && o.Calibration == nil:
		return message.Refusal("threshold", t.String(), "with --algo %s, which has no probabilities: add "+
			"--calibrate platt, or give a score", l.Name)
	case !t.NeedsRows():
		return nil
	case (o.Validation != nil || o.HoldOut > 0) && l.ChoosesByValidation:
		return message.Refusal("threshold", t.String(), "with --validation and --algo %s, which chooses its weights by "+
			"the hold-out rows, and would not in the folds: leave one of them out, or choose the threshold with eval "+
			"--save-threshold", l.Name)
	case o.Init != nil:
		return message.Refusal("threshold", t.String(), "with --init, whose model may have seen the folds: choose the "+
			"threshold with eval --save-threshold")
	}
	return nil
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
