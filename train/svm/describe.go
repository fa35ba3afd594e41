package svm

import (
	"context"

	"halfspace/model"
	"halfspace/train/learner"
)

// Learner describes the support vector machine.
var Learner = &learner.Learner{Name: "svm", Objective: "the sum of max(0, 1 - y(w.x+b))^2, or without the square, + " +
	"l1 |w|_1 + 1/2 l2 |w|^2", WhenToUse: "the fewest errors on new rows, with a proof of the optimum",
	Options: []learner.Option{epochsOption, learner.L1Option, learner.NonNegativeOption, l2Option, lossOption},
	Example: "--loss hinge --l2 0.1",
	New: func() learner.Settings {
		return &Settings{Options: Options{L2: 1, Loss: SquaredHinge}, Run: learner.Run{Seed: 1}}
	},
	SolvesForOptimum: true, JointClasses: true,
	VersusOnlyOption: func(s learner.Settings) string { return s.(*Settings).versusOptions() }, JointIsRandom: true,
	RefusedOption: func(s learner.Settings) *learner.OptionError { return s.(*Settings).refusedOption() },
	SolverTexts: func(m *model.Model) []string {
		sum := "max(0, 1 - y(w.x+b))"
		if m.Options.Loss == string(SquaredHinge) {
			sum += "^2"
		}
		if m.Options.Multiclass == model.Joint {
			return learner.StepsSummary(m, "dual coordinate descent", "max(0, 1 - the score of the row's class + the greatest other)")
		}
		if m.Options.L1 > 0 || m.Options.NonNegative {
			return learner.StepsSummary(m, "the proximal Newton method", sum)
		}
		if m.Options.Loss == string(Hinge) && len(m.Weights) > 0 && usesDualDescent(m.Training.Rows,
			len(m.Weights[0])+min(len(m.Bias), 1)) {
			return learner.StepsSummary(m, "dual coordinate descent", sum)
		}
		return learner.StepsSummary(m, "Newton's", sum)
	}}

func init() { Learner.Train = learnTask } // set here, because Train makes its options ready with Learner

// New returns the support vector machine with options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(Learner, &Settings{Options: o})
}

var (
	epochsOption = learner.Option{Name: "epochs", Value: "NUMBER",
		Help: "Most passes over the rows. The default is 10000 for several classes together, 1000 with --loss hinge " +
			"or more than 256 columns, else 100.", AllowedNumbers: "1 or more", ZeroMeansChosen: true,
		IsAllowed: func(v float64) bool { return v >= 1 }, Stored: learner.StoredIfChanged, Field: learner.EpochsOption.Field}
	l2Option = learner.Option{Name: "l2", Value: "NUMBER",
		Help: "Penalty on the weights: 1/2 l2 |w|^2 is added to the sum of losses. The bias is not " +
			"penalised. It is 1/C of other programs.",
		AllowedNumbers: "a penalty above 0", IsAllowed: func(v float64) bool { return v >= 0 }, ZeroMeansChosen: true,
		Field: learner.FieldOf(func(o *Settings) any { return &o.L2 })}
	lossOption = learner.Option{Name: "loss",
		Help:  "Loss of a row: max(0, 1-y(w.x+b)) (hinge), or its square (squared_hinge).",
		Words: learner.WordsOf(Losses), WithoutName: true,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Loss })}
)

func learnTask(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	opt := *task.Settings.(*Settings)
	r, err := Train(ctx, task.Rows, opt)
	if r == nil {
		return nil, err
	}
	return &learner.TaskResult{Result: &r.Result, OwnResult: r, AddToModel: func(m *model.Model) {
		if opt.Epochs == 0 {
			m.Options.Epochs = opt.Loss.epochs(len(m.Weights), len(r.ExactWeights)/len(m.Weights))
		}
		if len(m.Weights) > 1 {
			m.Options.Seed = &opt.Seed
		}
		if opt.L2 == 0 && opt.L1 == 0 {
			*m.Options.L2 = 1
		}
		if !r.Interrupted {
			m.Training.Optimum = &model.Optimum{Objective: r.Objective, Gap: r.Gap, MetBeforeRounding: r.GapLostByRounding}
		}
	}}, err
}
