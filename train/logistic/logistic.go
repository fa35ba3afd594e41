// Package logistic trains linear classifiers by logistic regression: for two classes, or multinomial.
package logistic

import (
	"cmp"
	"context"

	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/train/learner"
)

// Train finds the weights with the greatest likelihood, or with a penalty the greatest penalised likelihood. Labels y
// are -1 and +1, or class numbers if there are more than two classes.
//
// Objective: weights w, including the bias, that minimise 1/2 l2 |w|^2 + sum over rows of log(1 + e^(-y (w.x))). The
// bias is not penalised. Let p = 1/(1 + e^(-w.x)). The gradient is g = l2 w + X'(p - (y+1)/2), and the Hessian is
// H = l2 I + X' diag(p(1-p)) X.
//
// With K > 2 classes, each class has weights w_k. Let p_k = e^(w_k.x) / sum over j of e^(w_j.x). The objective is 1/2
// l2 sum of |w_k|^2 - sum over rows of log p_y, the multinomial likelihood (Hastie, Tibshirani and Friedman, "The
// Elements of Statistical Learning", section 4.4). The gradient is g_k = l2 w_k + X'(p_k - [y = k]). Adding one vector
// to every w_k changes no p_k. The sum of the result's weights over the classes is 0 up to rounding, and so is the sum
// of the gradients.
//
// Newton runs Newton's method with Hessians; see optimize.Newton. With many rows, it begins at the optimum of a sample.
// Standard errors are the square roots of the diagonal of H^-1 at the weights of the result; the penalty is part of H. A
// column that is a linear combination of other columns, up to the rounding of its elements, gets a weight of 0. If H is
// still singular, the steps add a small ridge to H. The objective has no ridge.
//
// Truncated needs a penalty. It finds each step of Newton's method by conjugate gradients; see package optimize. It
// makes more passes than Newton, and each takes far less time than a pass with a Hessian. It computes no standard
// errors. It replaces Newton with more than 16,384 columns, for which a Hessian is too large.
//
// LBFGS works in other variables, which make the Hessian at zero weights the identity; see optimize.LBFGS. With more than
// 256 columns, the variables belong to features minus their mean, scaled so that the Hessian's diagonal at zero weights
// is 1. LBFGS stops when the norm of the gradient in these variables is 1e-10 of the norm at zero weights, or when
// rounding allows no further step. If that takes many passes and all classes together have up to 1,024 weights, Newton's
// method continues from zeros.
//
// SGD visits rows in batches, or one by one if there are more than 16,384 columns, in opt.Order; see descent. Every
// order but Cyclic, and opt.Shards above 1, need src to be a *block.Data or a block.Seekable.
//
// Converged means that the objective of Weights is proven to be within 1e-6 of the optimum, relative to the objective,
// or with SGD within 1e-3. Without a penalty, all solvers look for planes that separate the rows, also
// with rows on the plane. They don't if it is proven that no such plane exists. If they find neither a plane nor a
// proof, the result hasn't converged. If a column in DependentColumns differs from its combination by the rounding of
// its elements, the optimum is the optimum of the other columns, and Gap is infinite. Differences that tell the classes
// don't count as rounding errors.
//
// Train first subtracts a number near their values from columns that are far from zero, such as Unix seconds; see
// learner.Pivots.
//
// A row with sample weight k counts as k rows in the sums, in the loss of the result and, without opt.Robust, in the
// standard errors. With SGD, its step is k times as long.
//
// Sums are float64, in the order of linalg.Panel within a chunk, and then over the chunks in row order. With
// Truncated, or with L1 and more than 16,384 columns, the order of sums is the order of package optimize. The result
// depends neither on opt.Workers nor on the kind of the source. Errors: options out of range, no rows, fewer than two
// classes, features that overflow, too many columns or classes for Newton, errors of src, and ctx's error. An error
// that wraps ErrSeparable names the class if a plane has one class alone on one side and two or more others on the
// other.
func Train(ctx context.Context, src block.Source, opt Settings) (*Result, error) {
	return train(ctx, learner.Task{Rows: src}, opt)
}

func train(ctx context.Context, task learner.Task, opt Settings) (*Result, error) {
	src, err := begin(ctx, task.Rows, &opt)
	if err != nil {
		return nil, err
	}
	if opt.Solver == SGD {
		task.Rows, task.Settings = src, &opt
		return trainSGD(ctx, task, &opt)
	}
	rows, pivots, err := learner.CentredRows(ctx, src)
	if err != nil {
		return nil, err
	}
	method := learn
	switch {
	case opt.needsElastic() || opt.Solver == Truncated:
		method = learnMethod
	case opt.Solver == Auto:
		method = learnWide
	}
	r, err := method(ctx, rows, pivots, opt)
	if err != nil {
		return r, err // with the weights so far
	}
	return r, learner.Evaluate(ctx, src, opt.Workers, &r.Result)
}

// begin makes the options ready for the rows, and chooses the solver.
func begin(ctx context.Context, src block.Source, opt *Settings) (block.Source, error) {
	src, err := Learner.Begin(ctx, src, opt)
	if err != nil {
		return nil, err
	}
	if len(src.Spec().Classes) < 2 {
		return nil, learner.TwoClasses(src.Spec())
	}
	if opt.Solver, err = choose(opt, src.Spec()); err != nil {
		return nil, err
	}
	if opt.Shards > 1 && opt.Solver != SGD {
		return nil, message.Errorf("--shards need the --solver sgd: use it, or leave them out")
	}
	opt.Eta, opt.Epochs = cmp.Or(opt.Eta, 1), cmp.Or(opt.Epochs, opt.Solver.epochs(src.Spec().Cols()))
	return src, nil
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
	return taskOf(src, *s.(*Settings)).Losses(ctx, weights)
}

// Learner describes logistic regression.
var Learner = &learner.Learner{Name: "logistic", FullName: "logistic regression", Algorithm: algorithm{},
	Objective: "the sum of log(1 + e^(-y(w.x+b))), or of -log p of each row's class, + l1 |w|_1 + 1/2 l2 |w|^2",
	WhenToUse: "probabilities, and standard errors of weights", Example: "--l2 0.1",
	Options: []learner.Option{epochsOption, learner.L1Option, learner.NonNegativeOption,
		{Name: "l2", Value: "NUMBER", Help: "Penalty on the weights: 1/2 l2 |w|^2 is added to the sum of losses. The " +
			"bias is not penalised.",
			AllowedNumbers: "a penalty of 0 or more", IsAllowed: func(v float64) bool { return v >= 0 },
			KeepZero: func(s learner.Settings) { s.(*Settings).NoPenalty = true },
			Field:    learner.FieldOf(func(o *Settings) any { return &o.L2 })}, solverOption,
		sgdOption(learner.OrderOption, learner.StoredIfChanged, false),
		sgdOption(learner.EtaOption, learner.StoredAlways, true),
		sgdOption(learner.ShardsOption, learner.StoredIfSeveral, false)}}

type algorithm struct{}

func (algorithm) New() learner.Settings {
	return &Settings{Options: Options{Order: learner.Cyclic, Shards: 1, L2: 1, Solver: Auto}, Run: learner.Run{Seed: 1}}
}

func (algorithm) SetSpecialDefaults(s learner.Settings) {
	if o := s.(*Settings); o.L2 == 0 && o.L1 == 0 && !o.NoPenalty {
		o.L2 = 1
	}
}

func (algorithm) Classes(s learner.Settings) learner.Classes {
	c := learner.Classes{TogetherByDefault: true}
	if s.(*Settings).needsElastic() {
		c.VersusOnly = message.Sprintf("--l1 or --nonnegative")
	}
	return c
}

func (algorithm) RefusedOption(s learner.Settings) *learner.OptionError {
	return s.(*Settings).refusedOption()
}

func (algorithm) IsScaleFree(s learner.Settings) bool {
	return s.(*Settings).L2 == 0 && !s.(*Settings).needsElastic() && s.(*Settings).Solver != SGD
}

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options {
	return learner.Options{Order: s.Order, Epochs: s.Epochs, Eta: s.Eta, Shards: s.Shards, Run: s.Run}
}

// New returns logistic regression with options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(Learner, &Settings{Options: o})
}

var (
	epochsOption = learner.Option{Name: "epochs", Value: "NUMBER",
		Help: "Most passes over the rows. The default is 1000 with --solver lbfgs and truncated, and with --l1 for " +
			"more than 16,384 columns; else 100.", AllowedNumbers: "1 or more", ZeroMeansChosen: true,
		IsAllowed: func(v float64) bool { return v >= 1 }, Stored: learner.StoredIfChanged, Field: learner.EpochsOption.Field}
	solverOption = learner.Option{Name: "solver",
		Help: "How to find the optimum: Newton's method (newton), the same with steps by conjugate gradients " +
			"(truncated), L-BFGS (lbfgs) or stochastic gradient descent (sgd). For two classes, auto is newton with " +
			"up to 256 columns, and with more and --l2 above 0 lbfgs where that is quick, otherwise truncated. Else " +
			"it is lbfgs.",
		Words: learner.WordsOf(Solvers), MustExist: true, Stored: learner.StoredElsewhere,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Solver })}
)

// sgdOption returns an option that only the solver SGD uses.
func sgdOption(o learner.Option, keep learner.StoredIf, auto bool) learner.Option {
	o.Condition, o.Stored, o.ZeroMeansChosen = &learner.Condition{Option: "solver", Values: []string{string(SGD)}}, keep, auto
	return o
}

func (algorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	opt := *task.Settings.(*Settings)
	robust, err := hasFractionalWeights(ctx, task)
	if err != nil {
		return nil, err
	}
	opt.Robust = opt.Robust || robust
	opt.NoPenalty = true // the settings are complete
	r, err := train(ctx, *task, opt)
	if r == nil {
		return nil, err
	}
	return &learner.TaskResult{Result: &r.Result, OwnResult: r, AddToModel: func(m *model.Model) { r.addToModel(m, &opt) }}, err
}
