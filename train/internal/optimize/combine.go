package optimize

import (
	"math"

	"halfspace/kernel/f64"
)

const (
	elementsBetween = 8     // elements visited between two calls of combine, for each row and column
	mostMultiple    = 16    // greatest multiple of a move
	shortestMove    = 1e-7  // least length of a move, relative to w; w has rounding errors, which multiples would grow
	collinearSquare = 1e-10 // two moves count as one if the squared sine of their angle is at most this
)

// variables are the dual variable of each row, and w, which belongs to them. They are also the difference between two
// such states: a move.
type variables struct {
	w []float64 // sum of a_i y_i x_i over the features, divided by l2, and the bias
	a []float64 // dual variable of each row
}

// axpy adds f times u to v.
func (v variables) axpy(f float64, u variables) {
	f64.Axpy(v.w, f, u.w)
	f64.Axpy(v.a, f, u.a)
}

func (v variables) set(u variables) {
	copy(v.w, u.w)
	copy(v.a, u.a)
}

// combine adds multiples of two moves to the variables: of the move by the sweeps since the last call, and of the whole
// move between the two calls before. The multiples maximise the dual objective. With both moves, the search converges
// as conjugate gradients do that are preconditioned by sweeps. Variables that would leave their bounds stay at the
// bounds. If that lowers the dual objective, combine adds nothing.
func (s *dual) combine() {
	if s.elementsVisited < elementsBetween*int64(len(s.w)+len(s.a)) {
		return
	}
	s.elementsVisited = 0
	move, old, next := s.combined, s.variables, s.workMemory
	for i, v := range old.w {
		move.w[i] = v - move.w[i]
	}
	for i, v := range old.a {
		move.a[i] = v - move.a[i]
	}
	s.rebias(move, 0)
	f, g := s.multiples(move, s.lastMove)
	if !(max(math.Abs(f), math.Abs(g)) <= mostMultiple) {
		f, g = 0, 0
	}
	next.set(old)
	next.axpy(f, move)
	next.axpy(g, s.lastMove)
	s.clip(next)
	s.rebias(next, s.centre)
	before := s.value(old)
	if s.value(next) >= before-float64(noiseStepGain*before) {
		move.axpy(1, next)
		move.axpy(-1, old)
		s.rebias(move, 0)
		s.variables, next = next, old
	}
	next.set(s.variables)
	s.combined, s.lastMove, s.workMemory = next, move, s.lastMove
}

// rebias computes the bias of v from its dual variables, if there is a bias. The difference of the biases of two states
// would have their rounding errors, which product divides by the softness.
func (s *dual) rebias(v variables, centre float64) {
	if s.softness > 0 {
		v.w[s.features] = centre + float64(s.softness*f64.Dot(s.y, v.a))
	}
}

// refresh makes a pass over the rows and computes w from the dual variables, without the rounding errors of the changes
// so far. The moves for combine begin anew.
func (s *dual) refresh() {
	clear(s.w)
	for i, a := range s.a {
		if a > 0 {
			columns, values := s.row(i)
			s.addRow(s.w, columns, values, float64(a*s.y[i]))
		}
	}
	if s.softness > 0 {
		s.w[s.features] += s.centre
	}
	s.countVisits(len(s.y))
	s.combined.set(s.variables)
	clear(s.lastMove.w)
	clear(s.lastMove.a)
	s.elementsVisited = 0
}

// multiples returns the multiples of two moves that maximise the dual objective.
func (s *dual) multiples(u, v variables) (f, g float64) {
	uu, uv, vv := s.product(u, u), s.product(u, v), s.product(v, v)
	if least := float64(shortestMove * shortestMove * s.product(s.variables, s.variables)); !(uu > least) {
		return 0, 0
	} else if !(vv > least) {
		vv = 0
	}
	slopes := [2]float64{total(u.a) - s.product(u, s.variables), total(v.a) - s.product(v, s.variables)}
	if det := float64(uu*vv) - float64(uv*uv); det > collinearSquare*uu*vv {
		return (float64(vv*slopes[0]) - float64(uv*slopes[1])) / det, (float64(uu*slopes[1]) - float64(uv*slopes[0])) / det
	}
	return slopes[0] / uu, 0
}

// product returns the second derivative of the dual objective by multiples of two moves, times -1.
func (s *dual) product(u, v variables) float64 {
	p := float64(s.L2 * f64.Dot(u.w[:s.features], v.w[:s.features]))
	if s.softness > 0 {
		p += float64(u.w[s.features]*v.w[s.features]) / s.softness
	}
	return p
}

// clip moves the variables of v to their bounds where they are outside.
func (s *dual) clip(v variables) {
	visits := 0
	for i, a := range v.a {
		if in := max(0, min(s.weights[i], a)); in != a {
			columns, values := s.row(i)
			s.addRow(v.w, columns, values, float64((in-a)*s.y[i]))
			v.a[i] = in
			visits++
		}
	}
	s.countVisits(visits)
}

// value returns the dual objective of v with the penalty on the bias.
func (s *dual) value(v variables) float64 {
	value := total(v.a) - float64(s.L2/2*f64.Dot(v.w[:s.features], v.w[:s.features]))
	if s.softness > 0 {
		bias := v.w[s.features]
		value -= float64((bias-s.centre)*(bias+s.centre)) / (2 * s.softness)
	}
	return value
}

func total(a []float64) (sum float64) {
	for _, v := range a {
		sum += v
	}
	return sum
}
