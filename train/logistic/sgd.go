package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/kernel"
)

const (
	batch      = dense.PanelRows
	averageAge = 3    // of the mean of the weights; the greater, the less early weights count
	progress   = 1e-4 // an epoch is stale if its loss isn't below the least so far by this part of it
	patience   = 3    // stale epochs that end the training
)

// descend comes near the optimum by averaged stochastic gradient descent.
//
// Step t, from 0, takes the next 32 rows in their order. Let g be the gradient of n/32 times their loss and of the
// penalty, in the variables v of a scaling. Then v = v - eta_t g with eta_t = eta/(1 + D)/sqrt(1 + t/T). T is the
// number of steps in an epoch. D is the number of columns, each with a second derivative of up to 1 in v. The result is
// a mean of v. In it step t has a share of 4/(t + 4), and all steps before it the rest (Shamir and Zhang, "Stochastic
// Gradient Descent for Non-smooth Optimization", 2013, section 4).
//
// An epoch is stale if the loss of its visits isn't below the least so far by 1e-4 of it. descend ends after
// opt.Epochs, or after three stale epochs in a row, if the objective is proven to be within 1e-3 of the optimum.
func (s *solver[T]) descend(ctx context.Context) error {
	sc, err := s.scaling(ctx)
	if err != nil {
		return err
	}
	a := &walk[T]{scaling: sc, scratch: s.scratch.New().(*scratch[T]), v: s.zeros(), average: s.zeros(), w: s.zeros(), g: s.zeros()}
	s.total = sc.total
	least, stale := 0.0, 0
	for epoch := int64(0); epoch < s.opt.Epochs; epoch++ {
		s.report()
		var sum sums
		for runs, err := range block.Runs(ctx, s.src, 1) {
			if err != nil {
				sc.weights(a.average, s.w, s.stride) // the weights so far, for an interrupted training
				s.balanceWeights()
				return err
			}
			for _, run := range runs {
				if run.Y == nil {
					return block.ErrNoLabels
				}
				for lo := 0; lo < run.Len(); lo += batch {
					s.walk(a, run.Slice(lo, min(run.Len(), lo+batch)), &sum)
				}
			}
		}
		s.passes++
		if epoch > 0 && !(sum.loss < least*(1-progress)) {
			stale++
		} else {
			stale = 0
		}
		if epoch == 0 || sum.loss < least {
			least = sum.loss
		}
		if stale < patience && s.passes < s.opt.Epochs {
			continue
		}
		sc.weights(a.average, s.w, s.stride)
		s.balanceWeights()
		if x := kernel.Dot(s.w, s.w); x-x != 0 {
			return s.tooLarge()
		}
		if err := s.bound(ctx); err != nil {
			return err
		}
		if s.converged = stale >= patience && s.gap <= roughly*s.at.objective; s.converged {
			break
		}
		stale = 0
	}
	s.report()
	return nil
}

// A walk is the state of averaged stochastic gradient descent.
type walk[T kernel.Float] struct {
	*scaling
	*scratch[T]
	v, average []float64 // variables of the scaling
	w, g       []float64 // weights, and the gradient in v
}

// walk takes a step of descend on a batch, and adds the losses of its rows to sum.
func (s *solver[T]) walk(a *walk[T], part *block.Block[T], sum *sums) {
	rows, t := float64(s.src.Rows()), float64(s.steps)
	a.weights(a.v, a.w, s.stride)
	s.panel(a.scratch, part, a.w, a.s[:part.Len()], sum)
	s.take(a.scratch, a.g)
	share := float64(part.Len()) / rows
	for k := 0; k < len(a.w); k += s.stride {
		kernel.Axpy(a.g[k:][:s.penalised()], s.l2*share, a.w[k:][:s.penalised()])
	}
	a.gradient(a.g, s.stride)
	perEpoch := (rows + batch - 1) / batch
	eta := s.opt.Eta / float64(1+s.cols) / math.Sqrt(1+t/perEpoch) / share
	kernel.Axpy(a.v, -eta, a.g)
	for i, x := range a.v {
		a.average[i] += float64((x - a.average[i]) * ((averageAge + 1) / (t + averageAge + 1)))
	}
	s.steps++
}

// bound bounds the gap of the rounded weights by their Hessian. If that isn't enough, it finds the optimum by Newton's
// method, and compares. If the Hessian is too large and there is a penalty, the dual problem gives a bound.
func (s *solver[T]) bound(ctx context.Context) error {
	if !s.hasMatrix() {
		if s.zero == nil && s.opt.L2 > 0 {
			var at sums
			if err := s.pass(ctx, s.zeros(), false, &at); err != nil {
				return err
			}
			s.zero = at.gradient
		}
		_, err := s.boundDual(ctx)
		return err
	}
	if !s.examined {
		if _, err := s.moments(ctx); err != nil {
			return err
		}
	}
	if err := s.certify(ctx, s.written()); err != nil {
		return err
	}
	if s.gap <= roughly*s.at.objective {
		return nil
	}
	if s.best == 0 {
		other := newSolver(s.src, s.opt)
		other.w, other.round, other.unit, other.pivots = slices.Clone(s.w), s.round, s.unit, s.pivots
		other.examined, other.out = true, s.out
		other.opt.Epochs, other.opt.Progress = Newton.Epochs(), nil
		if _, err := other.minimise(ctx); err != nil {
			return err
		}
		if err := other.finish(ctx); err != nil {
			return err
		}
		s.best = other.at.objective - other.gap
	}
	s.gap = min(s.gap, max(0, s.at.objective-s.best))
	return nil
}
