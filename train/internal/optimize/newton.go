package optimize

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	vanishedNorm = 100 // the norm to reach is also at most Goal * vanishedNorm * sqrt(objective)
	// staleGrowth bounds the effect of a step with an earlier Hessian. The step multiplies the norm by at most staleGrowth
	// times the factor of the step before.
	staleGrowth     = 4
	noiseNorm       = 1e-4 // a smaller norm that a step doesn't halve is rounding error
	steadyNorm      = 1    // after a step from a norm of at most this, the Hessian is nearly the same
	keptFactorGain  = 100  // a factor stays in use while each step divides the norm by this or more
	sampleTooFar    = 10   // rows differ from a sample if their optima are more than this times as far apart as chance explains
	sampleWorth     = 20   // a sample's optimum is used if its gain over zeros is more than this times the gain that is left
	sampleTolerance = 0.1  // norm to reach for a sample
	suspectPasses   = 5    // after this number of passes, a norm that falls as if there were no minimum is suspicious
)

// A Function is a smooth convex function of weights, such as a sum of losses over rows plus a penalty.
type Function interface {
	// At makes a pass over the rows at w. With hessian, the evaluation has a factor.
	At(ctx context.Context, w []float64, hessian bool) (*Evaluation, error)
	// Suspect looks for a direction near step along which the function falls without end. It returns an error if it finds
	// one.
	Suspect(ctx context.Context, step []float64) error
}

// An Evaluation is the value and the derivatives of a function at some weights.
type Evaluation struct {
	Objective float64
	AtZero    float64 // the value at zero weights
	Lower     float64 // a lower bound of the minimum; 0 if there is none
	Gradient  []float64
	Factor    *linalg.Factor // of the Hessian; nil: none was computed
	Ridge     float64        // see linalg.Factorise
}

// Newton minimises a function.
//
// Given are passes over the rows at any weights. A step is w = w - H^-1 g, where g is the gradient and H the Hessian
// (Nelder and Wedderburn, "Generalized Linear Models", Journal of the Royal Statistical Society A 135, 1972; Hastie,
// Tibshirani and Friedman, "The Elements of Statistical Learning", section 4.4.1). The norm is sqrt(g' H^-1 g), the
// distance from the minimum in standard errors.
//
//   - If the objective would rise, a multiple of H's diagonal is added to H; see linalg.Damping.
//   - H is used again (the chord method) if the norm at H's weights was at most 1, or as long as each step divides the
//     norm by 100 or more.
//   - The last step is the step that brings the norm to Goal or less, as predicted from the step before. No pass
//     follows it. With MustProve, the gap must be small too. A step is also the last if the norm is below 1e-4 and no
//     longer falls.
//
// The weights are in W.
type Newton struct {
	Function
	// MustProve makes Minimise go on until a lower bound proves the gap. It gives up where a Hessian is nearly singular,
	// or a step from weights with their own Hessian fails.
	MustProve bool
	NewtonState

	Last    *Evaluation    // at the weights before the last step
	factor  *linalg.Factor // of H
	ridge   float64
	isFresh bool // H belongs to the weights
}

// A NewtonState is the state that a checkpoint keeps, between two steps, if H belongs to the weights.
type NewtonState struct {
	Tally
	Goal     float64   // the norm to reach
	Restarts int       // calls of Restart
	W        []float64 `length:"weights"`
	LastNorm float64   // norm before the last step; 0: there was none
	Lower    float64   // the greatest lower bound of the minimum so far; 0: there is none
	Damping  linalg.Damping
}

func (n *Newton) state(w *checkpoint.Walk) {
	checkpoint.Named(StateOfNewton, func(w *checkpoint.Walk) {
		checkpoint.Struct(w, &n.NewtonState, map[string]int{"weights": len(n.W)})
	})(w)
}

// Begin continues from a checkpoint, or begins at the minimum of a sample, or at the weights that are set. of returns
// the function of a sample, which has the given share of the rows; nil: there is no sample.
func (n *Newton) Begin(ctx context.Context, of func(sample *block.Data, share float64) Function) error {
	resumed, err := n.Checkpoint.Load(n.state)
	switch {
	case err != nil:
		return err
	case resumed:
		at, err := n.At(ctx, n.W, true) // the pass was counted before
		if err == nil {
			n.take(n.W, at)
		}
		return err
	case of != nil:
		if began, err := n.beginAtSample(ctx, of); began || err != nil {
			return err
		}
	}
	return n.goTo(ctx, n.W, true)
}

// beginAtSample begins at the minimum of a sample, with the Hessian of the sample. It returns false if it didn't begin:
// there is no sample, or the Hessian predicts a further gain of more than 1/20 of the gain over zeros, since the rows
// differ from the sample. If the minimum is merely farther than chance explains, it computes the Hessian of all rows.
func (n *Newton) beginAtSample(ctx context.Context, of func(*block.Data, float64) Function) (bool, error) {
	sample, err := learner.Sample(ctx, n.Rows)
	if err != nil || sample == nil {
		return false, err
	}
	share := float64(sample.Rows()) / float64(n.Rows.Rows())
	task := *n.Task
	task.Rows, task.Progress, task.Checkpoint = sample, nil, nil
	few := &Newton{Function: of(sample, share),
		NewtonState: NewtonState{Goal: sampleTolerance, Tally: Tally{Task: &task}, W: make([]float64, len(n.W))}}
	err = few.Begin(ctx, nil)
	reached := false
	if err == nil {
		reached, err = few.Minimise(ctx)
	}
	if err != nil || !reached || few.ridge > 0 {
		return false, ctx.Err() // training on all rows may work although training on a sample failed
	}
	at, err := n.evaluate(ctx, few.W, false)
	if err != nil {
		return false, err
	}
	zeros := n.W
	n.factor = few.factor.Divided(share)
	n.take(few.W, at)
	norm := n.norm(n.step())
	if !(sampleWorth*float64(norm*norm)/2 < at.AtZero-at.Objective) {
		n.W = zeros
		return false, nil
	}
	if farthest := sampleTooFar * math.Sqrt(float64(len(n.W))/share); norm > farthest {
		return true, n.goTo(ctx, n.W, true)
	}
	return true, nil
}

// Minimise makes steps. It tells whether it reached the goal.
func (n *Newton) Minimise(ctx context.Context) (reached bool, err error) {
	for {
		if n.isFresh {
			n.Mark(n.state)
		}
		if n.MustProve && n.ridge > 0 {
			return false, nil
		}
		step := n.step()
		norm := n.norm(step)
		if n.isFresh && n.ridge == 0 && n.Passes() >= suspectPasses && fallsWithoutEnd(norm, n.LastNorm) {
			if err := n.Suspect(ctx, step); err != nil {
				return false, err
			}
		}
		left := norm // an upper bound of the norm after the step
		if n.LastNorm > 0 {
			left = norm * min(1, staleGrowth*norm/n.LastNorm)
		}
		goal := n.Goal * min(1, vanishedNorm*math.Sqrt(n.Last.Objective))
		isProven := !n.MustProve || n.Last.Objective-n.Lower <= searchGap*n.Last.Objective
		if left <= goal && isProven || n.isFresh && n.LastNorm > 0 && norm <= noiseNorm && norm > n.LastNorm/2 {
			n.W = minus(n.W, step)
			return isProven, nil
		}
		if n.lacksPass() {
			return false, nil
		}
		keep := n.isFresh && norm <= steadyNorm || norm*keptFactorGain <= n.LastNorm
		n.LastNorm = norm
		if moved, err := n.move(ctx, keep); err != nil || !moved {
			return false, err
		}
	}
}

// Restart makes the goal smaller, for another call of Minimise from the weights.
func (n *Newton) Restart(ctx context.Context, goal float64) error {
	n.Goal, n.LastNorm = goal, 0
	n.Restarts++
	return n.goTo(ctx, n.W, true)
}

// move takes the first step with which the objective doesn't rise, with more and more damping. It tells whether it
// found one. With keep, it doesn't compute the Hessian after the step. If H belongs to earlier weights and fails, move
// first computes H at the weights.
func (n *Newton) move(ctx context.Context, keep bool) (bool, error) {
	for tried := 0; tried < mostTrials && !n.lacksPass(); tried++ {
		step, gain, err := n.Damping.Step(ctx, n.factor, n.Last.Gradient)
		if err != nil {
			return false, err
		}
		next := minus(n.W, step)
		at, err := n.evaluate(ctx, next, !keep)
		if err != nil {
			return false, err
		}
		if at.Objective <= n.Last.Objective*(1+noiseDecrease) {
			n.Damping.Gain((n.Last.Objective - at.Objective) / gain)
			n.take(next, at)
			n.Steps++
			return true, nil
		}
		if keep = false; n.isFresh {
			if n.Damping.Fail(); n.MustProve {
				break
			}
		} else if !n.lacksPass() {
			if err := n.goTo(ctx, n.W, true); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

func (n *Newton) lacksPass() bool { return n.Passes() >= n.Epochs }

func (n *Newton) step() []float64 { return n.factor.Solve(n.Last.Gradient) }

// norm returns sqrt(g' H^-1 g), given the step H^-1 g.
func (n *Newton) norm(step []float64) float64 {
	return math.Sqrt(max(0, f64.Dot(n.Last.Gradient, step)))
}

// fallsWithoutEnd tells whether the norm falls as it does when weights grow without end. Each step then adds 1 to
// scores, which multiplies losses by 1/e and the norm by e^(-1/2).
func fallsWithoutEnd(norm, last float64) bool { return norm > 0.5*last && norm < 0.72*last }

// evaluate makes a pass, counts it and reports progress.
func (t *Tally) evaluate(ctx context.Context, f Function, w []float64, hessian bool) (*Evaluation, error) {
	at, err := f.At(ctx, w, hessian)
	if err != nil {
		return nil, err
	}
	m := &learner.Measure{Objective: at.Objective, Gradient: learner.Norm(at.Gradient), Gap: math.Inf(1)}
	if at.Lower > 0 {
		m.Gap = max(0, at.Objective-at.Lower)
	}
	t.Visit(t.Rows.Rows(), learner.SumOf(w), m)
	if at.Objective-at.Objective != 0 {
		return nil, learner.OverflowError()
	}
	return at, nil
}

func (n *Newton) evaluate(ctx context.Context, w []float64, hessian bool) (*Evaluation, error) {
	return n.Tally.evaluate(ctx, n.Function, w, hessian)
}

func (n *Newton) goTo(ctx context.Context, w []float64, hessian bool) error {
	at, err := n.evaluate(ctx, w, hessian)
	if err == nil {
		n.take(w, at)
	}
	return err
}

// take sets the weights. It keeps H if the evaluation has none.
func (n *Newton) take(w []float64, at *Evaluation) {
	n.W, n.Last, n.Lower = w, at, max(n.Lower, at.Lower)
	if n.isFresh = at.Factor != nil; n.isFresh {
		n.factor, n.ridge = at.Factor, at.Ridge
	}
}

func minus(a, b []float64) []float64 {
	c := slices.Clone(a)
	f64.Axpy(c, -1, b)
	return c
}
