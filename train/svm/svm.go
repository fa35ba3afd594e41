// Package svm trains linear support vector machines. The squared hinge takes two classes, the hinge also more than two.
package svm

import (
	"cmp"
	"context"
	"slices"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/train/internal/dualdescent"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// Train finds the linear support vector machine of rows with labels y of -1 and +1.
//
// Objective: weights w, including the bias, that minimise 1/2 l2 |w|^2 + sum over rows of c times the loss of the
// margin y (w.x). The bias is not penalised. c is the sample weight: a row with c = k counts as k rows.
//
// Train stops by the duality gap. The dual problem has a variable a for each row. It maximises sum a - |sum a y x|^2 /
// (2 l2), and for the squared hinge this minus sum a^2 / 4c. Its constraints are a >= 0, for the hinge also a <= c, and
// with a bias sum a y = 0. Train scales down the a of one class to meet the last constraint. The dual objective is a
// lower bound of the optimum. Train stops when the objective of w is above the bound by at most 5e-7 of itself, or 1e-7
// for the squared hinge and few columns. Then it rounds w to float32 and measures the gap again.
//
// For the squared hinge, Train runs Newton's method on the active set (Mangasarian, "A Finite Newton Method for
// Classification", Optimization Methods and Software 17, 2002; Keerthi and DeCoste, "A Modified Finite Newton Method
// for Fast Solution of Large Scale Linear SVMs", Journal of Machine Learning Research 6, 2005); see optimize.Newton. A
// step is w = w - H^-1 g with g = l2 w - sum a y x and a = 2c max(0, 1-m). H is l2 I + X' diag(s) X, where s is 2c for
// rows with a loss above 0, and 0 for other rows. Where H is nearly singular or a step fails, the proximal Newton
// method of Task.Elastic follows.
//
// With more than 256 columns, a Hessian takes long. Train then finds each step by conjugate gradients; see
// Task.Truncated of package optimize.
//
// For the hinge, Train runs the augmented Lagrangian method on the dual problem, with Newton's method inside; see
// Task.Hinge of package optimize. With fewer rows than columns, or many columns and few rows, Train runs dual coordinate
// descent for either loss; see Loss.usesDualDescent and package dualdescent. If that takes many passes, because columns
// are correlated or have unequal scales, Train begins anew with the method for more rows.
//
// More than two classes, with class numbers as labels, can be trained together only with the hinge. A row's loss is
// max(0, 1 - m), where m is the score of its class minus the greatest score of another class; see package dualdescent.
//
// If there are many rows of two classes, Train begins with the optimum of a sample. The sample is whole chunks of rows,
// as far from each other as possible. Train first subtracts a number near their values from columns that are far from
// zero; see learner.Pivots.
//
// Sums are float64, in the order of linalg.Panel within a chunk, and then over the chunks in row order. The hinge, rows
// with more than 256 columns, and more than 16,384 columns with L1 or NonNegative have the order of package optimize.
// More than two classes have the order of package dualdescent. The result depends neither on opt.Workers nor on the
// kind of the source. Errors: options out of range, no rows, fewer than two classes, features that overflow, errors of
// src, and ctx's error.
func Train(ctx context.Context, src block.Source, opt Settings) (*Result, error) {
	src, err := begin(ctx, src, &opt)
	if err != nil {
		return nil, err
	}
	if len(src.Spec().Classes) > 2 {
		return learnJoint(ctx, src, opt)
	}
	after, end := parallel.Grace(ctx)
	defer end()
	start := time.Now()
	rows, pivots, err := learner.CentredRows(ctx, src)
	if err != nil {
		return nil, err
	}
	task := taskOf(rows, opt)
	s, err := solve(ctx, task, opt)
	r := &Result{ExactWeights: slices.Clone(s.W), Objective: s.Objective, Gap: s.Gap()}
	r.Epochs, r.Visits, r.Updates, r.OutOfPasses = s.Passes, s.Visits, s.Steps, s.OutOfPasses
	r.Loss, r.Converged = s.Loss, s.Gap() <= optimize.ConvergedGap*s.Objective
	if opt.needsElastic() { // the pass that rounds counts
		r.Epochs, r.Visits = r.Epochs+1, r.Visits+src.Rows()
	}
	r.Seconds = (opt.Checkpoint.TimeBefore() + time.Since(start)).Seconds()
	if err == nil {
		err = r.round(ctx, rows, pivots, opt)
	}
	if err != nil {
		l := task.InterruptedResult(ctx, after, s, pivots, start)
		if l == nil {
			return nil, err
		}
		l.Epochs, l.Visits = r.Epochs, r.Visits
		return resultOf(l), err
	}
	return r, learner.Evaluate(ctx, src, opt.Workers, &r.Result)
}

// solve returns the exact weights, with the solver for the loss and the size of the rows.
func solve(ctx context.Context, task *optimize.Task, opt Settings) (*optimize.Solution, error) {
	src, cols := task.Rows, task.Rows.Spec().Cols()
	switch {
	case opt.needsElastic():
		return task.Elastic(ctx)
	case opt.Loss.usesDualDescent(src.Rows(), cols):
		return solveDual(ctx, task, opt)
	case opt.Loss == SquaredHinge && !hasManyColumns(cols):
		return solveSquared(ctx, task, opt)
	}
	return solveNewton(ctx, task, opt.Loss, optimize.Tally{Start: time.Now()})
}

// solveNewton returns the exact weights by steps whose directions conjugate gradients find, after the passes and steps
// of a tally.
func solveNewton(ctx context.Context, task *optimize.Task, loss Loss, after optimize.Tally) (*optimize.Solution, error) {
	if loss == SquaredHinge {
		return task.TruncatedFrom(ctx, after, nil)
	}
	return task.Hinge(ctx, after)
}

// solveDual returns the exact weights by dual coordinate descent. It takes few passes if columns are nearly
// uncorrelated and have equal scales. If it doesn't, solveNewton begins anew.
func solveDual(ctx context.Context, task *optimize.Task, opt Settings) (*optimize.Solution, error) {
	after, descend := optimize.Tally{Start: time.Now()}, dualdescent.Hinge
	if opt.Loss == SquaredHinge {
		descend = dualdescent.SquaredHinge
	}
	mostPasses := task.Epochs
	if hasFewRows(task.Rows.Rows(), task.Rows.Spec().Cols()) {
		mostPasses = min(mostPasses, mostDualPasses)
	}
	if saved := task.Checkpoint.SavedName(); saved == "" || saved == optimize.StateOfDual {
		s, err := descend(ctx, task, mostPasses)
		if err != nil || mostPasses == task.Epochs || s.Gap() <= optimize.ConvergedGap*s.Objective {
			return s, err
		}
		after.VisitedRows, after.Steps = s.Visits, s.Steps
	}
	return solveNewton(ctx, task, opt.Loss, after)
}

// begin makes the options ready for the rows.
func begin(ctx context.Context, src block.Source, opt *Settings) (block.Source, error) {
	src, err := Learner.Begin(ctx, src, opt)
	if err != nil {
		return nil, err
	}
	if opt.L2 == 0 && opt.L1 == 0 {
		opt.L2 = 1
	}
	spec := src.Spec()
	opt.Epochs = cmp.Or(opt.Epochs, opt.Loss.epochs(spec.Vectors(), spec.Cols()))
	if len(spec.Classes) > 2 {
		return src, nil
	}
	return src, learner.TwoClasses(spec)
}

// Path follows a path; see learner.PathFollower and optimize.Task.Path.
func (algorithm) Path(ctx context.Context, src block.Source, s learner.Settings, share float64, n int, penalties []float64) (
	[]*learner.PathMinimum, error) {
	opt := *s.(*Settings)
	opt.L1 = 1
	opt.L2 *= share
	src, err := begin(ctx, src, &opt)
	if err != nil {
		return nil, err
	}
	return taskOf(src, opt).Path(ctx, n, penalties)
}

// SumLosses sums losses; see learner.PathFollower.
func (algorithm) SumLosses(ctx context.Context, src block.Source, s learner.Settings, weights [][]float64) ([]float64, error) {
	return newProblem(src, *s.(*Settings)).sumLosses(ctx, weights)
}

// Learner describes the support vector machine.
var Learner = &learner.Learner{Name: "svm", FullName: "support vector machine", Algorithm: algorithm{},
	Objective: "the sum of max(0, 1 - y(w.x+b))^2, or without the square, + l1 |w|_1 + 1/2 l2 |w|^2",
	WhenToUse: "the fewest errors on new rows, with a proof of the optimum",
	Options:   []learner.Option{epochsOption, learner.L1Option, learner.NonNegativeOption, l2Option, lossOption},
	Example:   "--loss hinge --l2 0.1"}

type algorithm struct{}

func (algorithm) New() learner.Settings {
	return &Settings{Options: Options{L2: 1, Loss: SquaredHinge}, Run: learner.Run{Seed: 1}}
}

func (algorithm) Classes(s learner.Settings) learner.Classes {
	return learner.Classes{VersusOnly: s.(*Settings).versusOptions(), IsRandom: true}
}

func (algorithm) RefusedOption(s learner.Settings) *learner.OptionError {
	return s.(*Settings).refusedOption()
}

func (algorithm) SolverTexts(m *model.Model) []string {
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
	return learner.StepsSummary(m, methodOf(m), sum)
}

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options { return learner.Options{Epochs: s.Epochs, Run: s.Run} }

// methodOf names the method that trained two classes without an L1 penalty.
func methodOf(m *model.Model) string {
	if len(m.Weights) == 0 {
		return "Newton's"
	}
	rows, cols := m.Training.Rows, len(m.Weights[0])+min(len(m.Bias), 1)
	switch {
	case !Loss(m.Options.Loss).usesDualDescent(rows, cols):
		return "Newton's"
	case hasFewRows(rows, cols):
		return "dual coordinate descent, or Newton's method if that is slow,"
	}
	return "dual coordinate descent"
}

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

func (algorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
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
