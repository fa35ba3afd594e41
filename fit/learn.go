package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"halfspace/block"
	"halfspace/checkpoint"
	"halfspace/internal/beside"
	"halfspace/internal/passes"
	"halfspace/internal/say"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/trace"
	"halfspace/train"
)

// Options say what a training does beside learning. The zero value is a plain training on all rows.
type Options struct {
	HoldOut      float64            // share of the rows that is held out, above 0 and below 1, and counted on; 0 is none
	Split        Split              // which rows stay together in a hold-out or in folds; zero: rows are drawn within each class
	CV           *CV                // judge the learner, or each of a grid, by cross-validation first, and learn with the best; nil: don't
	ClassWeights map[string]float64 // weights of classes, by their text, which multiply those of rows; 1 for others
	Balanced     bool               // give all classes the same total weight, in place of ClassWeights
	Multiclass   string             // of more than two classes: model.OneVersusRest, model.Joint, or "" for what suits the learner

	// Calibrate is how scores become probabilities, by held-out folds: model.Platt, model.Isotonic, or "" for not at all.
	// Calibration is that of the learner, where Calibrate made it before.
	Calibrate   string
	Calibration *model.Calibration

	// Threshold says how the score is chosen above which a model of two classes predicts the positive class: as it is given, or by held-out folds.
	// ThresholdAt is the score that ChooseThreshold found before. The zero value is 0. Errors in cross-validations are those of 0.
	Threshold   predict.Threshold
	ThresholdAt *float64

	Init    *model.Model      // begin with the weights of this model; nil: with zeros
	Memory  int64             // most bytes for the rows and for what learners keep of them; 0: as much as is available
	Note    func(text string) // told what is worth knowing; may be nil
	Stage   func(Stage)       // told how far work other than learning is, by one goroutine at a time; may be nil
	Weights string            // name of the column that the weights of rows came from, for the model
	Judged  *CrossValidation  // a cross-validation that was made before, whose best learner learns; nil: none
	Path    *Path             // a path that was followed before, whose chosen penalty the learner has; nil: none
	Survey  *Survey           // of the rows, where it was made before; nil: a pass that is made anyway makes it
	// Checkpoint saves the state of the training, and holds the state to resume from. When ctx ends, Learn saves the last
	// state. After another error, the last checkpoint stays. Open it before, and call Finish once the model is kept. Of a
	// cross-validation or a path, each finished training or fold is kept. nil: nothing is saved.
	Checkpoint *checkpoint.Run

	Trace *trace.Options // told how the training goes, update by update or pass by pass; nil: nobody is

	Receipt *model.Receipt // gets the sums of the model, of the rows and of the weights after each epoch, which takes a pass over the rows; nil: none
}

// Fitted is a whole training: the model, complete, and how it went.
type Fitted struct {
	Model           *model.Model
	Result          *train.Result
	Own             any              // the learner's own result, such as *logistic.Result; nil for several classes one versus the rest
	Survey          *Survey          // what the rows tell without learning
	Visits          int64            // of all classes; those of Result are the most of one, where each has a training of its own
	Validation      *Tally           // what the model has wrong of rows that it didn't learn from; nil without any
	CrossValidation *CrossValidation // nil without one
	UpdateBound     *float64         // most updates of a perceptron from Options.Init (train.UpdateBoundFrom); nil where no theorem tells, and without Init
}

// Learn learns a model from the rows of src. If ctx ends the training after some updates, Learn returns what was learned so far with ctx's error. It is an error if an option of the learner is out of range or has no effect, or if
// block.Check refuses the rows. So are fewer classes than two, and what the learner fails with.
//
// A learner that visits rows in another order than that of the source needs a *block.Data or a block.Seekable. The dual
// form needs a *block.Data. The result depends neither on the number of workers nor on where the rows are.
func Learn(ctx context.Context, src block.Source, l Learner, opt Options) (*Fitted, error) {
	return LearnValidated(ctx, src, nil, l, opt)
}

// LearnValidated is Learn with rows for validation. Errors are counted on them, and some learners choose their weights
// by them. They have the spec of src. If validation is nil, LearnValidated is Learn. Otherwise Options.HoldOut is only
// written to the model: the share of all rows that they are.
func LearnValidated(ctx context.Context, src, validation block.Source, l Learner, opt Options) (*Fitted, error) {
	if err := check(&opt, src, l, validation != nil); err != nil {
		return nil, err
	}
	src, err := checked(ctx, src, l)
	if err != nil {
		return nil, err
	}
	if validation != nil {
		if validation, err = checked(ctx, validation, l); err == nil {
			err = suits(validation.Spec(), src.Spec())
		}
		if err != nil {
			return nil, err
		}
		validation = plain(validation)
	}
	if opt.HoldOut > 0 && validation == nil {
		parts, err := HoldOut(ctx, src, l, opt)
		if err != nil {
			return nil, err
		}
		defer parts.Close()
		if err := chooseFirst(ctx, parts.Kept, l, &opt); err != nil {
			return nil, err
		}
		return learnAll(ctx, parts.Kept, parts.Held, l, opt)
	}
	if opt.CV != nil {
		if opt.Judged, err = CrossValidate(ctx, src, l, *opt.CV, opt); err != nil {
			return nil, err
		}
	}
	if err := calibrateFirst(ctx, src, l, &opt); err != nil {
		return nil, err
	}
	if err := chooseFirst(ctx, src, l, &opt); err != nil {
		return nil, err
	}
	return learnAll(ctx, src, validation, l, opt)
}

// check returns an error for a source, a learner or options that can't be used, before any row is read.
func check(o *Options, src block.Source, l Learner, validated bool) error {
	spec, err := block.SpecOf(src)
	if err == nil {
		err = l.check()
	}
	if err != nil {
		return err
	}
	return o.check(l, spec, validated)
}

// check returns an error for options that can't be used.
func (o *Options) check(l Learner, spec *schema.Spec, validated bool) error {
	if err := l.CheckSettings(l.Settings); err != nil {
		return err
	}
	if err := cmp.Or(o.checkCalibrate(l, validated), o.checkThreshold(l, spec, validated)); err != nil {
		return err
	}
	weighted := spec.Weighted || o.classWeighted()
	switch {
	case o.HoldOut != 0 && !(o.HoldOut > 0 && o.HoldOut < 1):
		return fmt.Errorf("the share to hold out is %v: use one above 0 and below 1", o.HoldOut)
	case o.CV != nil && (validated || o.HoldOut > 0):
		return fmt.Errorf("rows to validate on beside a cross-validation, which judges on the rows that each fold holds back: leave one of them out")
	case o.Balanced && len(o.ClassWeights) > 0:
		return fmt.Errorf("balanced weights of classes beside given ones: leave one of them out")
	case weighted && l.NoWeights != "":
		return fmt.Errorf("weights with %s, %s: leave them out", l.Name, l.NoWeights)
	case !spec.Bias && l.NeedsBias != "":
		return fmt.Errorf("no bias with %s, %s: add one", l.Name, l.NeedsBias)
	case o.Multiclass != "" && o.Multiclass != model.OneVersusRest && o.Multiclass != model.Joint:
		return fmt.Errorf("multiclass is %q: use %s or %s", o.Multiclass, model.OneVersusRest, model.Joint)
	case o.Multiclass == model.Joint && !l.Joint:
		return fmt.Errorf("%s can't learn the classes together: learn one class versus the rest", l.Name)
	case o.Multiclass == model.Joint && l.OnlyApart(l.Settings) != "":
		return fmt.Errorf("%s with %s can't learn the classes together: learn one class versus the rest", l.Name, l.OnlyApart(l.Settings))
	case o.Init != nil && o.CV != nil:
		return errors.New("a model to begin with beside a cross-validation, whose folds it may have seen: leave one of them out")
	case o.Init != nil && !l.Begins:
		return fmt.Errorf("%s can't begin with the weights of a model: use %s", l.Name, say.OneOf(Beginners()))
	case len(spec.Classes) <= 2:
		if err := train.TwoClasses(spec); err != nil {
			return err
		}
	}
	if o.Init == nil {
		return nil
	}
	return beginsWith(o.Init, spec)
}

func (o *Options) classWeighted() bool { return o.Balanced || len(o.ClassWeights) > 0 }

// note tells what is worth knowing.
func (o *Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}

// checked returns src as a source whose rows learners can take. Sources that can learn features again stay that.
func checked(ctx context.Context, src block.Source, l Learner) (block.Source, error) {
	if r, ok := src.(relearned); ok {
		return r, nil
	}
	again := relearner(src)
	rows, err := block.Check(ctx, plain(src), l.workers())
	if again == nil || err != nil {
		return rows, err
	}
	return relearned{rows, again}, nil
}

// learnAll learns, and writes to the model which rows it was learned from and judged on.
func learnAll(ctx context.Context, src, validation block.Source, l Learner, opt Options) (*Fitted, error) {
	src = plain(src)
	if opt.Judged != nil {
		l = opt.Judged.Best().with(l.workers(), l.Settings.Shared().Progress)
	}
	held := block.Held(src, src.Spec().Weighted || opt.classWeighted())
	j := &job{Learner: l, opt: &opt, src: src, validation: validation, held: held}
	if opt.Receipt != nil || opt.Checkpoint != nil {
		j.trail = new(trail)
	}
	looked, survey := src, opt.Survey
	if cluster, _ := block.RemoteOf(src); cluster != nil && survey == nil {
		var err error
		if survey, err = NewSurvey(ctx, src); err != nil {
			return nil, err
		}
	}
	if survey == nil {
		survey = newSurvey(src.Spec())
		looked = watched{src, survey}
	}
	print, err := j.open(ctx, looked)
	if err != nil {
		return nil, err
	}
	after, end := beside.After(ctx)
	defer end()
	f, interrupted := j.learn(ctx, after)
	opt.save(ctx)
	if f == nil {
		return nil, interrupted
	}
	m := f.Model
	f.Survey = survey
	f.CrossValidation = opt.Judged
	opt.tellJudged(m)
	m.Data.Rows, m.Calibration = src.Rows(), opt.Calibration
	if late := setThreshold(after, m, src, &opt, l.workers()); late != nil && after.Err() == nil {
		return nil, late
	}
	if m.Data.Fingerprint = print; print == "" {
		opt.stage(Stage{Name: "taking the fingerprint of the rows"})
		m.Data.Fingerprint, err = passes.Fingerprint(after, looked, l.workers())
	}
	if err == nil && validation != nil {
		f.Validation, err = validate(after, m, validation, l.workers())
	}
	if err != nil && after.Err() == nil {
		return nil, err
	}
	if m.Data.Fingerprint == "" {
		f.Survey = opt.Survey
	}
	if opt.Receipt != nil && interrupted == nil && err == nil {
		err = j.receipt(ctx, m)
	}
	return f, cmp.Or(interrupted, err)
}

// A job is rows to learn from, and how.
type job struct {
	Learner
	opt             *Options
	src, validation block.Source
	classWeights    []float64 // of the rows of src; nil where classes have none
	class           int       // the class if rows are those of one class and the rest
	versus, beside  int       // classes, if rows are those of one and the rest, else 0; trainings that go on at a time, 0 for this one alone
	held            int64     // bytes of all rows in memory
	trail           *trail    // gets the sums of the weights; nil: not recorded
}

func (j *job) classes() int { return len(j.src.Spec().Classes) }

// together tells whether the vectors of more than two classes are learned together.
func (j *job) together() bool {
	return j.opt.Multiclass == model.Joint || j.opt.Multiclass == "" && j.LearnsTogether(j.Settings)
}

// learn learns. If ctx ends the training, learn returns the model of the weights so far, or nil, with ctx's error. What
// takes a pass over the rows then has time until after ends. The model has no fingerprints.
func (j *job) learn(ctx, after context.Context) (*Fitted, error) {
	one := *j
	if j.opt.classWeighted() {
		var err error
		if one.classWeights, err = weightsOf(ctx, j.opt, j.src, j.workers()); err != nil {
			return nil, err
		}
		one.src = train.WithClassWeights(j.src, one.classWeights)
		if j.validation != nil {
			one.validation = train.WithClassWeights(j.validation, one.classWeights)
		}
	}
	how := one.whole
	if j.classes() > 2 && !j.together() && !j.EachClass {
		how = one.eachVersusRest
	}
	f, err := how(ctx, after)
	if f != nil {
		f.Model.Options.ClassWeight = one.classWeights
	}
	return f, err
}

// whole learns by the learner alone; see learn.
func (j *job) whole(ctx, after context.Context) (*Fitted, error) {
	settings, recorder, err := j.traced(ctx)
	if err != nil {
		return nil, err
	}
	task := &train.Task{Rows: block.Trust(j.src), Settings: settings, Init: j.begin(), ClassWeights: j.classWeights, Versus: j.versus, Beside: j.beside, Memory: j.opt.Memory, Held: j.held, Note: j.opt.note}
	if j.validation != nil {
		task.Validation = block.Trust(j.validation)
	}
	learned, err := j.Learner.Learner.Train(ctx, task)
	if bad := recorder.Flush(after); bad != nil && after.Err() == nil {
		return nil, bad
	}
	if learned == nil {
		return nil, err
	}
	r := learned.Result
	if err != nil && ctx.Err() != nil && !r.Interrupted { // also where it was in the last pass, which only counts
		r.Interrupted, r.Errors = true, 0
	}
	if err != nil && !r.Interrupted {
		return nil, err
	}
	if r.Interrupted && !j.InMemory {
		if late := j.evaluate(after, r); late != nil {
			if after.Err() == nil {
				return nil, late
			}
			r.Uncounted = true
		}
	}
	m := j.model(r)
	if learned.Keep != nil {
		learned.Keep(m)
	}
	if r.Interrupted && m.Voters != nil { // whose mean was evaluated
		wrong, late := Count(after, m, j.src, j.workers())
		if late != nil && after.Err() == nil {
			return nil, late
		}
		if m.Training.Errors, r.Predicted = &wrong.Errors, nil; late != nil {
			m.Training.Errors = nil
		}
	}
	f := &Fitted{Model: m, Result: r, Own: learned.Own, Visits: r.Visits}
	if j.opt.Init != nil {
		f.UpdateBound = j.updateBound(r)
	}
	return f, err
}

// begin returns the weights to begin with, or nil for zeros.
func (j *job) begin() *train.Start {
	switch {
	case j.opt.Init == nil:
		return nil
	case j.versus > 0:
		return train.StartOf(j.opt.Init, j.class)
	}
	return train.StartOf(j.opt.Init, -1)
}
