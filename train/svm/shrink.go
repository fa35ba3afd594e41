package svm

import (
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/schema"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

const (
	nearSlopeFactor = 5   // a solver of near rows begins with this times the slope
	mostKeptRows    = 512 // with at most this number of rows, all rows are kept
	nearShare       = 4   // other rows are left out if at most 1/nearShare of the rows are near
)

// solveNearby finds the optimum for the hinge from weights whose scores have errors of about off.
func (s *solver) solveNearby(ctx context.Context, off float64) error {
	s.loss.base, s.loss.slope = block.Alloc[float64](int(s.src.Rows())), 0.5/(kinkErrors*off)
	for i := range s.loss.base {
		s.loss.base[i] = 0.5
	}
	return s.resumeNearby(ctx)
}

// resumeNearby is the part of solveNearby from its call of shrink on.
func (s *solver) resumeNearby(ctx context.Context) error {
	if err := s.shrink(ctx, stageNearby); err != nil || s.converged || s.passes >= s.opt.Epochs {
		return err
	}
	if s.nearRowsMisled { // steps from misleading weights are short
		s.w, s.loss.slope, s.leastSlope = make([]float64, len(s.w)), optimize.FirstSlope, 0
		clear(s.loss.base)
	}
	return s.minimise(ctx)
}

// nearSolver makes a pass over the rows and finds the rows near the kink of their loss. A row is near if its dual
// variable is free or changes, or would change if the margin moved by a zone. nearSolver sets each row's base to its
// dual variable, and sets the objective. It returns a solver of the near rows, and their numbers. That solver fixes the
// dual variables of the other rows at 0 or at their sample weight, which makes these rows one sum.
func (s *solver) nearSolver(ctx context.Context) (few *solver, numbers []int, err error) {
	s.at = s.newSums()
	fixed := s.newSums()
	var parts []nearRows
	var base []float64
	err = s.countPass(&sums{}, func() error {
		return s.eachNear(ctx, func(r nearRows) {
			s.at.Loss += r.Loss
			s.at.Weight += r.Weight
			fixed.add(r.Fixed)
			parts, base, numbers = append(parts, r), append(base, r.Base...), append(numbers, r.Numbers...)
		})
	})
	if err != nil {
		return nil, nil, err
	}
	s.addLeftOut(s.w, &s.at)
	if s.leftOutSums != nil {
		fixed.add(*s.leftOutSums)
	}
	if s.at.objective = s.at.Loss + float64(s.l2/2*s.square(s.w)); s.at.objective-s.at.objective != 0 {
		return nil, nil, learner.OverflowError()
	}
	opt := s.opt
	opt.Progress, opt.Checkpoint, opt.Epochs = nil, nil, Hinge.epochs(1, s.cols)
	few = newSolver(gatherRows(s.src.Spec(), parts), opt)
	few.w, few.goal, few.leftOutSums = slices.Clone(s.w), s.goal/2, &fixed.chunkSums
	few.loss.base, few.loss.slope = base, nearSlopeFactor*s.loss.slope
	return few, numbers, nil
}

// nearRows are the near rows of a chunk, their dual variables and numbers, and the sums over the other rows.
type nearRows struct {
	Rows    block.Block
	Base    []float64
	Numbers []int
	Loss    float64 // sum over all rows
	Weight  float64 // sum over all rows
	Fixed   chunkSums
}

// eachNear calls add with the near rows of each chunk, in row order.
func (s *solver) eachNear(ctx context.Context, add func(nearRows)) error {
	if s.remote() {
		return s.nearRemote(ctx, add)
	}
	return block.ReduceChunks(ctx, s.src, s.opt.Workers,
		func(chunk block.Chunk) nearRows { return s.nearOfChunk(chunk, s.w, s.chosenRows) }, add)
}

// nearOfChunk returns the near rows of a chunk at w. It sets their elements of chosen.
func (p *problem) nearOfChunk(chunk block.Chunk, w []float64, chosen []bool) (r nearRows) {
	panel := p.scratch.Get().(*linalg.Panel)
	defer p.scratch.Put(panel)
	var scores [linalg.PanelRows]float64
	rows := new(block.Block)
	for lo := 0; lo < chunk.Len(); lo += linalg.PanelRows {
		chunk.SliceInto(rows, lo, min(chunk.Len(), lo+linalg.PanelRows))
		panel.Load(rows)
		u, factors := scores[:rows.Len()], panel.Factors()
		shortfall(panel, rows.Y, w, u)
		for i, u := range u {
			f, c, row := factors[i*linalg.PanelCols:], rows.Weight(i), int(rows.First)+i
			f[0], f[1] = 0, 0
			if c == 0 {
				continue
			}
			r.Loss += float64(c * max(0, u))
			r.Weight += c
			a, free := p.loss.dual(row, u)
			was := p.loss.base[row]
			left := a != was && (was == 0 || was == p.loss.mostDual)
			if p.loss.base[row] = a; free || left || p.loss.isNearKink(u) || chosen[row] {
				chosen[row] = true
				r.Base, r.Numbers = append(r.Base, a), append(r.Numbers, row)
				learner.AppendRow(&r.Rows, rows, i)
				continue
			}
			class := 0
			if rows.Y[i] > 0 {
				class = 1
			}
			f[class] = float64(a * c)
			r.Fixed.A[class] += f[class]
		}
		panel.Add()
	}
	for class := range r.Fixed.Ax {
		r.Fixed.Ax[class] = panel.Take(class, make([]float64, 0, p.cols))
	}
	return r
}

// isNearKink tells whether a row is within a zone of its kink. Its margin is 1-u.
func (l *smoothing) isNearKink(u float64) bool { return math.Abs(u) <= 0.5/l.slope }

// gatherRows returns the near rows of all chunks in blocks.
func gatherRows(spec *schema.Spec, parts []nearRows) *block.Data {
	var blocks []*block.Block
	per := block.Rows(spec.Cols())
	first := int64(0)
	var b *block.Block
	for _, p := range parts {
		for i := range p.Rows.Y {
			if b == nil || len(b.Y) == per {
				b = &block.Block{First: first}
				blocks = append(blocks, b)
			}
			learner.AppendRow(b, &p.Rows, i)
			first++
		}
	}
	return block.NewData(spec, blocks)
}

// solveNearRows finds the optimum of the near rows, whose numbers are given. If it converges, solveNearRows takes its
// weights and dual variables. It tells whether it did.
func (s *solver) solveNearRows(ctx context.Context, few *solver, numbers []int) (bool, error) {
	if few.src.Rows() > 0 {
		if err := few.evaluate(ctx, point{W: few.w}, true, &few.at); err != nil {
			return false, ctx.Err()
		}
		if err := few.hinge(ctx); err != nil && ctx.Err() != nil {
			return false, err
		}
	}
	s.visits += few.visits
	if !few.converged {
		return false, nil
	}
	s.w, s.lowerBound = few.w, max(s.lowerBound, few.lowerBound)
	s.steps += few.steps
	for i, row := range numbers {
		s.loss.base[row] = few.loss.base[i]
	}
	return true, nil
}
