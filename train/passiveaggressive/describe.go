package passiveaggressive

import (
	"context"

	"halfspace/schema"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// Learner describes the passive-aggressive algorithms.
var Learner = online.Sharded(&learner.Learner{Name: "passive-aggressive", FullName: "passive-aggressive", Algorithm: algorithm{},
	Objective: "in each update 1/2 |w'-w|^2 + C times the row's loss: max(0, 1 - y(w.x+b)), or its square",
	WhenToUse: "streams of rows, since one pass is often enough", Example: "--C 0.1",
	Options: []learner.Option{learner.OrderOption, cOption, lossOption, learner.EpochsOption, learner.ShardsOption,
		learner.MixOption},
	BeginsWithModel: true, NotFoundText: "no plane with a margin of 1 for every row was found"})

type algorithm struct{}

func (algorithm) New() learner.Settings {
	return &Settings{Options: Options{Order: learner.Cyclic, Epochs: 100, Shards: 1, Mix: learner.Uniform,
		Loss: Hinge, C: 1}, Run: learner.Run{Seed: 1}}
}

func (algorithm) Classes(learner.Settings) learner.Classes {
	return learner.Classes{TogetherByDefault: true}
}

func (algorithm) RowLoss(s learner.Settings) learner.RowLoss {
	return learner.RowLoss(s.(*Settings).Loss)
}

func (algorithm) Stepper(spec *schema.Spec, s learner.Settings) (learner.Stepper, error) {
	return newStepper(spec, *s.(*Settings))
}

func (algorithm) Rule(ctx context.Context, t *online.Training) (online.Rule, error) {
	return online.StepperRule(ctx, t)
}

func (algorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	return online.Learn(ctx, Learner, task)
}

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options {
	return learner.Options{Order: s.Order, Epochs: s.Epochs, Shards: s.Shards, Mix: s.Mix, Run: s.Run}
}

// New returns the passive-aggressive algorithms with options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(Learner, &Settings{Options: o})
}

var (
	cOption = learner.Option{Name: "C", Value: "NUMBER",
		Help:           "Aggressiveness: the weight of a row's loss in its update. A small C changes the weights less.",
		AllowedNumbers: "a number above 0", MustExist: true, IsAllowed: func(v float64) bool { return v > 0 },
		Field: learner.FieldOf(func(o *Settings) any { return &o.C })}
	lossOption = learner.Option{Name: "loss", Help: "Loss of a row: hinge is PA-I, squared_hinge is PA-II.", Words: learner.WordsOf(Losses),
		Field: learner.FieldOf(func(o *Settings) any { return &o.Loss })}
)
