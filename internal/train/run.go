package train

import (
	"cmp"
	"context"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/predict"
	"halfspace/train/learner"
)

// A Session is a training and the results of the steps before it. Run makes each step that the options ask for and that
// has no result yet; a program that reports each step calls the methods one after another.
type Session struct {
	Options
	Rows    block.Source
	Learner Learner // CrossValidate and FollowPath set it to the best learner

	Profile         *DataProfile       // of the rows; nil: another pass over the rows makes it
	CrossValidation *CrossValidation   // result of CrossValidate
	Path            *Path              // result of FollowPath
	Calibration     *model.Calibration // result of Calibrate
	ChosenThreshold *float64           // result of ChooseThreshold
	HeldOut         *HeldOutEvaluation // result of PoolFolds; nil without it, or without Output.HeldOut
	State           *checkpoint.Run    // saves the state, in place of Options.Checkpoint; Run neither opens nor finishes it
}

// Outcome is the result of a training: the complete model, and its figures.
type Outcome struct {
	Model     *model.Model
	Result    *learner.Result
	OwnResult any          // the learner's own result, such as *logistic.Result; nil for classes learned one versus the rest
	Profile   *DataProfile // of the rows
	// Visits is the sum over all classes. Result.Visits is the largest number of one class, if each class has its own
	// training.
	Visits     int64
	Validation *ErrorCount // errors on validation rows; nil without validation rows
	// ValidationCounts is the number of validation rows of each class, in the order of Model.Classes.
	ValidationCounts []int64
	CrossValidation  *CrossValidation   // nil without one
	HeldOut          *HeldOutEvaluation // only with Output.HeldOut, with validation rows or a cross-validation
	Online           *OnlineCounts      // only with Options.Online
	// UpdateBound is the most updates of a perceptron from Options.Init; see learner.UpdateBoundFrom. It is nil without
	// Init, and if no theorem gives a bound.
	UpdateBound *float64
}

// Predictor returns a predictor of the model, which goroutines may share.
func (t *Outcome) Predictor() (*predict.Predictor, error) { return predict.New(t.Model) }

// Run learns a model from the rows of src. If ctx ends the training after one update or more, Run returns the model so
// far with ctx's error. Errors: an option of the learner that is out of range or has no effect, fewer than two classes,
// errors of block.Validate, and errors of the learner.
//
// A learner that visits rows in another order than the order of the source needs a *block.Data or a block.Seekable. The
// dual form needs a *block.Data. The result depends neither on the number of workers nor on where the rows are.
func Run(ctx context.Context, src block.Source, l Learner, opt Options) (*Outcome, error) {
	return (&Session{Options: opt, Rows: src, Learner: l}).Run(ctx)
}

// Run makes the steps that have no result yet, and the training; see the function Run.
func (s *Session) Run(ctx context.Context) (_ *Outcome, err error) {
	if s.Online != nil {
		return s.online(ctx)
	}
	if s.Checkpoint.Dir == "" || s.State != nil {
		return s.run(ctx)
	}
	one := *s
	if one.State, err = checkpoint.Open(s.Checkpoint); err != nil {
		return nil, err
	}
	defer one.State.Close()
	t, err := one.run(ctx)
	if err == nil {
		err = one.State.Finish()
	}
	return t, err
}

func (s *Session) run(ctx context.Context) (*Outcome, error) {
	l := s.configured(s.Learner)
	if err := check(s, s.Rows, l); err != nil {
		return nil, err
	}
	src, err := checkSource(ctx, s.Rows, l)
	if err != nil {
		return nil, err
	}
	validation := s.Validation
	if validation != nil {
		if validation, err = checkSource(ctx, validation, l); err == nil {
			err = checkSameSpec(validation.Spec(), src.Spec())
		}
		if err != nil {
			return nil, err
		}
		validation = withoutRefit(validation)
	}
	one := *s
	one.Rows = src
	var parts *Parts // of a share that is held out
	if s.HoldOut > 0 && validation == nil {
		if parts, err = HoldOut(ctx, src, l, s.Options); err != nil {
			return nil, err
		}
		defer parts.Close()
		one.Rows, validation = parts.KeptRows, parts.HeldRows
	}
	if s.Path == nil && s.CV.Path > 0 {
		err = one.FollowPath(ctx)
	} else if s.CV.Path == 0 && s.CV.isSet() && s.CrossValidation == nil {
		err = one.CrossValidate(ctx)
	}
	if err == nil && s.Output.Calibrate != "" && s.Calibration == nil {
		err = one.Calibrate(ctx)
	}
	if err == nil && s.Output.Threshold.NeedsRows() && s.ChosenThreshold == nil {
		err = one.ChooseThreshold(ctx)
	}
	if err == nil && s.Output.HeldOut && s.CV.isSet() {
		err = one.PoolFolds(ctx)
	}
	if err != nil {
		return nil, err
	}
	return one.learn(ctx, withoutRefit(one.Rows), parts, validation, one.configured(one.Learner))
}

// checkSource returns src, checked by block.Validate. A source that can learn its features again keeps this ability.
func checkSource(ctx context.Context, src block.Source, l Learner) (block.Source, error) {
	if r, ok := src.(refitSource); ok {
		return r, nil
	}
	again := refitOf(src)
	rows, err := block.Validate(ctx, withoutRefit(src), l.Workers())
	if again == nil || err != nil {
		return rows, err
	}
	return refitSource{rows, again}, nil
}

// learn learns, and writes to the model which rows it learned from and was judged on. parts is nil, or the hold-out of a
// share of all rows.
func (s *Session) learn(ctx context.Context, src block.Source, parts *Parts, validation block.Source, l Learner) (*Outcome, error) {
	held := block.MemoryBytes(src, src.Spec().Weighted || s.Weights.hasClassWeights())
	j := &job{Learner: l, opt: s, src: src, validation: validation, heldBytes: held}
	if s.Output.Receipt != nil || s.State != nil {
		j.trail = new(trail)
	}
	var made *DataProfile // the pass for the fingerprint makes it
	if s.Profile == nil {
		made = newDataProfile(src.Spec())
	}
	sum, err := j.open(ctx, made)
	if err != nil {
		return nil, err
	}
	after, end := parallel.Grace(ctx)
	defer end()
	f, interrupted := j.learn(ctx, after)
	s.save(ctx)
	if f == nil {
		return nil, interrupted
	}
	m := f.Model
	f.Profile = cmp.Or(s.Profile, made)
	f.CrossValidation = s.CrossValidation
	s.addJudgement(m)
	m.Data.Rows, m.Data.Lake, m.Calibration = src.Rows(), s.Output.Lake, s.Calibration
	if late := s.setThreshold(after, m, src, l.Workers()); late != nil && after.Err() == nil {
		return nil, late
	}
	if m.Data.Fingerprint = sum; sum == "" {
		s.stage(Stage{Name: "taking the fingerprint of the rows"})
		m.Data.Fingerprint, err = fingerprint(after, src, l.Workers(), made)
	}
	if err == nil && validation != nil {
		f.Validation, f.ValidationCounts, err = validate(after, m, validation, l.Workers())
	}
	if f.HeldOut = s.HeldOut; err == nil && interrupted == nil && validation != nil && s.Output.HeldOut {
		if f.HeldOut, err = j.judgeHeldOut(ctx, m, parts); err != nil && ctx.Err() != nil {
			f.HeldOut, err, interrupted = nil, nil, ctx.Err()
		}
	}
	if err != nil && after.Err() == nil {
		return nil, err
	}
	if m.Data.Fingerprint == "" {
		f.Profile = s.Profile
	}
	if s.Output.Receipt != nil && interrupted == nil && err == nil {
		err = j.receipt(ctx, m)
	}
	return f, cmp.Or(interrupted, err)
}

// A job is the rows to learn from, and the learner and options of the training.
type job struct {
	Learner
	opt             *Session
	src, validation block.Source
	classWeights    []float64 // weights of the classes of src; nil if classes have none
	class           int       // the class, if rows are one class versus the rest
	// versus is the number of classes if the rows are one class versus the rest, and 0 otherwise. parallelTrainings is the
	// number of trainings that run at the same time; 0: only this one.
	versus, parallelTrainings int
	heldBytes                 int64  // bytes of all rows in memory
	trail                     *trail // gets the sums of the weights; nil: not recorded
}

func (j *job) classes() int { return len(j.src.Spec().Classes) }

// learnsJointly tells whether more than two classes are learned together.
func (j *job) learnsJointly() bool {
	return j.opt.Multiclass == model.Joint || j.opt.Multiclass == "" && j.LearnsJointly(j.Settings)
}

// learn trains. If ctx ends the training, learn returns the model of the weights so far, or nil, with ctx's error. A
// final pass over the rows may then run until after ends. The model has no fingerprints.
func (j *job) learn(ctx, after context.Context) (*Outcome, error) {
	one := *j
	if j.opt.Weights.hasClassWeights() {
		var err error
		if one.classWeights, err = weightsOf(ctx, &j.opt.Weights, j.src, j.Workers()); err != nil {
			return nil, err
		}
		one.src = learner.WithClassWeights(j.src, one.classWeights)
		if j.validation != nil {
			one.validation = learner.WithClassWeights(j.validation, one.classWeights)
		}
	}
	how := one.learnAtOnce
	if j.classes() > 2 && !j.learnsJointly() && !j.VersusRest {
		how = one.eachVersusRest
	}
	f, err := how(ctx, after)
	if f != nil {
		f.Model.Options.ClassWeight = one.classWeights
	}
	return f, err
}

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

// startingPoint returns the initial weights, or nil for zeros.
func (j *job) startingPoint() *learner.Start {
	switch {
	case j.opt.Init == nil:
		return nil
	case j.versus > 0:
		return learner.StartOf(j.opt.Init, j.class)
	}
	return learner.StartOf(j.opt.Init, -1)
}
