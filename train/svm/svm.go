// Package svm trains linear support vector machines. The squared hinge takes two classes, the hinge also more than two.
package svm

import (
	"cmp"
	"context"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/train/internal/dualdescent"
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
func (l Loss) Epochs() int64 { return l.epochs(1, mostHessianColumns) }

// epochs returns the default limit of passes over the rows. Most data take 3 to 20 passes; few or difficult rows take up
// to 130. Newton's method makes more passes if it finds its steps by conjugate gradients. Most passes over the rows of
// more than two classes visit few rows.
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
	// Epochs is the limit of passes over the rows; 100, or 1,000 with the hinge or more than 256 columns, or 10,000 with more
	// than two classes, for which Run.Seed orders the visits.
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

const (
	tolerance          = 1e-6 // a result has converged if its gap is at most this times the objective
	normTolerance      = 1e-6 // norm of the gradient at which Newton's method stops
	mostHessianColumns = 256  // a Hessian is used with up to this many columns, without L1 and NonNegative
	kinkErrors         = 4    // a row is near its kink within this times the error of scores in a sample's optimum
)

// Train finds the linear support vector machine of rows with labels y of -1 and +1.
//
// Objective: weights w, including the bias, that minimise 1/2 l2 |w|^2 + sum over rows of c times the loss of the
// margin y (w.x). The bias is not penalised. c is the sample weight: a row with c = k counts as k rows.
//
// Train stops by the duality gap. The dual problem has a variable a for each row. It maximises sum a - |sum a y x|^2 /
// (2 l2), and for the squared hinge this minus sum a^2 / 4c. Its constraints are a >= 0, for the hinge also a <= c, and
// with a bias sum a y = 0. Train scales down the a of one class to meet the last constraint. The dual objective is a
// lower bound of the optimum. Train stops when the objective of w is above the bound by at most 1e-6 of itself, or 1e-8
// for the squared hinge. Then it rounds w to float32 and measures the gap again.
//
// For the squared hinge, Train runs Newton's method on the active set (Mangasarian, "A Finite Newton Method for
// Classification", Optimization Methods and Software 17, 2002; Keerthi and DeCoste, "A Modified Finite Newton Method
// for Fast Solution of Large Scale Linear SVMs", Journal of Machine Learning Research 6, 2005), as Task.Elastic of
// package optimize. A step is w = w - H^-1 g with g = l2 w - sum a y x and a = 2c max(0, 1-m). H is
// l2 I + X' diag(s) X, where s is 2c for rows with a loss above 0, and 0 for other rows. One pass over the rows computes
// g, the objectives and H. It updates H by the rows that enter or leave the active set.
//
// With more than 256 columns, a Hessian takes long. Train then finds each step by conjugate gradients, and stops at a
// gap of 5e-7; see Task.Truncated of package optimize. With more than 16,384 columns, and at most five times as many rows as columns, the
// hinge is trained by dual coordinate descent.
//
// For the hinge, Train runs the augmented Lagrangian method on the dual problem, with Newton's method inside (Yan and
// Li, "An Efficient Augmented Lagrangian Method for Support Vector Machine", Optimization Methods and Software 35,
// 2020). Each inner problem has a loss with a continuous derivative: a = min(1, max(0, base + slope (1-m))) times c.
// After each inner problem, a becomes the row's base, and the slope grows. Once few rows are near the kink of their
// loss, Train continues with only these rows. It fixes the a of the other rows at 0 or c, which makes these rows one
// sum. The next pass over all rows adds the rows that were left out wrongly. The base takes eight bytes for each row.
//
// More than two classes, with class numbers as labels, can be trained together only with the hinge. A row's loss is
// max(0, 1 - m), where m is the score of its class minus the greatest score of another class; see package dualdescent.
//
// If there are many rows of two classes, Train begins with the optimum of a sample. The sample is whole chunks of rows,
// as far from each other as possible. Train first subtracts a number near their values from columns that are far from
// zero; see learner.Pivots.
//
// Sums are float64, in the order of package dense within a chunk, and then over the chunks in row order. The result depends
// neither on opt.Workers nor on the kind of the source. Errors: options out of range, no rows, fewer than two classes,
// features that overflow, errors of src, and ctx's error.
//
// With more than 256 columns, or with L1 or NonNegative and more than 16,384 columns, the order of sums is the order of
// package optimize. More than two classes have the order of package dualdescent.
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
	r.Loss, r.Converged = s.Loss, s.Gap() <= tolerance*s.Objective
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

func resultOf(l *optimize.RoundedSolution) *Result {
	return &Result{Result: l.Result, ExactWeights: l.ExactWeights, Objective: l.Objective, Gap: l.Gap,
		GapLostByRounding: l.GapLostByRounding}
}

// solve returns the exact weights, with the solver for the loss and the size of the rows.
func solve(ctx context.Context, task *optimize.Task, opt Settings) (*optimize.Solution, error) {
	src, cols := task.Rows, task.Rows.Spec().Cols()
	switch {
	case opt.needsElastic():
		return task.Elastic(ctx)
	case opt.Loss == SquaredHinge && !hasManyColumns(cols):
		return solveSquared(ctx, task, opt)
	case opt.Loss == SquaredHinge:
		return task.Truncated(ctx)
	case usesDualDescent(src.Rows(), cols):
		return dualdescent.Hinge(ctx, task)
	}
	return task.Hinge(ctx)
}

// hasManyColumns tells whether Newton's method finds its steps by conjugate gradients: with more than 256 columns.
func hasManyColumns(cols int) bool { return cols > mostHessianColumns }

// usesDualDescent tells whether dual coordinate descent finds the optimum of the hinge. It takes few passes if the rows
// are few relative to the columns. If they are many, Newton's method is as fast on one core, and uses all cores.
func usesDualDescent(rows int64, cols int) bool {
	return optimize.HasManyColumns(cols) && rows <= 5*int64(cols)
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
