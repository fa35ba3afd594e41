package svm

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/train"
)

// longer are the relative lengths by which round lengthens the exact weights. If rows are separable, rounding brings
// some margins below 1, which costs far more than slightly longer weights.
var longer = []float64{0x1p-24, 0x1p-22, 0x1p-20, 0x1p-18, 0x1p-16, 0x1p-14, 0x1p-12, 0x1p-10}

// round sets Weights to Exact rounded to T. It sets the objective, the loss and the gap to those of Weights. If the gap
// is too large, it takes the best of slightly longer weights. It makes one pass over the rows, or two. f is the frame of
// the exact weights. round makes its passes over the rows in that frame, since scores of other rows lose digits.
func (r *Result[T]) round(ctx context.Context, src block.Source[T], f *frame, opt Options) error {
	if f == nil {
		return roundOn(ctx, r, newProblem(src, opt), nil)
	}
	return roundOn(ctx, r, newProblem(train.Centre(src, f.of, f.multiple, opt.Workers), opt), f)
}

// roundOn is round, given the problem of the rows in the frame.
func roundOn[T, S kernel.Float](ctx context.Context, r *Result[T], p *problem[S], f *frame) error {
	lower := r.Objective - r.Gap
	for _, by := range [][]float64{{0}, longer} {
		w, at := make([][]float64, len(by)), make([][]float64, len(by))
		for k, v := range by {
			w[k] = make([]float64, dense.Pad(p.cols))
			for i, x := range r.Exact {
				w[k][i] = float64(T(math.FMA(v, x, x)))
			}
			at[k] = f.inside(w[k])
		}
		losses, err := p.losses(ctx, at)
		if err != nil {
			return err
		}
		for k, loss := range losses {
			objective := loss + float64(p.l2/2*p.square(w[k]))
			if objective-objective != 0 {
				return train.TooLarge[T]()
			}
			if r.Weights == nil || objective < r.Objective {
				r.Loss, r.Objective, r.Gap, r.Weights = loss, objective, max(0, objective-lower), make([]T, p.cols)
				for i := range r.Weights {
					r.Weights[i] = T(w[k][i])
				}
			}
		}
		if r.Gap <= tolerance*r.Objective {
			return nil
		}
	}
	r.Converged = false
	return nil
}

// losses makes a pass over the rows and sums their losses at several points.
func (p *problem[T]) losses(ctx context.Context, w [][]float64) ([]float64, error) {
	total := make([]float64, len(w))
	err := passes.Reduce(ctx, p.src, p.workers, lossesPass, lossesArgs{p.loss.squared(), w}, p.lossesRun(w), func(sums []float64) {
		kernel.Axpy(total, 1, sums)
	})
	return total, err
}

// lossesPass is the pass of losses.
var lossesPass = passes.NewPerRun("svm.losses", lossesRun[float32], lossesRun[float64])

// lossesArgs are the points, and whether the hinge is squared.
type lossesArgs struct {
	squared bool
	w       [][]float64
}

func lossesRun[T kernel.Float](src block.Source[T], args lossesArgs) func(block.Run[T]) []float64 {
	opt := Options{Loss: Hinge}
	if args.squared {
		opt.Loss = SquaredHinge
	}
	return newProblem(src, opt).lossesRun(args.w)
}

// lossesRun returns what sums the losses of a run at several points.
func (p *problem[T]) lossesRun(w [][]float64) func(block.Run[T]) []float64 {
	if wide(p.cols) {
		return p.wideLossesRun(w)
	}
	return func(run block.Run[T]) []float64 {
		sums := make([]float64, len(w))
		if run.Y == nil {
			return sums
		}
		panel := p.scratch.Get().(*dense.Panel[T])
		defer p.scratch.Put(panel)
		var buf [dense.PanelRows]float64
		for lo := 0; lo < run.Len(); lo += dense.PanelRows {
			rows := run.Slice(lo, min(run.Len(), lo+dense.PanelRows))
			panel.Load(rows)
			for k := range w {
				u := buf[:rows.Len()]
				shortfall(panel, rows.Y, w[k], u)
				for i, u := range u {
					if c := rows.Weight(i); c > 0 {
						sums[k] += float64(p.loss.of(u) * c)
					}
				}
			}
		}
		return sums
	}
}

// of returns the loss of a row with sample weight 1, without smoothing.
func (l *smoothing) of(u float64) float64 {
	switch {
	case !(u <= 0) && l.squared():
		return u * u
	case !(u <= 0):
		return u
	}
	return 0
}
