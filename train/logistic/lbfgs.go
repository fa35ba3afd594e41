package logistic

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/train"
)

const (
	remembered = 10    // steps
	descent    = 1e-4  // the part of what the slope promises by which a step must lower the objective
	flat       = 1e-13 // below it, relative to the objective, a difference between two is rounding
	relative   = 1e-10 // of the first gradient's norm, to reach
	enough     = 1e-6  // of it, where rounding lets no step lower the objective any more
	shortest   = 1e-10 // of steps, relative to the one that was first tried
)

// A scaling is the change of variables in which first-order methods work: those of features whose mean is 0 and which all have
// about the same say. Weights are w[i] = v[i]/scale[i], and the bias b = v/scale - sum of w[i] mean[i].
type scaling struct {
	mean, scale []float64 // of each column; means are 0 where there is no bias
	bias        int       // its column, or -1
}

// scaling computes it in a pass over the rows: scale[i]^2 is the diagonal of the Hessian at zeros, l2 and, of K classes, 1/K (1 - 1/K)
// times n times the variance of the column.
func (p *problem[T]) scaling(ctx context.Context) (*scaling, error) {
	type moments struct {
		sums, squares []float64
		n             float64 // the sum of the rows' weights
	}
	part := func(run block.Run[T]) moments {
		m := moments{sums: make([]float64, p.cols), squares: make([]float64, p.cols)}
		for r := range run.Len() {
			weight := 1.0
			if run.W != nil {
				weight = run.W[r]
			}
			m.n += weight
			if run.Sparse != nil {
				columns, values := run.Sparse.Row(r)
				for k, c := range columns {
					v := float64(values[k])
					m.sums[c] = math.FMA(weight, v, m.sums[c])
					m.squares[c] = math.FMA(float64(weight*v), v, m.squares[c])
				}
				continue
			}
			for c, x := range run.X[r*run.Stride:][:p.cols] {
				v := float64(x)
				m.sums[c] = math.FMA(weight, v, m.sums[c])
				m.squares[c] = math.FMA(float64(weight*v), v, m.squares[c])
			}
		}
		return m
	}
	all := moments{sums: make([]float64, p.cols), squares: make([]float64, p.cols)}
	err := block.ReduceRuns(ctx, p.src, p.workers, part, func(m moments) {
		kernel.Axpy(1, m.sums, all.sums)
		kernel.Axpy(1, m.squares, all.squares)
		all.n += m.n
	})
	n, k := all.n, float64(max(2, p.vectors))
	if err == nil && n == 0 {
		err = errWeightless
	}
	bound := (1 - 1/k) / k
	s := &scaling{mean: make([]float64, p.cols), scale: make([]float64, p.cols), bias: -1}
	if p.src.Spec().Bias {
		s.bias = p.cols - 1
	}
	for i := range p.cols {
		if square := all.squares[i]; i != s.bias {
			if s.bias >= 0 {
				s.mean[i] = all.sums[i] / n
				square = max(square-float64(s.mean[i]*all.sums[i]), 0)
				if square <= 1e-13*all.squares[i] { // the column is constant, but for rounding
					square = all.squares[i]
				}
			}
			s.scale[i] = math.Sqrt(float64(square*bound) + p.l2)
		} else {
			s.scale[i] = math.Sqrt(n * bound)
		}
		if s.scale[i] == 0 {
			s.scale[i] = 1
		}
		if err == nil && s.scale[i]-s.scale[i] != 0 {
			err = train.TooLarge[T]()
		}
	}
	return s, err
}

// weights sets w, vectors of stride elements, to the weights of the variables v.
func (s *scaling) weights(v, w []float64, stride int) {
	for at := 0; at < len(w); at += stride {
		w, v := w[at:][:stride], v[at:][:stride]
		for i, scale := range s.scale {
			w[i] = v[i] / scale
		}
		if s.bias >= 0 {
			w[s.bias] -= kernel.Dot(w[:s.bias], s.mean[:s.bias])
		}
	}
}

// gradient turns a gradient in w into one in v.
func (s *scaling) gradient(g []float64, stride int) {
	for at := 0; at < len(g); at += stride {
		g := g[at:][:stride]
		if s.bias >= 0 {
			kernel.Axpy(-g[s.bias], s.mean[:s.bias], g[:s.bias])
		}
		for i, scale := range s.scale {
			g[i] /= scale
		}
	}
}

// quasiNewton finds the optimum by L-BFGS (Nocedal, "Updating Quasi-Newton Matrices with Limited Storage", 1980; Nocedal and Wright,
// "Numerical Optimization", algorithm 7.5) in the variables of a scaling: a step goes along -H g, where H is made of the last ten
// steps and the changes of the gradient in them, and is cut by interpolation until it lowers the objective as Armijo's condition
// demands. Where differences of the objective are rounding, the slope at its end decides, as Hager and Zhang have it ("A New Conjugate
// Gradient Method with Guaranteed Descent", 2005, equation 4.1).
func (s *solver[T]) quasiNewton(ctx context.Context) error {
	sc, err := s.scaling(ctx)
	if err != nil {
		return err
	}
	v, next, at := s.zeros(), s.zeros(), sums{}
	if err := s.evaluate(ctx, s.w, false, &s.at); err != nil {
		return err
	}
	sc.gradient(s.at.gradient, s.stride)
	s.first = norm(s.at.gradient)
	var memory history
	for {
		s.norm = norm(s.at.gradient)
		if s.norm <= relative*s.first {
			s.converged = true
			return nil
		}
		direction := memory.direction(s.at.gradient)
		slope := kernel.Dot(s.at.gradient, direction)
		step := 1.0
		for {
			if s.passes >= s.opt.Epochs {
				return nil
			}
			if step < shortest || slope >= 0 {
				s.converged = s.norm <= enough*s.first
				return nil
			}
			copy(next, v)
			kernel.Axpy(step, direction, next)
			w := s.zeros()
			sc.weights(next, w, s.stride)
			if err := s.evaluate(ctx, w, false, &at); err != nil {
				return err
			}
			sc.gradient(at.gradient, s.stride)
			rise := at.objective - s.at.objective
			end := kernel.Dot(at.gradient, direction)
			if rise <= descent*step*slope || math.Abs(rise) <= flat*s.at.objective && math.Abs(end) <= (1-2*descent)*-slope {
				s.w = w
				break
			}
			step *= min(0.5, max(0.1, -slope*step/2/(rise-float64(slope*step))))
		}
		memory.add(v, next, s.at.gradient, at.gradient)
		v, next = next, v
		s.at, at = at, sums{}
		s.steps++
	}
}

func norm(x []float64) float64 { return math.Sqrt(kernel.Dot(x, x)) }

// A history is the last steps, the latest at the end.
type history struct{ pairs []pair }

// A pair is a step s, the change of the gradient y in it, and s.y.
type pair struct {
	s, y []float64
	sy   float64
}

// add adds the step from v to next. A step along which the gradient doesn't grow, as rounding has it, is left out.
func (h *history) add(v, next, g, gNext []float64) {
	p := pair{s: make([]float64, len(v)), y: make([]float64, len(v))}
	for i := range v {
		p.s[i], p.y[i] = next[i]-v[i], gNext[i]-g[i]
	}
	if p.sy = kernel.Dot(p.s, p.y); !(p.sy > 1e-16*kernel.Dot(p.y, p.y)) {
		return
	}
	if len(h.pairs) == remembered {
		h.pairs = append(h.pairs[:0], h.pairs[1:]...)
	}
	h.pairs = append(h.pairs, p)
}

// direction returns -H g by the two loops of Nocedal's.
func (h *history) direction(g []float64) []float64 {
	q := make([]float64, len(g))
	kernel.Axpy(-1, g, q)
	if len(h.pairs) == 0 {
		return q
	}
	var alpha [remembered]float64
	for i := len(h.pairs) - 1; i >= 0; i-- {
		p := h.pairs[i]
		alpha[i] = kernel.Dot(p.s, q) / p.sy
		kernel.Axpy(-alpha[i], p.y, q)
	}
	last := h.pairs[len(h.pairs)-1]
	scale := last.sy / kernel.Dot(last.y, last.y)
	for i := range q {
		q[i] *= scale
	}
	for i, p := range h.pairs {
		kernel.Axpy(alpha[i]-kernel.Dot(p.y, q)/p.sy, p.s, q)
	}
	return q
}
