package learner

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
)

// ConfiguredLearner is a learning algorithm with its options.
type ConfiguredLearner struct {
	*Learner
	Settings Settings // a pointer to the learner's own Settings

	// VariedOptions has the options that a grid set, as a user types them; nil without a grid.
	VariedOptions map[string]string
}

// Configure returns a learner with options. Zero values stand for defaults. If l or s is nil, every training with the
// result returns an error.
func Configure(l *Learner, s Settings) ConfiguredLearner {
	c := ConfiguredLearner{Learner: l, Settings: s}
	if c.Check() == nil {
		c.Settings = s.Copy()
		l.SetDefaults(c.Settings)
	}
	return c
}

// Check returns an error if the learner is a zero value, or has the options of another learner.
func (c ConfiguredLearner) Check() error {
	if c.Learner == nil || c.Algorithm == nil {
		return errors.New("the learner is empty: take one of its package, such as logistic.New, or train.LearnerNamed")
	}
	v := reflect.ValueOf(c.Settings)
	if want := reflect.TypeOf(c.New()); c.Settings == nil || v.Type() != want || v.IsNil() {
		return fmt.Errorf("%s has no options, or those of another learner: they are of the type %v", c.Name, want)
	}
	_, err := parallel.Resolve(c.Settings.RunOptions().Workers)
	return err
}

// With returns the learner with an option set to a value: a number, a bool, or the text that a user types. An example
// is With("l2", 0.1).
func (c ConfiguredLearner) With(option string, value any) (ConfiguredLearner, error) {
	if err := c.Check(); err != nil {
		return c, err
	}
	o := c.Option(option)
	if o == nil {
		var names []string
		for _, o := range c.Options {
			names = append(names, o.Name)
		}
		return c, fmt.Errorf("%s has no option %q: use %s", c.Name, option, humanize.OneOf(names))
	}
	c.Settings = c.Settings.Copy()
	return c, o.Set(c.Settings, fmt.Sprint(value))
}

// Has tells whether the learner has the option, and the option has an effect with the other options.
func (c ConfiguredLearner) Has(option string) bool {
	return c.Check() == nil && c.Learner.Has(c.Settings, option)
}

// Text returns the value of an option as a user types it, or "" if the learner doesn't have the option.
func (c ConfiguredLearner) Text(option string) string {
	if c.Check() == nil {
		if o := c.Option(option); o != nil {
			return o.Text(c.Settings)
		}
	}
	return ""
}

// VariedText returns the options that a grid set, with their values, in the order of the learner's options.
func (c ConfiguredLearner) VariedText() string {
	var parts []string
	if c.Learner == nil {
		return ""
	}
	for _, o := range c.Options {
		if value, ok := c.VariedOptions[o.Name]; ok {
			parts = append(parts, o.Name+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// Workers returns the number of goroutines that may run at once.
func (c ConfiguredLearner) Workers() int {
	if c.Settings == nil { // Check returns an error for this
		return 1
	}
	return parallel.Workers(c.Settings.RunOptions().Workers)
}

// WithWorkers returns the learner with another number of workers and another Progress.
func (c ConfiguredLearner) WithWorkers(workers int, show func(Progress)) ConfiguredLearner {
	r := *c.Settings.RunOptions()
	r.Workers, r.Progress = workers, show
	return c.WithRun(r)
}

// WithRun returns the learner with another Run.
func (c ConfiguredLearner) WithRun(r Run) ConfiguredLearner {
	c.Settings = c.Settings.Copy()
	r.completeSeed()
	*c.Settings.RunOptions() = r
	return c
}

// HasOdds tells whether models of the learner have probabilities.
func (c ConfiguredLearner) HasOdds() bool {
	m := model.Model{Algorithm: c.Name}
	m.Options.Loss = c.Text("loss")
	return m.LogOdds()
}

// Axis is an option, and the values that a grid sets it to: numbers, bools, or texts as a user types them.
type Axis struct {
	Option string
	Values []any
}

// MaxPoints is the largest number of combinations of a grid.
const MaxPoints = 10_000

// Grid returns the learner with every combination of the axes' values. The last axis varies fastest. Without axes it
// returns only the learner itself. An option that has no effect in a combination is left out of it.
func (c ConfiguredLearner) Grid(axes []Axis) ([]ConfiguredLearner, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	points := []ConfiguredLearner{c}
	for _, axis := range axes {
		if _, twice := points[0].VariedOptions[axis.Option]; twice {
			return nil, message.Refusal("grid", "", "varies %q twice: list all its values once", axis.Option)
		}
		if len(axis.Values) == 0 {
			return nil, message.Refusal("grid", "", "has no values of %q: list some", axis.Option)
		}
		var more []ConfiguredLearner
		for _, p := range points {
			for _, value := range axis.Values {
				v, err := p.vary(axis.Option, value)
				if err != nil {
					return nil, err
				}
				more = append(more, v)
			}
		}
		if points = more; len(points) > MaxPoints {
			return nil, message.Refusal("grid", "", "has more than %s combinations: vary less at a time",
				humanize.Count(MaxPoints))
		}
	}
	for i := range points {
		if len(axes) > 0 {
			points[i].Settings = points[i].Settings.Copy()
			points[i].DropUnusedOptions(points[i].Settings)
		}
	}
	return points, nil
}

func (c ConfiguredLearner) vary(option string, value any) (ConfiguredLearner, error) {
	v, err := c.With(option, value)
	if v.VariedOptions = maps.Clone(c.VariedOptions); v.VariedOptions == nil {
		v.VariedOptions = map[string]string{}
	}
	v.VariedOptions[option] = fmt.Sprint(value)
	return v, err
}
