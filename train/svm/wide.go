package svm

import (
	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/train/internal/optimize"
)

// many tells whether Newton's method finds its steps by conjugate gradients: with more than 256 columns.
func many(cols int) bool { return cols > fewColumns }

// byRow tells whether dual coordinate descent finds the optimum of the hinge. It takes few passes if the rows are few
// relative to the columns, and hundreds of passes if they are many.
func byRow(rows int64, cols int) bool { return optimize.Wide(cols) && rows <= 2*int64(cols) }

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
	return func(chunk block.Chunk) []float64 {
		sums := args.sums()
		var rows linalg.SparseReader
		var wide linalg.WideReader
		rows.Begin(chunk)
		for r := range chunk.Len() {
			for k, w := range args.W {
				if chunk.Weight(r) > 0 {
					addLoss(&p.loss, &args, sums, k, &wide, chunk.Block, r, 1-float64(float64(chunk.Y[r])*rows.Score(r, w)))
				}
			}
		}
		return sums
	}
}
