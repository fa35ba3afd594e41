package train

import (
	"context"
	"errors"
	"fmt"

	"halfspace/block"
	"halfspace/metrics"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/schema"
)

// ChooseThreshold returns the score above which a model of a learner predicts the positive class of two classes, chosen
// by the F1 or the costs of t. It deals the rows into five folds, as Calibrate does, and scores each fold by a model of
// the other folds. The scores of all folds together choose the threshold of a model that learns from all rows. Sample
// weights count; weights of classes don't. ChooseThreshold returns an error if t needs no rows. Of opt it uses weights
// of classes, Memory, Split, Note and Stage.
func ChooseThreshold(ctx context.Context, src block.Source, l Learner, t predict.Threshold, opt Options) (float64, error) {
	opt.Threshold = t
	if !t.NeedsRows() {
		return 0, fmt.Errorf("the threshold %v needs no rows: set it in the model", t)
	}
	r, err := heldOut(ctx, src, l, "", "the choice of the threshold", opt)
	if err != nil {
		return 0, err
	}
	var scores metrics.Scores
	scores.Add(r.scores[0], r.labels, r.weights)
	return predict.ChooseThreshold(t, nil, &scores)
}

// checkThreshold returns an error if a model of the learner can't have opt.Threshold, or the other options don't allow
// to choose it.
func (o *Options) checkThreshold(l Learner, spec *schema.Spec, validated bool) error {
	t := o.Threshold
	switch {
	case t.By == "":
		return nil
	case t.By != predict.ByScore && t.By != predict.ByProbability && !t.NeedsRows():
		return fmt.Errorf("the threshold is chosen by %q: use predict.ParseThreshold", t.By)
	case len(spec.Classes) > 2:
		return fmt.Errorf("a threshold of %d classes: only a model of two classes has a threshold", len(spec.Classes))
	case t.By == predict.ByProbability && !l.HasOdds() && o.Calibrate == "" && o.Calibration == nil:
		return fmt.Errorf("the threshold %v is a probability, and %s has none: calibrate the model too, or give a score", t, l.Name)
	case !t.NeedsRows():
		return nil
	case (validated || o.HoldOut > 0) && l.Judges:
		return fmt.Errorf("rows to validate on beside the choice of a threshold: %s chooses its weights by them, and would not in the folds: leave one of them out", l.Name)
	case o.Init != nil:
		return errors.New("a model to begin with beside the choice of a threshold, whose folds it may have seen: leave one of them out")
	}
	return nil
}

// chooseFirst sets opt.ThresholdAt if opt.Threshold needs rows and opt.ThresholdAt isn't set.
func chooseFirst(ctx context.Context, src block.Source, l Learner, opt *Options) error {
	if !opt.Threshold.NeedsRows() || opt.ThresholdAt != nil {
		return nil
	}
	if opt.Judged != nil {
		l = opt.Judged.Best()
	}
	at, err := ChooseThreshold(ctx, src, l, opt.Threshold, *opt)
	opt.ThresholdAt = &at
	return err
}

// setThreshold sets the threshold of a model to opt.Threshold, and counts the errors of its predictions on src again.
func setThreshold(ctx context.Context, m *model.Model, src block.Source, opt *Options, workers int) error {
	t := opt.Threshold
	if t.By == "" {
		return nil
	}
	at := opt.ThresholdAt
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
	wrong, err := Count(ctx, m, src, workers)
	if err == nil {
		m.Training.Errors = &wrong.Errors
	}
	return err
}
