package optimize

import (
	"context"
	"math"
	"slices"

	"halfspace/kernel/f64"
)

const (
	firstPart  = 1.0   // the first step ends once the sum of violations is this times the sum at its start
	leastPart  = 1e-12 // steps that end at a smaller part can't improve: rounding errors prevent it
	mostRounds = 100   // most rounds of coordinate descent in a step
	least      = 1e-12 // summand of a second derivative, so that it is above 0
)

// violation returns by how much a weight w violates the optimum's conditions. slope is the derivative of its loss and
// l2 penalty.
func (s *net) violation(j int, w, slope float64) float64 {
	switch {
	case j >= s.features:
		return math.Abs(slope)
	case w > 0:
		return math.Abs(slope + s.L1)
	case w < 0:
		return math.Abs(slope - s.L1)
	case s.NonNegative:
		return max(0, -slope-s.L1)
	}
	return max(0, math.Abs(slope)-s.L1)
}

// best returns the minimum over one weight, whose value is w now. slope and curvature are the first and second
// derivative of the loss's model plus the l2 penalty at w.
func (s *net) best(j int, w, slope, curvature float64) float64 {
	if j >= s.features {
		return w - slope/curvature
	}
	return s.least(float64(curvature*w)-slope, curvature)
}

// step returns weights near the minimum of the quadratic model, and the number of rounds of coordinate descent that it
// made. It leaves the scores of the step in along. It ends once the sum of violations is at most part times the sum at
// the start.
func (s *net) step(ctx context.Context, part float64) (next []float64, rounds int, err error) {
	next = slices.Clone(s.w)
	total, largest := 0.0, 0.0
	var all []int
	for j, w := range next {
		slope := s.gradient[j]
		if j < s.features {
			slope += float64(s.L2 * w)
		}
		v := s.violation(j, w, slope)
		total += v
		largest = max(largest, v)
	}
	slack := largest / float64(len(s.y))
	for j, w := range next {
		if w != 0 || j >= s.features || s.pull(-s.gradient[j]) > s.L1-slack {
			all = append(all, j)
		}
	}
	if err := s.curve(ctx, all); err != nil {
		return nil, 0, err
	}
	active, whole := slices.Clone(all), true
	limit := math.Inf(1)
	for rounds < mostRounds {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if rounds > 0 && s.spent() {
			break
		}
		sum, most := s.round(&active, next, limit)
		rounds++
		if sum > part*total {
			limit, whole = most/float64(len(s.y)), len(active) == len(all)
			continue
		}
		if whole = whole && len(active) == len(all); whole {
			break
		}
		active, limit, whole = append(active[:0], all...), math.Inf(1), true
	}
	return next, rounds, nil
}

// curve computes the diagonal of the Hessian for the columns some.
func (s *net) curve(ctx context.Context, some []int) error {
	for _, j := range some {
		s.diagonal[j] = -1
	}
	return s.elements.each(ctx, s.Workers, func(j int) {
		if s.diagonal[j] != -1 {
			return
		}
		s.diagonal[j] = s.elements.curvature(j, s.along)
	})
}

// round minimises over one weight after another, in a random order of the active columns. It removes weights of 0 from
// active whose slope is below L1 by more than limit. It returns the sum of the violations, and the largest violation.
func (s *net) round(active *[]int, next []float64, limit float64) (sum, most float64) {
	order := *active
	s.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	left := order[:0]
	for _, j := range order {
		s.visited += s.elements.size(j)
		slope, curvature := s.gradient[j]+s.elements.slope(j, s.along), s.diagonal[j]+least
		if j < s.features {
			slope += float64(s.L2 * next[j])
			curvature += s.L2
		}
		w := next[j]
		if w == 0 && j < s.features && s.pull(-slope) < s.L1-limit {
			continue
		}
		left = append(left, j)
		v := s.violation(j, w, slope)
		sum, most = sum+v, max(most, v)
		to := s.best(j, w, slope, curvature)
		if by := to - w; by != 0 {
			next[j] = to
			s.elements.move(j, s.along, by)
		}
	}
	*active = left
	return sum, most
}

const (
	settled  = 0.02 // face is used after steps that gain at most this times the objective: most weights keep their signs then
	coarse   = 0.5  // conjugate gradients stop at a residual of forcing times the first one; largest forcing
	fine     = 0.02 // smallest forcing
	finer    = 0.3  // factor of forcing after a whole step
	coarser  = 2.0  // factor of forcing after a halved step
	maxInner = 40   // most products with the Hessian in a step
)

// polish moves to the weights that face returns. It tells whether the whole step was taken. If so, the next step of
// face is more precise.
func (s *net) polish(ctx context.Context) (whole bool, err error) {
	next, err := s.face(ctx)
	if err != nil {
		return false, err
	}
	moved, err := s.move(ctx, next)
	if whole = moved && s.whole; whole {
		s.forcing = max(fine, s.forcing*finer)
	} else {
		s.forcing = min(coarse, s.forcing*coarser)
	}
	if err != nil {
		return false, err
	}
	if !moved {
		for i := range s.scores {
			s.along[2*i+1] = 0 // the next step adds its scores to 0
		}
		return false, nil
	}
	return whole, s.evaluate(ctx)
}

// face returns weights near the minimum of the quadratic model over the bias and the weights that aren't 0. A weight
// whose sign would change becomes 0. face uses conjugate gradients, preconditioned by the diagonal of the Hessian. They
// need fewer passes than coordinate descent, but coordinate descent also finds which weights are 0. face leaves the
// scores of the step in along.
func (s *net) face(ctx context.Context) (next []float64, err error) {
	var on []int
	for j, w := range s.w {
		if w != 0 || j >= s.features {
			on = append(on, j)
		}
	}
	if err := s.curve(ctx, on); err != nil {
		return nil, err
	}
	n := len(s.w)
	step, residual, scaled, direction, product := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for _, j := range on {
		if residual[j] = -s.gradient[j]; j < s.features {
			residual[j] -= float64(s.L2*s.w[j]) + math.Copysign(s.L1, s.w[j])
		}
	}
	square := s.divide(scaled, residual, on)
	copy(direction, scaled)
	enough := s.forcing * math.Sqrt(square)
	for range maxInner {
		if math.Sqrt(square) <= enough || s.spent() {
			break
		}
		if err := s.product(ctx, product, direction, on); err != nil {
			return nil, err
		}
		by := square / f64.Dot(direction, product)
		if by-by != 0 {
			break
		}
		f64.Axpy(step, by, direction)
		f64.Axpy(residual, -by, product)
		last := square
		square = s.divide(scaled, residual, on)
		for _, j := range on {
			direction[j] = scaled[j] + float64(square/last*direction[j])
		}
	}
	next = slices.Clone(s.w)
	for _, j := range on {
		to := s.w[j] + step[j]
		if j < s.features && !(float64(to*s.w[j]) > 0) {
			to = 0
		}
		next[j], step[j] = to, to-s.w[j]
	}
	s.multiply(step, on)
	for i, z := range s.products {
		s.along[2*i+1] = z
	}
	return next, nil
}

// spent tells whether at most two passes are left, counting the passes of coordinate descent so far. It returns true if
// there are no elements.
func (s *net) spent() bool {
	all := s.elements.all()
	return all == 0 || s.passes+s.visited/all+2 >= s.Epochs
}

// divide sets d to v divided by the diagonal of the Hessian, for the columns on. It returns the dot product of d and v.
func (s *net) divide(d, v []float64, on []int) (sum float64) {
	for _, j := range on {
		curvature := s.diagonal[j] + least
		if j < s.features {
			curvature += s.L2
		}
		d[j] = v[j] / curvature
		sum += float64(d[j] * v[j])
	}
	return sum
}

// multiply sets products to the scores of the vector v. on lists the columns in which v isn't 0.
func (s *net) multiply(v []float64, on []int) {
	if s.products == nil {
		s.products = make([]float64, len(s.scores))
	}
	clear(s.products)
	for _, j := range on {
		s.visited += s.elements.size(j)
		s.elements.add(j, s.products, v[j])
	}
}

// product sets out to the product of the Hessian and v, for the columns on.
func (s *net) product(ctx context.Context, out, v []float64, on []int) error {
	s.multiply(v, on)
	for i := range s.products {
		s.products[i] *= s.along[2*i]
	}
	return s.elements.each(ctx, s.Workers, func(j int) {
		if j < s.features && s.w[j] == 0 {
			return // column j isn't in on
		}
		out[j] = s.elements.score(j, s.products)
		if j < s.features {
			out[j] += float64(s.L2 * v[j])
		}
	})
}
