// Package train does whole trainings for Go programs: one call on any block.Source returns a complete *model.Model and a
// report.
//
// A Learner is a learning algorithm with its options, such as Logistic(logistic.Options{L2: 1}). Learn learns from all
// rows. Options hold rows out, cross-validate, choose from a grid, or give weights to classes. CrossValidate judges a
// learner on rows that it didn't learn from, and Compare judges several learners on the same folds. LearnOnline
// predicts each row before it learns from the row.
//
// The model is byte for byte the model of the command with the same options and seed. An option that the learner
// doesn't use is an error.
//
// Package train uses neither files nor Arrow: package dataset opens files as sources, and package block makes sources of
// rows in memory. A new learner is one package with a description, and one line in Learners.
package train

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/internal/parallel"
	"halfspace/internal/suggest"
	"halfspace/train/ftrl"
	"halfspace/train/kernelperceptron"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/passiveaggressive"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

// Learners lists the description of every learner.
var Learners = []*learner.Learner{
	perceptron.Learner,
	perceptron.Pocket,
	perceptron.Averaged,
	perceptron.Voted,
	winnow.Learner,
	kernelperceptron.Learner,
	kernelperceptron.Kernel,
	logistic.Learner,
	lda.Learner,
	svm.Learner,
	passiveaggressive.Learner,
	ftrl.FTRL,
	ftrl.AdaGrad,
}

// Names returns the names of the learners.
func Names() []string {
	var names []string
	for _, l := range Learners {
		names = append(names, l.Name)
	}
	return names
}

// Describe returns the description of the learner with the name, or nil.
func Describe(name string) *learner.Learner {
	for _, l := range Learners {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Learner is a learning algorithm with its options.
type Learner struct {
	*learner.Learner
	Settings learner.Settings // the options: a pointer to the learner's own Options

	// Varied has the options that a grid set, as a user types them; nil without a grid.
	Varied map[string]string
}

// New returns a learner with options. Zero values stand for defaults. If l or s is nil, every training with the result
// returns an error.
func New(l *learner.Learner, s learner.Settings) Learner {
	if (Learner{Learner: l, Settings: s}).check() != nil {
		return Learner{Learner: l, Settings: s}
	}
	s = learner.CopySettings(s)
	l.Complete(s)
	return Learner{Learner: l, Settings: s}
}

// Named returns the learner with the name, with the defaults of the command.
func Named(name string) (Learner, error) {
	l := Describe(name)
	if l == nil {
		advice := ""
		if near := suggest.Name(name, Names()); near != "" {
			advice = ": did you mean " + near + "?"
		}
		return Learner{}, fmt.Errorf("unknown learner %q: use %s%s", name, humanize.OneOf(Names()), advice)
	}
	return Learner{Learner: l, Settings: l.New()}, nil
}

// Perceptron returns the perceptron, the pocket, the averaged or the voted perceptron, depending on the options.
func Perceptron(o perceptron.Options) Learner { return New(perceptron.Of(&o), &o) }

// Winnow returns Winnow.
func Winnow(o winnow.Options) Learner { return New(winnow.Learner, &o) }

// Dual returns the perceptron in its dual form, with a kernel.
func Dual(o kernelperceptron.Options) Learner { return New(kernelperceptron.Learner, &o) }

// Logistic returns logistic regression.
func Logistic(o logistic.Options) Learner { return New(logistic.Learner, &o) }

// LDA returns linear discriminant analysis.
func LDA(o lda.Options) Learner { return New(lda.Learner, &o) }

// SVM returns the support vector machine.
func SVM(o svm.Options) Learner { return New(svm.Learner, &o) }

// PassiveAggressive returns the passive-aggressive algorithms.
func PassiveAggressive(o passiveaggressive.Options) Learner {
	return New(passiveaggressive.Learner, &o)
}

// FTRL returns FTRL-Proximal.
func FTRL(o ftrl.Options) Learner { return New(ftrl.FTRL, &o) }

// AdaGrad returns AdaGrad.
func AdaGrad(o ftrl.AdaGradOptions) Learner { return New(ftrl.AdaGrad, &o) }

// check returns an error if the learner is a zero value, or has the options of another learner.
func (l Learner) check() error {
	if l.Learner == nil || l.Learner.New == nil || l.Train == nil {
		return errors.New("the learner is empty: take one of fit, such as fit.Logistic, or fit.Named")
	}
	v := reflect.ValueOf(l.Settings)
	if want := reflect.TypeOf(l.Learner.New()); l.Settings == nil || v.Type() != want || v.IsNil() {
		return fmt.Errorf("%s has no options, or those of another learner: they are of the type %v", l.Name, want)
	}
	_, err := parallel.Resolve(l.Settings.Shared().Workers)
	return err
}

// With returns the learner with an option set to a text that a user types, for example "l2" and "0.1".
func (l Learner) With(option, value string) (Learner, error) {
	if err := l.check(); err != nil {
		return l, err
	}
	o := l.Option(option)
	if o == nil {
		var names []string
		for _, o := range l.Options {
			names = append(names, o.Name)
		}
		return l, fmt.Errorf("%s has no option %q: use %s", l.Name, option, humanize.OneOf(names))
	}
	l.Settings = learner.CopySettings(l.Settings)
	return l, o.Set(l.Settings, value)
}

// Has tells whether the learner has the option, and the option has an effect with the other options.
func (l Learner) Has(option string) bool {
	return l.check() == nil && l.Learner.Has(l.Settings, option)
}

// Text returns the value of an option as a user types it, or "" if the learner doesn't have the option.
func (l Learner) Text(option string) string {
	if l.check() != nil {
		return ""
	}
	if o := l.Option(option); o != nil {
		return o.Text(l.Settings)
	}
	return ""
}

// VariedText returns the options that a grid set, with their values, in the order of the learner's options.
func (l Learner) VariedText() string {
	var parts []string
	if l.Learner == nil {
		return ""
	}
	for _, o := range l.Options {
		if value, ok := l.Varied[o.Name]; ok {
			parts = append(parts, o.Name+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// workers returns the number of goroutines that may run at once.
func (l Learner) workers() int {
	if l.Settings == nil { // the learner's check returns an error for this
		return 1
	}
	return parallel.Workers(l.Settings.Shared().Workers)
}

// with returns the learner with another number of workers and another Progress.
func (l Learner) with(workers int, show func(learner.Progress)) Learner {
	l.Settings = learner.CopySettings(l.Settings)
	l.Settings.Shared().Workers, l.Settings.Shared().Progress = workers, show
	return l
}

// updateBound returns the most updates that the learner can make on these rows in any order, from its initial weights.
// It returns nil if no theorem gives a bound: if the learner isn't a perceptron, with a penalty, with sample weights,
// or for several trainings one versus the rest.
func (j *job) updateBound(learned *learner.Result) *float64 {
	if j.Perceptron == nil || learned.Uncounted || j.src.Spec().Weighted || j.classes() > 2 && !j.together() {
		return nil
	}
	margin, l2 := j.Perceptron(j.Settings)
	if l2 > 0 {
		return nil
	}
	eta, spec := j.Settings.Shared().Eta, j.src.Spec()
	if j.opt.Init == nil {
		return finite(learned.UpdateBound(margin, eta))
	}
	return finite(learner.UpdateBoundFrom(learned, unpadded(j.begin(), spec), spec.Vectors(), margin, eta))
}

// finite returns a pointer to the bound, or nil if the bound is +Inf.
func finite(bound float64) *float64 {
	if math.IsInf(bound, 0) {
		return nil
	}
	return &bound
}

// Grid returns the learner with every combination of the axes' values. The last axis varies fastest. Without axes it
// returns only the learner itself. An option that has no effect in a combination is left out of it.
func (l Learner) Grid(axes []Axis) ([]Learner, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	points := []Learner{l}
	for _, axis := range axes {
		if _, twice := points[0].Varied[axis.Option]; twice || len(axis.Values) == 0 {
			return nil, fmt.Errorf("the grid varies %q twice, or has no values for it: list all its values once", axis.Option)
		}
		var more []Learner
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
			return nil, fmt.Errorf("the grid has more than %s combinations: vary less at a time", humanize.Count(MaxPoints))
		}
	}
	for i := range points {
		if len(axes) > 0 {
			points[i].Settings = learner.CopySettings(points[i].Settings)
			points[i].Drop(points[i].Settings)
		}
	}
	return points, nil
}

func (l Learner) vary(option, value string) (Learner, error) {
	v, err := l.With(option, value)
	v.Varied = map[string]string{option: value}
	for k, old := range l.Varied {
		v.Varied[k] = old
	}
	return v, err
}
