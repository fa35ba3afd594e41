package svm

import (
	"halfspace/internal/message"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// Loss is the loss of a row as a function of its margin m = y (w.x).
type Loss string

const (
	SquaredHinge Loss = "squared_hinge" // max(0, 1-m)^2, the default
	Hinge        Loss = "hinge"         // max(0, 1-m)
)

// Losses lists every loss, the default first.
var Losses = []Loss{SquaredHinge, Hinge}

// Epochs returns the default limit of passes over rows of two classes and up to 256 columns.
func (l Loss) Epochs() int64 { return l.epochs(1, optimize.MostHessianColumns) }

// epochs returns the default limit of passes over the rows. Most data take 3 to 20 passes; few or difficult rows take
// up to 130. Newton's method makes more passes if it finds its steps by conjugate gradients. Most passes over the rows
// of more than two classes visit few rows.
func (l Loss) epochs(vectors, cols int) int64 {
	switch {
	case vectors > 1:
		return 10_000
	case l == Hinge || hasManyColumns(cols):
		return 1000
	}
	return 100
}

// Options are the options of Train. The zero value of a field stands for its default.
type Options struct {
	// Epochs is the limit of passes over the rows; 100, or 1,000 with the hinge or more than 256 columns, or 10,000 with
	// more than two classes, for which Run.Seed orders the visits.
	Epochs int64

	Loss Loss // SquaredHinge
	// L2 is the penalty 1/2 L2 |w|^2, above 0; 1. LIBLINEAR's C is 1/L2. With L1 above 0, L2 may be 0, and 0 is its
	// default.
	L2 float64
	L1 float64 // penalty L1 |w|_1, 0 or more, for the squared hinge

	NonNegative bool // weights other than the bias must be 0 or more; for the squared hinge
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// Result is the result of Train. Weights are ExactWeights rounded to float32. Errors, Radius, Norm, Margin, Loss,
// Objective and Gap are computed from Weights. Epochs counts passes over all rows. Visits counts the rows of all
// passes, including passes over some of the rows. Updates counts steps. Loss is the sum over the rows of loss times
// sample weight, without the penalty. Converged says that Gap is at most 1e-6 of Objective.
type Result struct {
	learner.Result
	// ExactWeights is the weights, one for each column, the bias last. For more than two classes it has one vector for
	// each class.
	ExactWeights      []float64
	Objective         float64 // Loss plus the penalty
	Gap               float64 // Objective is above the optimum by at most this; at least 0
	GapLostByRounding bool    // the gap is small enough at ExactWeights, but not at Weights
}

const mostDualPasses = 128 // see solveDual

// hasManyColumns tells whether Newton's method finds its steps by conjugate gradients: with more than 256 columns.
func hasManyColumns(cols int) bool { return cols > optimize.MostHessianColumns }

// usesDualDescent tells whether dual coordinate descent finds the optimum. It takes few passes if the rows are few
// relative to the columns. If they are many, Newton's method is as fast on one core, and uses all cores.
func (l Loss) usesDualDescent(rows int64, cols int) bool {
	return hasManyColumns(cols) && hasFewRows(rows, cols) || l == Hinge && optimize.HasManyColumns(cols) && rows <= 5*int64(cols)
}

// hasFewRows tells whether rows are fewer than their columns.
func hasFewRows(rows int64, cols int) bool { return rows < int64(cols) }

// refusedOption returns the error of the option that l1 or nonnegative excludes, or nil.
func (o *Settings) refusedOption() *learner.OptionError {
	if !o.needsElastic() || o.Loss != Hinge {
		return nil
	}
	return message.Refusal("loss", string(Hinge), "with %s, which takes %s alone: leave one of them out",
		message.Option(o.penalty().Option()), SquaredHinge)
}

// needsElastic tells whether the options need Task.Elastic of package optimize: l1 is above 0, or nonnegative is set.
func (o *Settings) needsElastic() bool { return o.penalty().NeedsElastic() }

func (o *Settings) penalty() optimize.Penalty {
	return optimize.Penalty{L1: o.L1, L2: o.L2, NonNegative: o.NonNegative}
}
