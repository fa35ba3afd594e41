package train

import (
	"context"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/train/learner"
)

// learnAtOnce makes one training with the learner; see learn.
func (j *job) learnAtOnce(ctx, after context.Context) (*Outcome, error) {
	settings, recorder, err := j.tracedSettings(ctx)
	if err != nil {
		return nil, err
	}
	task := &learner.Task{Rows: block.AssumeValid(j.src), Settings: settings, Init: j.startingPoint(),
		ClassWeights: j.classWeights, VersusClasses: j.versus, ParallelTrainings: j.parallelTrainings,
		Memory: j.opt.Memory, HeldBytes: j.heldBytes, Note: j.opt.note}
	if j.validation != nil {
		task.Validation = block.AssumeValid(j.validation)
	}
	learned, err := j.Learner.Learner.Train(ctx, task)
	if bad := recorder.Flush(after); bad != nil && after.Err() == nil {
		return nil, bad
	}
	if learned == nil {
		return nil, err
	}
	r := learned.Result
	if err != nil && ctx.Err() != nil && !r.Interrupted { // also if ctx ended in the last pass, which only counts
		r.Interrupted, r.Errors = true, 0
	}
	if err != nil && !r.Interrupted {
		return nil, err
	}
	if r.Interrupted && !j.InMemory {
		if late := j.Learner.Learner.Evaluate(after, j.src, j.Workers(), j.Settings, r); late != nil {
			if after.Err() == nil {
				return nil, late
			}
			r.NotEvaluated = true
		}
	}
	m := j.model(r)
	if learned.AddToModel != nil {
		learned.AddToModel(m)
	}
	if r.Interrupted && m.Voters != nil { // the mean of the voters was evaluated
		wrong, late := CountErrors(after, m, j.src, j.Workers())
		if late != nil && after.Err() == nil {
			return nil, late
		}
		if m.Training.Errors, r.PredictedRows = &wrong.Errors, nil; late != nil {
			m.Training.Errors = nil
		}
	}
	f := &Outcome{Model: m, Result: r, OwnResult: learned.OwnResult, Visits: r.Visits}
	if j.opt.Init != nil {
		f.UpdateBound = j.updateBound(r)
	}
	return f, err
}

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

// updateBound returns the most updates that the learner can make on these rows in any order, from its initial weights.
// It returns nil if no theorem gives a bound: if the learner isn't a perceptron, with a penalty, with sample weights,
// or for several trainings one versus the rest.
func (j *job) updateBound(learned *learner.Result) *float64 {
	if !j.IsPerceptron() || learned.NotEvaluated || j.src.Spec().Weighted || j.classes() > 2 && !j.learnsJointly() {
		return nil
	}
	margin, l2 := j.PerceptronUpdate(j.Settings)
	if l2 > 0 {
		return nil
	}
	eta, spec := j.Settings.Shared().Eta, j.src.Spec()
	if j.opt.Init == nil {
		return boundOrNil(learned.UpdateBound(margin, eta))
	}
	return boundOrNil(learner.UpdateBoundFrom(learned, unpaddedStart(j.startingPoint(), spec), spec.Vectors(), margin, eta))
}

// boundOrNil returns a pointer to the bound, or nil if the bound is +Inf.
func boundOrNil(bound float64) *float64 {
	if math.IsInf(bound, 0) {
		return nil
	}
	return &bound
}
