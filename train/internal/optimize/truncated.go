package optimize

import (
	"context"
	"math"
	"time"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	forcingTerm      = 0.3   // conjugate gradients stop at a residual of this times the gradient
	residualGapShare = 0.25  // or if the residual alone would leave this times the gap to reach
	mostForcingTerm  = 0.1   // greatest forcing term with a bias, and the first; with 0.3, small penalties don't converge
	leastForcingTerm = 0.01  // least forcing term with a bias; see forcing. The rule of residualGapShare is then off
	forcingShare     = 0.5   // forcing term with a bias, relative to the factor by which the last step reduced the gradient
	noiseStepGain    = 1e-12 // a gain below this times the objective is rounding error
	mostIdleSteps    = 5     // consecutive steps with a smaller gain that end the search
	endSlope         = 0.1   // a step of length 1 is taken if the slope at its end is at most this times the slope at its beginning
	exactResidual    = 1e-10 // forcingTerm with a Hessian, whose products take no pass over the rows
)

// Truncated finds the minimum with the penalty L2 > 0. If ctx ends or reading the rows fails, it returns the weights so
// far with the error.
//
// A step d minimises g.d + 1/2 d'Hd up to a residual, where g is the gradient and H the Hessian at w. Conjugate
// gradients find d, preconditioned by H's diagonal or by a factor of a sampled Hessian. They need products of H with
// vectors, which take one pass over the rows each (Lin, Weng and Keerthi, "Trust Region Newton Method for Large-Scale
// Logistic Regression", Journal of Machine Learning Research 9, 2008; Hsia, Chiang and Lin, "Preconditioned Conjugate
// Gradient Methods in Truncated Newton Frameworks for Large-Scale Linear Classification", 2018). These passes also give
// the scores of d. So a search along d for the length of the step needs no pass over the rows (Keerthi and DeCoste, "A
// Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs", Journal of Machine Learning Research 6,
// 2005; Galli and Lin, "A Study on Truncated Newton Methods for Linear Classification", IEEE Transactions on Neural
// Networks and Learning Systems 33, 2022). The search for the best bias at the end of the step needs no pass either.
//
// The search stops once the duality gap is at most 5e-7 of the objective; see dualObjective. Sums are float64. They
// are made within a batch of chunks in row order, and then over the batches in row order; see batch. A score makes
// four sums, each of every fourth element of the row that isn't 0, and then adds the four sums. After the first pass,
// rows with many elements other than 0 have another order; see dense.go. So the result depends neither on the workers
// nor on the form of the rows.
func (t *Task) Truncated(ctx context.Context) (*Solution, error) {
	return t.TruncatedFrom(ctx, Tally{Start: time.Now()}, nil)
}

// TruncatedFrom is Truncated from given weights, after the passes and steps of a tally. nil weights are zeros.
func (t *Task) TruncatedFrom(ctx context.Context, after Tally, w []float64) (*Solution, error) {
	after.Task = t
	s := newSearch(&after, nil)
	var err error
	if s.resumed, err = t.Checkpoint.Load(s.stateWithTally); err == nil {
		err = s.begin(ctx, w, nil, math.Inf(-1))
	}
	if err == nil {
		err = s.minimise(ctx)
	}
	return &Solution{W: s.pointAtWeights.W, Loss: s.pointAtWeights.Loss, Objective: s.pointAtWeights.Objective,
		LowerBound: s.pointAtWeights.Objective - max(0, s.pointAtWeights.Objective-s.LowerBound),
		Weight:     s.pointAtWeights.Weight,
		Passes:     s.Passes(), Visits: s.Passes() * t.Rows.Rows(), Steps: s.Steps, OutOfPasses: s.lacksPasses(2)}, err
}

func (s *search) stateWithTally(w *checkpoint.Walk) {
	checkpoint.Named(StateOfTruncated, func(w *checkpoint.Walk) {
		checkpoint.Struct(w, s.Tally, nil)
		s.state(w)
	})(w)
}

// state saves or restores the state of the search between two steps.
func (s *search) state(w *checkpoint.Walk) {
	p := &s.pointAtWeights
	s.W, s.Scores = p.W, p.Scores
	checkpoint.Struct(w, &s.TruncatedState, map[string]int{"weights": len(p.W), "rows": len(p.Scores)})
	p.W, p.Scores = s.W, s.Scores
	linalg.State(w, &s.factor, s.cols)
}

// minimise makes steps until the gap is small enough, rounding prevents a smaller gap, or the limit of passes is
// reached.
func (s *search) minimise(ctx context.Context) error {
	for s.Mark(s.stateWithTally); s.pointAtWeights.Objective-s.LowerBound > GapGoal*s.pointAtWeights.Objective &&
		s.IdleSteps < mostIdleSteps && !s.lacksPasses(2); s.Mark(s.stateWithTally) {
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lacksPasses tells whether at most the given number of passes is left.
func (t *Tally) lacksPasses(passes int64) bool { return t.Passes()+passes >= t.Epochs }

// step makes one step of Newton's method.
func (s *search) step(ctx context.Context) error {
	step, scores, err := s.conjugateStep(ctx)
	if err != nil {
		return err
	}
	length, err := s.stepLength(ctx, step, scores)
	if err != nil {
		return err
	}
	zone := s.hinge.setZone(length, scores)
	next := s.sparePoint
	next.W, next.Scores = append(next.W[:0], s.pointAtWeights.W...), append(next.Scores[:0], s.pointAtWeights.Scores...)
	f64.Axpy(next.W, length, step)
	f64.Axpy(next.Scores, length, scores)
	if err := s.balanceBias(ctx, &next); err != nil {
		return err
	}
	if err := s.evaluate(ctx, &next, nil, nil); err != nil {
		return err
	}
	// The smooth form of a hinge may be far below 0, or close to it while the losses aren't.
	noise := noiseStepGain * max(s.pointAtWeights.Objective, math.Abs(s.pointAtWeights.SmoothObjective))
	gain := s.pointAtWeights.SmoothObjective - next.SmoothObjective
	if s.IdleSteps++; gain > noise {
		s.IdleSteps = 0
	}
	if gain >= -noise {
		s.pointAtWeights, s.sparePoint = next, s.pointAtWeights
		s.Steps++
		s.HasBatchSums = true
	} else {
		s.sparePoint = next
		s.hinge.restoreZone(zone)
	}
	return nil
}

// conjugateStep returns a step and the scores of the rows at the step. It stops early enough to leave the passes for
// the rest of the step.
func (s *search) conjugateStep(ctx context.Context) (step, scores []float64, err error) {
	step, residual, direction, product, next := s.vectors[0], s.vectors[1], s.vectors[2], s.vectors[3], s.vectors[4]
	scores, along := s.rowVectors[0], s.rowVectors[1]
	if err := s.refactor(ctx); err != nil {
		return nil, nil, err
	}
	s.Products = 0
	clear(step)
	clear(scores)
	clear(along)
	clear(residual)
	f64.Axpy(residual, -1, s.pointAtWeights.Gradient)
	s.precondition(direction, residual)
	square := f64.Dot(residual, direction)
	enough, proved := forcingTerm*math.Sqrt(square), 2*s.L2*residualGapShare*GapGoal*s.pointAtWeights.Objective
	if s.hessian != nil {
		enough, proved = exactResidual*math.Sqrt(square), 0
	} else if s.features < s.cols { // balance then moves the bias, and a residual along the bias becomes a gradient of the features
		enough, proved = s.forcing(square)*math.Sqrt(square), 0
	}
	s.LastSquare = square
	for range s.cols {
		if math.Sqrt(square) <= enough || f64.Dot(residual[:s.features], residual[:s.features]) <= proved ||
			s.hessian == nil && s.lacksPasses(2) ||
			s.factor == nil && s.Products > staleProducts && s.factorSavesTime() { // the next step begins with a factor
			break
		}
		if err := s.product(ctx, product, direction, along); err != nil {
			return nil, nil, err
		}
		s.Products++
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
	if s.hessian != nil {
		return step, scores, s.scoreRows(ctx, step, scores, make([]float64, len(scores)))
	}
	return step, scores, s.scoreRows(ctx, step, scores, s.pointAtWeights.Curvature)
}

// forcing returns the forcing term of a search with a bias, at a gradient with the given square: the more the last step
// reduced the gradient, the less residual is left. See choice 2 of Eisenstat and Walker, "Choosing the Forcing Terms in
// an Inexact Newton Method", SIAM Journal on Scientific Computing 17, 1996.
func (s *search) forcing(square float64) float64 {
	if s.LastSquare == 0 {
		return mostForcingTerm
	}
	return min(mostForcingTerm, max(leastForcingTerm, forcingShare*math.Sqrt(square/s.LastSquare)))
}

// stepLength returns the length of the step at which the objective is least. scores are the scores of the step. It
// returns 1 if the slope at length 1 is at most 0.1 times the slope at the start.
func (s *search) stepLength(ctx context.Context, step, scores []float64) (length float64, err error) {
	linear := float64(s.L2*f64.Dot(s.pointAtWeights.W[:s.features], step[:s.features])) + s.hinge.fixedSlope(step)
	square := float64(s.L2 * f64.Dot(step[:s.features], step[:s.features]))
	enough := -endSlope * f64.Dot(s.pointAtWeights.Gradient, step)
	first := s.hinge.firstLength(s.pointAtWeights.Scores, scores)
	return linalg.Root(first, enough, func(length float64) (slope, curvature float64, err error) {
		slope, curvature, err = s.slope(ctx, s.pointAtWeights.Scores, scores, length)
		return slope + linear + float64(square*length), curvature + square, err
	})
}

// balanceBias sets the bias of p to its optimum. p has weights and scores, which balanceBias also changes.
func (s *search) balanceBias(ctx context.Context, p *point) error {
	if s.features == s.cols {
		return nil
	}
	one := []float64{1} // a step of the bias, which is the last column
	size := s.pointAtWeights.Weight
	if s.hinge != nil {
		size = s.hinge.sumOfDuals(&s.pointAtWeights)
	}
	by, err := bestBias(biasSlope*size, func(by float64) (slope, curvature float64, err error) {
		slope, curvature, err = s.slope(ctx, p.Scores, nil, by)
		return slope + s.hinge.fixedSlope(one), curvature, err
	})
	if by == 0 {
		return err
	}
	p.W[s.features] += by
	for i := range p.Scores {
		p.Scores[i] += by
	}
	return err
}

const (
	sampleRowsPerColumn = 8    // rows for each column in a sampled Hessian
	mostFactorColumns   = 4096 // the factor of a sampled Hessian of this many columns has 64 MiB
	savedProducts       = 20   // products that a factor saves in a step, about
	staleProducts       = 4    // number of products in a step above which the next step samples the Hessian again

	// A sampled Hessian of d columns takes 4 d^3 multiplications. That many take the time of an element in a product.
	denseMultiplicationsPerElement  = 20
	sparseMultiplicationsPerElement = 70
)

// factorSavesTime tells whether a sampled Hessian costs less than the products that it saves: savedProducts, and for
// dense rows as many more as the search took so far. Products of sparse rows take so little that the Hessian came too
// late.
func (s *search) factorSavesTime() bool {
	d, products := float64(s.cols), float64(savedProducts)*sparseMultiplicationsPerElement
	if s.isDense {
		products = float64(savedProducts+s.Passes()) * denseMultiplicationsPerElement
	}
	return (!s.isDense || s.cols <= mostFactorColumns) && 4*d*d*d <= products*float64(s.elements)
}

// refactor sets the preconditioner to the factor of a sampled Hessian at the weights, unless the last factor still
// works.
//
// The sample takes every row whose curvature is at least a threshold. Among the other rows, it takes a row each time
// the sum of their curvatures passes a multiple of the threshold, and gives the row the threshold as its curvature. The
// diagonal is raised to the diagonal of the Hessian at least, for columns that the sample rarely contains.
func (s *search) refactor(ctx context.Context) error {
	if !s.isExact && (s.factor != nil && s.Products <= staleProducts || !s.factorSavesTime() || s.lacksPasses(3)) {
		return nil
	}
	m, err := gram.NewTriangle(s.cols)
	if err != nil {
		return err
	}
	picks, n := s.rowVectors[1], s.Rows.Rows()
	if s.isExact {
		n = int64(copyNonzero(picks, s.pointAtWeights.Curvature))
	} else {
		s.pickSample(picks)
	}
	switch {
	case s.inProcess:
		err = gram.Scatter(ctx, m, s.Rows, func(chunk block.Chunk, weights, _ []float64) {
			copy(weights, picks[chunk.First:][:chunk.Len()])
		}, s.Workers)
	case s.isExact:
		err = s.hessianRemote(ctx, m, picks)
	default:
		err = s.scatterPicked(ctx, m, picks)
	}
	if err != nil {
		return err
	}
	for i, most := range s.pointAtWeights.Diagonal {
		at := i*(i+1)/2 + i
		if i < s.features {
			m.Data[at] += s.L2
		}
		if !s.isExact {
			m.Data[at] = max(m.Data[at], most)
		} else if m.Data[at] == 0 { // no row has a curvature
			m.Data[at] = s.L2
		}
	}
	s.countVisits(n)
	if s.isExact {
		s.hessian = m
	}
	if s.factor, _, err = linalg.Factorise(ctx, m.Data, s.cols); s.factor == nil && err == nil {
		err = learner.OverflowError()
	}
	return err
}

// copyNonzero copies numbers, and returns how many aren't 0.
func copyNonzero(to, from []float64) (n int) {
	for i, v := range from {
		if to[i] = v; v != 0 {
			n++
		}
	}
	return n
}

// pickSample sets picks to the weights of the rows in the sampled Hessian: 0 for rows that the sample leaves out.
func (s *search) pickSample(picks []float64) {
	total := 0.0
	for _, c := range s.pointAtWeights.Curvature {
		total += c
	}
	threshold, sum := total/float64(sampleRowsPerColumn*s.cols), 0.0
	for i, c := range s.pointAtWeights.Curvature {
		picks[i] = 0
		if c >= threshold {
			picks[i] = c
			continue
		}
		if sum += c; sum >= threshold {
			picks[i] = threshold
			sum -= threshold
		}
	}
}

// precondition sets d to an approximation of the inverse Hessian times v.
func (s *search) precondition(d, v []float64) {
	if s.factor != nil {
		copy(d, s.factor.Solve(v))
		return
	}
	for i, x := range v {
		d[i] = x / s.pointAtWeights.Diagonal[i]
	}
}
