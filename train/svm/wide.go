package svm

import (
	"context"

	"halfspace/block"
	"halfspace/internal/csr"
	"halfspace/internal/widen"
	"halfspace/train/internal/optimize"
)

// wide tells whether there are too many columns for a Hessian: more than 16,384.
func wide(cols int) bool { return cols > maxColumns }

// many tells whether Newton's method finds its steps by conjugate gradients: with more than 256 columns.
func many(cols int) bool { return cols > fewColumns }

// epochs is Epochs for rows of cols columns. Newton's method makes more passes if it finds its steps by conjugate
// gradients.
func (l Loss) epochs(cols int) int64 {
	if many(cols) {
		return Hinge.Epochs()
	}
	return l.Epochs()
}

// solverOf returns the function that finds the exact weights for rows of cols columns, and their frame.
func solverOf(opt Options, cols int) func(context.Context, block.Source, Options) (*Result, *frame, error) {
	if many(cols) {
		return learnMany
	}
	return learn
}

// byRow tells whether dual coordinate descent finds the optimum of the hinge. It takes few passes if the rows are few
// relative to the columns, and hundreds of passes if they are many.
func byRow(rows int64, cols int) bool { return wide(cols) && rows <= 2*int64(cols) }

// learnMany is learn for more than 256 columns.
func learnMany(ctx context.Context, src block.Source, opt Options) (*Result, *frame, error) {
	var s *optimize.Solution
	var err error
	switch {
	case opt.Loss == SquaredHinge:
		s, err = (&optimize.Truncated{Options: opt.Options, Rows: src, L2: opt.L2, Loss: squaredHinges}).Solve(ctx)
	case byRow(src.Rows(), src.Spec().Cols()):
		s, err = (&optimize.DualHinge{Options: opt.Options, Rows: src, L2: opt.L2}).Solve(ctx)
	default:
		s, err = (&optimize.Hinge{Options: opt.Options, Rows: src, L2: opt.L2}).Solve(ctx)
	}
	r := &Result{Exact: s.W, Objective: s.Objective, Gap: s.Gap}
	r.Epochs, r.Visits, r.Updates, r.Loss = s.Passes, s.Passes*src.Rows(), s.Steps, s.Loss
	r.Converged = s.Gap <= tolerance*s.Objective
	return r, nil, err
}

// netOf returns the task of package coordinate, which package svm uses for more columns than a Hessian may have.
func netOf(src block.Source, opt Options) *optimize.Net {
	return &optimize.Net{Penalty: opt.penalty(), Options: opt.Options, Rows: src, Loss: squaredHinges}
}

// squaredHinges sets z to the margins, loss to the squared hinge, and factor and curvature to its derivatives by the
// score.
func squaredHinges(z, factor, curvature, loss, y []float64) {
	for i, label := range y {
		z[i] *= label
		u := max(0, 1-float64(z[i]))
		factor[i], loss[i], curvature[i] = -2*float64(label*u), u*u, 0
		if u > 0 {
			curvature[i] = 2
		}
	}
}

// wideLossesRun is lossesRun for more columns than a Hessian may have.
func (p *problem) wideLossesRun(args lossesArgs) func(block.Chunk) []float64 {
	return func(run block.Chunk) []float64 {
		sums := args.sums()
		var rows csr.Reader
		var wide widen.Reader
		rows.Begin(run)
		for r := range run.Len() {
			for k, w := range args.w {
				if run.Weight(r) > 0 {
					addLoss(&p.loss, &args, sums, k, &wide, run.Block, r, 1-float64(float64(run.Y[r])*rows.Score(r, w)))
				}
			}
		}
		return sums
	}
}
