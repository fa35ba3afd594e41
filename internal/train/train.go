// Package train does whole trainings on the rows of any block.Source. A Session makes the steps of a training one by one,
// for the command; the public package halfspace/train is for programs.
//
// A new learner is one package with a description, and one line in Learners.
package train

import (
	"fmt"

	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/train/arow"
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

// Learner is a learning algorithm with its options. The package of the algorithm makes it.
type Learner = learner.ConfiguredLearner

// Progress tells how far a training has come; see Watch.
type Progress = learner.Progress

// OptionError is an error about an option, whatever the rows are. Its fields are Option, the name for Learner.With and in
// the command, such as l2; Value, as a user types it; Want, the values that the option takes; and Advice, if the option
// can't be used at all. Get it by errors.As.
type OptionError = learner.OptionError

// RowError is an error about a row. Its fields are Row, the number of the row in the data that was trained on, from 0 on;
// Column, the name of the feature; Err; and File and Line, which dataset.Options.Complete fills in. Get it by errors.As.
type RowError = message.RowError

// Axis is an option, and the values that a grid sets it to; see Vary.
type Axis = learner.Axis

// Vary returns the axis of a grid that sets an option to each of the values: numbers, bools, or texts as a user types
// them.
func Vary(option string, values ...any) Axis { return Axis{Option: option, Values: values} }

// Learners lists the description of every learner.
var Learners = []*learner.Learner{
	perceptron.New(perceptron.Options{}).Learner,
	perceptron.Pocket(perceptron.Options{}).Learner,
	perceptron.Averaged(perceptron.Options{}).Learner,
	perceptron.Voted(perceptron.Options{}).Learner,
	winnow.Learner,
	kernelperceptron.Dual(kernelperceptron.Options{}).Learner,
	kernelperceptron.New(kernelperceptron.Options{}).Learner,
	logistic.Learner,
	lda.Learner,
	svm.Learner,
	passiveaggressive.Learner,
	ftrl.FTRL,
	ftrl.AdaGrad(ftrl.AdaGradOptions{}).Learner,
	arow.Learner,
}

// Names returns the names of the learners that have every property: all learners without a property.
func Names(has ...func(*learner.Learner) bool) (names []string) {
	for _, l := range Learners {
		all := true
		for _, is := range has {
			all = all && is(l)
		}
		if all {
			names = append(names, l.Name)
		}
	}
	return names
}

// NamesWithInit returns the names of the learners that can begin with the weights of a model.
func NamesWithInit() []string {
	return Names(func(l *learner.Learner) bool { return l.BeginsWithModel })
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

// LearnerNamed returns the learner with the name, with the defaults of the command.
func LearnerNamed(name string) (Learner, error) {
	l := Describe(name)
	if l == nil {
		advice := ""
		if near := humanize.Nearest(name, Names()); near != "" {
			advice = ": did you mean " + near + "?"
		}
		return Learner{}, fmt.Errorf("unknown learner %q: use %s%s", name, humanize.OneOf(Names()), advice)
	}
	return Learner{Learner: l, Settings: l.New()}, nil
}
