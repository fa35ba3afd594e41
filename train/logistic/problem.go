package logistic

import (
	"context"
	"math"
	"sync"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/distributed"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// A problem is the rows, and the parameters of sums over the rows. Two classes have one vector of weights; with more
// classes each class has one. A vector has stride elements, with zeros at its end.
type problem struct {
	src       block.Source
	cols      int
	stride    int
	vectors   int
	l2        float64
	workers   int
	staysZero []bool    // weights, in the order of compact, that stay 0 because their columns depend on others; nil: none
	scratch   sync.Pool // holds *scratch
}

type scratch struct {
	panel  *linalg.Panel
	rows   block.Block // of the panel
	reader linalg.WideReader
	scores []float64 // scores of a panel's rows, for each vector
	s      [block.ChunkRows]float64

	ones, y, factors, losses [linalg.PanelRows]float64 // one element for each row of a panel
}

func newProblem(src block.Source, l2 float64, workers int) *problem {
	cols, vectors := src.Spec().Cols(), 1
	if n := len(src.Spec().Classes); n > 2 {
		vectors = n
	}
	p := &problem{src: src, cols: cols, stride: linalg.Pad(cols), vectors: vectors, l2: l2, workers: workers}
	p.scratch.New = func() any {
		c := &scratch{panel: linalg.NewPanel(cols, vectors), scores: make([]float64, vectors*linalg.PanelRows)}
		for i := range c.ones {
			c.ones[i] = 1
		}
		return c
	}
	return p
}

func (p *problem) zeros() []float64 { return make([]float64, p.vectors*p.stride) }

type sums struct {
	Loss      float64
	Objective float64   // loss plus penalty
	Gradient  []float64 // gradient of the objective, in the layout of the weights
	// Margin is the smallest y (w.x), or difference between the score of a row's class and the greatest score of
	// another class.
	Margin float64
	// LargestScore is the largest |w.x|, or difference between a row's greatest and least score.
	LargestScore float64
	Weight       float64 // the sum of sample weights
	LeastWeight  float64 // the least sample weight above 0
	// Hessian is the Hessian of the objective in the order of compact: the rows of its lower triangle.
	Hessian       []float64
	LargestValues []float64 // the greatest absolute value of each column; nil if the pass doesn't compute it
}

// pass computes the sums at w. With hessian it also computes the Hessian and, unless at.LargestValues is nil,
// at.LargestValues.
func (p *problem) pass(ctx context.Context, w []float64, hessian bool, at *sums) error {
	*at = sums{Gradient: p.zeros(), Margin: math.Inf(1), LeastWeight: math.Inf(1), Hessian: at.Hessian, LargestValues: at.LargestValues}
	var err error
	switch {
	case hessian && p.vectors > 1:
		err = p.jointHessian(ctx, w, at)
	case hessian:
		var m *gram.Triangle
		if m, err = gram.NewTriangle(p.cols); err == nil {
			err = hessianPass.sum(ctx, p, m, hessianArgs{w, at.LargestValues != nil}, at.add)
			at.Hessian = m.Data
		}
	case p.sharesChunks(ctx):
		err = distributed.Reduce(ctx, p.src, 1, gradientPass.task, w,
			func(chunk block.Chunk) sums { return p.sharedChunk(chunk, w) }, at.add)
	default:
		err = gradientPass.sum(ctx, p, w, at.add)
	}
	if err == nil && math.IsInf(at.Margin, 1) { // a margin is NaN where scores are NaN
		err = learner.ErrWeightless
	}
	at.Objective = at.Loss
	for k := range p.vectors {
		w, gradient := w[k*p.stride:], at.Gradient[k*p.stride:]
		for i := range p.penalised() {
			at.Objective += float64(float64(p.l2/2*w[i]) * w[i])
			gradient[i] = math.FMA(p.l2, w[i], gradient[i])
			if hessian {
				j := k*p.cols + i
				at.Hessian[j*(j+1)/2+j] += p.l2
			}
		}
	}
	return err
}

// A pass computes sums over rows, in this process or on a cluster. of returns the function that computes the sums of a
// chunk.
type pass[A, R any] struct {
	chunkSums func(*problem, A) func(block.Chunk) R
	task      *distributed.PerChunk[A, R]
}

func newPass[A, R any](name string, of func(*problem, A) func(block.Chunk) R) pass[A, R] {
	return pass[A, R]{of, distributed.NewPerChunk(name,
		func(src block.Source, args A) func(block.Chunk) R { return of(newProblem(src, 0, 1), args) })}
}

// sum calls add with the sums of each chunk, in row order.
func (x pass[A, R]) sum(ctx context.Context, p *problem, args A, add func(R)) error {
	return distributed.Reduce(ctx, p.src, p.workers, x.task, args, x.chunkSums(p, args), add)
}

// A scatter is a pass that also adds the products of weighted rows to a triangle.
type scatter[A, R any] struct {
	chunkSums func(*problem, A) func(chunk block.Chunk, s, _ []float64) R
	task      *learner.ScatterTask[A, R]
}

func newScatter[A, R any](name string, of func(*problem, A) func(chunk block.Chunk, s, _ []float64) R) scatter[A, R] {
	return scatter[A, R]{of, learner.NewScatterTask(name, func(src block.Source, args A) func(chunk block.Chunk, s, _ []float64) R {
		return of(newProblem(src, 0, 1), args)
	})}
}

func (x scatter[A, R]) sum(ctx context.Context, p *problem, m *gram.Triangle, args A, add func(R)) error {
	return learner.ScatterWithSums(ctx, m, p.src, p.workers, x.task, args, x.chunkSums(p, args), add)
}

// The passes over the rows at given weights.
var (
	gradientPass = newPass("logistic.gradient", func(p *problem, w []float64) func(block.Chunk) sums {
		return func(chunk block.Chunk) sums { return p.chunk(chunk, w, nil, nil) }
	})
	hessianPass = newScatter("logistic.hessian", func(p *problem, a hessianArgs) func(chunk block.Chunk, s, _ []float64) sums {
		return func(chunk block.Chunk, s, _ []float64) sums {
			r := p.chunk(chunk, a.W, s, nil)
			if a.WithLargestValues {
				r.LargestValues = columnSizes(chunk, p.cols)
			}
			return r
		}
	})
)

// hessianArgs are the weights, and whether to compute sums.LargestValues.
type hessianArgs struct {
	W                 []float64
	WithLargestValues bool
}

// penalised returns the number of penalised weights of a vector: all but the bias.
func (p *problem) penalised() int { return p.src.Spec().Width() }

func (s *sums) add(t sums) {
	s.Loss += t.Loss
	f64.Axpy(s.Gradient, 1, t.Gradient)
	s.Margin, s.LargestScore = min(s.Margin, t.Margin), max(s.LargestScore, t.LargestScore)
	s.Weight, s.LeastWeight = s.Weight+t.Weight, min(s.LeastWeight, t.LeastWeight)
	for i, v := range t.LargestValues {
		s.LargestValues[i] = max(s.LargestValues[i], v)
	}
}

// chunk returns the sums over the rows of a chunk. With two classes it writes the rows' factors in the Hessian to s, unless
// s is nil. With more classes it adds the rows to products, unless products is nil.
func (p *problem) chunk(chunk block.Chunk, w []float64, s []float64, products *products) sums {
	r := sums{Margin: math.Inf(1), LeastWeight: math.Inf(1), Gradient: p.zeros()}
	p.panels(chunk, func(c *scratch, lo int, rows *block.Block) {
		hessian := c.s[:rows.Len()]
		if s != nil {
			hessian = s[lo:][:rows.Len()]
		}
		p.losses(c, rows, w, hessian, &r)
		c.panel.Add()
		if products != nil {
			addProducts(products, rows, c)
		}
		if lo+rows.Len() == chunk.Len() {
			p.takeGradient(c, r.Gradient)
		}
	})
	r.addWeights(chunk.W, chunk.Len())
	return r
}

// panels calls do with the rows of each panel of a chunk, which it loads, and the number of rows before them.
func (p *problem) panels(chunk block.Chunk, do func(c *scratch, lo int, rows *block.Block)) {
	c := p.scratch.Get().(*scratch)
	defer p.scratch.Put(c)
	for lo := 0; lo < chunk.Len(); lo += linalg.PanelRows {
		chunk.SliceInto(&c.rows, lo, min(chunk.Len(), lo+linalg.PanelRows))
		c.panel.Load(&c.rows)
		do(c, lo, &c.rows)
	}
}

// addWeights adds the sample weights of n rows. w is nil if all are 1.
func (s *sums) addWeights(w []float64, n int) {
	if w == nil {
		s.Weight, s.LeastWeight = float64(n), 1
		return
	}
	for _, v := range w {
		if s.Weight += v; v > 0 {
			s.LeastWeight = min(s.LeastWeight, v)
		}
	}
}

// compact returns weights, or a gradient, without the zeros at the ends of vectors. The result may share memory with w.
func (p *problem) compact(w []float64) []float64 {
	if p.vectors == 1 {
		return w[:p.cols:p.cols]
	}
	var c []float64
	for k := range p.vectors {
		c = append(c, w[k*p.stride:][:p.cols]...)
	}
	return c
}

// spread is the inverse of compact. It returns a copy.
func (p *problem) spread(c []float64) []float64 {
	w := p.zeros()
	for k := range p.vectors {
		copy(w[k*p.stride:], c[k*p.cols:][:p.cols])
	}
	return w
}

// score sets scores to the scores of the n loaded rows for each vector of w. A vector has linalg.PanelRows scores.
func (p *problem) score(c *scratch, w, scores []float64, n int) {
	for k := range p.vectors {
		c.panel.Scores(w[k*p.stride:][:p.stride], scores[k*linalg.PanelRows:][:n])
	}
}

// losses adds the losses of the loaded rows to the sums. It sets their factors in the gradient and, with two classes, s to
// their factors in the Hessian.
func (p *problem) losses(c *scratch, rows *block.Block, w, s []float64, r *sums) {
	p.score(c, w, c.scores, rows.Len())
	p.setFactors(c, rows, s, r)
}

// setFactors is losses for rows whose scores are in c.scores.
func (p *problem) setFactors(c *scratch, rows *block.Block, s []float64, r *sums) {
	n := rows.Len()
	if p.vectors == 1 {
		c.logistic(rows, c.scores[:n], s, r)
	} else {
		softmax(c.scores, rows.Y, rows.W, c.panel.Factors(), c.losses[:n], r)
	}
}

// takeGradient writes the gradient of the panels since the last call to g.
func (p *problem) takeGradient(c *scratch, g []float64) {
	for k := range p.vectors {
		c.panel.Take(k, g[k*p.stride:][:0])
	}
}

// logistic adds the losses of rows of two classes. It sets the rows' factors in the gradient and, in s, their factors
// in the Hessian. Losses and factors are multiplied by the sample weights.
func (c *scratch) logistic(rows *block.Block, scores, s []float64, r *sums) {
	n := len(scores)
	for i, y := range rows.Y {
		c.y[i] = float64(y)
	}
	f64.Logistic(scores, c.factors[:n], s, c.losses[:n], c.y[:n])
	weights := c.ones[:n]
	if rows.W != nil {
		weights = rows.W
		c.multiply(weights, scores, s)
	}
	r.Loss += f64.Dot(c.losses[:n], weights)
	for _, m := range scores {
		if size := math.Abs(m); size > r.LargestScore {
			r.LargestScore = size
		}
		if m < r.Margin {
			r.Margin = m
		}
	}
	factors := c.panel.Factors()
	for i, f := range c.factors[:n] {
		factors[i*linalg.PanelCols] = f
	}
}

// multiply multiplies the factors of rows by their sample weights. A row with a sample weight of 0 adds nothing to any
// sum, even if its margin is NaN or infinite.
func (c *scratch) multiply(weights, margins, s []float64) {
	for i, weight := range weights {
		if weight == 0 {
			margins[i], s[i], c.factors[i], c.losses[i] = math.NaN(), 0, 0, 0
			continue
		}
		s[i] *= weight
		c.factors[i] *= weight
	}
}
