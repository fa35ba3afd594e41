package svm

import (
	"context"
	"math"
	"slices"
	"sync"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

// A problem is the rows, and what is needed for sums over them.
type problem[T kernel.Float] struct {
	src     block.Source[T]
	cols    int
	l2      float64
	workers int
	fixed   *runSums  // of rows that src hasn't, with dual variables of their weight; nil if there are none
	scratch sync.Pool // of *dense.Panel[T]
}

func newProblem[T kernel.Float](src block.Source[T], opt Options) *problem[T] {
	p := &problem[T]{src: src, cols: src.Spec().Cols(), l2: opt.L2, workers: opt.Workers}
	p.scratch.New = func() any { return dense.NewPanel[T](p.cols, 4) }
	return p
}

// sums are sums over rows.
type sums struct {
	runSums
	objective float64   // loss and penalty
	dual      float64   // objective of the dual problem
	gradient  []float64 // l2 w - sum a y x
}

// A hessian is the objective's matrix of second derivatives at a point.
type hessian struct {
	w    []float64 // the point; nil where there is none yet
	rows []float64 // of the lower triangle
	most []float64 // the largest that each element of the diagonal was since all rows were summed up
}

// runSums are what is added up run by run. The arrays are of the classes -1 and +1.
type runSums struct {
	loss     float64
	weight   float64      // of rows
	a        [2]float64   // of dual variables
	squares  [2]float64   // of a^2/4 over the row's weight, for the squared hinge
	ax       [2][]float64 // of the rows times a
	noLabels bool
}

func (p *problem[T]) newSums() sums {
	s := sums{gradient: make([]float64, p.cols)}
	for class := range s.ax {
		s.ax[class] = make([]float64, p.cols)
	}
	return s
}

func (s *sums) gap() float64 { return s.objective - s.dual }

func (s *sums) add(t runSums) {
	s.loss += t.loss
	s.weight += t.weight
	for class := range s.a {
		s.a[class] += t.a[class]
		s.squares[class] += t.squares[class]
		for i, v := range t.ax[class] {
			s.ax[class][i] += v
		}
	}
	s.noLabels = s.noLabels || t.noLabels
}

// pass computes the sums for the squared hinge at w, and brings h there unless it is nil.
func (p *problem[T]) pass(ctx context.Context, w []float64, h *hessian, at *sums) error {
	*at = p.newSums()
	var err error
	if h != nil {
		err = p.scatter(ctx, w, h, at)
	} else {
		part := func(run block.Run[T]) runSums { return p.run(run, w, nil, nil) }
		err = block.ReduceRuns(ctx, p.src, p.workers, part, at.add)
	}
	if err == nil && at.noLabels {
		err = block.ErrNoLabels
	}
	p.objectives(w, at)
	return err
}

// scatter computes the sums at w, and brings h there: with the rows that have a loss at one of the two points alone, which get fewer
// with each step, or with all that have one.
func (p *problem[T]) scatter(ctx context.Context, w []float64, h *hessian, at *sums) error {
	m, err := gram.NewSymmetric[float64](p.cols, gram.Packed)
	if err != nil {
		return err
	}
	part := func(run block.Run[T], s, _ []float64) runSums { return p.run(run, w, h.w, s) }
	if err := train.Scatter(ctx, m, p.src, p.workers, part, at.add); err != nil {
		return err
	}
	for k := range m.Data {
		m.Data[k] *= 2
	}
	if h.w == nil {
		h.rows = m.Data
		for i := range p.src.Spec().Features {
			h.rows[i*(i+1)/2+i] += p.l2
		}
		h.w, h.most = slices.Clone(w), make([]float64, p.cols)
		for i := range h.most {
			h.most[i] = h.rows[i*(i+1)/2+i]
		}
	} else {
		h.change(w, m.Data)
	}
	return nil
}

// change adds what the matrix changes by from its point to w. Where an element of the diagonal was many times as large as it is then,
// what is left may be made of rounding errors, and the matrix is none.
func (h *hessian) change(w, by []float64) {
	const least = 0x1p-16
	copy(h.w, w)
	for i, k := 0, 0; k < len(by); i, k = i+1, k+i+2 {
		v := h.rows[k] + by[k]
		if h.most[i] = max(h.most[i], v); !(v >= least*h.most[i]) {
			h.w = nil
			return
		}
	}
	kernel.Axpy(1, by, h.rows)
}

// objectives computes the gradient and the objectives of both problems from the sums over rows. For that of the dual problem, the
// dual variables of one class are scaled down so that both have the same sum, where there is a bias.
func (p *problem[T]) objectives(w []float64, at *sums) {
	if p.fixed != nil {
		at.add(*p.fixed)
		at.loss += p.fixed.a[0] + p.fixed.a[1] + kernel.Dot(w[:p.cols], p.fixed.ax[0]) - kernel.Dot(w[:p.cols], p.fixed.ax[1])
	}
	scale := [2]float64{1, 1}
	if p.src.Spec().Bias {
		for class, a := range at.a {
			if other := at.a[1-class]; a > other {
				scale[class] = other / a
			}
		}
	}
	for i := range at.gradient {
		at.gradient[i] = at.ax[0][i] - at.ax[1][i]
	}
	dual := 0.0
	for i := range p.src.Spec().Features {
		at.gradient[i] = math.FMA(p.l2, w[i], at.gradient[i])
		v := float64(scale[1]*at.ax[1][i]) - float64(scale[0]*at.ax[0][i])
		dual = math.FMA(v, v, dual)
	}
	at.objective = at.loss + p.penalty(w)
	at.dual = -dual / (2 * p.l2)
	for class, c := range scale {
		at.dual += float64(c*at.a[class]) - float64(float64(c*c)*at.squares[class])
	}
}

// penalty returns that of weights.
func (p *problem[T]) penalty(w []float64) float64 {
	square := 0.0
	for i := range p.src.Spec().Features {
		square = math.FMA(w[i], w[i], square)
	}
	return p.l2 / 2 * square
}

// run computes the sums over the rows of a run for the squared hinge at w, and half their weights in the Hessian in s unless
// that is nil, less those that they have at another point unless that is nil.
func (p *problem[T]) run(run block.Run[T], w, other, s []float64) (r runSums) {
	if run.Y == nil {
		clear(s)
		r.noLabels = true
		return r
	}
	panel := p.scratch.Get().(*dense.Panel[T])
	defer p.scratch.Put(panel)
	var scores, others [dense.PanelRows]float64
	for lo := 0; lo < run.Len(); lo += dense.PanelRows {
		hi := min(run.Len(), lo+dense.PanelRows)
		panel.Load(run.Slice(lo, hi))
		panel.Scores(w, scores[:hi-lo])
		if other != nil {
			panel.Scores(other, others[:hi-lo])
		}
		factors := panel.Factors()
		for i, y := range run.Y[lo:hi] {
			u, c := max(0, 1-float64(float64(y)*scores[i])), run.Weight(lo+i)
			f, class, a := factors[i*dense.PanelCols:], 0, 2*float64(u*c)
			if y > 0 {
				class = 1
			}
			f[class], f[1-class] = a, 0
			if s != nil {
				s[lo+i] = 0
				if u > 0 {
					s[lo+i] = c
				}
				if other != nil && 1-float64(float64(y)*others[i]) > 0 {
					s[lo+i] -= c
				}
			}
			r.weight += c
			r.a[class] += a
			r.squares[class] += float64(float64(u*u) * c)
		}
		panel.Add()
	}
	r.loss = r.squares[0] + r.squares[1]
	for class := range r.ax {
		r.ax[class] = panel.Take(class, make([]float64, 0, p.cols))
	}
	return r
}
