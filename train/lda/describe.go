package lda

import (
	"context"
	"fmt"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/model"
	"halfspace/train/learner"
)

// Learner describes linear discriminant analysis.
var Learner = &learner.Learner{Name: "lda", Objective: "the scatter within the classes, relative to the scatter between them (Fisher)",
	WhenToUse: "probabilities in one pass, if the classes are nearly normal",
	Options:   []learner.Option{shrinkageOption, solverOption}, Example: "--shrinkage auto",
	New: func() learner.Settings { return &Settings{Run: learner.Run{Seed: 1}} }, ScoresAreLogOdds: true,
	SolvesForOptimum: true, JointClasses: true, JointByDefault: true,
	IsScaleFree: func(s learner.Settings) bool { return s.(*Settings).Shrinkage == 0 },
	SolverTexts: story}

func init() { Learner.Train = learnTask } // set here, because Train makes its options ready with Learner

// New returns linear discriminant analysis with options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(Learner, &Settings{Options: o})
}

var (
	shrinkageOption = learner.Option{Name: "shrinkage", Value: "NUMBER|auto",
		Help: "Share of a multiple of the identity in the covariance, from 0 to 1. auto estimates it for " +
			"each class (Ledoit and Wolf).",
		AllowedNumbers: "auto or a share from 0 to 1", IsAllowed: func(v float64) bool { return v >= 0 && v <= 1 },
		NamedNumbers: map[string]float64{"auto": LedoitWolf}, Stored: learner.StoredIfChanged,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Shrinkage })}
	solverOption = learner.Option{Name: "solver",
		Help: "What to compute: the weights (cholesky), or also the directions for predict --project (eigen). auto " +
			"is cholesky.", Words: append([]string{"auto"}, learner.WordsOf(Solvers)...),
		MustExist: true, Stored: learner.StoredElsewhere, Field: learner.FieldOf(func(o *Settings) any { return &o.Solver })}
)

func learnTask(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	r, err := Train(ctx, task.Rows, *task.Settings.(*Settings))
	if err != nil {
		return nil, err
	}
	return &learner.TaskResult{Result: &r.Result, OwnResult: r, AddToModel: func(m *model.Model) {
		m.Training.Ridge = r.Ridge
		if r.Projection != nil {
			m.Options.Solver, m.Projection = string(Eigen), &model.Projection{Directions: r.Projection, ExplainedShares: r.ExplainedShares}
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
		for _, v := range p.ExplainedShares {
			shares = append(shares, humanize.Percent(v))
		}
		pairs = append(pairs, "projection",
			fmt.Sprintf("%s, which explain %s", humanize.Plural(int64(len(shares)), "direction"),
				strings.Join(shares, ", ")))
	}
	return pairs
}
