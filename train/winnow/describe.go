package winnow

import (
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// Learner describes Winnow.
var Learner = online.WithRule(&learner.Learner{Name: "winnow",
	Objective: "mistakes: they grow with the logarithm of the number of features, since weights are multiplied",
	WhenToUse: "features that are 0 or 1, if only a few of them matter", WhyBias: "which has a threshold",
	WhyNoWeights: "which multiplies weights by one number",
	Options: []learner.Option{learner.MaxUpdatesOption, learner.EpochsOption, variantOption, alphaOption,
		thresholdOption, literalsOption}, Example: "--winnow balanced",
	New: func() learner.Settings {
		return &Settings{Options: Options{Epochs: 100, Variant: Winnow2}, Run: learner.Run{Seed: 1}}
	},
	IsScaleFree:  func(learner.Settings) bool { return true },
	NotFoundText: "no disjunction, or other plane that this variant finds, was found"}, newRule)

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
