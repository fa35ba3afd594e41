package train

import (
	"halfspace/internal/model"
	"halfspace/train/learner"
)

// model returns the model of a result, without the fingerprint of the data.
func (j *job) model(learned *learner.Result) *model.Model {
	m := model.New(j.src.Spec(), learned.Weights)
	m.Algorithm, m.Options = j.Name, j.modelOptions()
	if j.classes() > 2 {
		if m.Options.Multiclass = model.OneVersusRest; j.learnsJointly() {
			m.Options.Multiclass = model.Joint
		}
	}
	m.Training = model.Training{Rows: j.src.Rows(), Epochs: learned.Epochs, Visits: learned.Visits,
		Updates: learned.Updates, MixedUpdates: learned.MixedUpdates, Converged: learned.Converged}
	if len(learned.Curve) > 0 {
		m.Training.KeptUpdate = &learned.KeptUpdate
	}
	if learned.NotEvaluated {
		return m
	}
	m.Training.Errors, m.Training.Loss, m.Training.Radius, m.Training.Norm = &learned.Errors, &learned.Loss, &learned.Radius, &learned.Norm
	if learned.Margin > 0 {
		m.Training.Margin = &learned.Margin
	}
	if j.opt.Init == nil {
		m.Training.MistakeBound = j.updateBound(learned)
	}
	return m
}

// modelOptions returns the options that have an effect, for the model.
func (j *job) modelOptions() model.Options {
	var m model.Options
	for i := range j.Options {
		if o := &j.Options[i]; j.Has(o.Name) && o.IsStored(j.Settings) {
			m.Set(o.Name, o.Get(j.Settings))
		}
	}
	if shared := j.Settings.Shared(); j.Has("order") && shared.Order != learner.Cyclic ||
		j.opt.HoldOut > 0 || j.opt.CrossValidation != nil || j.opt.Path != nil || j.opt.Calibration != nil ||
		j.opt.ChosenThreshold != nil {
		m.Seed = &shared.Seed
	}
	if init := j.opt.Init; init != nil && init.Data.Fingerprint != "" {
		m.Set("init", init.Data.Fingerprint)
	}
	m.SampleWeight, m.Validation = j.opt.Weights.Column, j.opt.HoldOut
	return j.opt.Split.addToOptions(m)
}

// addJudgement writes the cross-validation and the path that were made before to a model.
func (o *Session) addJudgement(m *model.Model) {
	if cv := o.CrossValidation; cv != nil {
		m.Training.CrossValidation = &model.CrossValidation{Folds: cv.Folds, Errors: *cv.Points[cv.ChosenPoint].Errors}
	}
	if o.Path != nil {
		m.Training.Path = &o.Path.Path
	}
}
