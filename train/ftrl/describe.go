package ftrl

import (
	"context"

	"halfspace/schema"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// FTRL describes FTRL-Proximal.
var FTRL = &learner.Learner{Name: "ftrl", FullName: "FTRL-Proximal", Algorithm: ftrlAlgorithm{},
	Objective: "the sum of log(1 + e^(-y(w.x+b))) over visits, by steps whose size adapts to each feature, + l1 |w|_1 + 1/2 l2 |w|^2",
	WhenToUse: "streams and clicks: probabilities, and weights of 0 by --l1", Example: "--alpha 0.05 --l1 1",
	Options:         []learner.Option{learner.OrderOption, alphaOption, betaOption, l1Option, l2Option, learner.EpochsOption},
	BeginsWithModel: true, NotFoundText: notFound}

type ftrlAlgorithm struct{}

func (ftrlAlgorithm) New() learner.Settings {
	return &Settings{Options: Options{Order: learner.Cyclic, Epochs: 100, Alpha: 0.1, Beta: 1}, Run: learner.Run{Seed: 1}}
}

func (ftrlAlgorithm) RowLoss(learner.Settings) learner.RowLoss { return learner.LogisticLoss }

func (ftrlAlgorithm) Stepper(spec *schema.Spec, s learner.Settings) (learner.Stepper, error) {
	o := s.(*Settings)
	return newStepper(spec, Logistic, o.Alpha, o.Beta, o.L1, o.L2)
}

func (ftrlAlgorithm) Rule(ctx context.Context, t *online.Training) (online.Rule, error) {
	return online.StepperRule(ctx, t)
}

func (ftrlAlgorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	return online.Learn(ctx, FTRL, task)
}

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options {
	return learner.Options{Order: s.Order, Epochs: s.Epochs, Run: s.Run}
}

// adaGrad describes AdaGrad.
var adaGrad = online.Sharded(&learner.Learner{Name: "adagrad", FullName: "AdaGrad", Algorithm: adaGradAlgorithm{},
	Objective: "the sum of log(1 + e^(-y(w.x+b))), or of max(0, 1 - y(w.x+b)), by steps whose size adapts to each feature",
	WhenToUse: "rare features beside frequent ones", Example: "--eta 0.05",
	Options:         []learner.Option{learner.OrderOption, learner.EtaOption, lossOption, learner.EpochsOption, learner.ShardsOption},
	BeginsWithModel: true, NotFoundText: notFound})

type adaGradAlgorithm struct{}

func (adaGradAlgorithm) New() learner.Settings {
	return &AdaGradSettings{AdaGradOptions: AdaGradOptions{Order: learner.Cyclic, Epochs: 100, Eta: 0.1, Shards: 1,
		Loss: Logistic}, Run: learner.Run{Seed: 1}}
}

func (adaGradAlgorithm) RowLoss(s learner.Settings) learner.RowLoss {
	return learner.RowLoss(s.(*AdaGradSettings).Loss)
}

func (adaGradAlgorithm) Stepper(spec *schema.Spec, s learner.Settings) (learner.Stepper, error) {
	o := s.(*AdaGradSettings)
	return newStepper(spec, o.Loss, o.Eta, delta, 0, 0)
}

func (adaGradAlgorithm) Rule(ctx context.Context, t *online.Training) (online.Rule, error) {
	return online.StepperRule(ctx, t)
}

func (adaGradAlgorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	return online.Learn(ctx, adaGrad, task)
}

// Copy returns a copy; see learner.Settings.
func (s *AdaGradSettings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *AdaGradSettings) Shared() learner.Options {
	return learner.Options{Order: s.Order, Epochs: s.Epochs, Eta: s.Eta, Shards: s.Shards, Run: s.Run}
}

// notFound is the text for a training that ends before its weights stop changing. Its losses are never 0.
const notFound = "the weights didn't come to rest"

func isPositive(v float64) bool { return v > 0 }
func isPenalty(v float64) bool  { return v >= 0 }

// New returns FTRL-Proximal with options.
func New(o Options) learner.ConfiguredLearner { return learner.Configure(FTRL, &Settings{Options: o}) }

// AdaGrad returns AdaGrad with options.
func AdaGrad(o AdaGradOptions) learner.ConfiguredLearner {
	return learner.Configure(adaGrad, &AdaGradSettings{AdaGradOptions: o})
}

var (
	alphaOption = learner.Option{Name: "alpha", Value: "NUMBER",
		Help: "Factor of the learning rates: that of a feature is alpha/(beta + the root of the sum of its " +
			"squared gradients).",
		AllowedNumbers: "a number above 0", MustExist: true, IsAllowed: isPositive,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Alpha })}
	betaOption = learner.Option{Name: "beta", Value: "NUMBER", Help: "Number that keeps the first learning rates small; see --alpha.",
		AllowedNumbers: "a number above 0", IsAllowed: isPositive, Field: learner.FieldOf(func(o *Settings) any { return &o.Beta })}
	l1Option = learner.Option{Name: "l1", Value: "NUMBER",
		Help: "Penalty on the weights: l1 |w|_1 is added to the sum of losses of all visits. The bias is " +
			"not penalised.",
		AllowedNumbers: "a penalty of 0 or more", IsAllowed: isPenalty, Field: learner.FieldOf(func(o *Settings) any { return &o.L1 })}
	l2Option = learner.Option{Name: "l2", Value: "NUMBER",
		Help: "Penalty on the weights: 1/2 l2 |w|^2 is added to the sum of losses of all visits. The bias " +
			"is not penalised.",
		AllowedNumbers: "a penalty of 0 or more", IsAllowed: isPenalty, Field: learner.FieldOf(func(o *Settings) any { return &o.L2 })}
	lossOption = learner.Option{Name: "loss",
		Help: "Loss of a row: log(1 + e^(-y(w.x+b))) (logistic), which gives probabilities, or max(0, " +
			"1-y(w.x+b)) (hinge).",
		Words: learner.WordsOf(Losses), Field: learner.FieldOf(func(o *AdaGradSettings) any { return &o.Loss })}
)
