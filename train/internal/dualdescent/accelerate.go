package dualdescent

import (
	"context"
	"math"
)

const (
	elementsBetween = 8     // elements visited between two calls of combine, for each weight and dual variable
	mostMultiple    = 16    // greatest multiple of a move
	shortestMove    = 1e-7  // least length of a move, relative to w; w has rounding errors, which multiples would grow
	collinearSquare = 1e-10 // two moves count as one if the squared sine of their angle is at most this
	noiseGain       = 1e-12 // a relative change of the dual objective up to this is rounding error
)

// Moves are the variables and their last moves, which accelerate the search.
type Moves struct {
	Variables
	Earlier         Variables // Variables after the last call of accelerate
	LastMove        Variables // the whole move between the last two calls of accelerate
	ElementsVisited int64     // number of elements visited since the last call of accelerate
}

// forget makes the moves begin anew.
func (s *Moves) forget() {
	s.Earlier.set(s.Variables)
	for _, v := range s.LastMove.slices() {
		clear(v)
	}
	s.ElementsVisited = 0
}

// accelerate adds multiples of two moves to the variables: of the move by the visits since the last call, and of the
// whole move between the two calls before. The multiples maximise the dual objective. With both moves, the search
// converges as conjugate gradients do that are preconditioned by visits. Rows whose variables would leave their bounds
// get the nearest ones. If that lowers the dual objective, accelerate adds nothing. It returns the number of rows that
// were projected.
//
// With several biases, accelerate does nothing: the search takes twice as many passes with it, because the moves
// disturb the search for the biases.
func (s *Moves) accelerate(ctx context.Context, d *dual) (visits int64, err error) {
	if d.softness > 0 && len(s.Bias) > 1 || s.ElementsVisited < elementsBetween*int64(len(s.W)+len(s.A)) {
		return 0, nil
	}
	old, move, next := s.Variables, s.Earlier, s.LastMove
	move.combine(-1, old, 0, old)
	d.rebias(move, true)
	f, g := d.multiples(old, move, next)
	if !(max(math.Abs(f), math.Abs(g)) <= mostMultiple) {
		f, g = 0, 0
	}
	next.combine(g, old, f, move)
	if visits, err = d.projectAll(ctx, next, old); err != nil {
		return visits, err
	}
	d.rebias(next, false)
	if before := d.value(old); d.value(next) >= before-float64(noiseGain*before) {
		move.combine(1, next, -1, old)
		d.rebias(move, true)
		old, next = next, old
	}
	next.set(old)
	s.Variables, s.LastMove, s.Earlier, s.ElementsVisited = old, move, next, 0
	return visits, nil
}

// multiples returns the multiples of two moves u and v from a state that maximise the dual objective.
func (d *dual) multiples(from, u, v Variables) (f, g float64) {
	uu, uv, vv := d.product(u, u), d.product(u, v), d.product(v, v)
	if least := float64(shortestMove * shortestMove * d.product(from, from)); !(uu > least) {
		return 0, 0
	} else if !(vv > least) {
		vv = 0
	}
	slope := func(move Variables) float64 {
		return d.linear(d.rows, move.A) - d.product(move, from)
	}
	x, y := slope(u), slope(v)
	if det := float64(uu*vv) - float64(uv*uv); det > collinearSquare*uu*vv {
		return (float64(vv*x) - float64(uv*y)) / det, (float64(uu*y) - float64(uv*x)) / det
	}
	return x / uu, 0
}
