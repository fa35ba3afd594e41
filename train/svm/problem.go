package svm

import (
	"context"
	"math"
	"sync"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// A problem is the rows with the penalty and a loss of two classes, and work memory for sums over rows.
type problem struct {
	src     block.Source
	cols    int
	l2      float64
	workers int
	loss    Loss
	scratch sync.Pool // holds *linalg.Panel
}

func newProblem(src block.Source, opt Settings) *problem {
	p := &problem{src: src, cols: src.Spec().Cols(), l2: opt.L2, workers: opt.Workers, loss: opt.Loss}
	p.scratch.New = func() any { return linalg.NewPanel(p.cols, 2) }
	return p
}

// sums are sums of the squared hinge over rows at a point, and the gradient that follows from them.
type sums struct {
	chunkSums
	gradient []float64 // gradient of the objective: l2 w - sum a y x
}

// A hessian is the Hessian of the squared hinge at a point.
type hessian struct {
	w            []float64 // the point; nil if there is none
	rows         []float64 // rows of the lower triangle
	mostDiagonal []float64 // largest value of each element of the diagonal since the last sum over all rows
}

// chunkSums are sums over the rows of a chunk. Arrays have one element for each of the classes -1 and +1. a = 2 max(0, 1-m) times
// the sample weight is the dual variable of a row with the margin m.
type chunkSums struct {
	Loss    float64
	A       [2]float64   // sum of dual variables
	Squares [2]float64   // sum of a^2/4 divided by the sample weight: the class's part of the loss
	Ax      [2][]float64 // sum of a times the row
}

func (s *sums) add(t chunkSums) {
	s.Loss += t.Loss
	for class := range s.A {
		s.A[class] += t.A[class]
		s.Squares[class] += t.Squares[class]
		f64.Axpy(s.Ax[class][:len(t.Ax[class])], 1, t.Ax[class])
	}
}

// A point says at which weights a pass over the rows computes sums.
type point struct {
	W            []float64
	HessianPoint []float64 // if not nil, the point of the Hessian that is updated to w
}

// hessianPass is the pass of the squared hinge at a point.
var hessianPass = learner.NewScatterTask("svm.hessian", func(src block.Source, pt point) func(chunk block.Chunk, s, _ []float64) chunkSums {
	return newProblem(src, Settings{}).sumsAt(pt)
})

// sumsAt returns the function that computes the sums over the rows of a chunk at a point; see chunk.
func (p *problem) sumsAt(pt point) func(chunk block.Chunk, s, _ []float64) chunkSums {
	return func(chunk block.Chunk, s, _ []float64) chunkSums { return p.chunk(chunk, pt, s) }
}

// pass makes a pass over the rows: it computes the sums of the squared hinge at w, and updates h to w. The change of the Hessian
// needs only rows that are active at exactly one of h's point and w. If h has no point, the Hessian needs all rows that are
// active at w.
func (p *problem) pass(ctx context.Context, w []float64, h *hessian, at *sums) error {
	*at = sums{gradient: make([]float64, p.cols)}
	for class := range at.Ax {
		at.Ax[class] = make([]float64, p.cols)
	}
	m, err := gram.NewTriangle(p.cols)
	if err != nil {
		return err
	}
	pt := point{w, h.w}
	if err := learner.ScatterWithSums(ctx, m, p.src, p.workers, hessianPass, pt, p.sumsAt(pt), at.add); err != nil {
		return err
	}
	for i := range at.gradient {
		if at.gradient[i] = at.Ax[0][i] - at.Ax[1][i]; i < p.src.Spec().Width() {
			at.gradient[i] = math.FMA(p.l2, w[i], at.gradient[i])
		}
	}
	for k := range m.Data {
		m.Data[k] *= 2
	}
	if h.w != nil {
		h.change(w, m.Data)
		return nil
	}
	h.w, h.rows, h.mostDiagonal = w, m.Data, make([]float64, p.cols)
	for i := range h.mostDiagonal {
		at := i*(i+1)/2 + i
		if i < p.src.Spec().Width() {
			h.rows[at] += p.l2
		}
		h.mostDiagonal[i] = h.rows[at]
	}
	return nil
}

// change adds by, the change of the Hessian from its point to w. If an element of the diagonal is now many times
// smaller than its largest value, it may be rounding errors. change then sets h.w to nil, so that h has no point.
func (h *hessian) change(w, by []float64) {
	const least = 0x1p-16
	h.w = w
	for i, k := 0, 0; k < len(by); i, k = i+1, k+i+2 {
		v := h.rows[k] + by[k]
		if h.mostDiagonal[i] = max(h.mostDiagonal[i], v); !(v >= least*h.mostDiagonal[i]) {
			h.w = nil
			return
		}
	}
	f64.Axpy(h.rows, 1, by)
}

// chunk computes the sums over the rows of a chunk. It sets s to the weights of the rows in the change of the Hessian, divided by 2.
func (p *problem) chunk(chunk block.Chunk, pt point, s []float64) (r chunkSums) {
	panel := p.scratch.Get().(*linalg.Panel)
	defer p.scratch.Put(panel)
	var u, other [linalg.PanelRows]float64
	rows := new(block.Block)
	for lo := 0; lo < chunk.Len(); lo += linalg.PanelRows {
		hi := min(chunk.Len(), lo+linalg.PanelRows)
		view := rowsAt{u: u[:hi-lo], s: s[lo:hi]}
		chunk.SliceInto(rows, lo, hi)
		panel.Load(rows)
		shortfall(panel, rows.Y, pt.W, view.u)
		if pt.HessianPoint != nil {
			view.other = other[:hi-lo]
			shortfall(panel, rows.Y, pt.HessianPoint, view.other)
		}
		if rows.W == nil {
			view.squares(rows.Y, panel.Factors(), &r)
		} else {
			view.weightedSquares(rows, panel.Factors(), &r)
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

// rowsAt has one element for each row of a panel. u and other are 1 minus the row's margin at point.W and point.HessianPoint, and
// s is the row's weight in the change of the Hessian. other is nil without a point of the Hessian.
type rowsAt struct{ u, other, s []float64 }

// weightedSquares adds the rows of a panel to the sums r, and sets their factors in the sums of the panel.
func (at rowsAt) weightedSquares(rows *block.Block, factors []float64, r *chunkSums) {
	for i, u := range at.u {
		f, class, c := factors[i*linalg.PanelCols:], 0, rows.Weight(i)
		if rows.Y[i] > 0 {
			class = 1
		}
		a := max(0, float64(2*u))
		if c == 0 {
			a = 0 // also if it overflowed
		}
		if at.s[i] = 0; a > 0 {
			at.s[i] = c
		}
		if at.other != nil && at.other[i] > 0 {
			at.s[i] -= c
		}
		f[class], f[1-class] = float64(a*c), 0
		r.A[class] += float64(a * c)
		r.Squares[class] += float64(float64(a*a) / 4 * c)
	}
}

// squares is weightedSquares for rows whose sample weights are 1. It has no branches, because the rows' classes and
// dual variables predict none. A row adds +0 to the sums of the other class, which changes no sum.
func (at rowsAt) squares(labels []float32, factors []float64, r *chunkSums) {
	a0, a1, squares0, squares1 := r.A[0], r.A[1], r.Squares[0], r.Squares[1]
	for i, y := range labels {
		a := float64(2 * at.u[i])
		active := bit(!(a <= 0))
		a = math.Float64frombits(math.Float64bits(a) & -active)
		first := -uint64(math.Float32bits(y) >> 31) // all bits if the class is -1
		of0, of1 := math.Float64frombits(math.Float64bits(a)&first), math.Float64frombits(math.Float64bits(a)&^first)
		f := factors[i*linalg.PanelCols:][:2]
		f[0], f[1] = of0, of1
		a0, a1 = a0+of0, a1+of1
		squares0, squares1 = squares0+float64(float64(of0*of0)/4), squares1+float64(float64(of1*of1)/4)
		at.s[i] = float64(int64(active))
		if at.other != nil {
			at.s[i] = float64(int64(active) - int64(bit(!(at.other[i] <= 0))))
		}
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

func (p *problem) square(w []float64) (sum float64) {
	for _, v := range w[:p.src.Spec().Width()] {
		sum = math.FMA(v, v, sum)
	}
	return sum
}
