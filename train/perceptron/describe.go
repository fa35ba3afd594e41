package perceptron

import (
	"cmp"
	"context"
	"slices"

	"halfspace/pocket"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// Learner is the perceptron. It keeps the last weights.
var Learner = describe(learner.Learner{Name: "perceptron", FullName: "perceptron",
	Objective: "the perceptron's loss: the sum of -y(w.x+b) over the rows that are wrong",
	WhenToUse: "rows that a plane separates", Example: "--order shuffle", Algorithm: multiclassAlgorithm{algorithm{}},
	ChoosesByValidation: true, KeepsLastWeights: true, BeginsWithModel: true}, marginOption, l2Option, earlyStopOption)

// pocketLearner is the perceptron that keeps the weights with the fewest errors.
var pocketLearner = describe(learner.Learner{Name: "pocket", FullName: "pocket algorithm",
	Objective: "the number of wrong rows: a perceptron learns, and the best weights so far are kept",
	WhenToUse: "any rows, if the number of errors matters", Example: "--pocket ratchet",
	Algorithm: algorithm{Options{Pocket: pocket.Exact}}, ChoosesByValidation: true, RowAccess: learner.NestedPasses},
	marginOption, earlyStopOption, pocketOption)

// averagedLearner is the perceptron that keeps the mean of the weights after every visit.
var averagedLearner = describe(learner.Learner{Name: "averaged", FullName: "averaged perceptron",
	Objective: "the perceptron's loss; the model is the mean of the weights after every visit",
	WhenToUse: "a first model of any rows", Example: "--order shuffle --epochs 10",
	Algorithm: multiclassAlgorithm{algorithm{Options{Form: learner.Averaged}}}, ChoosesByValidation: true, BeginsWithModel: true,
	ConvergedText: "the mean of all is kept"}, marginOption, l2Option, earlyStopOption)

// votedLearner is the perceptron that keeps all weights, which vote.
var votedLearner = describe(learner.Learner{Name: "voted", FullName: "voted perceptron",
	Objective: "the perceptron's loss; all weights vote, with one vote for each visit that they survived",
	WhenToUse: "rows that no plane separates; models are large", Example: "--order shuffle --epochs 10",
	Algorithm: algorithm{Options{Form: learner.Voted}}, ConvergedText: "all are kept"}, marginOption)

// An algorithm is a perceptron with the options that make it the learner of its name.
type algorithm struct{ own Options }

func (a algorithm) New() learner.Settings {
	o := a.own
	o.Order, o.Epochs, o.Eta, o.Shards, o.Mix = learner.Cyclic, 100, 1, 1, learner.Uniform
	return &Settings{Options: o, Run: learner.Run{Seed: 1}}
}

func (algorithm) PerceptronUpdate(s learner.Settings) (margin, l2 float64) {
	return s.(*Settings).Margin, s.(*Settings).L2
}

func (algorithm) Rule(ctx context.Context, t *online.Training) (online.Rule, error) {
	return newTraining(ctx, t)
}

func (a algorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	return online.Learn(ctx, LearnerOf(&a.own), task)
}

// A multiclassAlgorithm is an algorithm that takes more than two classes.
type multiclassAlgorithm struct{ algorithm }

func (multiclassAlgorithm) Classes(learner.Settings) learner.Classes { return learner.Classes{} }

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options {
	return learner.Options{Order: s.Order, Epochs: s.Epochs, MaxUpdates: s.MaxUpdates, Eta: s.Eta, Shards: s.Shards,
		Mix: s.Mix, Run: s.Run}
}

// LearnerOf returns the learner for the options.
func LearnerOf(o *Options) *learner.Learner {
	switch {
	case o.Form == learner.Voted:
		return votedLearner
	case o.Pocket != "":
		return pocketLearner
	case o.Form == learner.Averaged:
		return averagedLearner
	}
	return Learner
}

// New returns the perceptron, the pocket, the averaged or the voted perceptron, by the options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(LearnerOf(&o), &Settings{Options: o})
}

// Pocket returns the perceptron that keeps the weights with the fewest errors. The default of Options.Pocket is
// pocket.Exact.
func Pocket(o Options) learner.ConfiguredLearner {
	o.Pocket = cmp.Or(o.Pocket, pocket.Exact)
	return New(o)
}

// Averaged returns the perceptron that keeps the mean of the weights after every visit.
func Averaged(o Options) learner.ConfiguredLearner {
	o.Form = learner.Averaged
	return New(o)
}

// Voted returns the perceptron that keeps all weights, which vote.
func Voted(o Options) learner.ConfiguredLearner {
	o.Form = learner.Voted
	return New(o)
}

var (
	marginOption = learner.Option{Name: "margin", Value: "NUMBER",
		Help:           "Update the weights unless label times score is above this number.",
		AllowedNumbers: "a number of 0 or more", Float32: true, IsAllowed: func(v float64) bool { return v >= 0 },
		Field: learner.FieldOf(func(o *Settings) any { return &o.Margin })}
	l2Option = learner.Option{Name: "l2", Value: "NUMBER",
		Help: "Penalty on the weights: 1/2 l2 |w|^2 is added to the sum of losses. The bias is not " +
			"penalised.",
		AllowedNumbers: "a penalty of 0 or more", IsAllowed: func(v float64) bool { return v >= 0 },
		Stored: learner.StoredIfChanged, Field: learner.FieldOf(func(o *Settings) any { return &o.L2 })}
	earlyStopOption = learner.Option{Name: "early-stop", Value: "NUMBER",
		Help:           "Stop after this many epochs without fewer errors on the --validation rows. 0 means never.",
		AllowedNumbers: "1 or more epochs, or 0 for none", IsAllowed: func(v float64) bool { return v >= 0 },
		Field: learner.FieldOf(func(o *Settings) any { return &o.EarlyStop })}
	pocketOption = learner.Option{Name: "pocket",
		Help: "When to count the errors of new weights on all rows: after every update (exact), at the end of each " +
			"epoch (epoch), or after a longer run of rows without a mistake than the kept weights had (ratchet). " +
			"With several --shards, the errors are counted at the end of each epoch.",
		Words: learner.WordsOf(pocket.Modes), Condition: &learner.Condition{Option: "shards", Values: []string{"1"}},
		Field: learner.FieldOf(func(o *Settings) any { return &o.Pocket })}
)

// describe completes a description with the options that all perceptrons share.
func describe(l learner.Learner, options ...learner.Option) *learner.Learner {
	l.Options = slices.Concat([]learner.Option{learner.OrderOption, learner.EtaOption, learner.MaxUpdatesOption},
		options, []learner.Option{learner.EpochsOption})
	if l.New().(*Settings).Form == learner.Voted {
		return &l
	}
	l.Option(learner.MaxUpdatesOption.Name).Help += " With several --shards, training ends after the epoch that reaches this number."
	l.Options = append(l.Options, learner.ShardsOption, learner.MixOption)
	return online.Sharded(&l)
}
