package train

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/cmd/internal/report"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/predict"
	"halfspace/train/learner"
)

type trainOptions struct {
	flags.Options
	judgingOptions    // no folds: no cross-validation
	algo              string
	hasDefaultLearner bool // no --algo was given
	learner           train.Learner
	multiclass        string
	validation        string
	share             float64 // share of the rows to hold out; 0 if validation names a file
	path              int     // largest number of penalties l1 on a path; 0 for none
	usesOneError      bool    // --one-standard-error
	grid              []string
	axes              []train.Axis    // the options that the grid varies, with their values
	learners          []train.Learner // learners of the grid; without a grid, one learner
	split             train.Split     // split by --group, --order-by and --split
	calibrate         string          // method that turns scores into probabilities
	threshold         predict.Threshold
	init              string         // the file of the model to begin with
	initModel         *model.Model   // the model of init; nil: begin with zeros
	initState         []cache.Source // state of the file of init before it was read, for a receipt

	out, receipt string
	typed        []model.TypedOption // the options that the user gave, for the receipt
	args         []string            // DATA, as the user gave it
	lakeVersions string              // dataset.LakeVersions of DATA; open sets it
	saving       savingOptions
	tracing      traceOptions
	reporting    report.Options
	json         bool
	helpAll      bool
}

// traceOptions say which trace is written, and to which file.
type traceOptions struct {
	file           string // "": none
	every          int64
	reference      string
	referenceModel *model.Model // the reference model; nil if --reference names none
}

// A savingOptions says where and when a training saves its state.
type savingOptions struct {
	checkpoint.Options
	every       string      // as the user typed it
	sameOptions [][2]string // options that must have the same values when a training resumes
}

// judgingOptions holds the options of train and compare on folds, on the score that judges, on chance and on class weights.
type judgingOptions struct {
	folds       int
	score       string
	seed        uint64
	classWeight []string

	isBalanced bool               // --class-weight is balanced
	weights    map[string]float64 // values of --class-weight, by class
}

// defaultLearner is the learner without --algo.
const defaultLearner = "logistic"

// autoName is the value with which an option leaves the choice to the learner.
const autoName = "auto"

// noCalibration is the value of --calibrate for no calibration.
const noCalibration = "none"

// balancedWeights is the value of --class-weight that gives all classes the same total weight.
const balancedWeights = "balanced"

// thresholdName is the option of the model's threshold. Winnow has an option with the same name for its own threshold,
// a number.
const thresholdName = "threshold"

// unrecordedOptions are the options of train that a receipt leaves out: the files of results, and options that change no
// result.
var unrecordedOptions = []string{"out", "receipt", "report", "trace", "trace-every", "reference", "json", "help", "storage",
	"workers", "isa", "progress", "quiet", "memory", "cache", "checkpoint", "checkpoint-every", "resume"}

// addScore adds --score. The help begins with lead and ends with more.
func (o *judgingOptions) addScore(cmd *cobra.Command, lead, more string) {
	scores := append([]string{autoName}, train.Scores...)
	flags.AddChoice(cmd, &o.score, "score", "`METRIC` "+lead+": "+humanize.OneOf(scores)+
		". auto is weighted if rows or classes have weights, else errors."+more, scores...)
}

// addWeights adds --class-weight. where says in the help in which places the weights count.
func (o *judgingOptions) addWeights(f *pflag.FlagSet, where string) {
	f.StringSliceVar(&o.classWeight, "class-weight", nil,
		"`CLASS=NUMBER,...|balanced` Multiply the sample weights of a class by a number"+where+
			". balanced takes, for k classes, "+
			"all rows / (k * rows of the class). Quote an item whose class has a comma: '\"A,B=NUMBER\",...'.")
}

func (o *judgingOptions) addSeed(f *pflag.FlagSet) {
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` Seed of all random choices.")
}

// figure returns the score to judge by, or "" for the learner's own.
func (o *judgingOptions) figure() string {
	if o.score == autoName {
		return ""
	}
	return o.score
}

// readWeights reads the value of --class-weight: the weights of classes, or balanced.
func (o *judgingOptions) readWeights() error {
	if o.isBalanced = slices.Equal(o.classWeight, []string{balancedWeights}); o.isBalanced {
		return nil
	}
	for _, item := range o.classWeight {
		i := strings.LastIndexByte(item, '=')
		if i < 0 {
			return console.Usagef("--class-weight %s: use %s, or CLASS=W,... with a weight for each class, or "+
				"\"A,B=W\",... for one with a comma", item, balancedWeights)
		}
		weight, err := humanize.ParseNumber(item[i+1:])
		if err != nil {
			return console.Usagef("--class-weight %s: %q is no weight, which is a number above 0", item, item[i+1:])
		}
		if o.weights == nil {
			o.weights = map[string]float64{}
		}
		if _, twice := o.weights[item[:i]]; twice {
			return console.Usagef("--class-weight %s: the class is named twice: name it once", item)
		}
		o.weights[item[:i]] = weight
	}
	return (&train.Weights{Classes: o.weights}).Check()
}

func (o *trainOptions) calibrates() bool {
	return o.calibrate != "" && o.calibrate != noCalibration
}

// choosesThreshold tells whether held-out folds choose the threshold.
func (o *trainOptions) choosesThreshold() bool { return o.threshold.NeedsRows() }

// holdsFolds tells whether the training deals the rows into folds: for a cross-validation, a calibration or a
// threshold.
func (o *trainOptions) holdsFolds() bool {
	return o.folds > 0 || o.calibrates() || o.choosesThreshold()
}

func (o *trainOptions) holdsBack() bool { return o.share > 0 || o.holdsFolds() }

// trainingOptions returns the options for package train that need no rows.
func (o *trainOptions) trainingOptions() train.Options {
	opt := train.Options{Weights: train.Weights{Balanced: o.isBalanced, Classes: o.weights, Column: o.Data.SampleWeight},
		CV:     train.CV{Folds: o.folds, Grid: o.axes, Path: o.path, OneStandardError: o.usesOneError, Score: o.figure()},
		Memory: o.Storage.Memory.Bytes, Init: o.initModel, Split: o.split,
		Output: train.Output{Threshold: o.threshold, HeldOut: o.reporting.File != ""}}
	if o.calibrates() {
		opt.Output.Calibrate = o.calibrate
	}
	if o.multiclass != autoName {
		opt.Multiclass = o.multiclass
	}
	return opt
}

// A trainer is open rows, and the options of the training.
type trainer struct {
	*console.App
	*trainOptions
	bar              *console.Progress
	data, validation *dataset.Rows
	l1Path           *train.Path        // nil without --path
	parts            *train.Parts       // the hold-out of --validation SHARE; nil: none
	survey           *train.DataProfile // survey of rows in memory; for a stream, the first pass of the training makes the survey
	checkpoints      *checkpoint.Run    // nil without --checkpoint
	seconds          trainSeconds
	follower         *report.Follower  // nil if the report follows no training
	training         *console.Training // the last training, over all rows
	traceError       error             // error of the trace, which doesn't end the training
	fileStates       []cache.Source    // states of the receipt's files before they were read
}

type trainSeconds struct {
	Load            float64 `json:"load"` // from opening the files until all blocks are ready
	CrossValidation float64 `json:"cross_validation,omitempty"`
	Calibration     float64 `json:"calibration,omitempty"`
	Threshold       float64 `json:"threshold,omitempty"`
	Training        float64 `json:"train"` // the training alone
	Total           float64 `json:"total"`
}

func (t *trainer) inMemory() bool {
	_, is := t.data.Source.(*block.Data)
	return is
}

func (t *trainer) closeData() {
	t.data.Close()
	t.validation.Close()
	t.data, t.validation = nil, nil
}

// fitOptions returns the options for package train.
func (t *trainer) fitOptions() train.Options {
	opt := t.trainingOptions()
	opt.Output.Lake = t.data.Lake
	opt.Watch = train.Watch{Note: t.Warn, Stage: console.Stage(t.bar)}
	return opt
}

// unfinished returns err. For an interrupt it adds to the message how far the training was.
func unfinished(a *console.App, err error) error {
	if u := (*learner.UnfinishedError)(nil); errors.As(err, &u) {
		a.KeptFiles += ": " + u.Position
	}
	return err
}
