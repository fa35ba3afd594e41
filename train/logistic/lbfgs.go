package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	historySteps       = 10    // number of steps in the history
	sufficientDecrease = 1e-4  // a step must lower the objective by this times the decrease that the slope predicts
	noiseDecrease      = 1e-13 // a smaller relative difference between objectives is rounding error
	relativeNorm       = 1e-10 // norm of the gradient to reach, relative to the norm at zero weights
	noiseGradient      = 1e-13 // a norm of the gradient below this times the root of the objective is rounding error
	// patiencePasses is the number of passes, besides one for each weight, after which Newton's method begins if its
	// Hessian is small enough.
	patiencePasses = 20
	shortestStep   = 1e-10 // shortest step, relative to the first step tried
)

// A scaling is a change of variables for first-order methods: to features with mean 0 and about the same second
// derivative. The weights are w[i] = v[i]/scale[i], and the bias is b = v/scale - sum of w[i] mean[i].
type scaling struct {
	Mean, Scale []float64 // for each column; the means are 0 if there is no bias
	Bias        int       // column of the bias, or -1
	ColumnSums  []float64 // sums of the columns
	Square      float64   // mean squared norm of a row
}

// scaling returns the scaling of the rows. It makes one pass over them. scale[i]^2 is the diagonal of the Hessian at
// zero weights: l2 plus, for K classes, 1/K (1 - 1/K) times n times the variance of the column. The bias has no l2.
func (p *problem) scaling(ctx context.Context) (*scaling, error) {
	all := columns{Sums: make([]float64, p.cols), Squares: make([]float64, p.cols)}
	err := columnsPass.sum(ctx, p, struct{}{}, func(m columns) {
		f64.Axpy(all.Sums, 1, m.Sums)
		f64.Axpy(all.Squares, 1, m.Squares)
		all.N += m.N
	})
	n, bound := all.N, p.zeroCurvature()
	if err == nil && n == 0 {
		err = learner.ErrWeightless
	}
	s := &scaling{Mean: make([]float64, p.cols), Scale: make([]float64, p.cols), Bias: -1, ColumnSums: all.Sums}
	if p.src.Spec().Bias {
		s.Bias = p.cols - 1
	}
	for i := range p.cols {
		s.Square += all.Squares[i] / n
		if square := all.Squares[i]; i != s.Bias {
			if s.Bias >= 0 {
				s.Mean[i] = all.Sums[i] / n
				square = max(square-float64(s.Mean[i]*all.Sums[i]), 0)
				if square <= 1e-13*all.Squares[i] { // the column is constant up to rounding
					square = all.Squares[i]
				}
			}
			s.Scale[i] = math.Sqrt(float64(square*bound) + p.l2)
		} else {
			s.Scale[i] = math.Sqrt(n * bound)
		}
		if s.Scale[i] == 0 {
			s.Scale[i] = 1
		}
		if err == nil && s.Scale[i]-s.Scale[i] != 0 {
			err = learner.OverflowError()
		}
	}
	return s, err
}

// columns are sums over rows: of each column, of its squares, and of the sample weights.
type columns struct {
	Sums, Squares []float64
	N             float64
}

var columnsPass = newPass("logistic.columns", func(p *problem, _ struct{}) func(block.Chunk) columns { return p.columns })

// columns returns the sums over the rows of a chunk.
func (p *problem) columns(chunk block.Chunk) columns {
	m, wide := columns{Sums: make([]float64, p.cols), Squares: make([]float64, p.cols)}, linalg.WideReader{}
	for r := range chunk.Len() {
		weight := chunk.Weight(r)
		m.N += weight
		columns, values := wide.Row(chunk.Block, r)
		for k, c := range columns {
			v := values[k]
			m.Sums[c] = math.FMA(weight, v, m.Sums[c])
			m.Squares[c] = math.FMA(float64(weight*v), v, m.Squares[c])
		}
	}
	return m
}

// A variableChange is a change of variables for first-order methods. In the new variables, the Hessian at zero weights
// is near the identity.
type variableChange interface {
	weights(v, w []float64, stride int) // sets w to the weights for the variables v; both are vectors of stride elements
	gradient(g []float64, stride int)   // turns a gradient by weights into a gradient by variables
}

// A whitening is the change of variables that makes the Hessian at zero weights the identity.
type whitening struct{ *linalg.Factor }

func (f whitening) weights(v, w []float64, stride int) {
	copy(w, v)
	for at := 0; at < len(w); at += stride {
		f.Unwhiten(w[at:][:stride])
	}
}

func (f whitening) gradient(g []float64, stride int) {
	for at := 0; at < len(g); at += stride {
		copy(g[at:][:stride], f.Whiten(g[at:][:stride]))
	}
}

// moments are sums over rows. weight is the sum of the sample weights, and total the sum of the rows times their sample
// weights. hessian is the Hessian of the objective at zero weights: the sum of products of columns times 1/K (1 - 1/K)
// for K classes, plus the penalty.
type moments struct {
	weight  float64
	total   []float64
	hessian []float64 // nil if there are too many columns
}

// moments makes a pass over the rows and returns their moments. It also finds the columns that depend on other columns.
func (s *solver) moments(ctx context.Context) (*moments, error) {
	bound := s.zeroCurvature()
	m, err := gram.NewTriangle(s.cols)
	if err != nil {
		return nil, err
	}
	r := &moments{total: make([]float64, s.cols)}
	if err := momentsPass.sum(ctx, s.problem, m, struct{}{}, func(sum float64) { r.weight += sum }); err != nil {
		return nil, err
	}
	if r.weight == 0 {
		return nil, learner.ErrWeightless
	}
	if s.penalised() < s.cols {
		copy(r.total, m.Data[len(m.Data)-s.cols:])
	}
	for i := range m.Data {
		m.Data[i] *= bound
	}
	for i := range s.penalised() {
		m.Data[i*(i+1)/2+i] += s.l2
	}
	r.hessian = m.Data
	return r, s.findDependent(ctx, r.hessian)
}

var momentsPass = newScatter("logistic.moments", func(*problem, struct{}) func(chunk block.Chunk, weights,
	_ []float64) float64 {
	return weigh
})

// weigh writes the sample weights of a chunk to weights, and returns their sum.
func weigh(chunk block.Chunk, weights, _ []float64) (sum float64) {
	for i := range weights {
		weights[i] = chunk.Weight(i)
		sum += weights[i]
	}
	return sum
}

// weights sets w to the weights for the variables v. Both are vectors of stride elements.
func (s *scaling) weights(v, w []float64, stride int) {
	for at := 0; at < len(w); at += stride {
		w, v := w[at:][:stride], v[at:][:stride]
		for i, scale := range s.Scale {
			w[i] = v[i] / scale
		}
		if s.Bias >= 0 {
			w[s.Bias] -= f64.Dot(w[:s.Bias], s.Mean[:s.Bias])
		}
	}
}

// gradient turns a gradient by w into a gradient by v.
func (s *scaling) gradient(g []float64, stride int) {
	for at := 0; at < len(g); at += stride {
		g := g[at:][:stride]
		if s.Bias >= 0 {
			f64.Axpy(g[:s.Bias], -g[s.Bias], s.Mean[:s.Bias])
		}
		for i, scale := range s.Scale {
			g[i] /= scale
		}
	}
}

// quasiNewton finds the optimum by L-BFGS in new variables (Nocedal, "Updating Quasi-Newton Matrices with Limited
// Storage", 1980; Nocedal and Wright, "Numerical Optimization", algorithm 7.5). A step goes along -H g. H approximates
// the inverse Hessian by the last ten steps and the changes of the gradient in these steps. Interpolation shortens a
// step until it meets Armijo's condition. If differences of the objective are only rounding, the slope at the end of
// the step decides (Hager and Zhang, "A New Conjugate Gradient Method with Guaranteed Descent", 2005, equation 4.1).
// quasiNewton tells whether it reached its goal.
func (s *solver) quasiNewton(ctx context.Context) (reached bool, err error) {
	c, err := s.variables(ctx)
	if err != nil {
		return false, err
	}
	next, at := s.zeros(), sums{}
	if !s.takeResumed() {
		s.v = s.zeros()
		if err := s.evaluate(ctx, s.w, false, &s.at); err != nil {
			return false, err
		}
		s.zeroGradient = slices.Clone(s.at.Gradient)
		c.gradient(s.at.Gradient, s.stride)
		s.initialNorm = norm(s.at.Gradient)
	}
	for {
		s.mark()
		s.presentNorm = norm(s.at.Gradient)
		if s.presentNorm <= max(relativeNorm*s.initialNorm, noiseGradient*math.Sqrt(s.at.Objective)) {
			return true, nil
		}
		if s.hasMatrix() && s.passes+patiencePasses <= s.opt.Epochs && s.passes >= patiencePasses+int64(s.vectors*s.cols) {
			return false, nil
		}
		direction := s.history.direction(s.at.Gradient)
		slope := f64.Dot(s.at.Gradient, direction)
		step := 1.0
		for {
			if s.passes >= s.opt.Epochs || step < shortestStep || slope >= 0 {
				return false, nil
			}
			copy(next, s.v)
			f64.Axpy(next, step, direction)
			w := s.zeros()
			c.weights(next, w, s.stride)
			if err := s.evaluate(ctx, w, false, &at); err != nil {
				return false, err
			}
			c.gradient(at.Gradient, s.stride)
			rise := at.Objective - s.at.Objective
			end := f64.Dot(at.Gradient, direction)
			flat := math.Abs(rise) <= noiseDecrease*s.at.Objective && math.Abs(end) <= (1-2*sufficientDecrease)*-slope
			if rise <= sufficientDecrease*step*slope || flat {
				s.w = w
				break
			}
			step *= min(0.5, max(0.1, -slope*step/2/(rise-float64(slope*step))))
		}
		s.history.add(s.v, next, s.at.Gradient, at.Gradient)
		s.v, next = next, s.v
		s.at, at = at, sums{}
		s.steps++
	}
}

// variables returns the change of variables: a whitening, or a scaling if there are more than mostNewtonColumns
// columns.
func (s *solver) variables(ctx context.Context) (variableChange, error) {
	if s.cols > mostNewtonColumns {
		sc, err := s.scaling(ctx)
		if err != nil {
			return nil, err
		}
		s.rowTotal = sc.ColumnSums
		return sc, nil
	}
	m, err := s.moments(ctx)
	if err != nil {
		return nil, err
	}
	s.rowTotal = m.total
	f, err := s.factoriseMoments(ctx, m.hessian)
	return whitening{f}, err
}

func norm(x []float64) float64 { return math.Sqrt(f64.Dot(x, x)) }

// A history is the last steps, the latest step last.
type history struct{ pairs []pair }

// A pair is a step s, the change y of the gradient in the step, and s.y.
type pair struct {
	s, y []float64
	sy   float64
}

// add adds the step from v to next. It leaves out a step along which, by rounding, the gradient doesn't grow.
func (h *history) add(v, next, g, gNext []float64) {
	p := pair{s: make([]float64, len(v)), y: make([]float64, len(v))}
	for i := range v {
		p.s[i], p.y[i] = next[i]-v[i], gNext[i]-g[i]
	}
	if p.sy = f64.Dot(p.s, p.y); !(p.sy > 1e-16*f64.Dot(p.y, p.y)) {
		return
	}
	if len(h.pairs) == historySteps {
		h.pairs = append(h.pairs[:0], h.pairs[1:]...)
	}
	h.pairs = append(h.pairs, p)
}

// direction returns -H g by Nocedal's two-loop recursion.
func (h *history) direction(g []float64) []float64 {
	q := make([]float64, len(g))
	f64.Axpy(q, -1, g)
	if len(h.pairs) == 0 {
		return q
	}
	var alpha [historySteps]float64
	for i := len(h.pairs) - 1; i >= 0; i-- {
		p := h.pairs[i]
		alpha[i] = f64.Dot(p.s, q) / p.sy
		f64.Axpy(q, -alpha[i], p.y)
	}
	last := h.pairs[len(h.pairs)-1]
	scale := last.sy / f64.Dot(last.y, last.y)
	for i := range q {
		q[i] *= scale
	}
	for i, p := range h.pairs {
		f64.Axpy(q, alpha[i]-f64.Dot(p.y, q)/p.sy, p.s)
	}
	return q
}
