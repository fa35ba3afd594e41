package lda

import (
	"halfspace/train/learner"
)

// A Solver selects the results that Train computes.
type Solver string

const (
	Cholesky Solver = "cholesky" // computes the weights
	Eigen    Solver = "eigen"    // computes the weights and the discriminant directions
)

// Solvers lists every solver, the default first.
var Solvers = []Solver{Cholesky, Eigen}

// LedoitWolf is the value of Options.Shrinkage with which Train estimates the shrinkage.
const LedoitWolf = -1

// Options are the options of Train.
type Options struct {
	Solver    Solver  // Cholesky
	Shrinkage float64 // share of a multiple of the identity in the covariance, from 0 to 1; or LedoitWolf
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// Result is the result of Train. Of learner.Result, Weights are ExactWeights rounded to float32, and Errors, Radius,
// Norm and Margin are computed from Weights. Epochs counts passes over the rows. Loss is 0.
type Result struct {
	learner.Result
	// ExactWeights is the weights: one for each column, the bias last. For more than two classes it has one vector for
	// each class.
	ExactWeights []float64
	// Means has the mean of each feature for each class. Of two classes, the class labelled -1 comes first.
	Means [][]float64
	Ridge float64 // number added to the scaled diagonal of the covariance, see linalg.Factorise; mostly 0

	Shrinkage []float64 // with LedoitWolf, the share for each class

	// Projection is the directions v of the solver Eigen, in falling order of their eigenvalues. Each has one element
	// for each feature. A row's coordinate is v.x. ExplainedShares is each eigenvalue divided by their sum.
	Projection      [][]float64
	ExplainedShares []float64
}
