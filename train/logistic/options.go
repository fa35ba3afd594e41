package logistic

import (
	"errors"
	"fmt"

	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
)

// A Solver is a way to the optimum.
type Solver string

const (
	Auto   Solver = "auto"   // Newton of two classes and up to 256 columns, else LBFGS
	Newton Solver = "newton" // few passes with the matrix of second derivatives, and standard errors; of two classes
	LBFGS  Solver = "lbfgs"  // any number of columns
	SGD    Solver = "sgd"    // near to the optimum in few passes
)

// Solvers lists every solver, the default first.
var Solvers = []Solver{Auto, Newton, LBFGS, SGD}

// Epochs returns the most passes over the rows by default. Of LBFGS few are the rule, but many may be needed, as with features
// that nearly depend on each other.
func (s Solver) Epochs() int64 {
	if s == LBFGS {
		return 1000
	}
	return 100
}

// Options are the options of Train. Of train.Options it uses Epochs, the most passes over the rows, by default 100, or 1,000 for LBFGS,
// Workers, Progress and, for SGD, Eta.
type Options struct {
	train.Options
	L2     float64 // the penalty, 0 or more
	Solver Solver  // Auto
	Robust bool    // the weights of rows aren't counts: standard errors are those of the sandwich estimator
}

// Result is what Train learned. Of train.Result, Weights are Exact rounded to T, and Errors, Radius, Norm and Margin are theirs;
// Epochs are passes over the rows but for those that prove the result or measure its errors, Updates steps, and Loss is the sum over rows of log(1 + e^(-y (w.x))), or of -log p of the row's
// class, the penalty left out.
type Result[T kernel.Float] struct {
	train.Result[T]
	Exact     []float64 // the weights, one for each column of the data, the bias last where there is one; of more than two classes so for each
	Solver    Solver    // the one that was chosen
	StdErrors []float64 // of each weight, see Train; nil if Ridge isn't 0, columns depend on each other, or the solver isn't Newton
	Ridge     float64   // what the scaled diagonal of the Hessian took to be regular, see dense.Factorise; 0 if nothing
	Gradient  float64   // at the end; of Newton, sqrt(g' H^-1 g), the distance from the optimum in standard errors; else relative to that of zeros, and 0 of SGD

	Objective float64            // Loss and the penalty, of Weights
	Gap       float64            // Objective is above the optimum by at most this; +Inf where no bound is known
	Rounded   bool               // the gap of Exact is small enough, that of Weights isn't
	Dependent []dense.Dependence // columns that are sums of multiples of others but for rounding, and whose weights are 0 therefore
}

// ErrSeparable is returned where weights without penalty would grow for ever.
var ErrSeparable = errors.New("a plane separates the classes, so that the loss has no minimum and weights grow without end: " +
	"set l2 above 0, such as 1, or learn with a perceptron")

var errWeightless = errors.New("every row weighs 0: there is nothing to learn from")

// choose returns the solver for such rows.
func choose(solver Solver, spec *schema.Spec) (Solver, error) {
	classes, cols := len(spec.Classes), spec.Cols()
	switch solver {
	case "", Auto:
		if classes == 2 && cols <= widest {
			return Newton, nil
		}
		return LBFGS, nil
	case Newton:
		if classes > 2 {
			return "", fmt.Errorf("column %q: %d classes are too many for the solver newton, which takes two: use lbfgs, or learn one class versus the rest", spec.Label, classes)
		}
		if cols > maxColumns {
			return "", fmt.Errorf("%d columns are too many for the solver newton, which takes up to %d: use lbfgs", cols, maxColumns)
		}
	case LBFGS, SGD:
	default:
		return "", fmt.Errorf("unknown solver %q: use one of %v", solver, Solvers)
	}
	return solver, nil
}
