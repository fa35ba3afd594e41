package truncated

import (
	"context"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/csr"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/train"
)

// first makes the first pass, at weights of 0. It learns what doesn't depend on the weights.
func (s *search[T]) first(ctx context.Context) error {
	n := s.Rows.Rows()
	s.y, s.weights, s.forms = make([]float64, n), make([]float64, n), make([]form[T], (n+block.RunRows-1)/block.RunRows)
	s.at = point{w: make([]float64, s.cols), scores: make([]float64, n)}
	for i := range s.vectors {
		s.vectors[i] = make([]float64, s.cols)
	}
	for i := range s.rowVectors {
		s.rowVectors[i] = make([]float64, n)
	}
	resumed, err := s.Checkpoint.Load(s.state)
	if err != nil {
		return err
	}
	if resumed {
		defer s.uncounted()()
	}
	var elements []int64
	err = s.evaluate(ctx, &s.at, func(c *scratch[T], run block.Run[T], t *part) {
		s.look(run)
		rows := s.read(c, run)
		for r := range run.Len() {
			columns, values := rows.Row(r)
			s.y[run.First+int64(r)], s.weights[run.First+int64(r)] = float64(run.Y[r]), run.Weight(r)
			t.radius = max(t.radius, csr.Norm(columns, values, s.features))
		}
		t.elements = int64(s.forms[run.Number].elements)
		c.all = t.elements >= int64(s.cols)
	}, func(t *part) {
		elements = append(elements, t.elements)
		s.radius = max(s.radius, t.radius)
	})
	s.factors = s.worthFactor(s.group(elements))
	if resumed && s.grouped && err == nil {
		err = s.evaluate(ctx, &s.at, nil, nil)
	}
	return err
}

// uncounted keeps passes from being counted and reported until end is called: they were made before.
func (s *search[T]) uncounted() (end func()) {
	visited, lower, show := s.visited, s.lower, s.Progress
	s.Progress = nil
	return func() { s.visited, s.lower, s.Progress, s.measure = visited, lower, show, nil }
}

// evaluate makes a pass over the rows and completes p, which has weights and scores. It calls look with each run before,
// and seen with the sums of each group after.
func (s *search[T]) evaluate(ctx context.Context, p *point, look func(*scratch[T], block.Run[T], *part), seen func(*part)) error {
	p.reset(s.cols, len(p.scores))
	err := s.pass(ctx, true, func(c *scratch[T], run block.Run[T], t *part) {
		if look != nil {
			look(c, run, t)
		}
		s.sum(c, run, p, t)
	}, func(t *part) {
		if seen != nil {
			seen(t)
		}
		p.loss += t.loss
		p.smooth += t.smooth
		p.weight += t.weight
		for k := range p.duals {
			p.duals[k] += t.duals[k]
			p.entropies[k] += t.entropies[k]
		}
		s.addTo(p.gradient, t, t.sums)
		s.addTo(p.diagonal, t, t.squares)
	})
	if err != nil {
		return err
	}
	penalty := 0.0
	for i := range s.features {
		penalty += float64(float64(s.L2/2*p.w[i]) * p.w[i])
		p.gradient[i] += float64(s.L2 * p.w[i])
		p.diagonal[i] += s.L2
	}
	if s.features < s.cols && p.diagonal[s.features] == 0 { // no row has a curvature
		p.diagonal[s.features] = s.L2
	}
	p.objective, p.smooth = p.loss+penalty, p.smooth+penalty
	lower := max(s.lower, s.bound(p))
	s.measure = &train.Measure{Objective: p.objective, Gradient: train.Norm(p.gradient), Gap: p.objective - lower}
	s.passed(s.Rows.Rows())
	if p.objective-p.objective != 0 {
		return train.TooLarge[T]()
	}
	s.lower = lower
	return nil
}

// losses is Loss for the rows from first on. A zone is that of hinge.losses.
func (s *search[T]) losses(first int64, z, factor, curvature, loss, y []float64, zone float64) {
	if s.hinge != nil {
		s.hinge.losses(first, z, factor, curvature, loss, y, zone)
		return
	}
	s.Loss(z, factor, curvature, loss, y)
}

// sum sums over the rows of a run with p's scores, and writes their curvatures to p.
func (s *search[T]) sum(c *scratch[T], run block.Run[T], p *point, t *part) {
	n, rows := run.Len(), s.read(c, run)
	y, curvature := s.y[run.First:][:n], p.curvature[run.First:][:n]
	copy(c.z[:n], p.scores[run.First:])
	s.losses(run.First, c.z[:n], c.factor[:n], curvature, c.loss[:n], y, s.hinge.near())
	for r, weight := range s.weights[run.First:][:n] {
		class := 0
		if y[r] > 0 {
			class = 1
		}
		t.weight += weight
		if curvature[r] *= weight; weight == 0 {
			continue
		}
		f := float64(c.factor[r] * weight)
		a := -float64(y[r] * f)
		smooth := float64(c.loss[r] * weight)
		loss, entropy := smooth, smooth+float64(a*c.z[r])
		if s.hinge != nil {
			loss, entropy = float64(max(0, 1-c.z[r])*weight), a
		}
		t.smooth += smooth
		t.loss += loss
		t.duals[class] += a
		t.entropies[class] += entropy
		if f != 0 || curvature[r] != 0 {
			columns, values := rows.Row(r)
			c.add(columns, values, f, curvature[r])
		}
	}
}

// product sets out to the product of the Hessian with a vector. It writes the scores of the vector of all rows with a
// curvature.
func (s *search[T]) product(ctx context.Context, out, d, scores []float64) error {
	clear(out)
	visited := int64(0)
	err := s.pass(ctx, false, func(c *scratch[T], run block.Run[T], t *part) {
		rows := s.read(c, run)
		for r, curvature := range s.at.curvature[run.First:][:run.Len()] {
			if curvature == 0 {
				continue
			}
			t.visited++
			columns, values := rows.Row(r)
			z := csr.Score(columns, values, d)
			scores[run.First+int64(r)] = z
			c.addSum(columns, values, float64(curvature*z))
		}
	}, func(t *part) {
		s.addTo(out, t, t.sums)
		visited += t.visited
	})
	for i := range s.features {
		out[i] += float64(s.L2 * d[i])
	}
	s.passed(visited)
	return err
}

// rest writes the scores of a vector of the rows without a curvature. It makes no pass if there are none.
func (s *search[T]) rest(ctx context.Context, d, scores []float64) error {
	if !slices.Contains(s.at.curvature, 0) {
		return nil
	}
	visited := int64(0)
	err := block.ReduceRuns(ctx, s.Rows, s.Workers, func(run block.Run[T]) (n int64) {
		c := s.scratch.Get().(*scratch[T])
		defer s.scratch.Put(c)
		rows := s.read(c, run)
		for r, curvature := range s.at.curvature[run.First:][:run.Len()] {
			if curvature == 0 {
				n++
				columns, values := rows.Row(r)
				scores[run.First+int64(r)] = csr.Score(columns, values, d)
			}
		}
		return n
	}, func(n int64) { visited += n })
	s.passed(visited)
	return err
}

// slope returns the first and second derivative of the sum of losses by the length of a step. scores are those at length
// 0, and d those of the step; a nil d is 1 for each row.
func (s *search[T]) slope(ctx context.Context, scores, d []float64, length float64) (slope, curvature float64, err error) {
	type pair struct{ slope, curvature float64 }
	n := len(scores)
	err = parallel.Ordered(ctx, s.Workers, (n+block.RunRows-1)/block.RunRows, func(k int) (t pair) {
		c := s.scratch.Get().(*scratch[T])
		defer s.scratch.Put(c)
		lo, hi := k*block.RunRows, min(n, (k+1)*block.RunRows)
		z := c.z[:hi-lo]
		copy(z, scores[lo:])
		if d != nil {
			kernel.Axpy(z, length, d[lo:hi])
		} else {
			for i := range z {
				z[i] += length
			}
		}
		s.losses(int64(lo), z, c.factor[:hi-lo], c.curvature[:hi-lo], c.loss[:hi-lo], s.y[lo:hi], 0)
		for i, weight := range s.weights[lo:hi] {
			if weight == 0 {
				continue
			}
			v := 1.0
			if d != nil {
				v = d[lo+i]
			}
			t.slope += float64(float64(c.factor[i]*weight) * v)
			t.curvature += float64(float64(float64(c.curvature[i]*weight)*v) * v)
		}
		return t
	}, func(t pair) { slope, curvature = slope+t.slope, curvature+t.curvature })
	return slope, curvature, err
}

// Value makes a pass over the rows and returns the sum of losses at w.
func (t *Task[T]) Value(ctx context.Context, w []float64) (float64, error) {
	all, err := t.Values(ctx, [][]float64{w})
	return all[0], err
}

// Values makes a pass over the rows and returns the sum of losses at each of several weights.
func (t *Task[T]) Values(ctx context.Context, all [][]float64) ([]float64, error) {
	total := make([]float64, len(all))
	err := block.ReduceRuns(ctx, t.Rows, t.Workers, func(run block.Run[T]) []float64 {
		c, n := newScratch[T](0), run.Len()
		rows, y, sums := csr.Rows(run, csr.Clean(run), &c.packed), make([]float64, n), make([]float64, len(all))
		for k, w := range all {
			for r := range n {
				columns, values := rows.Row(r)
				c.z[r], y[r] = csr.Score(columns, values, w), float64(run.Y[r])
			}
			t.Loss(c.z[:n], c.factor[:n], c.curvature[:n], c.loss[:n], y)
			for r := range n {
				if weight := run.Weight(r); weight > 0 {
					sums[k] += float64(c.loss[r] * weight)
				}
			}
		}
		return sums
	}, func(sums []float64) { kernel.Axpy(total, 1, sums) })
	return total, err
}

// passed counts visits of rows, and reports them.
func (s *search[T]) passed(visits int64) {
	s.visited += visits
	if s.Progress == nil {
		return
	}
	s.Progress(train.Progress{Epoch: s.passes(), Epochs: s.Epochs, Visits: s.visited, Rows: s.Rows.Rows(), Updates: s.steps, Best: -1, Elapsed: time.Since(s.start), Sum: train.SumOf(s.at.w), Measure: s.measure})
	s.measure = nil
}
