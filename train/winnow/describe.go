package winnow

import (
	"context"

	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// Learner describes Winnow.
var Learner = &learner.Learner{Name: "winnow", FullName: "Winnow", Algorithm: algorithm{},
	Objective: "mistakes: they grow with the logarithm of the number of features, since weights are multiplied",
	WhenToUse: "features that are 0 or 1, if only a few of them matter", WhyBias: "which has a threshold",
	WhyNoWeights: "which multiplies weights by one number",
	Options: []learner.Option{learner.MaxUpdatesOption, learner.EpochsOption, variantOption, alphaOption,
		thresholdOption, literalsOption}, Example: "--winnow balanced",
	NotFoundText: "no disjunction, or other plane that this variant finds, was found"}

type algorithm struct{}

func (algorithm) New() learner.Settings {
	return &Settings{Options: Options{Epochs: 100, Variant: Winnow2}, Run: learner.Run{Seed: 1}}
}

func (algorithm) IsScaleFree(learner.Settings) bool { return true }

func (algorithm) Rule(ctx context.Context, t *online.Training) (online.Rule, error) {
	return newRule(ctx, t)
}

func (algorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	return online.Learn(ctx, Learner, task)
}

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options {
	return learner.Options{Epochs: s.Epochs, MaxUpdates: s.MaxUpdates, Run: s.Run}
}

// New returns Winnow with options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(Learner, &Settings{Options: o})
}

var (
	variantOption = learner.Option{Name: "winnow",
		Help: "How to lower the weights of a row that is wrongly positive: divide them (winnow2) or set them to zero " +
			"(winnow1). balanced has weights of either sign.", Words: learner.WordsOf(Variants), WithoutName: true,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Variant })}
	alphaOption = learner.Option{Name: "alpha", Value: "NUMBER",
		Help:           "Factor of an update, above 1. The default is 2 with --winnow winnow1, else 1.5.",
		AllowedNumbers: "a number above 1",
		IsAllowed:      func(v float64) bool { return v > 1 }, ZeroMeansChosen: true, Float32: true, MustExist: true,
		Stored: learner.StoredIfChanged, Field: learner.FieldOf(func(o *Settings) any { return &o.Alpha })}
	thresholdOption = learner.Option{Name: "threshold", Value: "NUMBER",
		Help: "Score above which a row is positive. The default is half the number of features, or of " +
			"literals.", AllowedNumbers: "a number above 0",
		IsAllowed: func(v float64) bool { return v > 0 }, ZeroMeansChosen: true, Float32: true,
		Stored: learner.StoredIfChanged, Condition: &learner.Condition{Option: "winnow",
			Values: []string{string(Winnow2), string(Winnow1)}},
		Field: learner.FieldOf(func(o *Settings) any { return &o.Threshold })}
	literalsOption = learner.Option{Name: "literals", Value: "BOOL",
		Help:   "Learn a weight for each feature x and one for not x. Features are then 0 and 1, or -1 and 1.",
		Stored: learner.StoredIfChanged, Field: learner.FieldOf(func(o *Settings) any { return &o.Literals })}
)
