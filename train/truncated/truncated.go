// Package truncated minimises sums of losses over rows of many columns, for which a Hessian is too large. It is Newton's
// method with steps by conjugate gradients, known as the truncated Newton method.
package truncated

import (
	"context"
	"math"
	"time"

	"halfspace/block"
	"halfspace/checkpoint"
	"halfspace/internal/dense"
	"halfspace/kernel/f64"
	"halfspace/train"
)

const (
	nearly  = 5e-7  // the gap at which the search stops, relative to the objective
	forcing = 0.3   // conjugate gradients stop at a residual of this times the gradient
	spare   = 0.25  // or if the residual alone would leave this times the gap at which the search stops
	flat    = 1e-12 // a smaller gain, relative to the objective, is rounding
	idle    = 5     // steps in a row with such gains that end the search
	level   = 0.1   // a step of length 1 is taken if the slope at its end is this times that at its begin
	even    = 1e-11 // the bias is best if the slope along it is this times the sum of sample weights
)

// A Task is rows with labels -1 and +1, the penalty 1/2 L2 |w|^2 on all weights but the bias, L2 > 0, and a loss. Of
// train.Options it uses Epochs, the most passes over the rows, Workers and Progress.
type Task struct {
	train.Options
	Rows block.Source
	L2   float64
	// Loss takes scores z and labels y. It sets z to the margins and factor, curvature and loss to the loss of each row
	// and its derivatives by the score, as f64.Logistic does.
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
// Large-Scale Linear Classification", 2018). The passes give the scores of d too. So a search along d for the length
// needs no rows (Keerthi and DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs",
// Journal of Machine Learning Research 6, 2005; Galli and Lin, "A Study on Truncated Newton Methods for Linear
// Classification", IEEE Transactions on Neural Networks and Learning Systems 33, 2022). Nor does the bias that is best at
// the end of the step.
//
// The search stops once the duality gap is 5e-7 of the objective; see bound. Sums are float64. They are made within a
// group of runs in row order, and then over groups in row order; see group. A score sums every fourth element of the row
// that isn't 0, and then the four sums. So the result depends neither on the workers nor on the form of the rows.
func (t *Task) Solve(ctx context.Context) (*Solution, error) {
	return t.solve(ctx, nil)
}

// solve is Solve for the loss of h, if it isn't nil.
func (t *Task) solve(ctx context.Context, h *hinge) (*Solution, error) {
	s := &search{Task: t, table: newTable(t.Rows, t.Workers), hinge: h, start: time.Now(), features: t.Rows.Spec().Width(), lower: math.Inf(-1)}
	cluster, _ := block.RemoteOf(t.Rows)
	s.remote = cluster != nil
	err := s.first(ctx)
	if err == nil {
		err = s.minimise(ctx)
	}
	return &Solution{W: s.at.w, Loss: s.at.loss, Objective: s.at.objective, Gap: max(0, s.at.objective-s.lower), Weight: s.at.weight,
		Passes: s.passes(), Steps: s.steps}, err
}

// A search is the state of a task.
type search struct {
	*Task
	*table
	hinge          *hinge // the loss in place of Task.Loss; nil for that
	remote         bool   // a cluster makes the passes over the rows; see remote.go
	features       int
	at, other      point          // other lends its memory to the next point
	vectors        [5][]float64   // memory of conjugate, for all columns
	rowVectors     [2][]float64   // the same for all rows
	measure        *train.Measure // of the last pass; nil if unknown
	lower          float64        // the greatest dual objective so far
	radius         float64        // the largest norm of a row's features; known after the first pass, as are those that follow
	y, weights     []float64
	visited, steps int64 // visited are rows
	start          time.Time

	factors  bool          // steps are preconditioned by a factor of a sampled Hessian, else by the Hessian's diagonal
	factor   *dense.Factor // nil if there is none so far
	products int           // of the last step

	same    int  // steps in a row with a gain that is rounding
	grouped bool // the sums at the weights are those of groups
}

// state walks what the search is at between two steps. What a pass over the rows computes from scores isn't part of it.
func (s *search) state(w *checkpoint.Walk) {
	w.Clock(&s.start)
	w.Int(&s.visited)
	w.Int(&s.steps)
	w.Count(&s.same)
	w.Count(&s.products)
	w.Bool(&s.grouped)
	w.Float(&s.lower)
	checkpoint.Values(w, s.at.w)
	checkpoint.Values(w, s.at.scores)
	dense.State(w, &s.factor, s.cols)
	s.hinge.state(w)
}

func (s *search) mark() { s.Checkpoint.Pass(s.passes(), s.visited, s.state) }

// minimise makes steps until the gap is small enough, rounding prevents a smaller one, or there are too many passes.
func (s *search) minimise(ctx context.Context) error {
	for s.mark(); s.at.objective-s.lower > nearly*s.at.objective && s.same < idle && !s.spent(2) && !s.hinge.blurred(); s.mark() {
		next := s.step
		if s.hinge != nil && s.ready() {
			next = s.raise
		}
		if err := next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// spent tells whether fewer passes than that many are left.
func (s *search) spent(passes int64) bool { return s.passes()+passes >= s.Epochs }

// passes returns the number of passes over the rows. As many visits as there are rows count as one.
func (s *search) passes() int64 {
	rows := s.Rows.Rows()
	return (s.visited + rows - 1) / rows
}

// step makes a step of Newton's method.
func (s *search) step(ctx context.Context) error {
	step, scores, err := s.conjugate(ctx)
	if err != nil {
		return err
	}
	length, err := s.along(ctx, step, scores)
	if err != nil {
		return err
	}
	zone := s.hinge.moved(length, scores)
	next := s.other
	next.w, next.scores = append(next.w[:0], s.at.w...), append(next.scores[:0], s.at.scores...)
	f64.Axpy(next.w, length, step)
	f64.Axpy(next.scores, length, scores)
	if err := s.balance(ctx, &next); err != nil {
		return err
	}
	if err := s.evaluate(ctx, &next, nil, nil); err != nil {
		return err
	}
	gain := s.at.smooth - next.smooth
	if s.same++; gain > flat*s.at.smooth {
		s.same = 0
	}
	if gain >= -flat*s.at.smooth {
		s.at, s.other = next, s.at
		s.steps++
		s.grouped = true
	} else {
		s.other = next
		s.hinge.stay(zone)
	}
	return nil
}

// conjugate returns a step and its scores of the rows. It leaves the passes that the rest of the step takes.
func (s *search) conjugate(ctx context.Context) (step, scores []float64, err error) {
	step, residual, direction, product, next := s.vectors[0], s.vectors[1], s.vectors[2], s.vectors[3], s.vectors[4]
	scores, along := s.rowVectors[0], s.rowVectors[1]
	if err := s.refactor(ctx); err != nil {
		return nil, nil, err
	}
	s.products = 0
	clear(step)
	clear(scores)
	clear(along)
	clear(residual)
	f64.Axpy(residual, -1, s.at.gradient)
	s.precondition(direction, residual)
	square := f64.Dot(residual, direction)
	enough, proved := forcing*math.Sqrt(square), 2*s.L2*spare*nearly*s.at.objective
	for range s.cols {
		if math.Sqrt(square) <= enough || f64.Dot(residual[:s.features], residual[:s.features]) <= proved || s.spent(2) {
			break
		}
		if err := s.product(ctx, product, direction, along); err != nil {
			return nil, nil, err
		}
		s.products++
		by := square / f64.Dot(direction, product)
		if by-by != 0 {
			break
		}
		f64.Axpy(step, by, direction)
		f64.Axpy(scores, by, along)
		f64.Axpy(residual, -by, product)
		s.precondition(next, residual)
		last := square
		square = f64.Dot(residual, next)
		f64.Axpy(next, square/last, direction)
		direction, next = next, direction
	}
	return step, scores, s.rest(ctx, step, scores)
}

// along returns the length of a step from the weights at which the objective is least, given the step's scores. It is 1
// if the slope there is far smaller than at the start.
func (s *search) along(ctx context.Context, step, scores []float64) (length float64, err error) {
	linear := float64(s.L2 * f64.Dot(s.at.w[:s.features], step[:s.features]))
	square := float64(s.L2 * f64.Dot(step[:s.features], step[:s.features]))
	return dense.Root(1, -level*f64.Dot(s.at.gradient, step), func(length float64) (slope, curvature float64, err error) {
		slope, curvature, err = s.slope(ctx, s.at.scores, scores, length)
		return slope + linear + float64(square*length), curvature + square, err
	})
}

// balance gives p, which has weights and scores, the best bias.
func (s *search) balance(ctx context.Context, p *point) error {
	if s.features == s.cols {
		return nil
	}
	enough := even * s.at.weight
	slope, _, err := s.slope(ctx, p.scores, nil, 0)
	if err != nil || math.Abs(slope) <= enough {
		return err
	}
	sign := math.Copysign(1, -slope)
	by, err := dense.Root(0, enough, func(length float64) (slope, curvature float64, err error) {
		slope, curvature, err = s.slope(ctx, p.scores, nil, sign*length)
		return sign * slope, curvature, err
	})
	if by = float64(by * sign); by-by != 0 {
		return err
	}
	p.w[s.features] += by
	for i := range p.scores {
		p.scores[i] += by
	}
	return err
}

// A point is weights and what a pass over the rows tells about them.
type point struct {
	w         []float64
	loss      float64
	objective float64
	smooth    float64    // what the steps minimise: the objective, or that of a smooth form of the loss
	weight    float64    // the sum of sample weights
	gradient  []float64  // of the objective
	diagonal  []float64  // of the Hessian
	scores    []float64  // of the rows
	curvature []float64  // of each row's loss, times its sample weight
	duals     [2]float64 // for each class, the sum of dual variables
	entropies [2]float64 // for each class, its part of the dual objective
}

// reset makes sums zero. It has the memory of sums over that many columns and rows.
func (p *point) reset(cols, rows int) {
	if p.gradient == nil {
		p.gradient, p.diagonal, p.curvature = make([]float64, cols), make([]float64, cols), make([]float64, rows)
	}
	clear(p.gradient)
	clear(p.diagonal)
	*p = point{w: p.w, scores: p.scores, gradient: p.gradient, diagonal: p.diagonal, curvature: p.curvature}
}

// bound returns the dual objective, which the minimum isn't below.
//
// Let m be the margin of a row and a = -loss'(m) its dual variable. The dual objective is the sum of loss + a m, which
// is concave in a and 0 at 0, less |v|^2 / (2 l2), with v the sum of a y x over the features. The gradient is l2 w - v.
// With a bias, the a of both classes must have the same sum. So those of the class with the greater sum are multiplied
// by 1-e. That leaves 1-e of the class's part at least, and lengthens v by at most e sum a R, with R the largest norm of
// a row.
func (s *search) bound(p *point) float64 {
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
	return dual - float64(norm*norm)/(2*s.L2)
}
