package optimize

import (
	"context"
	"math"
	"slices"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/parallel"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// A search minimises by steps of Newton's method; see Task.Truncated and Task.Hinge.
type search struct {
	*Tally
	TruncatedState
	*table
	hinge                      *smoothHinge // loss in place of Task.Loss; nil: Task.Loss
	inProcess                  bool         // this process makes the passes over the rows; otherwise see pieces.go
	features                   int
	pointAtWeights, sparePoint point            // point at the weights; sparePoint lends its memory to the next point
	vectors                    [5][]float64     // work memory of conjugateStep, for all columns
	rowVectors                 [2][]float64     // work memory of conjugateStep, for all rows
	measure                    *learner.Measure // state after the last pass; nil if unknown
	radius                     float64          // largest norm of a row's features; like y and weights it is known after the first pass
	y, weights                 []float64

	elements int64          // number of elements of the rows that aren't 0
	factor   *linalg.Factor // of a sampled Hessian; nil: the Hessian's diagonal preconditions
	hessian  *gram.Triangle // whose factor is factor, of all rows; nil: passes over the rows make products

	isExact bool // the factor is of a Hessian with all rows
	resumed bool // the state comes from a checkpoint
}

// A TruncatedState is the state that a checkpoint keeps between two steps, beside the factor. It leaves out the numbers
// that a pass computes from scores.
type TruncatedState struct {
	IdleSteps    int     // consecutive steps whose gain is rounding error
	Products     int     // number of products in the last step
	LastSquare   float64 // square of the gradient before the last step; 0: there was none
	HasBatchSums bool    // the sums at the weights were made by batches
	LowerBound   float64 // the greatest dual objective so far

	// W and Scores are set while a checkpoint is written or read; else pointAtWeights has them.
	W      []float64 `length:"weights"`
	Scores []float64 `length:"rows"` // of the rows
}

// newSearch returns a search with the loss of h in place of Task.Loss unless h is nil.
func newSearch(tally *Tally, h *smoothHinge) *search {
	n := tally.Rows.Rows()
	s := &search{Tally: tally, table: newTable(tally.Rows, tally.Workers), hinge: h, features: tally.Rows.Spec().Width()}
	s.isExact = h != nil && s.cols <= MostHessianColumns
	s.inProcess = passes.InProcess(tally.Rows)
	s.pointAtWeights = point{W: make([]float64, s.cols), Scores: make([]float64, n)}
	return s
}

// begin makes the first pass, at weights w whose scores are given. It stores everything about the rows that doesn't
// depend on the weights. nil weights are zeros. With nil scores, the first pass is at zero weights; unless w is zeros
// too, two passes follow. After a checkpoint, begin repeats the pass at the weights of the checkpoint, and takes
// nothing from its arguments.
func (s *search) begin(ctx context.Context, w, scores []float64, lowerBound float64) error {
	n, p := s.Rows.Rows(), &s.pointAtWeights
	s.y, s.weights = make([]float64, n), make([]float64, n)
	for i := range s.vectors {
		s.vectors[i] = make([]float64, s.cols)
	}
	for i := range s.rowVectors {
		s.rowVectors[i] = make([]float64, n)
	}
	if s.resumed { // the pass was counted and reported before
		visited, lower, show := s.VisitedRows, s.LowerBound, s.Progress
		s.Progress = nil
		defer func() { s.VisitedRows, s.LowerBound, s.Progress, s.measure = visited, lower, show, nil }()
		return s.firstPass(ctx)
	}
	if s.LowerBound = lowerBound; scores != nil {
		copy(p.W, w)
		copy(p.Scores, scores)
		return s.firstPass(ctx)
	}
	if err := s.firstPass(ctx); err != nil || !slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
		return err
	}
	copy(p.W, w)
	clear(p.Curvature)
	if err := s.scoreRows(ctx, p.W, p.Scores, p.Curvature); err != nil {
		return err
	}
	s.HasBatchSums = true
	return s.evaluate(ctx, p, nil, nil)
}

// firstPass makes the first pass.
func (s *search) firstPass(ctx context.Context) error {
	s.isDense = s.isExact
	if !s.inProcess {
		return s.firstPassRemote(ctx)
	}
	if !s.isExact {
		s.forms = make([]form, (s.Rows.Rows()+block.ChunkRows-1)/block.ChunkRows)
	}
	var elements []int64
	err := s.evaluate(ctx, &s.pointAtWeights, func(c *scratch, chunk block.Chunk, t *batchSums) {
		if !s.isExact {
			s.storeForm(chunk)
			t.elements = int64(s.forms[chunk.Number].elements)
			c.hasAllColumns = t.elements >= int64(s.cols)
		}
		rows := s.read(c, chunk)
		for r := range chunk.Len() {
			s.y[chunk.First+int64(r)], s.weights[chunk.First+int64(r)] = float64(chunk.Y[r]), chunk.Weight(r)
			norm, _ := rowNorm(chunk, rows, r, s.features, s.isExact)
			t.radius = max(t.radius, norm)
		}
	}, func(t *batchSums) {
		elements = append(elements, t.elements)
		s.radius = max(s.radius, t.radius)
	})
	if err != nil {
		return err
	}
	return s.endFirstPass(ctx, elements)
}

// firstPassRemote is firstPass in other processes. It reads the labels, weights and sizes of the rows in a separate
// pass, which isn't counted.
func (s *search) firstPassRemote(ctx context.Context) error {
	var elements []int64
	row := 0
	err := lookPass.Reduce(ctx, s.src, s.workers, s.isExact, func(l *firstPassChunk) {
		for r := range l.Y {
			s.y[row], s.weights[row] = l.at(r)
			row++
		}
		s.batches = append(s.batches, batch{End: len(elements) + 1, HasAllColumns: l.elements >= int64(s.cols)})
		elements, s.radius = append(elements, l.elements), max(s.radius, l.radius)
	})
	if err == nil {
		err = s.evaluate(ctx, &s.pointAtWeights, nil, nil)
	}
	if err != nil || s.isExact {
		return err
	}
	s.batches = nil
	return s.endFirstPass(ctx, elements)
}

// endFirstPass ends the first pass: it joins chunks to batches by their numbers of elements.
func (s *search) endFirstPass(ctx context.Context, elements []int64) error {
	if s.isExact {
		return nil
	}
	s.elements = s.makeBatches(elements)
	s.isDense = areDense(s.elements, s.Rows.Rows(), s.cols)
	if s.resumed && s.HasBatchSums {
		return s.evaluate(ctx, &s.pointAtWeights, nil, nil)
	}
	return nil
}

// evaluate makes a pass over the rows and completes p, which has weights and scores. It calls look with each chunk
// before it sums over the chunk, and seen with the sums of each batch.
func (s *search) evaluate(ctx context.Context, p *point, look func(*scratch, block.Chunk, *batchSums), seen func(*batchSums)) error {
	p.reset(s.cols, len(p.Scores))
	merge := func(t *batchSums) {
		if seen != nil {
			seen(t)
		}
		p.Loss += t.Loss
		p.SmoothObjective += t.SmoothObjective
		p.Weight += t.Weight
		for k := range p.Duals {
			p.Duals[k] += t.Duals[k]
			p.Margins[k] += t.Margins[k]
			p.Entropies[k] += t.Entropies[k]
		}
		s.addTo(p.Gradient, t, t.sums)
		if !s.isExact {
			s.addTo(p.Diagonal, t, t.squares)
		}
	}
	var err error
	if !s.inProcess {
		err = s.evaluateRemote(ctx, p, merge)
	} else {
		err = s.pass(ctx, !s.isExact, func(c *scratch, chunk block.Chunk, t *batchSums) {
			if look != nil {
				look(c, chunk, t)
			}
			s.lossSums(c, chunk.First, c.factor[:chunk.Len()], p, t)
			curvature := p.Curvature[chunk.First:][:chunk.Len()]
			if s.isExact {
				curvature = nil
			}
			s.columnSums(c, chunk, c.factor[:chunk.Len()], curvature)
		}, merge)
	}
	if err != nil {
		return err
	}
	penalty := 0.0
	for i := range s.features {
		penalty += float64(float64(s.L2/2*p.W[i]) * p.W[i])
		p.Gradient[i] += float64(s.L2 * p.W[i])
		p.Diagonal[i] += s.L2
	}
	if s.features < s.cols && p.Diagonal[s.features] == 0 { // no row has a curvature
		p.Diagonal[s.features] = s.L2
	}
	s.hinge.addFixed(p)
	p.Objective, p.SmoothObjective = p.Loss+penalty, p.SmoothObjective+penalty
	lower := max(s.LowerBound, s.dualObjective(p))
	s.measure = &learner.Measure{Objective: p.Objective, Gradient: learner.Norm(p.Gradient), Gap: p.Objective - lower}
	s.countVisits(s.Rows.Rows())
	if p.Objective-p.Objective != 0 {
		return learner.OverflowError()
	}
	s.LowerBound = lower
	return nil
}

// evaluateRemote is the pass of evaluate in other processes. It calls merge with the sums of each batch.
func (s *search) evaluateRemote(ctx context.Context, p *point, merge func(*batchSums)) error {
	factor, rows := make([]float64, s.Rows.Rows()), s.Rows.Rows()
	var parts []*batchSums
	err := parallel.MergeInOrder(ctx, s.Workers, len(s.batches), func(g int) *batchSums {
		c, t, chunk := s.scratch.Get().(*scratch), &batchSums{}, 0
		defer s.scratch.Put(c)
		if g > 0 {
			chunk = s.batches[g-1].End
		}
		for ; chunk < s.batches[g].End; chunk++ {
			first := int64(chunk) * block.ChunkRows
			s.lossSums(c, first, factor[first:min(rows, first+block.ChunkRows)], p, t)
		}
		return t
	}, func(t *batchSums) { parts = append(parts, t) })
	if err != nil {
		return err
	}
	curvature := p.Curvature
	if s.isExact {
		curvature = nil
	}
	return s.sumsRemote(ctx, factor, curvature, func(t *batchSums) {
		part := parts[0]
		parts = parts[1:]
		part.columns, part.sums, part.squares = t.columns, t.sums, t.squares
		merge(part)
	})
}

// lossSums adds the sums over the rows of a chunk, from row first on, that depend only on p.Scores. It writes the rows'
// curvatures to p.Curvature, and the derivatives of their losses to factor, which has one element for each row. Both
// are multiplied by the sample weight.
func (s *search) lossSums(c *scratch, first int64, factor []float64, p *point, t *batchSums) {
	n := len(factor)
	y, curvature := s.y[first:][:n], p.Curvature[first:][:n]
	copy(c.z[:n], p.Scores[first:])
	if s.hinge != nil {
		s.hinge.losses(first, c.z[:n], factor, curvature, c.loss[:n], y)
	} else {
		s.Loss(c.z[:n], factor, curvature, c.loss[:n], y)
	}
	for r, weight := range s.weights[first:][:n] {
		class := ClassOf(y[r])
		t.Weight += weight
		curvature[r] *= weight
		f := float64(factor[r] * weight)
		if factor[r] = f; weight == 0 {
			factor[r] = 0
			continue
		}
		a := -float64(y[r] * f)
		smooth := float64(c.loss[r] * weight)
		loss, entropy := smooth, smooth+float64(a*c.z[r])
		if s.hinge != nil {
			loss, entropy = float64(max(0, 1-c.z[r])*weight), a
		}
		t.SmoothObjective += smooth
		t.Loss += loss
		t.Duals[class] += a
		t.Margins[class] += float64(a * c.z[r])
		t.Entropies[class] += entropy
	}
}

// product sets out to the product of the Hessian and d. It writes the scores of d for all rows with a curvature to
// scores.
func (s *search) product(ctx context.Context, out, d, scores []float64) error {
	if s.hessian != nil {
		s.hessian.MulVec(out, d)
		return nil
	}
	clear(out)
	visited := int64(0)
	merge := func(t *batchSums) {
		s.addTo(out, t, t.sums)
		visited += t.visitedRows
	}
	var err error
	if !s.inProcess {
		err = s.productRemote(ctx, d, s.pointAtWeights.Curvature, scores, merge)
	} else {
		padded := s.pad(d)
		err = s.pass(ctx, false, func(c *scratch, chunk block.Chunk, t *batchSums) {
			t.visitedRows += s.table.product(c, chunk, padded, s.pointAtWeights.Curvature[chunk.First:][:chunk.Len()], scores[chunk.First:])
		}, merge)
	}
	for i := range s.features {
		out[i] += float64(s.L2 * d[i])
	}
	s.countVisits(visited)
	return err
}

// scoreRows writes the scores of d for the rows without a curvature to scores. It makes no pass if there are no such
// rows.
func (s *search) scoreRows(ctx context.Context, d, scores, curvature []float64) error {
	if !slices.Contains(curvature, 0) {
		return nil
	}
	visited := int64(0)
	merge := func(n int64) { visited += n }
	var err error
	if !s.inProcess {
		err = s.flatScoresRemote(ctx, d, curvature, scores, merge)
	} else {
		padded := s.pad(d)
		err = block.ReduceChunks(ctx, s.Rows, s.Workers, func(chunk block.Chunk) int64 {
			c := s.scratch.Get().(*scratch)
			defer s.scratch.Put(c)
			return s.table.scoreFlatRows(c, chunk, padded, curvature[chunk.First:][:chunk.Len()], scores[chunk.First:])
		}, merge)
	}
	s.countVisits(visited)
	return err
}

// slope returns the first and second derivative of the sum of losses by the length of a step, at the given length.
// scores are the scores at length 0. d are the scores of the step; a nil d is 1 for each row.
func (s *search) slope(ctx context.Context, scores, d []float64, length float64) (slope, curvature float64, err error) {
	type pair struct{ slope, curvature float64 }
	n := len(scores)
	err = parallel.MergeInOrder(ctx, s.Workers, (n+block.ChunkRows-1)/block.ChunkRows, func(k int) (t pair) {
		c := s.scratch.Get().(*scratch)
		defer s.scratch.Put(c)
		lo, hi := k*block.ChunkRows, min(n, (k+1)*block.ChunkRows)
		z, along := c.z[:hi-lo], ones[:hi-lo]
		if d != nil {
			along = d[lo:hi]
		}
		copy(z, scores[lo:])
		f64.Axpy(z, length, along)
		if s.hinge != nil {
			t.slope, t.curvature = s.hinge.derivatives(int64(lo), z, along, s.y[lo:hi], s.weights[lo:hi])
			return t
		}
		s.Loss(z, c.factor[:hi-lo], c.curvature[:hi-lo], c.loss[:hi-lo], s.y[lo:hi])
		for i, weight := range s.weights[lo:hi] {
			if weight > 0 {
				t.slope += float64(float64(c.factor[i]*weight) * along[i])
				t.curvature += float64(float64(float64(c.curvature[i]*weight)*along[i]) * along[i])
			}
		}
		return t
	}, func(t pair) { slope, curvature = slope+t.slope, curvature+t.curvature })
	return slope, curvature, err
}

var ones = slices.Repeat([]float64{1}, block.ChunkRows)

// countVisits counts visits, and reports progress.
func (s *search) countVisits(visits int64) {
	s.Visit(visits, learner.SumOf(s.pointAtWeights.W), s.measure)
	s.measure = nil
}

// dualObjective returns the dual objective at p, a lower bound of the minimum.
//
// Let m be the margin of a row, and a = -loss'(m) its dual variable. The dual objective is the sum of loss + a m, minus
// |v|^2 / (2 l2), where v is the sum of a y x over the features. loss + a m is concave in a, and 0 for a = 0. The
// gradient is g = l2 w - v. With a bias, the a of both classes must have the same sum. So dualObjective multiplies the
// a of the class with the greater sum by 1-e. That leaves at least 1-e of the class's part of the sum. It changes v by
// e times u, the class's part of v, whose norm is at most r = R sum a, where R is the largest norm of a row. So it
// lengthens v by at most e r. The hinge has a closer bound: u v = l2 u w - u g, and u w is the sum of a m, less the
// bias times the sum of a y. So v^2 grows by at most 2e (r |g| - l2 u w) + (e r)^2. The a of fixed rows stay.
func (s *search) dualObjective(p *point) float64 {
	square, fixed := 0.0, s.hinge.fixedDuals()
	for i, g := range p.Gradient[:s.features] {
		v := float64(s.L2*p.W[i]) - g
		square += float64(v * v)
	}
	dual, norm, e, more := p.Entropies[0]+p.Entropies[1]+(fixed[0]+fixed[1]), math.Sqrt(square), 0.0, 0
	if p.Duals[1]+fixed[1] > p.Duals[0]+fixed[0] {
		more = 1
	}
	most, other := p.Duals[more], p.Duals[1-more]+(fixed[1-more]-fixed[more])
	if s.features < s.cols && other < 0 {
		return math.Inf(-1) // the fixed rows alone have a greater sum
	}
	if s.features < s.cols && most > 0 {
		e = 1 - other/most
		dual -= float64(e * max(0, p.Entropies[more]))
	}
	if s.hinge == nil {
		norm += float64(float64(e*most) * s.radius)
		return dual - float64(norm*norm)/(2*s.L2)
	}
	r, along := float64(most*s.radius), p.Margins[more]
	if s.features < s.cols {
		along -= float64(float64(2*more-1) * float64(most*p.W[s.features]))
	}
	grown := float64(2*e*(float64(r*learner.Norm(p.Gradient[:s.features]))-float64(s.L2*along))) + float64(float64(e*r)*float64(e*r))
	return dual - max(0, square+grown)/(2*s.L2)
}
