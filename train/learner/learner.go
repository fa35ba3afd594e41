package learner

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"halfspace/block"
	"halfspace/internal/message"
	"halfspace/internal/parallel"
	"halfspace/model"
	"halfspace/schema"
)

// Learner describes a learning algorithm: its objective, its options, its requirements on rows, and its training
// function. Each learner's package exports one Learner. Flags, help, notes, reports and docs are derived from it.
type Learner struct {
	Name      string   // value of --algo, also stored in models
	Objective string   // its objective, or the aim of its search, in one line
	WhenToUse string   // when to use it, in one line
	Options   []Option // the options that it uses
	Example   string   // example options as a user types them
	New       func() Settings

	// SetSpecialDefaults replaces zero values of options that stand for a default, although 0 is a valid value of the
	// option. It is nil if no option needs this.
	SetSpecialDefaults func(Settings)

	RowAccess           Access // how it reads rows in file order
	InMemory            bool   // it takes only a *block.Data
	WhyBias             string // why it can't learn without the bias; "": it can
	WhyNoWeights        string // why its rows can't have weights; "": they can
	JointClasses        bool   // it can learn the vectors of more than two classes together
	JointByDefault      bool   // it learns more than two classes together by default
	VersusRest          bool   // it learns each class versus the rest separately
	ChoosesByValidation bool   // it chooses its weights by the errors on validation rows
	ScoresAreLogOdds    bool   // scores are logarithms of the odds of the positive class, with New's options
	SolvesForOptimum    bool   // it solves for an optimum over all rows, in steps; other learners visit rows one by one
	KeepsLastWeights    bool   // it keeps the last weights, which need not be the best seen

	// PerceptronUpdate returns the margin and the penalty of its updates if the learner makes the perceptron's updates.
	// It is nil for other learners.
	PerceptronUpdate func(Settings) (margin, l2 float64)

	// BeginsWithModel tells whether a training can begin with the weights of a model.
	BeginsWithModel bool

	// RowLoss returns the loss that EvaluateLoss sums at the end of a training. It is nil for learners that compute
	// their loss themselves.
	RowLoss func(Settings) RowLoss

	// Stepper returns a Stepper, which learns from rows of a spec one after another. It is nil for learners that have
	// none. Labels are class numbers if the spec has more than two classes and JointClasses is set.
	Stepper func(*schema.Spec, Settings) (Stepper, error)

	// IsScaleFree tells whether predictions stay the same when features change their units. nil: they never stay the
	// same.
	IsScaleFree func(Settings) bool

	// VersusOnlyOption returns the options with which it learns each of more than two classes versus the rest, and never
	// together. nil, or "": no option has this effect.
	VersusOnlyOption func(Settings) string

	JointIsRandom bool // learning several classes together makes random choices

	// RefusedOption returns the error of an option that can't be used with the other options. nil, or a nil error: all
	// can be used.
	RefusedOption func(Settings) *OptionError

	ConvergedText string // text that a report adds if the last weights make no mistake; "": nothing
	// NotFoundText is the text of a report for the object of the search, if it did not converge. "" stands for a plane
	// that separates the classes.
	NotFoundText string
	SolverTexts  func(m *model.Model) []string // names and texts, alternating, about its solver; nil for learners that visit rows

	Train func(context.Context, *Task) (*TaskResult, error) // learns from the rows of a task
}

// Access is how a learner reads rows. A greater value asks for more than a smaller one.
type Access int

const (
	FileOrder    Access = iota // one pass after the other, each in file order
	NestedPasses               // passes within passes
	AnyOrder                   // each row at the moment when it is needed
)

// Settings are a pointer to a learner's own Settings, a struct that embeds the learner's Options and a Run.
type Settings interface {
	RunOptions() *Run
}

// RunOptions returns r. With it, a pointer to any learner's Settings is a Settings.
func (r *Run) RunOptions() *Run { return r }

// SharedOptions returns the options of s that learners share.
func SharedOptions(s Settings) Options {
	var o Options
	eachSharedField(s, &o, func(own, shared reflect.Value) { shared.Set(own) })
	o.Run = *s.RunOptions()
	return o
}

// SetSharedOptions sets the options of s that learners share, as far as the learner has them, and returns s.
func SetSharedOptions(s Settings, o Options) Settings {
	eachSharedField(s, &o, func(own, shared reflect.Value) { own.Set(shared) })
	*s.RunOptions() = o.Run
	return s
}

// eachSharedField calls do with the fields of the same name of s and of o.
func eachSharedField(s Settings, o *Options, do func(own, shared reflect.Value)) {
	from, to := reflect.ValueOf(s).Elem(), reflect.ValueOf(o).Elem()
	for i := range to.NumField() {
		if own := from.FieldByName(to.Type().Field(i).Name); own.IsValid() && own.Type() == to.Field(i).Type() {
			do(own, to.Field(i))
		}
	}
}

// CopySettings returns a copy of s. Changes of the copy leave s unchanged.
func CopySettings(s Settings) Settings {
	c := reflect.New(reflect.TypeOf(s).Elem())
	c.Elem().Set(reflect.ValueOf(s).Elem())
	return c.Interface().(Settings)
}

// Task is the rows to learn from, and the settings of the training.
type Task struct {
	Rows              block.Source
	Validation        block.Source // rows to validate on; nil: none
	Settings          Settings
	ClassWeights      []float64 // factor by which Rows' sample weights were multiplied, for each class; nil: none
	Init              *Start    // weights and state to begin with; nil: zeros
	VersusClasses     int       // number of classes if Rows are one class versus the rest; 0 otherwise
	Memory            int64     // most bytes for the rows and for the learner's own arrays; 0: all available memory
	ParallelTrainings int       // number of trainings that run at the same time, this one included; 0 or 1: only this one
	HeldBytes         int64     // bytes of all rows in memory, rows of other shares included
	Note              func(text string)
}

// TaskResult is the result of a learner.
type TaskResult struct {
	*Result
	OwnResult  any                  // the result of the learner's own package
	AddToModel func(m *model.Model) // adds the fields that only this learner keeps to the model; nil: there are none
}

// Option returns the option with the name, or nil.
func (l *Learner) Option(name string) *Option {
	for i := range l.Options {
		if l.Options[i].Name == name {
			return &l.Options[i]
		}
	}
	return nil
}

// Has tells whether the learner has the option and the option has an effect with these settings.
func (l *Learner) Has(s Settings, name string) bool {
	o := l.Option(name)
	if o == nil || o.Condition == nil {
		return o != nil
	}
	return slices.Contains(o.Condition.Values, l.Option(o.Condition.Option).Text(s)) != o.Condition.Except
}

// Access returns how a training with these settings reads rows.
func (l *Learner) Access(s Settings) Access {
	shared := SharedOptions(s)
	if l.Option("shards") != nil && shared.Shards > 1 || !l.InMemory && l.Option("order") != nil &&
		shared.Order != Cyclic && shared.Order != "" {
		return AnyOrder
	}
	return l.RowAccess
}

// SetDefaults replaces every zero value that stands for a default by the default. An option whose value the learner
// chooses by the rows stays 0.
func (l *Learner) SetDefaults(s Settings) {
	defaults := l.New()
	s.RunOptions().completeSeed()
	if l.SetSpecialDefaults != nil {
		l.SetSpecialDefaults(s)
	}
	for i := range l.Options {
		if o := &l.Options[i]; !o.ZeroMeansChosen && o.isZero(s) && (len(o.Words) > 0 || o.Check(s) != nil) {
			o.copyValue(s, defaults)
		}
	}
}

// DropUnusedOptions sets options that have no effect to their defaults.
func (l *Learner) DropUnusedOptions(s Settings) {
	defaults := l.New()
	for i := range l.Options {
		if o := &l.Options[i]; !l.Has(s, o.Name) {
			o.copyValue(s, defaults)
		}
	}
}

// CheckSettings returns an error unless l can train with s. It checks the range of every option, options that exclude
// each other, and options that have no effect. An error of one option is an *OptionError.
func (l *Learner) CheckSettings(s Settings) error {
	err := l.checkRanges(s)
	if err == nil {
		err = l.CheckCombination(s)
	}
	if err != nil {
		return err
	}
	defaults := l.New()
	for i := range l.Options {
		if o := &l.Options[i]; !l.Has(s, o.Name) && !o.isZero(s) && o.Text(s) != o.Text(defaults) {
			return message.Refusal(o.Name, "", "has no effect with %s %s: leave it out", message.Option(o.Condition.Option),
				l.Option(o.Condition.Option).Text(s))
		}
	}
	return nil
}

// checkRanges returns an *OptionError if an option is out of range.
func (l *Learner) checkRanges(s Settings) error {
	for i := range l.Options {
		if err := l.Options[i].Check(s); err != nil {
			return err
		}
	}
	return nil
}

// CheckCombination returns an *OptionError if an option can't be used with the other options.
func (l *Learner) CheckCombination(s Settings) error {
	if l.RefusedOption != nil {
		if err := l.RefusedOption(s); err != nil {
			return err
		}
	}
	return nil
}

// LearnsJointly tells whether the learner learns more than two classes together by default with these settings.
func (l *Learner) LearnsJointly(s Settings) bool {
	return l.JointByDefault && l.VersusOnly(s) == ""
}

// VersusOnly returns the options in s with which the learner never learns more than two classes together, or "".
func (l *Learner) VersusOnly(s Settings) string {
	if l.VersusOnlyOption == nil {
		return ""
	}
	return l.VersusOnlyOption(s)
}

// PrepareSettings completes s as SetDefaults does, and resolves the number of workers. It returns an *OptionError if an
// option is out of range, or can't be used with the other options.
func (l *Learner) PrepareSettings(s Settings) (err error) {
	l.SetDefaults(s)
	if err = l.checkRanges(s); err == nil {
		err = l.CheckCombination(s)
	}
	if err == nil {
		s.RunOptions().Workers, err = parallel.Resolve(s.RunOptions().Workers)
	}
	return err
}

// CheckedSettings is PrepareSettings for a copy of s, which it returns.
func (l *Learner) CheckedSettings(s Settings) (Settings, error) {
	s = CopySettings(s)
	return s, l.PrepareSettings(s)
}

// Begin makes s ready, and returns the rows of src, checked by block.Validate. It returns an error if there are no rows.
func (l *Learner) Begin(ctx context.Context, src block.Source, s Settings) (block.Source, error) {
	if err := l.PrepareSettings(s); err != nil {
		return nil, err
	}
	src, err := block.Validate(ctx, src, s.RunOptions().Workers)
	if err == nil && src.Rows() == 0 {
		err = errors.New("there are no rows to learn from")
	}
	return src, err
}

// A Stepper learns from one row after another. Between two rows its weights are a model.
type Stepper interface {
	// Step scores row r of b, then learns from it, and tells whether the weights changed. y is the label of the row: -1
	// or +1, or a class number if there are several vectors of weights. Step writes the scores of the row before the
	// change to scores: one score for each vector.
	Step(scores []float32, b *block.Block, r int, y float32) (updated bool)

	// Begin sets the vectors of weights before the first step, each of kernel.Stride elements. state is the result of
	// State of another stepper, or nil if there is none.
	Begin(w []float32, state map[string][]float64)

	// State returns the numbers that a stepper needs beside the weights in order to go on: for each name, one number
	// for each column of each vector. It returns nil if the stepper needs nothing but the weights.
	State() map[string][]float64

	// Weights returns the vectors of weights, each of kernel.Stride elements. The next step changes them.
	Weights() []float32
}

// A Start is the weights that a training begins with, and the state of the training that made them.
type Start struct {
	Weights []float32 // vectors of kernel.Stride elements
	State   map[string][]float64
}

// StartOf returns the weights and the state of a model as a Start: the vector of one class, or all vectors if class is
// -1.
func StartOf(m *model.Model, class int) *Start {
	w := model.Vector(m)
	if class >= 0 {
		stride := len(w) / len(m.Weights)
		w = w[class*stride:][:stride]
	}
	return &Start{w, m.State.Numbers(class, len(m.Weights))}
}
