package train

import (
	"context"
	"reflect"
	"slices"

	"halfspace/block"
	"halfspace/model"
	"halfspace/schema"
)

// Learner describes a learning algorithm: what it minimises, its options, what it needs of rows, and how it trains.
// Each learner's package exports one. Flags, help, notes, reports and docs follow from it.
type Learner struct {
	Name      string   // of --algo and of models
	Minimises string   // what it minimises or looks for, in one line
	Use       string   // when to use it, in one line
	Options   []Option // the options that it uses
	Example   string   // some of them as a user types them
	New       func() Settings

	// Default replaces zero values that stand for a default although they are valid values of their options. nil: there are none.
	Default func(Settings)

	Passes    Access // how it reads rows in file order
	InMemory  bool   // it takes only a *block.Data
	NeedsBias string // why it can't learn without the bias; "" if it can
	NoWeights string // why its rows can't have weights; "" if they can
	Joint     bool   // it can learn the vectors of more than two classes together
	Together  bool   // it does so unless told otherwise
	EachClass bool   // it learns each class versus the rest separately
	Judges    bool   // it chooses its weights by the errors on validation rows
	LogOdds   bool   // scores are logarithms of the odds of the positive class, with the options that New returns
	Solves    bool   // it solves for an optimum over all rows, in steps; others visit rows one by one
	LastOnly  bool   // it keeps the last weights, which need not be the best seen

	// Perceptron returns the margin and the penalty with which it makes the perceptron's updates. It is nil for other
	// learners.
	Perceptron func(Settings) (margin, l2 float64)

	// Begins tells whether a training can begin with the weights of a model.
	Begins bool

	// RowLoss returns the loss that is summed up at the end; see EvaluateLoss. It is nil for learners that compute their loss themselves.
	RowLoss func(Settings) RowLoss

	// Stepper returns what learns from rows of a spec one after another. It is nil for learners that can't. Labels are class numbers if the spec has more than two classes and Joint is set.
	Stepper func(*schema.Spec, Settings) (Stepper, error)

	// ScaleFree tells whether features in other units give the same predictions. nil: they never do.
	ScaleFree func(Settings) bool

	// Apart returns the options with which it learns each of more than two classes versus the rest, and never together.
	// nil, or "": there are none.
	Apart func(Settings) string

	DrawsTogether bool // learning several classes together makes random choices

	// Refuses returns an option that can't be used with the others, and why. nil, or no option: there is none.
	Refuses func(Settings) (option, why string)

	Converged string                        // what a report adds if the last weights make no mistake; "" for nothing
	NotFound  string                        // what was not found if it did not converge; "": a plane that separates the classes
	Story     func(m *model.Model) []string // names and texts, alternating, of how it solved; nil for learners that visit rows

	Train func(context.Context, *Task) (*Learned, error) // learns from the rows of a task
}

// Access is how a learner reads rows. Greater values ask for more.
type Access int

const (
	InOrder  Access = iota // one pass after the other, each in file order
	Nested                 // passes within passes
	AnyOrder               // each row when it is needed
)

// Settings are the options of a training: a pointer to a learner's Options, which embed those of this package.
type Settings interface {
	Shared() *Options
}

// Shared returns o. With it, a pointer to any learner's options is a Settings.
func (o *Options) Shared() *Options { return o }

// CopySettings returns a copy that can be changed apart from s.
func CopySettings(s Settings) Settings {
	c := reflect.New(reflect.TypeOf(s).Elem())
	c.Elem().Set(reflect.ValueOf(s).Elem())
	return c.Interface().(Settings)
}

// Task is rows to learn from, and how.
type Task struct {
	Rows         block.Source
	Validation   block.Source // rows to validate on; nil if there are none
	Settings     Settings
	ClassWeights []float64 // factors of the sample weights in Rows, one for each class; nil if there are none
	Init         *Start    // what to begin with; nil: with zeros
	Versus       int       // Rows are one of that many classes versus the rest; 0 if they aren't
	Memory       int64     // most bytes for rows and for what the learner keeps; 0 is as much as is available
	Beside       int       // trainings that go on at the same time, this one included; 0 or 1: this one alone
	Held         int64     // bytes of the rows in memory, including those of other shares
	Note         func(text string)
}

// Learned is what a learner returns.
type Learned struct {
	*Result
	Own  any                  // the result of the learner's own package
	Keep func(m *model.Model) // adds to the model what only this learner keeps; nil for nothing
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
	return slices.Contains(w.Values, value) != w.Except
}

// Access returns how a training with these settings reads rows.
func (l *Learner) Access(s Settings) Access {
	shared := s.Shared()
	if l.Option("shards") != nil && shared.Shards > 1 || !l.InMemory && l.Option("order") != nil && shared.Order != Cyclic && shared.Order != "" {
		return AnyOrder
	}
	return l.Passes
}

// Complete replaces zero values that stand for a default by the default. An option that chooses its value by the rows stays 0.
func (l *Learner) Complete(s Settings) {
	defaults := l.New()
	s.Shared().completeSeed()
	if l.Default != nil {
		l.Default(s)
	}
	for i := range l.Options {
		if o := &l.Options[i]; !o.Auto && o.zero(s) && (len(o.Words) > 0 || o.Check(s) != nil) {
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

// CheckSettings returns an error unless l can train with s. Options may be out of range, or set without an effect. An
// error of one option is an *OptionError.
func (l *Learner) CheckSettings(s Settings) error {
	for i := range l.Options {
		if err := l.Options[i].Check(s); err != nil {
			return err
		}
	}
	if err := l.CheckTogether(s); err != nil {
		return err
	}
	return l.checkUnused(s)
}

// CheckTogether returns an *OptionError if an option can't be used with the others.
func (l *Learner) CheckTogether(s Settings) error {
	if l.Refuses == nil {
		return nil
	}
	if option, why := l.Refuses(s); option != "" {
		return &OptionError{Option: option, text: why}
	}
	return nil
}

// LearnsTogether tells whether it learns more than two classes together with these settings, unless told otherwise.
func (l *Learner) LearnsTogether(s Settings) bool {
	return l.Together && l.OnlyApart(s) == ""
}

// OnlyApart returns the options in s with which it never learns more than two classes together, or "".
func (l *Learner) OnlyApart(s Settings) string {
	if l.Apart == nil {
		return ""
	}
	return l.Apart(s)
}

// checkUnused returns an error if an option is set and has no effect.
func (l *Learner) checkUnused(s Settings) error {
	defaults := l.New()
	for i := range l.Options {
		if o := &l.Options[i]; !l.Has(s, o.Name) && !o.zero(s) && o.Text(s) != o.Text(defaults) {
			return &OptionError{Option: o.Name, text: o.Name + " has no effect with " + o.When.Option + " " + l.Option(o.When.Option).Text(s) + ": leave it out"}
		}
	}
	// The values that mean the same as no option.
	idle := map[string]string{"order": string(Cyclic), "shards": "1", "mix": string(Uniform)}
	for _, o := range []Option{OrderOption, EpochsOption, MaxUpdatesOption, EtaOption, ShardsOption, MixOption} {
		if l.Option(o.Name) == nil && !o.zero(s) && o.Text(s) != idle[o.Name] {
			return &OptionError{Option: o.Name, text: o.Name + " has no effect with " + l.Name + ": leave it out"}
		}
	}
	return nil
}
