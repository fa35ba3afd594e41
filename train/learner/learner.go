package learner

import (
	"context"
	"errors"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/schema"
)

// A Learner is a learning algorithm as its users see it. Each learner's package has one. Flags, help, notes, reports
// and docs are derived from it.
type Learner struct {
	Name      string   // value of --algo, also stored in models
	FullName  string   // its name in sentences and titles
	Objective string   // its objective, or the aim of its search, in one line
	WhenToUse string   // when to use it, in one line
	Example   string   // example options as a user types them
	Options   []Option // the options that it uses

	// Algorithm makes its options, trains, and may do more; see Batch and the interfaces below it.
	Algorithm

	RowAccess    Access // how it reads rows in file order
	InMemory     bool   // it takes only a *block.Data
	WhyBias      string // why it can't learn without the bias; "": it can
	WhyNoWeights string // why its rows can't have weights; "": they can

	BeginsWithModel     bool // a training can begin with the weights of a model
	ChoosesByValidation bool // it chooses its weights by the errors on validation rows
	KeepsLastWeights    bool // it keeps the last weights, which need not be the best seen
	VersusRest          bool // it learns each class versus the rest separately, in one training

	ConvergedText string // text that a report adds if the last weights make no mistake; "": nothing
	// NotFoundText is the text of a report for the object of the search, if it did not converge. "" stands for a plane
	// that separates the classes.
	NotFoundText string
}

// An Algorithm learns from rows. Its other methods, which have the interfaces from Batch to SpecialDefaults, say whether
// it can do more. Only the methods of Learner ask for them.
type Algorithm interface {
	New() Settings                                              // its options, with their defaults
	Train(ctx context.Context, task *Task) (*TaskResult, error) // learns from the rows of a task
}

type (
	// Batch solves for an optimum over all rows, in steps. Other algorithms visit rows one by one.
	Batch interface {
		SolverTexts(m *model.Model) []string // names and texts, alternating, about its solver
	}

	// Online learns from rows one after another. Labels are class numbers if the spec has more than two classes and the
	// algorithm is Multi.
	Online interface {
		Stepper(spec *schema.Spec, s Settings) (Stepper, error)
	}

	// Multi can learn the vectors of more than two classes together.
	Multi interface {
		Classes(s Settings) Classes
	}

	// Measured has a loss that EvaluateLoss sums at the end of a training.
	Measured interface {
		RowLoss(s Settings) RowLoss
	}

	// Perceptron makes the perceptron's updates, with a margin and a penalty. Its loss is PerceptronLoss.
	Perceptron interface {
		PerceptronUpdate(s Settings) (margin, l2 float64)
	}

	// ScaleFree can tell that predictions stay the same when features change their units.
	ScaleFree interface {
		IsScaleFree(s Settings) bool
	}

	// Refuser has options that can't be used with other options.
	Refuser interface {
		RefusedOption(s Settings) *OptionError // nil: all options can be used
	}

	// PathFollower follows a path of falling penalties l1, for two classes. Weights are not rounded to float32.
	PathFollower interface {
		// Path returns the minima for up to n falling penalties l1, or for the given penalties. share multiplies l2:
		// losses are sums over rows, so a share of the rows takes that share of l2.
		Path(ctx context.Context, src block.Source, s Settings, share float64, n int, penalties []float64) ([]*PathMinimum, error)

		// SumLosses returns the sum of the rows' losses for each of the vectors of weights.
		SumLosses(ctx context.Context, src block.Source, s Settings, weights [][]float64) ([]float64, error)
	}

	// SpecialDefaults has options for which a zero value stands for a default, although 0 is a valid value.
	SpecialDefaults interface {
		SetSpecialDefaults(s Settings)
	}
)

// A PathMinimum is the minimum for one penalty of a path.
type PathMinimum struct {
	L1                   float64
	W                    []float64 // one weight for each column
	Loss, Objective, Gap float64
	Passes               int64 // passes over the rows so far
}

// Nonzero returns the number of weights, without the bias, that aren't 0.
func (m *PathMinimum) Nonzero(features int) (n int) {
	for _, v := range m.W[:features] {
		if v != 0 {
			n++
		}
	}
	return n
}

// Classes says how a Multi learns more than two classes.
type Classes struct {
	TogetherByDefault bool
	VersusOnly        string // options with which it learns each class versus the rest, and never together; "": none
	IsRandom          bool   // learning them together makes random choices
}

// Access is how a learner reads rows. A greater value asks for more than a smaller one.
type Access int

const (
	FileOrder    Access = iota // one pass after the other, each in file order
	ManyPasses                 // at least cachedPasses such passes, if the training does not converge before
	NestedPasses               // passes within passes
	AnyOrder                   // each row at the moment when it is needed
)

// cachedPasses is the number of passes from which a cache of the rows saves more time than it takes.
const cachedPasses = 4

// Settings are a pointer to a learner's own Settings, a struct that embeds the learner's Options and a Run.
type Settings interface {
	RunOptions() *Run
	Copy() Settings  // changes of the copy leave the settings unchanged
	Shared() Options // the options that learners share, as far as the learner has them
}

// RunOptions returns r. With it, a pointer to any learner's Settings is a Settings.
func (r *Run) RunOptions() *Run { return r }

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
	shared := s.Shared()
	if l.Option("shards") != nil && shared.Shards > 1 || !l.InMemory && l.Option("order") != nil &&
		shared.Order != Cyclic && shared.Order != "" {
		return AnyOrder
	}
	if l.RowAccess == FileOrder && l.Option("epochs") != nil && (shared.Epochs == 0 || shared.Epochs >= cachedPasses) {
		return ManyPasses
	}
	return l.RowAccess
}

// SetDefaults replaces every zero value that stands for a default by the default. An option whose value the learner
// chooses by the rows stays 0.
func (l *Learner) SetDefaults(s Settings) {
	defaults := l.New()
	s.RunOptions().completeSeed()
	if a, is := l.Algorithm.(SpecialDefaults); is {
		a.SetSpecialDefaults(s)
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
	if a, is := l.Algorithm.(Refuser); is {
		if err := a.RefusedOption(s); err != nil {
			return err
		}
	}
	return nil
}

// IsBatch tells whether the learner solves for an optimum over all rows.
func (l *Learner) IsBatch() bool {
	_, is := l.Algorithm.(Batch)
	return is
}

// SolverTexts returns names and texts, alternating, about the solver of a Batch, or nil.
func (l *Learner) SolverTexts(m *model.Model) []string {
	if a, is := l.Algorithm.(Batch); is {
		return a.SolverTexts(m)
	}
	return nil
}

// IsOnline tells whether the learner can learn from rows one after another.
func (l *Learner) IsOnline() bool {
	_, is := l.Algorithm.(Online)
	return is
}

// IsMulti tells whether the learner can learn the vectors of more than two classes together.
func (l *Learner) IsMulti() bool {
	_, is := l.Algorithm.(Multi)
	return is
}

// Classes says how the learner learns more than two classes with these settings.
func (l *Learner) Classes(s Settings) (c Classes) {
	if a, is := l.Algorithm.(Multi); is {
		c = a.Classes(s)
	}
	return c
}

// LearnsJointly tells whether the learner learns more than two classes together by default with these settings.
func (l *Learner) LearnsJointly(s Settings) bool {
	c := l.Classes(s)
	return c.TogetherByDefault && c.VersusOnly == ""
}

// Stepper returns a stepper for rows of a spec. The learner must be online.
func (l *Learner) Stepper(spec *schema.Spec, s Settings) (Stepper, error) {
	return l.Algorithm.(Online).Stepper(spec, s)
}

// PathFollower returns the learner as a PathFollower, or nil if it follows no paths.
func (l *Learner) PathFollower() PathFollower {
	f, _ := l.Algorithm.(PathFollower)
	return f
}

// IsPerceptron tells whether the learner makes the perceptron's updates.
func (l *Learner) IsPerceptron() bool {
	_, is := l.Algorithm.(Perceptron)
	return is
}

// PerceptronUpdate returns the margin and the penalty of the updates of a learner that makes the perceptron's.
func (l *Learner) PerceptronUpdate(s Settings) (margin, l2 float64) {
	return l.Algorithm.(Perceptron).PerceptronUpdate(s)
}

// RowLoss returns the loss of a row that Evaluate sums, or "" if the learner computes its loss itself or has none.
func (l *Learner) RowLoss(s Settings) RowLoss {
	switch a := l.Algorithm.(type) {
	case Measured:
		return a.RowLoss(s)
	case Perceptron:
		return PerceptronLoss
	}
	return ""
}

// IsScaleFree tells whether predictions stay the same when features change their units.
func (l *Learner) IsScaleFree(s Settings) bool {
	a, is := l.Algorithm.(ScaleFree)
	return is && a.IsScaleFree(s)
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
	s = s.Copy()
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
