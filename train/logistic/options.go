package logistic

import (
	"halfspace/internal/linalg"
	"halfspace/internal/message"
	"halfspace/schema"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// A Solver is a method that finds the optimum.
type Solver string

const (
	// Auto is, for two classes, Newton with up to 256 columns. With more columns and l2 above 0 it is LBFGS for dense
	// rows if its first steps are quick, and otherwise Truncated. Else it is LBFGS.
	Auto   Solver = "auto"
	Newton Solver = "newton" // two classes: few passes, with the Hessian; computes standard errors
	// Truncated takes two classes, l2 above 0 and any number of columns. It is Newton's method with steps by conjugate
	// gradients.
	Truncated Solver = "truncated"
	LBFGS     Solver = "lbfgs" // any number of columns and classes
	SGD       Solver = "sgd"   // comes near the optimum in few passes
)

// Solvers lists every solver, the default first.
var Solvers = []Solver{Auto, Newton, Truncated, LBFGS, SGD}

// Epochs returns the default limit of passes over rows of up to 16,384 columns.
func (s Solver) Epochs() int64 { return s.epochs(optimize.MaxColumns) }

// epochs returns the default limit of passes over rows of cols columns. LBFGS and Truncated mostly make few passes, but
// many if features nearly depend on each other. Newton with more than 16,384 columns is coordinate descent, which makes
// more passes.
func (s Solver) epochs(cols int) int64 {
	if s == LBFGS || s == Truncated || s == Auto && cols > optimize.MostHessianColumns || s == Newton && optimize.HasManyColumns(cols) {
		return 1000
	}
	return 100
}

// Options are the options of Train. The zero value of a field stands for its default.
type Options struct {
	// Epochs is the limit of passes over the rows; 100, or 1,000 for LBFGS and Truncated, and with L1 and more than 16,384
	// columns.
	Epochs int64

	// Order, Eta, Shards are options of the solver SGD: the order of the rows in an epoch, Cyclic; the learning rate, in
	// (0, 1], 1; the shards of the rows, which learn apart in each epoch, after which their weights are mixed, 1.
	Order  learner.Order
	Eta    float64
	Shards int64

	L2     float64 // penalty 1/2 L2 |w|^2, 0 or more; 1, or 0 if L1 is above 0
	L1     float64 // penalty L1 |w|_1, 0 or more, for two classes
	Solver Solver  // Auto

	NoPenalty bool // L2 0 means no penalty, not the default

	NonNegative bool // weights other than the bias must be 0 or more; needs a penalty and two classes

	Robust bool // standard errors by the sandwich estimator, for sample weights that aren't counts
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// Result is the result of Train. Of learner.Result, Weights are ExactWeights rounded to float32, and Errors, Radius,
// Norm and Margin are computed from Weights. Epochs counts passes over the rows, without passes that prove the result
// or measure its errors. Updates counts steps. Loss is the sum over the rows of log(1 + e^(-y (w.x))), or of -log p of
// the row's class, without the penalty.
type Result struct {
	learner.Result
	// ExactWeights is the weights, one for each column, the bias last. With more than two classes it has one vector for
	// each class.
	ExactWeights []float64
	Solver       Solver // the solver that ran
	// StdErrors has the standard error of each weight, see Train; 0 for columns in DependentColumns. It is nil if Ridge
	// isn't 0 or the solver isn't Newton.
	StdErrors []float64
	Ridge     float64 // number added to the scaled diagonal of the Hessian, see linalg.Factorise; mostly 0
	// Gradient is sqrt(g' H^-1 g) at the end for Newton; the norm of the gradient relative to its norm at zero weights
	// for LBFGS; and 0 for SGD.
	Gradient float64

	Objective         float64             // Loss plus the penalty, at Weights
	Gap               float64             // Objective is above the optimum by at most this; +Inf if no bound is known
	GapLostByRounding bool                // the gap is small enough at ExactWeights, but not at Weights
	DependentColumns  []linalg.Dependence // columns that are linear combinations of others, up to rounding; their weights are 0
}

// ErrSeparable is the error of rows that a plane separates, without a penalty: the weights would grow without end.
var ErrSeparable error = message.Constant("a plane separates the classes, so that the loss has no minimum and weights " +
	"grow without end: set --l2 above 0, such as 1, or use --algo averaged")

// choose returns the solver for rows of a spec.
func choose(opt *Settings, spec *schema.Spec) (Solver, error) {
	solver, classes, cols := opt.Solver, len(spec.Classes), spec.Cols()
	if classes > 2 && opt.needsElastic() {
		return "", message.Errorf("column %q: --l1 and --nonnegative take two classes: use --multiclass ovr", spec.Label)
	}
	switch solver {
	case "", Auto:
		switch {
		case classes == 2 && (cols <= optimize.MostHessianColumns || opt.needsElastic()):
			return Newton, nil
		case classes == 2 && opt.L2 > 0:
			return Auto, nil
		}
		return LBFGS, nil
	case Newton, Truncated:
		if classes > 2 {
			return "", message.Errorf("column %q: %d classes are too many for the --solver %s, which takes two: use "+
				"--solver lbfgs, or use --multiclass ovr", spec.Label, classes, solver)
		}
		if solver == Truncated && opt.L2 == 0 {
			return "", message.Errorf("the --solver truncated needs a penalty: set --l2 above 0, or use newton or lbfgs")
		}
		if !optimize.HasManyColumns(cols) || opt.needsElastic() {
			return solver, nil
		}
		if opt.L2 == 0 {
			return "", message.Errorf("%d columns are too many for the --solver newton without a penalty, which takes up to "+
				"%d: use --solver lbfgs, or set --l2 above 0", cols, optimize.MaxColumns)
		}
		return Truncated, nil
	}
	return solver, nil
}

// refusedOption returns the error of an option that can't be used with the others because of l1 or nonnegative, or
// nil.
func (o *Settings) refusedOption() *learner.OptionError {
	if o.NonNegative && o.L1 == 0 && o.L2 == 0 {
		return message.Refusal("nonnegative", "", "needs a penalty: set --l2 or --l1 above 0")
	}
	if o.Solver == "" || o.Solver == Auto || o.Solver == Newton || !o.needsElastic() {
		return nil
	}
	return message.Refusal("solver", string(o.Solver), "with %s, which takes newton alone: leave one of them out",
		message.Option(o.penalty().Option()))
}

// needsElastic tells whether the options need Task.Elastic of package optimize: l1 is above 0, or nonnegative is set.
func (o *Settings) needsElastic() bool { return o.penalty().NeedsElastic() }

func (o *Settings) penalty() optimize.Penalty {
	return optimize.Penalty{L1: o.L1, L2: o.L2, NonNegative: o.NonNegative}
}
