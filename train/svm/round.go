package svm

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// lengthFactors are the relative lengths by which round lengthens the exact weights. If the rows are separable,
// rounding brings some margins below 1, which costs far more than slightly longer weights.
var lengthFactors = []float64{0x1p-24, 0x1p-22, 0x1p-20, 0x1p-18, 0x1p-16, 0x1p-14, 0x1p-12, 0x1p-10}

const (
	termError       = 0x1p-50 // this times the sizes of a score's terms is the rounding error of the score
	lastDigitsShare = 1e-12   // this times an objective is the size of its last digits
)

// round sets Weights to ExactWeights, the weights for the rows of src, rounded to float32. It sets the objective, the
// loss and the gap to their values at Weights. If the gap is too large, it takes the best of slightly longer weights.
// It makes one pass over the rows, or two. If pivots isn't nil, the rows are the original rows minus the pivots;
// Weights and then ExactWeights are for the original rows. The passes use the rows minus the pivots, because scores of
// the original rows lose digits. The gap includes the rounding errors of the objective if they are more than the
// objective's last digits.
func (r *Result) round(ctx context.Context, src block.Source, pivots []float64, opt Settings) error {
	p, lower := newProblem(src, opt), r.Objective-r.Gap
	if pivots != nil {
		learner.Uncentre(r.ExactWeights, pivots)
	}
	for _, by := range [][]float64{{0}, lengthFactors} {
		w, at := make([][]float64, len(by)), make([][]float64, len(by))
		for k, v := range by {
			w[k] = make([]float64, linalg.Pad(p.cols))
			for i, x := range r.ExactWeights {
				w[k][i] = float64(float32(math.FMA(v, x, x)))
			}
			if at[k] = w[k]; pivots != nil {
				at[k] = slices.Clone(w[k])
				learner.Recentre(at[k][:p.cols], pivots)
			}
		}
		losses, err := p.losses(ctx, at, true)
		if err != nil {
			return err
		}
		for k, loss := range losses[:len(w)] {
			objective := loss + opt.penalty().Value(w[k][:src.Spec().Width()])
			blur := float64(termError * math.Sqrt(losses[len(w)+k]))
			if blur <= lastDigitsShare*objective {
				blur = 0
			}
			if objective-objective != 0 {
				return learner.OverflowError()
			}
			if r.Weights == nil || objective < r.Objective {
				r.Loss, r.Objective, r.Gap, r.Weights = loss, objective, max(0, objective-lower)+blur, learner.RoundToFloat32(w[k][:p.cols])
			}
		}
		if r.Gap <= optimize.ConvergedGap*r.Objective {
			return nil
		}
	}
	r.GapLostByRounding, r.Converged = r.Converged, false
	return nil
}

// losses makes a pass over the rows and returns the sum of their losses at each point w. With errors, the sums of
// squaredChange at each point follow.
func (p *problem) losses(ctx context.Context, w [][]float64, errors bool) ([]float64, error) {
	args := lossesArgs{p.loss == SquaredHinge, errors, w}
	total := args.sums()
	err := lossesPass.Reduce(ctx, p.src, p.workers, args, func(sums []float64) {
		f64.Axpy(total, 1, sums)
	})
	return total, err
}

var lossesPass = passes.New("svm.losses", lossesChunk)

// lossesArgs are the points, whether the hinge is squared, and whether to sum squared changes.
type lossesArgs struct {
	Squared, Errors bool
	W               [][]float64
}

func (a *lossesArgs) sums() []float64 {
	if a.Errors {
		return make([]float64, 2*len(a.W))
	}
	return make([]float64, len(a.W))
}

// lossesChunk returns the function that sums the losses of a chunk at each point.
func lossesChunk(src block.Source, args lossesArgs) func(block.Chunk) []float64 {
	p := newProblem(src, Settings{})
	if optimize.HasManyColumns(p.cols) {
		return p.wideLossesChunk(args)
	}
	return func(chunk block.Chunk) []float64 {
		sums := args.sums()
		panel := p.takeScratch()
		defer scratches.Put(panel)
		var buf [linalg.PanelRows]float64
		var wide linalg.WideReader
		rows := new(block.Block)
		for lo := 0; lo < chunk.Len(); lo += linalg.PanelRows {
			chunk.SliceInto(rows, lo, min(chunk.Len(), lo+linalg.PanelRows))
			panel.Load(rows)
			for k, w := range args.W {
				u := buf[:rows.Len()]
				shortfall(panel.Panel, rows.Y, w, u)
				for i, u := range u {
					if c := rows.Weight(i); c > 0 {
						addLoss(&args, sums, k, &wide, rows, i, u)
					}
				}
			}
		}
		return sums
	}
}

// wideLossesChunk is lossesChunk for more columns than a Hessian may have.
func (p *problem) wideLossesChunk(args lossesArgs) func(block.Chunk) []float64 {
	return func(chunk block.Chunk) []float64 {
		sums := args.sums()
		var rows linalg.SparseReader
		var wide linalg.WideReader
		rows.Begin(chunk)
		for r := range chunk.Len() {
			for k, w := range args.W {
				if chunk.Weight(r) > 0 {
					addLoss(&args, sums, k, &wide, chunk.Block, r, 1-float64(float64(chunk.Y[r])*rows.Score(r, w)))
				}
			}
		}
		return sums
	}
}

// addLoss adds row r, with margin 1-u at point k, to the sums.
func addLoss(args *lossesArgs, sums []float64, k int, wide *linalg.WideReader, rows *block.Block, r int, u float64) {
	c := rows.Weight(r)
	loss, slope := max(0, u), c
	if args.Squared {
		loss, slope = loss*loss, float64(c*(2*u))
	}
	sums[k] += float64(loss * c)
	if args.Errors && !(u <= 0) {
		columns, values := wide.Row(rows, r)
		sums[len(args.W)+k] += float64(squaredChange(slope, columns, values, args.W[k]))
	}
}

// squaredChange returns the square of the change of a loss if the score changed by the sum of the sizes of its terms.
// slope is the derivative of the loss.
func squaredChange(slope float64, columns []uint32, values, w []float64) float64 {
	terms := 0.0
	for i, column := range columns {
		terms += math.Abs(float64(values[i] * w[column]))
	}
	return float64(slope*terms) * float64(slope*terms)
}
