package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/model"
	"halfspace/internal/passes"
	"halfspace/train/learner"
)

func (r *Result) addToModel(m *model.Model, opt *Settings) {
	if opt.Epochs == 0 {
		m.Options.Epochs = r.Solver.epochs(len(r.ExactWeights))
	}
	m.HasRobustErrors = opt.Robust && r.StdErrors != nil
	m.StdErrors, m.Training.Ridge, m.Training.Dependences = r.StdErrors, r.Ridge, namedDependences(m, r.DependentColumns)
	if !math.IsInf(r.Gap, 1) {
		m.Training.Optimum = &model.Optimum{Objective: r.Objective, Gap: r.Gap, MetBeforeRounding: r.GapLostByRounding}
	}
	if r.Solver != Newton {
		m.Options.Solver = string(r.Solver)
	}
}

// hasFractionalWeights tells whether rows of two classes have weights that can't be counts: class weights other than 1,
// or sample weights that aren't whole numbers.
func hasFractionalWeights(ctx context.Context, task *learner.Task) (bool, error) {
	// No standard errors are kept in these cases.
	if !task.Rows.Spec().Weighted || len(task.Rows.Spec().Classes) > 2 || task.VersusClasses > 0 {
		return false, nil
	}
	if slices.ContainsFunc(task.ClassWeights, func(w float64) bool { return w != 1 }) {
		return true, nil
	}
	broken := false
	err := fractionPass.Reduce(ctx, task.Rows, task.Settings.RunOptions().Workers, struct{}{}, func(b bool) { broken = broken || b })
	return broken, err
}

// fractionPass finds sample weights that aren't whole numbers.
var fractionPass = passes.New("logistic.broken", func(block.Source, struct{}) func(block.Chunk) bool { return hasFraction })

func hasFraction(chunk block.Chunk) bool {
	return slices.ContainsFunc(chunk.W, func(w float64) bool { return w != math.Trunc(w) })
}

// namedDependences returns the dependences with the names of their columns.
func namedDependences(m *model.Model, found []linalg.Dependence) (all []model.Dependence) {
	name := func(column int) string {
		if column < m.Width() {
			return m.FeatureName(column)
		}
		return "(bias)"
	}
	for _, d := range found {
		one := model.Dependence{Feature: name(d.Column)}
		for _, c := range d.On {
			one.On = append(one.On, name(c))
		}
		all = append(all, one)
	}
	return all
}

func (algorithm) SolverTexts(m *model.Model) []string {
	sum, method := "log(1 + e^(-y(w.x+b)))", "Newton's"
	if m.Options.Multiclass == model.Joint {
		sum = "-log p of the row's class"
	}
	switch Solver(m.Options.Solver) {
	case LBFGS:
		method = "L-BFGS"
	case SGD:
		method = "stochastic gradient descent"
	}
	if m.Options.L1 > 0 || m.Options.NonNegative {
		method = "the proximal Newton method"
	}
	return learner.StepsSummary(m, method, sum)
}
