package svm

import (
	"context"
	"math"
	"sync"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// A problem is the rows, the loss in the form for Newton's method, and work memory for sums over rows.
type problem struct {
	src     block.Source
	cols    int
	l2      float64
	workers int
	loss    smoothing
	// leftOutSums is the sums over the rows that src leaves out. Their dual variables are 0 or their sample weights.
	// nil: src leaves out no row.
	leftOutSums *chunkSums
	scratch     sync.Pool // holds *linalg.Panel
}

// A smoothing is a loss with a continuous derivative. For a row with sample weight 1 and margin 1-u, it is the maximum
// over a of a u - (a-base)^2 / (2 slope), where the dual variable a is from 0 to mostDual. With base 0, slope 2 and
// mostDual +Inf it is the squared hinge. With most 1 it is the augmented Lagrangian of the hinge with the multiplier
// base.
type smoothing struct {
	slope, mostDual float64
	base            []float64 // for each row; nil if all are 0
}

// dual returns the dual variable of row i, and whether it is strictly between its bounds.
func (l *smoothing) dual(i int, u float64) (a float64, free bool) {
	a = float64(l.slope * u)
	if l.base != nil {
		a += l.base[i]
	}
	switch {
	case a <= 0:
		return 0, false
	case a >= l.mostDual:
		return l.mostDual, false
	}
	return a, true
}

func (l *smoothing) isSquared() bool { return l.mostDual > 1 }

func newProblem(src block.Source, opt Settings) *problem {
	p := &problem{src: src, cols: src.Spec().Cols(), l2: opt.L2, workers: opt.Workers, loss: smoothing{slope: 2, mostDual: math.Inf(1)}}
	if opt.Loss == Hinge {
		p.loss = smoothing{slope: optimize.FirstSlope, mostDual: 1}
	}
	p.scratch.New = func() any { return linalg.NewPanel(p.cols, 2) }
	return p
}

// sums are sums over rows at a point, and the objectives that follow from them.
type sums struct {
	chunkSums
	objective float64   // loss plus penalty
	dual      float64   // objective of the dual problem
	gradient  []float64 // gradient of the smooth objective: l2 w - sum a y x
}

// A hessian is the Hessian of the smooth objective at a point.
type hessian struct {
	w            []float64 // the point; nil if there is none
	rows         []float64 // rows of the lower triangle
	mostDiagonal []float64 // largest value of each element of the diagonal since the last sum over all rows
}

// chunkSums are sums over the rows of a chunk. Arrays have one element for each of the classes -1 and +1.
type chunkSums struct {
	Loss         float64
	DualPart     float64      // hinge: sum of losses minus sum of a u; 0 if each a is optimal
	Weight       float64      // sum of sample weights
	ActiveWeight float64      // sum of the sample weights of rows whose dual variable is above 0
	NearRows     int64        // number of rows whose dual variable is free, or whose margin is within a zone of the kink
	A            [2]float64   // sum of dual variables
	Squares      [2]float64   // for the squared hinge: sum of a^2/4 divided by the sample weight
	Ax           [2][]float64 // sum of a times the row
	Kinks        kinks
}

func (p *problem) newSums() sums {
	s := sums{gradient: make([]float64, p.cols)}
	for class := range s.Ax {
		s.Ax[class] = make([]float64, p.cols)
	}
	return s
}

func (s *sums) gap() float64 { return s.objective - s.dual }

func (s *sums) add(t chunkSums) {
	s.Loss += t.Loss
	s.DualPart += t.DualPart
	s.Weight += t.Weight
	s.ActiveWeight += t.ActiveWeight
	s.NearRows += t.NearRows
	for class := range s.A {
		s.A[class] += t.A[class]
		s.Squares[class] += t.Squares[class]
		f64.Axpy(s.Ax[class][:len(t.Ax[class])], 1, t.Ax[class])
	}
	s.Kinks.add(&t.Kinks)
}

// A point says at which weights a pass over the rows computes sums, and which sums.
type point struct {
	W            []float64
	LineStart    []float64 // if not nil, the start of the line to w whose kinks are summed
	HessianPoint []float64 // if not nil, the point of the Hessian that is updated to w
	// SlopeFactor, unless 0, makes each row's dual variable its base first, and multiplies the slope by SlopeFactor.
	SlopeFactor float64
}

// pass computes the sums at a point. Unless h is nil, it updates h to the point.
func (p *problem) pass(ctx context.Context, pt point, h *hessian, at *sums) error {
	*at = p.newSums()
	var err error
	switch {
	case h != nil:
		err = p.scatter(ctx, pt, h, at)
	case p.remote():
		err = p.passRemote(ctx, pt, nil, at)
	default:
		err = block.ReduceChunks(ctx, p.src, p.workers, func(chunk block.Chunk) chunkSums { return p.chunk(chunk, pt, nil) }, at.add)
	}
	if pt.SlopeFactor > 0 {
		p.loss.slope *= pt.SlopeFactor
	}
	p.objectives(pt.W, at)
	return err
}

// hessianPass is the pass of the squared hinge at a point.
var hessianPass = learner.NewScatterTask("svm.hessian", func(src block.Source, pt point) func(chunk block.Chunk, s, _ []float64) chunkSums {
	return newProblem(src, Settings{}).sumsAt(pt)
})

// sumsAt returns the function that computes the sums over the rows of a chunk at a point; see chunk.
func (p *problem) sumsAt(pt point) func(chunk block.Chunk, s, _ []float64) chunkSums {
	return func(chunk block.Chunk, s, _ []float64) chunkSums { return p.chunk(chunk, pt, s) }
}

// scatter computes the sums at a point and updates h to the point. It needs only rows that are free at exactly one of
// h's point and the new point. If h has no point, it needs all rows that are free at the new point.
func (p *problem) scatter(ctx context.Context, pt point, h *hessian, at *sums) error {
	m, err := gram.NewTriangle(p.cols)
	if err != nil {
		return err
	}
	slope := p.loss.slope
	if pt.SlopeFactor > 0 {
		slope *= pt.SlopeFactor
	}
	pt.HessianPoint = h.w
	if !p.loss.isSquared() && p.remote() {
		err = p.passRemote(ctx, pt, m.Data, at)
	} else {
		err = learner.ScatterWithSums(ctx, m, p.src, p.workers, hessianPass, pt, p.sumsAt(pt), at.add)
	}
	if err != nil {
		return err
	}
	for k := range m.Data {
		m.Data[k] *= slope
	}
	if h.w != nil {
		h.change(pt.W, m.Data)
		return nil
	}
	h.w, h.rows, h.mostDiagonal = pt.W, m.Data, make([]float64, p.cols)
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

// chunk computes the sums over the rows of a chunk. Unless s is nil, it sets s to the weights of the rows in the change of
// the Hessian, divided by the slope.
func (p *problem) chunk(chunk block.Chunk, pt point, s []float64) (r chunkSums) {
	panel := p.scratch.Get().(*linalg.Panel)
	defer p.scratch.Put(panel)
	if pt.LineStart != nil {
		r.Kinks = newKinks()
	}
	var u, from, other [linalg.PanelRows]float64
	rows := new(block.Block)
	for lo := 0; lo < chunk.Len(); lo += linalg.PanelRows {
		hi := min(chunk.Len(), lo+linalg.PanelRows)
		view := rowsAt{u: u[:hi-lo]}
		chunk.SliceInto(rows, lo, hi)
		panel.Load(rows)
		shortfall(panel, rows.Y, pt.W, view.u)
		if pt.LineStart != nil {
			view.from = from[:hi-lo]
			shortfall(panel, rows.Y, pt.LineStart, view.from)
		}
		if s != nil {
			view.s = s[lo:hi]
		}
		if s != nil && pt.HessianPoint != nil {
			if view.other = view.from; !isSameSlice(pt.LineStart, pt.HessianPoint) {
				view.other = other[:hi-lo]
				shortfall(panel, rows.Y, pt.HessianPoint, view.other)
			}
		}
		if p.loss.isSquared() && rows.W == nil && pt.LineStart == nil {
			p.loss.squares(rows.Y, view, panel.Factors(), &r)
		} else {
			p.rows(rows, pt.SlopeFactor, view, panel.Factors(), &r)
		}
		panel.Add()
	}
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

// isSameSlice tells whether v and w are the same slice.
func isSameSlice(v, w []float64) bool { return len(v) > 0 && len(w) > 0 && &v[0] == &w[0] }

// rowsAt has one element for each row of a panel. u, from and other are 1 minus the row's margin at point.W,
// point.LineStart and point.HessianPoint, and s is the row's weight in the change of the Hessian. A slice is nil if the
// pass doesn't need it.
type rowsAt struct{ u, from, other, s []float64 }

// rows adds the rows of a panel to the sums r, and sets their factors in the sums of the panel.
func (p *problem) rows(rows *block.Block, raise float64, at rowsAt, factors []float64, r *chunkSums) {
	loss := p.loss
	if raise > 0 {
		for i, u := range at.u {
			loss.base[int(rows.First)+i], _ = loss.dual(int(rows.First)+i, u)
		}
		loss.slope *= raise
	}
	for i, u := range at.u {
		f, class, c, row := factors[i*linalg.PanelCols:], 0, rows.Weight(i), int(rows.First)+i
		if rows.Y[i] > 0 {
			class = 1
		}
		a, free := loss.dual(row, u)
		if at.s != nil {
			at.s[i] = 0
			if raise > 0 {
				free = loss.base[row] > 0 && loss.base[row] < loss.mostDual
			}
			if free {
				at.s[i] = c
			}
			if at.other != nil {
				if _, free := loss.dual(row, at.other[i]); free {
					at.s[i] -= c
				}
			}
		}
		f[class], f[1-class] = 0, 0
		if c == 0 {
			continue
		}
		f[class] = float64(a * c)
		r.Weight += c
		r.A[class] += float64(a * c)
		if a > 0 {
			r.ActiveWeight += c
		}
		if free || loss.isNearKink(u) {
			r.NearRows++
		}
		if loss.isSquared() {
			r.Squares[class] += float64(float64(a*a) / 4 * c)
		} else if u > 0 {
			r.Loss += float64(u * c)
			r.DualPart += float64(float64(u*(1-a)) * c)
		} else {
			r.DualPart -= float64(float64(u*a) * c)
		}
		if at.from != nil {
			r.Kinks.row(&loss, row, c, at.from[i], u)
		}
	}
	if loss.isSquared() {
		r.Loss = r.Squares[0] + r.Squares[1]
	}
}

// squares is rows for the squared hinge of rows whose sample weights are 1. It has no branches, because the rows' classes and
// dual variables predict none. A row adds +0 to the sums of the other class, which changes no sum.
func (l *smoothing) squares(labels []float32, at rowsAt, factors []float64, r *chunkSums) {
	active, near := uint64(0), uint64(0)
	free := func(u float64) (a float64, some, free uint64) {
		a = float64(l.slope * u)
		some = bit(!(a <= 0))
		return math.Float64frombits(math.Float64bits(a) & -some), some, some &^ bit(a >= l.mostDual)
	}
	zone := 0.5 / l.slope
	a0, a1, squares0, squares1 := r.A[0], r.A[1], r.Squares[0], r.Squares[1]
	for i, y := range labels {
		u := at.u[i]
		a, some, inside := free(u)
		first := -uint64(math.Float32bits(y) >> 31) // all bits if the class is -1
		of0, of1 := math.Float64frombits(math.Float64bits(a)&first), math.Float64frombits(math.Float64bits(a)&^first)
		f := factors[i*linalg.PanelCols:][:2]
		f[0], f[1] = of0, of1
		a0, a1 = a0+of0, a1+of1
		squares0, squares1 = squares0+float64(float64(of0*of0)/4), squares1+float64(float64(of1*of1)/4)
		active += some
		near += inside | bit(math.Abs(u) <= zone)
		if at.s == nil {
			continue
		}
		at.s[i] = float64(int64(inside))
		if at.other != nil {
			_, _, was := free(at.other[i])
			at.s[i] = float64(int64(inside) - int64(was))
		}
	}
	r.A, r.Squares = [2]float64{a0, a1}, [2]float64{squares0, squares1}
	r.Weight, r.ActiveWeight, r.NearRows = r.Weight+float64(len(labels)), r.ActiveWeight+float64(active), r.NearRows+int64(near)
	r.Loss = squares0 + squares1
}

// bit returns 1 if b is set, and 0 otherwise. The compiler makes no branch of it.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// addLeftOut adds the sums over the rows that src leaves out.
func (p *problem) addLeftOut(w []float64, at *sums) {
	if p.leftOutSums != nil {
		at.add(*p.leftOutSums)
		at.Loss += p.leftOutSums.A[0] + p.leftOutSums.A[1] +
			f64.Dot(w[:p.cols], p.leftOutSums.Ax[0]) - f64.Dot(w[:p.cols], p.leftOutSums.Ax[1])
	}
}

// objectives computes the gradient, the objective and the dual objective from the sums over rows. With a bias, the dual
// variables of both classes must have the same sum. So objectives scales down the dual variables of one class for the
// dual objective.
func (p *problem) objectives(w []float64, at *sums) {
	p.addLeftOut(w, at)
	scale, features, dual := at.balance(p.src.Spec().Bias), p.src.Spec().Width(), 0.0
	for i := range features {
		v := float64(scale[1]*at.Ax[1][i]) - float64(scale[0]*at.Ax[0][i])
		dual = math.FMA(v, v, dual)
	}
	at.objective = at.Loss + float64(p.l2/2*p.square(w))
	at.dual = -dual / (2 * p.l2)
	for class, c := range scale {
		at.dual += float64(c*at.A[class]) - float64(float64(c*c)*at.Squares[class])
	}
	for i := range at.gradient {
		if at.gradient[i] = at.Ax[0][i] - at.Ax[1][i]; i < features {
			at.gradient[i] = math.FMA(p.l2, w[i], at.gradient[i])
		}
	}
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
