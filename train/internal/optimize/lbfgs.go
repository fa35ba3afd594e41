package optimize

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"halfspace/internal/checkpoint"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	quickFall          = 32    // see LBFGS.IsQuick
	quickSteps         = 6     // see LBFGS.IsQuick
	historySteps       = 10    // number of steps in the history
	sufficientDecrease = 1e-4  // a step must lower the objective by this times the decrease that the slope predicts
	flatDecrease       = 1e-13 // a smaller relative difference between objectives is rounding error
	noiseGradient      = 1e-13 // a norm of the gradient below this times the root of the objective is rounding error
	shortestStep       = 1e-10 // shortest step, relative to the first step tried
)

// A VariableChange is a change of variables. In the new variables, the Hessian at zero weights is near the identity.
type VariableChange interface {
	Weights(v []float64) []float64  // returns the weights for the variables v
	Gradient(g []float64) []float64 // returns the gradient by the variables for a gradient by weights
}

// LBFGS minimises a function by L-BFGS in other variables.
//
// Given are passes over the rows at any weights, which compute no Hessian. A step goes along -H g. H approximates the
// inverse Hessian by the last ten steps and the changes of the gradient in these steps (Nocedal, "Updating Quasi-Newton
// Matrices with Limited Storage", Mathematics of Computation 35, 1980; Nocedal and Wright, "Numerical Optimization",
// algorithms 7.4 and 7.5). Interpolation shortens a step until it meets Armijo's condition. If differences of the
// objective are only rounding, the slope at the end of the step decides (Hager and Zhang, "A New Conjugate Gradient
// Method with Guaranteed Descent and an Efficient Line Search", SIAM Journal on Optimization 16, 2005, equation 4.1).
//
// LBFGS returns the weights in W, and the evaluation there in Last.
type LBFGS struct {
	Function
	VariableChange
	MostPasses int64 // after this number of passes, Minimise gives up
	IsQuick    bool  // Minimise gives up unless every quickSteps steps divide the norm by quickFall
	W          []float64
	Last       *Evaluation
	Norm       float64 // norm of the gradient by the variables
	LBFGSState
}

// An LBFGSState is the state that a checkpoint keeps, between two steps.
type LBFGSState struct {
	Tally
	Goal      float64   // norm of the gradient to reach, relative to the norm at zero weights
	Restarts  int       // times that the goal became a tenth
	V         []float64 `length:"weights"` // variables
	Pairs     []Pair    // the last steps, the latest step last
	FirstNorm float64   // norm of the gradient at zero weights
}

// A Pair is a step S, the change Y of the gradient in the step, and S.Y.
type Pair struct {
	S  []float64 `length:"weights"`
	Y  []float64 `length:"weights"`
	SY float64
}

func (s *LBFGS) state(w *checkpoint.Walk) {
	checkpoint.Named(StateOfLBFGS, func(w *checkpoint.Walk) {
		checkpoint.Struct(w, &s.LBFGSState, map[string]int{"weights": len(s.V)})
		if len(s.Pairs) > historySteps {
			w.Fail(errors.New("its history is too long"))
			s.Pairs = nil
		}
	})(w)
}

// RelativeNorm returns the norm of the gradient, relative to the norm at zero weights.
func (s *LBFGS) RelativeNorm() float64 { return s.Norm / cmp.Or(s.FirstNorm, 1) }

// Restart makes the goal a tenth, for another call of Minimise. It returns false after a number of calls.
func (s *LBFGS) Restart(most int) bool {
	s.Goal /= 10
	s.Restarts++
	return s.Restarts <= most
}

// Begin continues from a checkpoint, or begins at n zeros.
func (s *LBFGS) Begin(ctx context.Context, n int) error {
	s.V = make([]float64, n)
	s.W = s.Weights(s.V)
	resumed, err := s.Checkpoint.Load(s.state)
	if err != nil {
		return err
	}
	s.W = s.Weights(s.V)
	if resumed { // the pass was counted before
		s.Last, err = s.At(ctx, s.W, false)
		return err
	}
	s.Last, err = s.evaluate(ctx, s.Function, s.W, false)
	if err == nil {
		s.FirstNorm = learner.Norm(s.Gradient(s.Last.Gradient))
	}
	return err
}

// Minimise makes steps. It tells whether it reached its goal, or a norm that is rounding error.
func (s *LBFGS) Minimise(ctx context.Context) (reached bool, err error) {
	for {
		s.Mark(s.state)
		g := s.Gradient(s.Last.Gradient)
		s.Norm = learner.Norm(g)
		if s.Norm <= max(s.Goal*s.FirstNorm, noiseGradient*math.Sqrt(s.Last.Objective)) {
			return true, nil
		}
		if s.Passes() >= s.MostPasses || s.IsQuick && s.isSlow() {
			return false, nil
		}
		moved, err := s.move(ctx, g)
		if err != nil || !moved {
			return false, err
		}
	}
}

// isSlow tells whether some quickSteps steps, on average, didn't divide the norm by quickFall.
func (s *LBFGS) isSlow() bool {
	return s.Steps%quickSteps == 0 && s.Norm > s.FirstNorm*math.Pow(quickFall, -float64(s.Steps/quickSteps))
}

// move takes a step. It tells whether it found one. g is the gradient by the variables.
func (s *LBFGS) move(ctx context.Context, g []float64) (bool, error) {
	direction := s.direction(g)
	slope := f64.Dot(g, direction)
	for length := 1.0; s.Passes() < s.Epochs && length >= shortestStep && slope < 0; {
		next := slices.Clone(s.V)
		f64.Axpy(next, length, direction)
		w := s.Weights(next)
		at, err := s.evaluate(ctx, s.Function, w, false)
		if err != nil {
			return false, err
		}
		gNext := s.Gradient(at.Gradient)
		rise, end := at.Objective-s.Last.Objective, f64.Dot(gNext, direction)
		flat := math.Abs(rise) <= flatDecrease*s.Last.Objective && math.Abs(end) <= (1-2*sufficientDecrease)*-slope
		if rise <= sufficientDecrease*length*slope || flat {
			s.remember(minus(next, s.V), minus(gNext, g))
			s.V, s.W, s.Last = next, w, at
			s.Steps++
			return true, nil
		}
		length *= min(0.5, max(0.1, -slope*length/2/(rise-float64(slope*length))))
	}
	return false, nil
}

// remember adds a step and the change of the gradient in it to the history. It leaves out a step along which, by
// rounding, the gradient doesn't grow.
func (s *LBFGS) remember(step, change []float64) {
	sy := f64.Dot(step, change)
	if !(sy > 1e-16*f64.Dot(change, change)) {
		return
	}
	if len(s.Pairs) == historySteps {
		s.Pairs = slices.Delete(s.Pairs, 0, 1)
	}
	s.Pairs = append(s.Pairs, Pair{step, change, sy})
}

// direction returns -H g by the two-loop recursion, algorithm 7.4.
func (s *LBFGS) direction(g []float64) []float64 {
	q := make([]float64, len(g))
	f64.Axpy(q, -1, g)
	if len(s.Pairs) == 0 {
		return q
	}
	var alpha [historySteps]float64
	for i, p := range slices.Backward(s.Pairs) {
		alpha[i] = f64.Dot(p.S, q) / p.SY
		f64.Axpy(q, -alpha[i], p.Y)
	}
	last := s.Pairs[len(s.Pairs)-1]
	scale := last.SY / f64.Dot(last.Y, last.Y)
	for i := range q {
		q[i] *= scale
	}
	for i, p := range s.Pairs {
		f64.Axpy(q, alpha[i]-f64.Dot(p.Y, q)/p.SY, p.S)
	}
	return q
}
