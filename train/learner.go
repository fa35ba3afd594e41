package train

import (
	"context"
	"reflect"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/model"
)

// Learner describes a learning algorithm: what it minimises, its options, what it needs of rows, and how it trains. Each learner's
// package exports one. Flags, help, notes, reports and docs follow from it.
type Learner struct {
	Name      string   // of --algo and of models
	Minimises string   // what it minimises or looks for, in one line
	Use       string   // when to use it, in one line
	Options   []Option // that it uses
	New       func() Settings

	Passes    Access // how it reads rows in file order
	InMemory  bool   // it takes a *block.Data alone
	NeedsBias string // why it can't learn without the bias; "" if it can
	NoWeights string // why its rows can't have weights; "" if they can
	Joint     bool   // it can learn the vectors of more than two classes together
	Together  bool   // it does so unless told otherwise
	EachClass bool   // it learns each class versus the rest by itself
	Judges    bool   // it chooses its weights by the rows of a validation
	LogOdds   bool   // scores are logarithms of the odds of the positive class
	Solves    bool   // it solves for an optimum over all rows, in steps; others visit rows one by one
	LastOnly  bool   // it keeps the last weights, which need not be the best seen

	// Perceptron returns the margin and the penalty with which it makes the perceptron's updates. It is nil of other learners.
	Perceptron func(Settings) (margin, l2 float64)

	// ScaleFree tells whether features in other units give the same predictions. It is nil where they never do.
	ScaleFree func(Settings) bool

	Converged string                        // what a report adds where the last weights make no mistake; "" for nothing
	NotFound  string                        // what was not found where it did not converge; "" for a plane that separates the classes
	Story     func(m *model.Model) []string // names and texts, in turn, of how it solved; nil of learners that visit rows

	Float32 func(context.Context, *Task[float32]) (*Learned[float32], error)
	Float64 func(context.Context, *Task[float64]) (*Learned[float64], error)
}

// Access is how a learner reads rows. Greater values ask for more.
type Access int

const (
	InOrder  Access = iota // one pass after the other, each in file order
	Nested                 // passes within passes
	AnyOrder               // each row when it is wanted
)

// Settings are the options of a training: a pointer to a learner's Options, which embed those of this package.
type Settings interface {
	Shared() *Options
}

// Shared returns o. It makes a pointer to any learner's options Settings.
func (o *Options) Shared() *Options { return o }

// CopySettings returns a copy that can be changed apart from s.
func CopySettings(s Settings) Settings {
	c := reflect.New(reflect.TypeOf(s).Elem())
	c.Elem().Set(reflect.ValueOf(s).Elem())
	return c.Interface().(Settings)
}

// Task is rows to learn from, and how.
type Task[T kernel.Float] struct {
	Rows         block.Source[T]
	Validation   block.Source[T] // rows to judge on; nil where there are none
	Settings     Settings
	ClassWeights []float64 // by which the weights of Rows were multiplied, one for each class; nil where they weren't
	Versus       int       // Rows are those of one of so many classes and the rest; 0 where they are all there is
	Memory       int64     // most bytes for rows and for what the learner keeps; 0 is as much as is available
	Held         int64     // bytes of the rows in memory, those of other shares among them
	Note         func(text string)
}

// Learned is what a learner returns.
type Learned[T kernel.Float] struct {
	*Result[T]
	Own  any                  // the result of the learner's own package
	Keep func(m *model.Model) // adds to the model what this learner alone keeps; nil for nothing
}

// Learn learns by l from the rows of task.
func Learn[T kernel.Float](ctx context.Context, l *Learner, task *Task[T]) (*Learned[T], error) {
	if task, ok := any(task).(*Task[float32]); ok {
		learned, err := l.Float32(ctx, task)
		return any(learned).(*Learned[T]), err
	}
	learned, err := l.Float64(ctx, any(task).(*Task[float64]))
	return any(learned).(*Learned[T]), err
}

// Option returns the option of that name, or nil.
func (l *Learner) Option(name string) *Option {
	for i := range l.Options {
		if l.Options[i].Name == name {
			return &l.Options[i]
		}
	}
	return nil
}

// Has tells whether the option has an effect with these settings.
func (l *Learner) Has(s Settings, name string) bool {
	o := l.Option(name)
	return o != nil && (o.When == nil || l.met(s, o.When))
}

func (l *Learner) met(s Settings, w *Condition) bool {
	value := l.Option(w.Option).Text(s)
	return slices.Contains(w.Values, value)
}

// Access returns how a training with these settings reads rows.
func (l *Learner) Access(s Settings) Access {
	if !l.InMemory && l.Option("order") != nil && s.Shared().Order != Cyclic && s.Shared().Order != "" {
		return AnyOrder
	}
	return l.Passes
}

// Complete gives options without a valid value their defaults: zero stands for them.
func (l *Learner) Complete(s Settings) {
	defaults := l.New()
	for i := range l.Options {
		if o := &l.Options[i]; !o.Auto && o.zero(s) && (len(o.Words) > 0 || o.Check(s, "") != nil) {
			o.copy(s, defaults)
		}
	}
}

// Drop sets options that have no effect to their defaults.
func (l *Learner) Drop(s Settings) {
	defaults := l.New()
	for i := range l.Options {
		if o := &l.Options[i]; !l.Has(s, o.Name) {
			o.copy(s, defaults)
		}
	}
}

// CheckSettings returns an error, an *OptionError where one option is to blame, unless l can train with s: an option is out of range, or
// is set and has no effect. dtype is float32 or float64, or "" where it isn't known.
func (l *Learner) CheckSettings(s Settings, dtype string) error {
	for i := range l.Options {
		if err := l.Options[i].Check(s, dtype); err != nil {
			return err
		}
	}
	return l.checkUnused(s)
}

// checkUnused looks for options that are set for nothing.
func (l *Learner) checkUnused(s Settings) error {
	defaults := l.New()
	for i := range l.Options {
		if o := &l.Options[i]; !l.Has(s, o.Name) && !o.zero(s) && o.Text(s) != o.Text(defaults) {
			return &OptionError{Option: o.Name, text: o.Name + " has no effect with " + o.When.Option + " " + l.Option(o.When.Option).Text(s) + ": leave it out"}
		}
	}
	for _, o := range []Option{OrderOption, EpochsOption, MaxUpdatesOption, EtaOption} {
		if l.Option(o.Name) == nil && !o.zero(s) && !(o.Name == "order" && s.Shared().Order == Cyclic) {
			return &OptionError{Option: o.Name, text: o.Name + " has no effect with " + l.Name + ": leave it out"}
		}
	}
	return nil
}
