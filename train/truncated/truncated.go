// Package truncated minimises sums of losses over rows of many columns, for which a Hessian is too large. It is Newton's
// method with steps by conjugate gradients, known as the truncated Newton method.
package truncated

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/train"
)

const (
	nearly  = 1e-7  // the gap at which the search stops, relative to the objective
	forcing = 0.1   // conjugate gradients stop at a residual of this times the gradient
	flat    = 1e-12 // a smaller gain, relative to the objective, is rounding
	idle    = 5     // steps in a row with such gains that end the search
	level   = 0.1   // a step of length 1 is taken if the slope at its end is this times that at its begin
	bends   = 30    // the most points that are tried along a step
)

// A Task is rows with labels -1 and +1, the penalty 1/2 L2 |w|^2 on all weights but the bias, L2 > 0, and a loss. Of
// train.Options it uses Epochs, the most passes over the rows, Workers and Progress.
type Task[T kernel.Float] struct {
	train.Options
	Rows block.Source[T]
	L2   float64
	// Loss takes scores z and labels y. It sets z to the margins and factor, curvature and loss to the loss of each row
	// and its derivatives by the score, as kernel.Logistic does.
	Loss func(z, factor, curvature, loss, y []float64)
}

// A Solution is the result of a task.
type Solution struct {
	W                    []float64 // one for each column
	Loss, Objective, Gap float64   // Objective is above the minimum by at most Gap
	Weight               float64   // the sum of sample weights
	Passes, Steps        int64
}

// Solve finds the minimum. It returns the weights so far with an error of ctx or of the rows.
//
// A step d minimises g.d + 1/2 d'Hd up to a residual. g is the gradient and H the Hessian at w. It is found by conjugate
// gradients, preconditioned by H's diagonal. They need products of H with vectors: one pass over the rows for each (Lin,
// Weng and Keerthi, "Trust Region Newton Method for Large-Scale Logistic Regression", Journal of Machine Learning
// Research 9, 2008; Hsia, Chiang and Lin, "Preconditioned Conjugate Gradient Methods in Truncated Newton Frameworks for
// Large-Scale Linear Classification", 2018). A search along d finds the length. It needs the scores of d, from one pass,
// and then no rows (Keerthi and DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs",
// Journal of Machine Learning Research 6, 2005; Galli and Lin, "A Study on Truncated Newton Methods for Linear
// Classification", IEEE Transactions on Neural Networks and Learning Systems 33, 2022).
//
// The search stops once the duality gap is 1e-7 of the objective; see gap. Sums are float64. They are made within a run
// in row order, and then over runs in row order. A score sums every fourth element of the row that isn't 0, and then
// the four sums. So the result depends neither on the workers nor on the form of the rows.
func (t *Task[T]) Solve(ctx context.Context) (*Solution, error) {
	s := &search[T]{Task: t, start: time.Now(), cols: t.Rows.Spec().Cols(), features: len(t.Rows.Spec().Features), lower: math.Inf(-1)}
	s.scratch.New = func() any { return newScratch[T](s.cols) }
	s.at = point{w: make([]float64, s.cols)}
	err := s.evaluate(ctx, &s.at)
	if err == nil {
		err = s.minimise(ctx)
	}
	return &Solution{W: s.at.w, Loss: s.at.loss, Objective: s.at.objective, Gap: max(0, s.at.objective-s.lower), Weight: s.at.weight,
		Passes: s.passes, Steps: s.steps}, err
}

// minimise makes steps until the gap is small enough, or there are too many passes.
func (s *search[T]) minimise(ctx context.Context) error {
	for same := 0; s.at.objective-s.lower > nearly*s.at.objective && same < idle && s.passes+2 < s.Epochs; {
		step, err := s.conjugate(ctx)
		if err != nil {
			return err
		}
		length, err := s.along(ctx, step)
		if err != nil {
			return err
		}
		next := point{w: slices.Clone(s.at.w)}
		kernel.Axpy(next.w, length, step)
		if err := s.evaluate(ctx, &next); err != nil {
			return err
		}
		gain := s.at.objective - next.objective
		if same++; gain > flat*s.at.objective {
			same = 0
		}
		if gain >= -flat*s.at.objective {
			s.at = next
			s.steps++
		}
	}
	return nil
}

// conjugate returns a step. It leaves the passes that the rest of the step takes.
func (s *search[T]) conjugate(ctx context.Context) (step []float64, err error) {
	step, residual := make([]float64, s.cols), make([]float64, s.cols)
	kernel.Axpy(residual, -1, s.at.gradient)
	direction := s.at.divided(residual)
	square := kernel.Dot(residual, direction)
	enough := forcing * math.Sqrt(square)
	for range s.cols {
		if math.Sqrt(square) <= enough || s.passes+2 >= s.Epochs {
			break
		}
		product, err := s.product(ctx, direction)
		if err != nil {
			return nil, err
		}
		by := square / kernel.Dot(direction, product)
		if by-by != 0 {
			break
		}
		kernel.Axpy(step, by, direction)
		kernel.Axpy(residual, -by, product)
		next := s.at.divided(residual)
		last := square
		square = kernel.Dot(residual, next)
		kernel.Axpy(next, square/last, direction)
		direction = next
	}
	return step, nil
}

// along returns the length of a step from the weights at which the objective is least: 1, or, if the slope there isn't
// far smaller than at the begin, a root of the slope by Newton's method between bounds.
func (s *search[T]) along(ctx context.Context, step []float64) (length float64, err error) {
	d, err := s.scores(ctx, step)
	if err != nil {
		return 0, err
	}
	linear := float64(s.L2 * kernel.Dot(s.at.w[:s.features], step[:s.features]))
	square := float64(s.L2 * kernel.Dot(step[:s.features], step[:s.features]))
	first, lo, hi := -kernel.Dot(s.at.gradient, step), 0.0, math.Inf(1)
	length = 1
	for range bends {
		slope, curvature, err := s.slope(ctx, d, length)
		if err != nil {
			return 0, err
		}
		slope, curvature = slope+linear+float64(square*length), curvature+square
		if math.Abs(slope) <= level*first {
			break
		}
		if slope > 0 {
			hi = length
		} else {
			lo = length
		}
		next := length - slope/curvature
		if !(next > lo && next < hi) {
			next = min(2*lo, (lo+hi)/2)
			if lo == 0 {
				next = hi / 2
			}
		}
		length = next
	}
	return length, nil
}

// A point is weights and what a pass over the rows tells about them.
type point struct {
	w         []float64
	loss      float64
	objective float64
	weight    float64    // the sum of sample weights
	gradient  []float64  // of the objective
	diagonal  []float64  // of the Hessian
	scores    []float64  // of the rows
	curvature []float64  // of each row's loss, times its sample weight
	duals     [2]float64 // for each class, the sum of dual variables
	entropies [2]float64 // for each class, its part of the dual objective
}

// divided returns v divided by the diagonal.
func (p *point) divided(v []float64) []float64 {
	d := make([]float64, len(v))
	for i, x := range v {
		d[i] = x / p.diagonal[i]
	}
	return d
}

// gap returns an upper bound of how far the objective is above the minimum.
//
// Let m be the margin of a row and a = -loss'(m) its dual variable. The dual objective is the sum of loss + a m, which
// is concave in a and 0 at 0, less |v|^2 / (2 l2), with v the sum of a y x over the features. The gradient is l2 w - v.
// With a bias, the a of both classes must have the same sum. So those of the class with the greater sum are multiplied
// by 1-e. That leaves 1-e of the class's part at least, and lengthens v by at most e sum a R, with R the largest norm of
// a row.
func (s *search[T]) gap(p *point) float64 {
	square := 0.0
	for i, g := range p.gradient[:s.features] {
		v := float64(s.L2*p.w[i]) - g
		square += float64(v * v)
	}
	dual, norm := p.entropies[0]+p.entropies[1], math.Sqrt(square)
	if s.features < s.cols {
		more := 0
		if p.duals[1] > p.duals[0] {
			more = 1
		}
		if most := p.duals[more]; most > 0 {
			e := 1 - p.duals[1-more]/most
			dual -= float64(e * max(0, p.entropies[more]))
			norm += float64(float64(e*most) * s.radius)
		}
	}
	return p.objective - (dual - float64(norm*norm)/(2*s.L2))
}
