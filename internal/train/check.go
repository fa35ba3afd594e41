package train

import (
	"cmp"
	"fmt"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/train/learner"
)

// checkTraining returns an error if the rows, the learner or the options can't be used. It reads no rows.
func (o *Session) checkTraining(l Learner) error {
	spec, err := block.SpecOf(o.Rows)
	if err == nil {
		err = l.Check()
	}
	if err != nil {
		return err
	}
	return o.check(l, spec)
}

// check returns an error if the options can't be used on rows of a spec.
func (o *Session) check(l Learner, spec *schema.Spec) error {
	if err := o.Check(l, spec); err != nil {
		return err
	}
	if len(spec.Classes) <= 2 {
		if err := learner.TwoClasses(spec); err != nil {
			return err
		}
	}
	if o.Init == nil {
		return nil
	}
	return checkInit(o.Init, spec)
}

// Check returns an error if the learner or the options can't be used on rows of a spec, whose classes may be unknown.
// It reads neither Rows nor Validation.
func (o *Session) Check(l Learner, spec *schema.Spec) error {
	err := cmp.Or(l.CheckSettings(l.Settings), o.checkCalibrate(l), o.checkThreshold(l, spec), o.Weights.Check(),
		o.CV.checkOneStandardError())
	if err == nil && o.HoldOut != 0 {
		err = CheckShare(o.HoldOut)
	}
	if err == nil && o.CV.Folds != 0 {
		err = CheckFolds(o.CV.Folds)
	}
	if err == nil && o.CV.isSet() {
		err = o.CV.checkScore(l, len(spec.Classes))
	}
	if err != nil {
		return err
	}
	switch {
	case o.CV.isSet() && (o.Validation != nil || o.HoldOut > 0):
		return message.Refusal("validation", "", "with --cv or --grid, which judge on the rows that each fold holds back: "+
			"leave one of them out")
	case o.Weights.hasClassWeights() && l.WhyNoWeights != "":
		return message.Refusal("class-weight", "", "with --algo %s, %s: leave it out", l.Name, l.WhyNoWeights)
	case spec.Weighted && l.WhyNoWeights != "":
		return message.Refusal("sample-weight", "", "with --algo %s, %s: leave it out", l.Name, l.WhyNoWeights)
	case !spec.Bias && l.WhyBias != "":
		return message.Refusal("no-bias", "", "with --algo %s, %s: leave it out", l.Name, l.WhyBias)
	case o.Multiclass != "" && o.Multiclass != model.OneVersusRest && o.Multiclass != model.Joint:
		return message.WrongValue("multiclass", o.Multiclass, humanize.OneOf([]string{model.OneVersusRest, model.Joint}))
	case o.Multiclass == model.Joint && !l.IsMulti():
		together := Names((*learner.Learner).IsMulti)
		return message.Refusal("multiclass", model.Joint, "with --algo %s, which learns one class versus the rest: use "+
			"ovr, or --algo %s", l.Name, humanize.OneOf(together))
	case o.Multiclass == model.Joint && l.Classes(l.Settings).VersusOnly != "":
		return message.Refusal("multiclass", model.Joint, "with %s, which learns one class versus the rest: use ovr",
			l.Classes(l.Settings).VersusOnly)
	case o.Init != nil && o.CV.isSet():
		return message.Refusal("init", "", "with --cv or --grid, whose folds the model may have seen: leave one of them out")
	case o.Init != nil && !l.BeginsWithModel:
		return message.Refusal("init", "", "with --algo %s, which begins with zeros: use --algo %s", l.Name,
			humanize.OneOf(NamesWithInit()))
	}
	return nil
}

// checkScore returns an error if cv.Score is unknown, or undefined for the learner or the number of classes.
func (cv *CV) checkScore(l Learner, classes int) error {
	if cv.Score != "" && !slices.Contains(Scores, cv.Score) {
		return message.WrongValue("score", cv.Score, humanize.OneOf(Scores))
	}
	if cv.Score == ByLogLoss && !l.HasOdds() {
		return message.Refusal("score", cv.Score, "with --algo %s, which has no probabilities: use another score, or "+
			"--algo logistic or lda", l.Name)
	}
	if lacks := whyUnscored(cv.Score, l, classes); lacks != "" {
		return fmt.Errorf("the score %s with %s, which %s: choose by another score", cv.Score, l.Name, lacks)
	}
	return nil
}

// checkOneStandardError returns an error if cv.OneStandardError is set and neither a path nor the grid varies a
// penalty.
func (cv *CV) checkOneStandardError() error {
	varies := func(a Axis) bool { return slices.Contains(penaltyOptions, a.Option) }
	if cv.OneStandardError && cv.Path == 0 && !slices.ContainsFunc(cv.Grid, varies) {
		return message.Refusal("one-standard-error", "", "takes the strongest penalty: add --path, or a --grid of %s",
			humanize.OneOf(penaltyOptions))
	}
	return nil
}

// checkCalibrate returns an error if opt.Calibrate is unknown, or can't be used with the learner or the other options.
func (o *Session) checkCalibrate(l Learner) error {
	switch {
	case o.Output.Calibrate == "":
		return nil
	case o.Output.Calibrate != model.Platt && o.Output.Calibrate != model.Isotonic:
		return message.WrongValue("calibrate", o.Output.Calibrate, humanize.OneOf([]string{model.Platt, model.Isotonic}))
	case l.HasOdds():
		return message.Refusal("calibrate", "", "with --algo %s, which has probabilities of its own: leave it out", l.Name)
	case o.HoldOut > 0:
		return message.Refusal("calibrate", "", "with --validation %v: it holds back folds of its own: give --validation "+
			"a file, or leave one of them out", o.HoldOut)
	case o.Validation != nil && l.ChoosesByValidation:
		return message.Refusal("calibrate", "", "with --validation and --algo %s, which chooses its weights by the "+
			"hold-out rows, and would not in the folds: leave one of them out, and judge the model with eval", l.Name)
	case o.Init != nil:
		return message.Refusal("calibrate", "", "with --init, whose model may have seen the folds: leave one of them out")
	}
	return nil
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
