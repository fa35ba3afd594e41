package svm

import (
	"context"

	"halfspace/model"
	"halfspace/train"
)

// Learner describes the support vector machine.
var Learner = &train.Learner{Name: "svm", Minimises: "the sum of max(0, 1 - y(w.x+b))^2, or without the square, + l1 |w|_1 + 1/2 l2 |w|^2",
	Use:     "the fewest errors on new rows, with a proof of the optimum",
	Options: []train.Option{epochsOption, l1Option, nonNegativeOption, l2Option, lossOption}, Example: "--loss hinge --l2 0.1",
	New:    func() train.Settings { return &Options{Options: train.Options{Seed: 1}, L2: 1, Loss: SquaredHinge} },
	Solves: true, Joint: true,
	Apart: func(s train.Settings) string { return s.(*Options).apart() }, DrawsTogether: true,
	Refuses: func(s train.Settings) (option, why string) { return s.(*Options).refuses() },
	Story: func(m *model.Model) []string {
		sum := "max(0, 1 - y(w.x+b))"
		if m.Options.Loss == string(SquaredHinge) {
			sum += "^2"
		}
		if m.Options.Multiclass == model.Joint {
			return train.StepsStory(m, "dual coordinate descent", "max(0, 1 - the score of the row's class + the greatest other)")
		}
		if m.Options.L1 > 0 || m.Options.NonNegative {
			return train.StepsStory(m, "the proximal Newton method", sum)
		}
		if m.Options.Loss == string(Hinge) && len(m.Weights) > 0 && byRow(m.Training.Rows, len(m.Weights[0])+len(m.Bias)) {
			return train.StepsStory(m, "dual coordinate descent", sum)
		}
		return train.StepsStory(m, "Newton's", sum)
	},
	Train: learnTask}

var (
	epochsOption = train.Option{Name: "epochs", Value: "NUMBER", Help: "Most passes over the rows. The default is 10000 for several classes together, 1000 with --loss hinge or more than 256 columns, else 100.", Want: "1 or more", Auto: true,
		Valid: func(v float64) bool { return v >= 1 }, Keep: train.Changed, Field: train.EpochsOption.Field}
	nonNegativeOption = func() train.Option {
		o := train.NonNegativeOption
		o.Field = train.FieldOf(func(o *Options) any { return &o.NonNegative })
		return o
	}()
	l1Option = func() train.Option {
		o := train.L1Option
		o.Field = train.FieldOf(func(o *Options) any { return &o.L1 })
		return o
	}()
	l2Option = train.Option{Name: "l2", Value: "NUMBER", Help: "Penalty on the weights: 1/2 l2 |w|^2 is added to the sum of losses. The bias is not penalised. It is 1/C of other programs.",
		Want: "a penalty above 0", Valid: func(v float64) bool { return v >= 0 }, Auto: true, Field: train.FieldOf(func(o *Options) any { return &o.L2 })}
	lossOption = train.Option{Name: "loss", Help: "Loss of a row: max(0, 1-y(w.x+b)) (hinge), or its square (squared_hinge).", Words: train.WordsOf(Losses), Bare: true,
		Field: train.FieldOf(func(o *Options) any { return &o.Loss })}
)

func learnTask(ctx context.Context, task *train.Task) (*train.Learned, error) {
	opt := *task.Settings.(*Options)
	r, err := Train(ctx, task.Rows, opt)
	if r == nil {
		return nil, err
	}
	return &train.Learned{Result: &r.Result, Own: r, Keep: func(m *model.Model) {
		if opt.Epochs == 0 {
			m.Options.Epochs = opt.Loss.epochs(len(r.Exact) / len(m.Weights))
		}
		if len(m.Weights) > 1 {
			m.Options.Seed = &opt.Seed
			if opt.Epochs == 0 {
				m.Options.Epochs = jointEpochs
			}
		}
		if opt.L2 == 0 && opt.L1 == 0 {
			*m.Options.L2 = 1
		}
		if !r.Interrupted {
			m.Training.Optimum = &model.Optimum{Objective: r.Objective, Gap: r.Gap, Rounded: r.Rounded}
		}
	}}, err
}
