package svm

import (
	"context"
	"math"
	"sync"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// A problem is the rows with the penalty and a loss of two classes.
type problem struct {
	src     block.Source
	cols    int
	l2      float64
	workers int
	loss    Loss
}

func newProblem(src block.Source, opt Settings) *problem {
	return &problem{src: src, cols: src.Spec().Cols(), l2: opt.L2, workers: opt.Workers, loss: opt.Loss}
}

// A scratch is work memory for rows of cols columns.
type scratch struct {
	*linalg.Panel
	cols int
}

// scratches holds the work memory of earlier chunks, each a *scratch.
var scratches sync.Pool

// takeScratch returns work memory for rows of p. The caller gives it back to scratches.
func (p *problem) takeScratch() *scratch {
	if c, ok := scratches.Get().(*scratch); ok && c.cols == p.cols {
		return c
	}
	return &scratch{linalg.NewPanel(p.cols, 2), p.cols}
}

// sums are sums of the squared hinge over rows at a point, and the gradient that follows from them.
type sums struct {
	chunkSums
	gradient []float64 // gradient of the objective: l2 w - sum a y x
}

// chunkSums are sums over the rows of a chunk. Arrays have one element for each of the classes -1 and +1. a = 2 max(0,
// 1-m) times the sample weight is the dual variable of a row with the margin m.
type chunkSums struct {
	Loss    float64
	Weight  float64      // sum of sample weights
	A       [2]float64   // sum of dual variables
	Squares [2]float64   // sum of a^2/4 divided by the sample weight: the class's part of the loss
	Ax      [2][]float64 // sum of a times the row
}

func (s *sums) add(t chunkSums) {
	s.Loss += t.Loss
	s.Weight += t.Weight
	for class := range s.A {
		s.A[class] += t.A[class]
		s.Squares[class] += t.Squares[class]
		f64.Axpy(s.Ax[class][:len(t.Ax[class])], 1, t.Ax[class])
	}
}

// The passes over the rows at given weights, with the Hessian and without.
var (
	hessianPass = learner.NewScatterPass("svm.hessian",
		func(src block.Source, w []float64) func(chunk block.Chunk, s, _ []float64) chunkSums {
			p := newProblem(src, Settings{})
			return func(chunk block.Chunk, s, _ []float64) chunkSums { return p.chunk(chunk, w, s) }
		})
	gradientPass = passes.New("svm.gradient", func(src block.Source, w []float64) func(block.Chunk) chunkSums {
		p := newProblem(src, Settings{})
		return func(chunk block.Chunk) chunkSums { return p.chunk(chunk, w, nil) }
	})
)

// pass makes a pass over the rows: it computes the sums of the squared hinge at w. It returns the Hessian of the
// objective, or nil without hessian.
func (p *problem) pass(ctx context.Context, w []float64, hessian bool, at *sums) ([]float64, error) {
	*at = sums{gradient: make([]float64, p.cols)}
	for class := range at.Ax {
		at.Ax[class] = make([]float64, p.cols)
	}
	padded, features := p.padded(w), p.src.Spec().Width()
	var h []float64
	if !hessian {
		if err := gradientPass.Reduce(ctx, p.src, p.workers, padded, at.add); err != nil {
			return nil, err
		}
	} else {
		m, err := gram.NewTriangle(p.cols)
		if err != nil {
			return nil, err
		}
		if err := hessianPass.Reduce(ctx, m, p.src, p.workers, padded, at.add); err != nil {
			return nil, err
		}
		h = m.Data
		for k := range h {
			h[k] *= 2
		}
		for i := range features {
			h[i*(i+1)/2+i] += p.l2
		}
	}
	for i := range at.gradient {
		if at.gradient[i] = at.Ax[0][i] - at.Ax[1][i]; i < features {
			at.gradient[i] = math.FMA(p.l2, w[i], at.gradient[i])
		}
	}
	return h, nil
}

// chunk computes the sums over the rows of a chunk. Unless s is nil, it sets s to the weights of the rows in the
// Hessian, divided by 2.
func (p *problem) chunk(chunk block.Chunk, w, s []float64) (r chunkSums) {
	panel := p.takeScratch()
	defer scratches.Put(panel)
	var u, unused [linalg.PanelRows]float64
	rows := new(block.Block)
	for lo := 0; lo < chunk.Len(); lo += linalg.PanelRows {
		hi := min(chunk.Len(), lo+linalg.PanelRows)
		of := unused[:hi-lo]
		if s != nil {
			of = s[lo:hi]
		}
		chunk.SliceInto(rows, lo, hi)
		panel.Load(rows)
		shortfall(panel.Panel, rows.Y, w, u[:hi-lo])
		if rows.W == nil {
			r.squares(u[:hi-lo], rows.Y, panel.Factors(), of)
			r.Weight += float64(hi - lo)
		} else {
			r.weightedSquares(u[:hi-lo], rows, panel.Factors(), of)
		}
		panel.Add()
	}
	r.Loss = r.Squares[0] + r.Squares[1]
	for class := range r.Ax {
		r.Ax[class] = panel.Take(class, make([]float64, 0, p.cols))
	}
	return r
}

// shortfall sets u to 1 minus the margin of each row of a panel.
func shortfall(panel *linalg.Panel, labels []float32, w, u []float64) {
	panel.Scores(w, u)
	for i, y := range labels {
		u[i] = 1 - float64(float64(y)*u[i])
	}
}

// weightedSquares adds rows of a panel, whose margins are 1-u. It sets their factors in the sums of the panel, and s to
// their weights in the Hessian, divided by 2.
func (r *chunkSums) weightedSquares(u []float64, rows *block.Block, factors, s []float64) {
	for i, u := range u {
		f, class, c := factors[i*linalg.PanelCols:], optimize.ClassOf(float64(rows.Y[i])), rows.W[i]
		a := max(0, float64(2*u))
		if c == 0 {
			a = 0 // also if it overflowed
		}
		if s[i] = 0; a > 0 {
			s[i] = c
		}
		f[class], f[1-class] = float64(a*c), 0
		r.A[class] += float64(a * c)
		r.Squares[class] += float64(float64(a*a) / 4 * c)
		r.Weight += c
	}
}

// squares is weightedSquares for rows whose sample weights are 1. It has no branches, because the rows' classes and
// dual variables predict none. A row adds +0 to the sums of the other class, which changes no sum.
func (r *chunkSums) squares(u []float64, labels []float32, factors, s []float64) {
	a0, a1, squares0, squares1 := r.A[0], r.A[1], r.Squares[0], r.Squares[1]
	for i, y := range labels {
		a := float64(2 * u[i])
		active := bit(!(a <= 0))
		a = math.Float64frombits(math.Float64bits(a) & -active)
		first := -uint64(math.Float32bits(y) >> 31) // all bits if the class is -1
		of0, of1 := math.Float64frombits(math.Float64bits(a)&first), math.Float64frombits(math.Float64bits(a)&^first)
		f := factors[i*linalg.PanelCols:][:2]
		f[0], f[1] = of0, of1
		a0, a1 = a0+of0, a1+of1
		squares0, squares1 = squares0+float64(float64(of0*of0)/4), squares1+float64(float64(of1*of1)/4)
		s[i] = float64(int64(active))
	}
	r.A, r.Squares = [2]float64{a0, a1}, [2]float64{squares0, squares1}
}

// bit returns 1 if b is set, and 0 otherwise. The compiler makes no branch of it.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// balance returns a factor of the dual variables of each class. With a bias, the factors make the sums of both classes
// equal.
func (s *sums) balance(bias bool) [2]float64 {
	scale := [2]float64{1, 1}
	if bias {
		for class, a := range s.A {
			if other := s.A[1-class]; a > other {
				scale[class] = other / a
			}
		}
	}
	return scale
}

// padded returns a copy of weights with zeros at its end, of linalg.Pad(cols) elements.
func (p *problem) padded(w []float64) []float64 {
	to := make([]float64, linalg.Pad(p.cols))
	copy(to, w)
	return to
}
