package train

import (
	"cmp"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/predict"
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

// CV says how to cross-validate.
type CV struct {
	Folds int    // number of folds; 5. Each is judged by a model of the other folds
	Grid  []Axis // options to vary; every combination of their values is judged
	Path  int    // number of falling penalties l1 to judge, in place of a grid; see Session.FollowPath
	// Score is the name of the score to choose by, one of Scores. "" stands for ByWeight if rows or classes have
	// weights, and for ByErrors otherwise.
	Score string

	// SkipSlowLearners makes Compare leave out a learner whose first model is too slow; see TooSlowError.
	SkipSlowLearners bool

	// Budget is the time that Compare may take for all trainings and for judging their models; 0 is any time. Compare
	// times each learner on a part of the rows, and leaves out those that would take too long; see OverBudgetError. It
	// also stops a learner that takes more than three times its estimate, and more than an equal share of the budget. So
	// it takes five times the budget at most. Figures of the learners that are judged don't depend on the budget.
	Budget time.Duration

	// OneStandardError chooses the point with the strongest penalty l1, and of equal l1 the strongest l2, whose score
	// is at most one standard error worse than the best score (Breiman et al. 1984). The point must have the other
	// options of the best point.
	OneStandardError bool
}

// isSet tells whether Run cross-validates.
func (cv *CV) isSet() bool { return cv.Folds != 0 || len(cv.Grid) > 0 || cv.Path > 0 }

// defaultFolds is the default of CV.Folds.
const defaultFolds = 5

// Online makes Run predict each row before it learns from the row, in one pass in the order of the source. The learner
// is the perceptron of two classes, with the learning rate Eta, or one for which HasStepper holds. Run begins with the
// weights of Options.Init. If ctx ends the pass, Run returns the result so far with ctx's error. Outcome.Model has
// errors and a margin only if the rows could be read again, and ctx left time for that.
type Online struct {
	ReadOnce bool             // the rows can be read only once
	Show     func(rows int64) // called with the number of visited rows; may be nil
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

// Checkpoint says where and when the state of a training is saved, and whether to resume from the state. When ctx ends,
// Run saves the last state. After another error, the last checkpoint stays. In a cross-validation or a path, each
// finished training or fold is saved.
type Checkpoint = checkpoint.Options

// Watch has functions that are called while a training runs. Each may be nil.
type Watch struct {
	Progress func(learner.Progress) // progress of the training on all rows, several times a second
	Stage    func(Stage)            // progress of work other than that training, by one goroutine at a time
	Note     func(text string)      // remarks for the user
	Trace    *Trace                 // progress of the training, update by update or pass by pass
}

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

func (o *Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}

// A Stage is the progress of work other than learning.
type Stage struct {
	Name        string // name of the work, such as "cross-validating"
	Detail      string // position in the work, such as "fold 2 of 5, l2=0.1"
	Done, Total int64  // trainings or rows done, and their total number; Total is 0 if unknown
	Rows        bool   // Done and Total count rows
	Best        string // the best result so far; "" if there is none

	// Training, if not nil, is the progress of the present training of Learner. Its Sum is nil.
	Training *learner.Progress
	Learner  Learner
}

func (o *Options) stage(s Stage) {
	if o.Stage != nil {
		o.Stage(s)
	}
}

// watch reports a stage. It returns the Progress function for the training of a learner at that stage, or nil if
// opt.Stage is nil.
func (o *Options) watch(s Stage, l Learner) func(learner.Progress) {
	if o.Stage == nil {
		return nil
	}
	o.Stage(s)
	s.Learner = l
	return func(p learner.Progress) {
		p.Sum, s.Training = nil, &p
		o.Stage(s)
	}
}
