package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/distributed"
	"halfspace/internal/humanize"
	"halfspace/internal/parallel"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/train/learner"
	"halfspace/train/trace"
)

// Options are the options of a training beside the options of the learner. The zero value is a plain training on all
// rows.
type Options struct {
	HoldOut float64 // share of the rows that is held out to count errors on, above 0 and below 1; 0: none
	Split   Split   // rows that stay together in a hold-out or in folds; zero: rows are drawn within each class
	// CV makes a cross-validation first, of the learner or of each combination of a grid. The best learner then learns.
	// nil: none.
	CV           *CV
	ClassWeights map[string]float64 // weights of classes by their text, factors of the sample weights; 1 for others
	Balanced     bool               // give all classes the same total weight, in place of ClassWeights
	// Multiclass is, for more than two classes, model.OneVersusRest, model.Joint, or "" for the learner's default.
	Multiclass string

	// Calibrate is the method by which scores become probabilities, learned on held-out folds: model.Platt,
	// model.Isotonic, or "" for none. Calibration is the learner's calibration if Calibrate made it before.
	Calibrate   string
	Calibration *model.Calibration

	// Threshold says how to choose the score above which a model of two classes predicts the positive class: a given
	// score, or a choice on held-out folds. ThresholdAt is the score that ChooseThreshold found before. The zero value
	// is the score 0. Errors in cross-validations are counted with the score 0.
	Threshold   predict.Threshold
	ThresholdAt *float64

	Init    *model.Model      // begin with the weights of this model; nil: with zeros
	Memory  int64             // most bytes for the rows and for the learners' own arrays; 0: all available memory
	Note    func(text string) // called with remarks for the user; may be nil
	Stage   func(Stage)       // called with the progress of work other than learning, by one goroutine at a time; may be nil
	Weights string            // name of the column that the sample weights came from, for the model
	Judged  *CrossValidation  // a cross-validation that was made before; its best learner learns; nil: none
	Path    *Path             // a path that was made before; the learner has its chosen penalty; nil: none
	Survey  *DataProfile      // survey of the rows, if it was made before; nil: another pass over the rows makes it
	// Checkpoint saves the state of the training, and holds the state to resume from. When ctx ends, Learn saves the
	// last state. After another error, the last checkpoint stays. Open it before Learn, and call Finish once the model
	// is stored. For a cross-validation or a path, each finished training or fold is saved. nil: no state is saved.
	Checkpoint *checkpoint.Run

	Trace *trace.Options // receives the progress of the training, update by update or pass by pass; nil: none

	// Receipt receives the sums of the model, of the rows and of the weights after each epoch, which takes a pass over
	// the rows. nil: none.
	Receipt *model.Receipt
}

// Fitted is the result of a training: the complete model, and its figures.
type Fitted struct {
	Model  *model.Model
	Result *learner.Result
	Own    any          // the learner's own result, such as *logistic.Result; nil for classes learned one versus the rest
	Survey *DataProfile // survey of the rows
	// Visits is the sum over all classes. Result.Visits is the largest number of one class, if each class has its own
	// training.
	Visits          int64
	Validation      *ErrorCount      // errors on validation rows; nil without validation rows
	CrossValidation *CrossValidation // nil without one
	// UpdateBound is the most updates of a perceptron from Options.Init; see learner.UpdateBoundFrom. It is nil without
	// Init, and if no theorem gives a bound.
	UpdateBound *float64
}

// Learn learns a model from the rows of src. If ctx ends the training after one update or more, Learn returns the model
// so far with ctx's error. Errors: an option of the learner that is out of range or has no effect, fewer than two
// classes, errors of block.Validate, and errors of the learner.
//
// A learner that visits rows in another order than the order of the source needs a *block.Data or a block.Seekable. The
// dual form needs a *block.Data. The result depends neither on the number of workers nor on where the rows are.
func Learn(ctx context.Context, src block.Source, l Learner, opt Options) (*Fitted, error) {
	return LearnValidated(ctx, src, nil, l, opt)
}

// LearnValidated is Learn with validation rows, which must have the spec of src. It counts errors on them, and some
// learners choose their weights by these errors. If validation is nil, LearnValidated is Learn. Otherwise
// Options.HoldOut is only written to the model, as the share of the validation rows among all rows.
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

// check returns an error if the source, the learner or the options can't be used. It reads no rows.
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

// check returns an error if the options can't be used.
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
		return fmt.Errorf("%s can't begin with the weights of a model: use %s", l.Name, humanize.OneOf(Beginners()))
	case len(spec.Classes) <= 2:
		if err := learner.TwoClasses(spec); err != nil {
			return err
		}
	}
	if o.Init == nil {
		return nil
	}
	return beginsWith(o.Init, spec)
}

func (o *Options) classWeighted() bool { return o.Balanced || len(o.ClassWeights) > 0 }

func (o *Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}

// checked returns src, checked by block.Validate. A source that can learn its features again keeps this ability.
func checked(ctx context.Context, src block.Source, l Learner) (block.Source, error) {
	if r, ok := src.(refited); ok {
		return r, nil
	}
	again := refiter(src)
	rows, err := block.Validate(ctx, plain(src), l.workers())
	if again == nil || err != nil {
		return rows, err
	}
	return refited{rows, again}, nil
}

// learnAll learns, and writes to the model which rows it learned from and was judged on.
func learnAll(ctx context.Context, src, validation block.Source, l Learner, opt Options) (*Fitted, error) {
	src = plain(src)
	if opt.Judged != nil {
		l = opt.Judged.Best().with(l.workers(), l.Settings.Shared().Progress)
	}
	held := block.MemoryBytes(src, src.Spec().Weighted || opt.classWeighted())
	j := &job{Learner: l, opt: &opt, src: src, validation: validation, held: held}
	if opt.Receipt != nil || opt.Checkpoint != nil {
		j.trail = new(trail)
	}
	looked, survey := src, opt.Survey
	if cluster, _ := block.RemoteOf(src); cluster != nil && survey == nil {
		var err error
		if survey, err = NewDataProfile(ctx, src); err != nil {
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
	after, end := parallel.Grace(ctx)
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
		m.Data.Fingerprint, err = distributed.Fingerprint(after, looked, l.workers())
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

// A job is the rows to learn from, and the learner and options of the training.
type job struct {
	Learner
	opt             *Options
	src, validation block.Source
	classWeights    []float64 // weights of the classes of src; nil if classes have none
	class           int       // the class, if rows are one class versus the rest
	// versus is the number of classes if the rows are one class versus the rest, and 0 otherwise. beside is the number
	// of trainings that run at the same time; 0: only this one.
	versus, beside int
	held           int64  // bytes of all rows in memory
	trail          *trail // gets the sums of the weights; nil: not recorded
}

func (j *job) classes() int { return len(j.src.Spec().Classes) }

// together tells whether more than two classes are learned together.
func (j *job) together() bool {
	return j.opt.Multiclass == model.Joint || j.opt.Multiclass == "" && j.LearnsTogether(j.Settings)
}

// learn trains. If ctx ends the training, learn returns the model of the weights so far, or nil, with ctx's error. A
// final pass over the rows may then run until after ends. The model has no fingerprints.
func (j *job) learn(ctx, after context.Context) (*Fitted, error) {
	one := *j
	if j.opt.classWeighted() {
		var err error
		if one.classWeights, err = weightsOf(ctx, j.opt, j.src, j.workers()); err != nil {
			return nil, err
		}
		one.src = learner.WithClassWeights(j.src, one.classWeights)
		if j.validation != nil {
			one.validation = learner.WithClassWeights(j.validation, one.classWeights)
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

// whole makes one training with the learner; see learn.
func (j *job) whole(ctx, after context.Context) (*Fitted, error) {
	settings, recorder, err := j.traced(ctx)
	if err != nil {
		return nil, err
	}
	task := &learner.Task{Rows: block.AssumeValid(j.src), Settings: settings, Init: j.begin(), ClassWeights: j.classWeights, Versus: j.versus, Beside: j.beside, Memory: j.opt.Memory, Held: j.held, Note: j.opt.note}
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
	if r.Interrupted && m.Voters != nil { // the mean of the voters was evaluated
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

// begin returns the initial weights, or nil for zeros.
func (j *job) begin() *learner.Start {
	switch {
	case j.opt.Init == nil:
		return nil
	case j.versus > 0:
		return learner.StartOf(j.opt.Init, j.class)
	}
	return learner.StartOf(j.opt.Init, -1)
}
