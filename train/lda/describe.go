package lda

import (
	"context"
	"fmt"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/model"
	"halfspace/train"
)

// Learner describes linear discriminant analysis.
var Learner = &train.Learner{Name: "lda", Minimises: "the scatter within the classes, relative to the scatter between them (Fisher)",
	Use: "probabilities in one pass, if the classes are nearly normal", Options: []train.Option{shrinkageOption, solverOption}, Example: "--shrinkage auto",
	New: func() train.Settings { return &Options{Options: train.Options{Seed: 1}} }, LogOdds: true, Solves: true, Joint: true, Together: true,
	ScaleFree: func(s train.Settings) bool { return s.(*Options).Shrinkage == 0 },
	Story:     story, Train: learnTask}

var (
	shrinkageOption = train.Option{Name: "shrinkage", Value: "NUMBER|auto", Help: "Share of a multiple of the identity in the covariance, from 0 to 1. auto estimates it for each class (Ledoit and Wolf).",
		Want: "auto or a share from 0 to 1", Valid: func(v float64) bool { return v >= 0 && v <= 1 }, Named: map[string]float64{"auto": LedoitWolf}, Keep: train.Changed,
		Field: train.FieldOf(func(o *Options) any { return &o.Shrinkage })}
	solverOption = train.Option{Name: "solver", Help: "What to compute: the weights (cholesky), or also the directions for predict --project (eigen). auto is cholesky.", Words: append([]string{"auto"}, train.WordsOf(Solvers)...),
		Strict: true, Keep: train.Never, Field: train.FieldOf(func(o *Options) any { return &o.Solver })}
)

func learnTask(ctx context.Context, task *train.Task) (*train.Learned, error) {
	opt := *task.Settings.(*Options)
	if opt.Solver == "auto" {
		opt.Solver = Cholesky
	}
	r, err := Train(ctx, task.Rows, opt)
	if err != nil {
		return nil, err
	}
	return &train.Learned{Result: &r.Result, Own: r, Keep: func(m *model.Model) {
		m.Training.Ridge = r.Ridge
		if r.Projection != nil {
			m.Options.Solver, m.Projection = string(Eigen), &model.Projection{Directions: r.Projection, Explained: r.Explained}
		}
	}}, nil
}

func story(m *model.Model) (pairs []string) {
	if m.Options.Shrinkage != "" {
		pairs = append(pairs, "options", "shrinkage "+m.Options.Shrinkage)
	}
	pairs = append(pairs, "solver", "one solution in "+humanize.Passes(m.Training.Epochs))
	if p := m.Projection; p != nil {
		var shares []string
		for _, v := range p.Explained {
			shares = append(shares, humanize.Percent(v))
		}
		pairs = append(pairs, "projection", fmt.Sprintf("%s, which explain %s", humanize.Plural(int64(len(shares)), "direction"), strings.Join(shares, ", ")))
	}
	return pairs
}
