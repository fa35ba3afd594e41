package logistic

import (
	"errors"
	"fmt"

	"halfspace/internal/dense"
	"halfspace/schema"
	"halfspace/train"
)

// A Solver is a method to find the optimum.
type Solver string

const (
	Auto      Solver = "auto"      // for two classes Newton with up to 256 columns, and Truncated with more and l2 above 0; else LBFGS
	Newton    Solver = "newton"    // two classes: few passes, with the Hessian; standard errors
	Truncated Solver = "truncated" // two classes and l2 above 0, any number of columns: Newton's method, with steps by conjugate gradients
	LBFGS     Solver = "lbfgs"     // any number of columns and classes
	SGD       Solver = "sgd"       // comes near the optimum in few passes
)

// Solvers lists every solver, the default first.
var Solvers = []Solver{Auto, Newton, Truncated, LBFGS, SGD}

// Epochs returns the default of the most passes over the rows. LBFGS and Truncated mostly take few, but many if features
// nearly depend on each other.
func (s Solver) Epochs() int64 {
	if s == LBFGS || s == Truncated {
		return 1000
	}
	return 100
}

// epochs is Epochs for rows of that many columns. Coordinate descent makes more passes if there is a penalty l1.
func (s Solver) epochs(cols int) int64 {
	if s == Newton && wide(cols) {
		return LBFGS.Epochs()
	}
	return s.Epochs()
}

// Options are the options of Train. The zero value of a field stands for its default. Of train.Options it uses Epochs, Workers, Progress and, for SGD, Eta, Order, Seed and
// Shards. Epochs is the most passes over the rows. Its default is 100, or 1,000 for LBFGS and Truncated, and with L1 and more
// than 16,384 columns.
type Options struct {
	train.Options
	L2     float64 // the penalty 1/2 L2 |w|^2, 0 or more; 1, or 0 if L1 is above 0
	L1     float64 // the penalty L1 |w|_1, 0 or more, of two classes; see package elastic
	Solver Solver  // Auto

	NoPenalty bool // an L2 of 0 is no penalty, and not the default

	NonNegative bool // weights other than the bias are 0 or more; it needs a penalty, and two classes

	Robust bool // standard errors are those of the sandwich estimator, for sample weights that aren't counts
}

// defaultL2 replaces an L2 of 0 by the default, unless no penalty or another one is asked for.
func (o *Options) defaultL2() {
	if o.L2 == 0 && o.L1 == 0 && !o.NoPenalty {
		o.L2 = 1
	}
}

// Result is what Train learned. Of train.Result, Weights are Exact rounded to float32, and Errors, Radius, Norm and Margin
// are those of Weights. Epochs counts passes over the rows, without those that prove the result or measure its errors.
// Updates counts steps. Loss is the sum over rows of log(1 + e^(-y (w.x))), or of -log p of the row's class, without
// the penalty.
type Result struct {
	train.Result
	Exact     []float64 // the weights, one for each column, the bias last; with more than two classes a vector for each
	Solver    Solver    // the solver that ran
	StdErrors []float64 // of each weight, see Train, 0 of columns in Dependent; nil if Ridge isn't 0 or the solver isn't Newton
	Ridge     float64   // what was added to the scaled diagonal of the Hessian, see dense.Factorise; mostly 0
	Gradient  float64   // Newton: sqrt(g' H^-1 g) at the end; LBFGS: the norm of the gradient, relative to that at zeros; SGD: 0

	Objective float64            // Loss and the penalty, of Weights
	Gap       float64            // Objective is above the optimum by at most this; +Inf if no bound is known
	Rounded   bool               // the gap of Exact is small enough, but that of Weights isn't
	Dependent []dense.Dependence // columns that are linear combinations of others, up to rounding; their weights are 0
}

// ErrSeparable is the error if there is no penalty and weights would grow without end.
var ErrSeparable = errors.New("a plane separates the classes, so that the loss has no minimum and weights grow without end: " +
	"set l2 above 0, such as 1, or learn with a perceptron")

var errWeightless = errors.New("every row has a sample weight of 0: there is nothing to learn from")

// choose returns the solver for rows of these columns and classes.
func choose(opt *Options, spec *schema.Spec) (Solver, error) {
	solver, classes, cols := opt.Solver, len(spec.Classes), spec.Cols()
	switch solver {
	case "", Auto:
		switch {
		case classes == 2 && (cols <= widest || opt.elastic()):
			return Newton, nil
		case classes == 2 && opt.L2 > 0:
			return Truncated, nil
		}
		return LBFGS, nil
	case Newton, Truncated:
		if classes > 2 {
			return "", fmt.Errorf("column %q: %d classes are too many for the solver %s, which takes two: use lbfgs, or learn one class versus the rest", spec.Label, classes, solver)
		}
		if solver == Truncated && opt.L2 == 0 {
			return "", errors.New("the solver truncated needs a penalty: set l2 above 0, or use newton or lbfgs")
		}
		if !wide(cols) || opt.elastic() {
			return solver, nil
		}
		if opt.L2 == 0 {
			return "", fmt.Errorf("%d columns are too many for the solver newton without a penalty, which takes up to %d: use lbfgs, or set l2 above 0", cols, maxColumns)
		}
		return Truncated, nil
	case LBFGS, SGD:
	default:
		return "", fmt.Errorf("unknown solver %q: use one of %v", solver, Solvers)
	}
	return solver, nil
}
