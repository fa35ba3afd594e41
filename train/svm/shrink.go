package svm

import (
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

// nearby times about what scores are off in a sample's optimum is how near to its bend a row's loss is near.
const nearby = 4

// shrink finds the optimum for the hinge of many rows, given w not far from it. Those whose margin is farther than a width from 1
// keep a dual variable of 0 or their weight, so that they are but a sum, and the optimum is that of the others, as long as the fixed ones stay
// on their side of 1. The next pass over all rows tells by the gap; if some don't, it is done again around the new w. Where the objective
// hasn't fallen, the width is doubled; where it has risen, w was led too far by fixed rows that got to the other side, and goes back three
// quarters of the way until it has fallen, since nearby the objective is that of the others. Where most rows are near, all may as well be.
func (s *solver[T]) shrink(ctx context.Context, width float64) error {
	dual, best, w := 0.0, math.Inf(1), s.w // the dual problem's objective is 0 at zeros
	for {
		few, err := s.near(ctx, width)
		if err != nil {
			return err
		}
		s.at.dual = dual
		if s.done() {
			return nil
		}
		if s.passes >= s.opt.Epochs {
			if s.at.objective > best { // which is no use to anybody
				s.w = w
				_, err = s.near(ctx, 0)
				s.at.dual = dual
			}
			return err
		}
		if s.at.objective >= best/(1+tolerance) {
			width *= 2
		}
		if s.at.objective > best {
			s.w = between(w, s.w, 0.25)
			continue
		}
		best, w = s.at.objective, s.w
		if few.src.Rows() > s.src.Rows()/2 {
			return s.minimise(ctx)
		}
		if err := few.hinge(ctx, width/8); err != nil && ctx.Err() != nil {
			return err
		}
		if few.converged { // otherwise there may be too few rows to balance the fixed ones, so that weights grow for ever
			s.w, dual = few.w, max(dual, few.at.dual)
			s.steps += few.steps
		}
	}
}

// between returns the point at a share of the way from v to w.
func between(v, w []float64, share float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = math.FMA(share, w[i]-v[i], v[i])
	}
	return out
}

// nearRows are the rows of a run whose loss is near its bend, and sums over the others that have one.
type nearRows[T kernel.Float] struct {
	x, y         []T
	w            []float64 // weights, if rows have some
	fixed        runSums
	loss, weight float64 // of all rows
}

// near makes a pass over the rows, which gives the objective at w and the problem of the rows within width of the bend there.
func (s *solver[T]) near(ctx context.Context, width float64) (*solver[T], error) {
	s.at = s.newSums()
	fixed := s.newSums()
	var parts []nearRows[T]
	err := s.counted(func() error {
		return block.ReduceRuns(ctx, s.src, s.opt.Workers, func(run block.Run[T]) nearRows[T] { return s.nearOfRun(run, width) },
			func(r nearRows[T]) {
				s.at.loss += r.loss
				s.at.weight += r.weight
				fixed.add(r.fixed)
				parts = append(parts, r)
			})
	})
	if err == nil && fixed.noLabels {
		err = block.ErrNoLabels
	}
	if err != nil {
		return nil, err
	}
	if s.at.objective = s.at.loss + s.penalty(s.w); s.at.objective-s.at.objective != 0 {
		return nil, train.TooLarge[T]()
	}
	opt := s.opt
	opt.Progress = nil
	few := newSolver[T](gather(s.src.Spec(), parts), opt)
	few.w, few.goal, few.fixed = slices.Clone(s.w), s.goal/2, &fixed.runSums
	return few, nil
}

func (s *solver[T]) nearOfRun(run block.Run[T], width float64) (r nearRows[T]) {
	if run.Y == nil {
		r.fixed.noLabels = true
		return r
	}
	panel := s.scratch.Get().(*dense.Panel[T])
	defer s.scratch.Put(panel)
	var scores [dense.PanelRows]float64
	for lo := 0; lo < run.Len(); lo += dense.PanelRows {
		hi := min(run.Len(), lo+dense.PanelRows)
		panel.Load(run.Slice(lo, hi))
		panel.Scores(s.w, scores[:hi-lo])
		factors := panel.Factors()
		for i, y := range run.Y[lo:hi] {
			u, c := 1-float64(float64(y)*scores[i]), run.Weight(lo+i)
			f, class, a := factors[i*dense.PanelCols:], 0, 0.0
			if y > 0 {
				class = 1
			}
			r.loss += float64(c * max(0, u))
			r.weight += c
			switch {
			case c == 0:
			case math.Abs(u) <= width:
				if r.x, r.y = appendRow(r.x, run.Block, lo+i), append(r.y, y); run.W != nil {
					r.w = append(r.w, c)
				}
			case u > 0:
				a = c
			}
			r.fixed.a[class] += a
			f[class], f[1-class] = a, 0
		}
		panel.Add()
	}
	for class := range r.fixed.ax {
		r.fixed.ax[class] = panel.Take(class, make([]float64, 0, s.cols))
	}
	return r
}

// appendRow appends row i of b in dense form.
func appendRow[T kernel.Float](x []T, b *block.Block[T], i int) []T {
	if b.Sparse == nil {
		return append(x, b.X[i*b.Stride:(i+1)*b.Stride]...)
	}
	x = append(x, make([]T, b.Stride)...)
	columns, values := b.Sparse.Row(i)
	for k, c := range columns {
		x[len(x)-b.Stride+int(c)] = values[k]
	}
	return x
}

// gather makes blocks of rows.
func gather[T kernel.Float](spec *block.Spec, parts []nearRows[T]) *block.Data[T] {
	n, stride, per := 0, kernel.Stride[T](spec.Cols()), block.Rows[T](spec.Cols())
	for _, p := range parts {
		n += len(p.y)
	}
	var blocks []*block.Block[T]
	for first := 0; first < n; first += per {
		blocks = append(blocks, block.NewFor[T](spec, int64(first), min(per, n-first)))
	}
	row := 0
	for _, p := range parts {
		for len(p.y) > 0 {
			b, at := blocks[row/per], row%per
			k := copy(b.Y[at:], p.y)
			copy(b.X[at*stride:], p.x[:k*stride])
			p.x, p.y = p.x[k*stride:], p.y[k:]
			if b.W != nil {
				copy(b.W[at:], p.w[:k])
				p.w = p.w[k:]
			}
			row += k
		}
	}
	return block.NewData(spec, blocks)
}
