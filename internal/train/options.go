package train

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/train/learner"
)

// Options are the options of a training beside the options of the learner. The zero value is a plain training on all
// rows.
type Options struct {
	HoldOut float64 // share of the rows that is held out to count errors on, above 0 and below 1; 0: none
	// Validation has rows to count errors on, with the spec of the rows to learn from. Some learners choose their weights
	// by these errors. HoldOut is then only written to the model, as the share of these rows among all rows. nil: none.
	Validation block.Source
	Split      Split // rows that stay together in a hold-out or in folds; zero: rows are drawn within each class
	// CV makes a cross-validation first, of the learner or of each combination of a grid. The best learner then learns.
	// The zero value makes none.
	CV      CV
	Weights Weights
	// Multiclass is, for more than two classes, model.OneVersusRest, model.Joint, or "" for the learner's default.
	Multiclass string
	Init       *model.Model // begin with the weights of this model; nil: with zeros
	Online     *Online      // predict each row before the row is learned from, in one pass; nil: a training
	Output     Output

	Workers    int        // most goroutines that run at once; 0: all cores. No result depends on it
	Seed       uint64     // seed of every random choice; 0: the learner's, which is 1 unless it was set
	ZeroSeed   bool       // Seed 0 means the seed 0
	Memory     int64      // most bytes for the rows and for the learners' own arrays; 0: all available memory
	Checkpoint Checkpoint // saves the state of the training; zero: nothing is saved
	Watch
}

// Weights are factors of the sample weights by class.
type Weights struct {
	Classes  map[string]float64 // weights of classes by their text; 1 for others
	Balanced bool               // give all classes the same total weight, in place of Classes
	Column   string             // name of the column that the sample weights came from, for the model
}

// hasClassWeights tells whether classes have weights.
func (w *Weights) hasClassWeights() bool { return w.Balanced || len(w.Classes) > 0 }

// Check returns an error if classes can't have these weights, whichever classes there are.
func (w *Weights) Check() error {
	if w.Balanced && len(w.Classes) > 0 {
		return message.Refusal("class-weight", "balanced", "with weights of classes: leave one of them out")
	}
	for _, class := range slices.Sorted(maps.Keys(w.Classes)) {
		if weight := w.Classes[class]; !(weight > 0) || math.IsInf(weight, 0) {
			return message.Refusal("class-weight", fmt.Sprintf("%s=%v", class, weight),
				`: "%v" is no weight, which is a number above 0`, weight)
		}
	}
	return nil
}

// Output says which results a training has beside the weights.
type Output struct {
	// Calibrate is the method by which scores become probabilities, learned on held-out folds: model.Platt,
	// model.Isotonic, or "" for none.
	Calibrate string

	// Threshold says how to choose the score above which a model of two classes predicts the positive class: a given
	// score, or a choice on held-out folds. The zero value is the score 0. Errors in cross-validations are counted with
	// the score 0.
	Threshold predict.Threshold

	// HeldOut asks for Outcome.HeldOut: figures and curves of the validation rows, or of the rows of all folds of a
	// cross-validation. It takes as much time as a further training, and as another cross-validation if there is a
	// grid, a path, or a threshold to choose.
	HeldOut bool

	Lake string // model.Data.Lake of the model

	// Receipt receives the sums of the model, of the rows and of the weights after each epoch, which takes a pass over
	// the rows. nil: none.
	Receipt *model.Receipt
}

// Watch has functions that are called while a training runs. Each may be nil.
type Watch struct {
	Progress func(learner.Progress) // progress of the training on all rows, several times a second
	Stage    func(Stage)            // progress of work other than that training, by one goroutine at a time
	Note     func(text string)      // remarks for the user
	Trace    *Trace                 // progress of the training, update by update or pass by pass
}

// Checkpoint says where and when the state of a training is saved, and whether to resume from the state. When ctx ends,
// Run saves the last state. After another error, the last checkpoint stays. In a cross-validation or a path, each
// finished training or fold is saved.
type Checkpoint = checkpoint.Options

// configured returns the learner with the workers, the seed and the progress of the options.
func (o *Options) configured(l Learner) Learner {
	if l.Check() != nil {
		return l
	}
	r := *l.Settings.RunOptions()
	r.Workers = cmp.Or(o.Workers, r.Workers)
	if o.Seed != 0 || o.ZeroSeed {
		r.SetSeed(o.Seed)
	}
	if o.Progress != nil {
		r.Progress = o.Progress
	}
	return l.WithRun(r)
}

// check returns an error if the source, the learner or the options can't be used. It reads no rows.
func check(o *Session, src block.Source, l Learner) error {
	spec, err := block.SpecOf(src)
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

func (o *Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}
