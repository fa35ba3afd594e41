package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/distributed"
	"halfspace/internal/linalg"
	"halfspace/internal/message"
	"halfspace/model"
	"halfspace/train/learner"
)

// Learner describes logistic regression.
var Learner = &learner.Learner{Name: "logistic",
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
		sgdOption(learner.ShardsOption, learner.StoredIfSeveral, false)},
	New: func() learner.Settings {
		return &Settings{Options: Options{Order: learner.Cyclic, Shards: 1, L2: 1, Solver: Auto}, Run: learner.Run{Seed: 1}}
	},
	SetSpecialDefaults: func(s learner.Settings) {
		if o := s.(*Settings); o.L2 == 0 && o.L1 == 0 && !o.NoPenalty {
			o.L2 = 1
		}
	},
	VersusOnlyOption: func(s learner.Settings) string {
		if s.(*Settings).needsElastic() {
			return message.Sprintf("--l1 or --nonnegative")
		}
		return ""
	},
	RefusedOption:    func(s learner.Settings) *learner.OptionError { return s.(*Settings).refusedOption() },
	ScoresAreLogOdds: true, SolvesForOptimum: true, JointClasses: true, JointByDefault: true,
	IsScaleFree: func(s learner.Settings) bool {
		return s.(*Settings).L2 == 0 && !s.(*Settings).needsElastic() && s.(*Settings).Solver != SGD
	},
	SolverTexts: story}

func init() { Learner.Train = learnTask } // set here, because Train makes its options ready with Learner

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
			"up to 256 columns, and truncated with more and --l2 above 0. Else it is lbfgs.",
		Words: learner.WordsOf(Solvers), MustExist: true, Stored: learner.StoredElsewhere,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Solver })}
)

// sgdOption returns an option that only the solver SGD uses.
func sgdOption(o learner.Option, keep learner.StoredIf, auto bool) learner.Option {
	o.Condition, o.Stored, o.ZeroMeansChosen = &learner.Condition{Option: "solver", Values: []string{string(SGD)}}, keep, auto
	return o
}

func learnTask(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
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
	err := distributed.Reduce(ctx, task.Rows, task.Settings.RunOptions().Workers, fractionPass, struct{}{}, hasFraction,
		func(b bool) { broken = broken || b })
	return broken, err
}

// fractionPass finds sample weights that aren't whole numbers.
var fractionPass = distributed.NewPerChunk("logistic.broken", func(block.Source, struct{}) func(block.Chunk) bool { return hasFraction })

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

func story(m *model.Model) []string {
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
