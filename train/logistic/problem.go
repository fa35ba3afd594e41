package logistic

import (
	"context"
	"math"
	"sync"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

// A problem is the rows, and what is needed for sums over them. Of two classes there is one vector of weights, of more each has
// one; a vector begins stride elements after the one before, with zeros at its end.
type problem[T kernel.Float] struct {
	src     block.Source[T]
	cols    int
	stride  int
	vectors int
	l2      float64
	workers int
	scratch sync.Pool // of *scratch[T]
}

type scratch[T kernel.Float] struct {
	panel  *dense.Panel[T]
	scores []float64 // of each vector
	s      [block.RunRows]float64

	ones, y, factors, losses [dense.PanelRows]float64 // of the rows of a panel
}

func newProblem[T kernel.Float](src block.Source[T], l2 float64, workers int) *problem[T] {
	cols, vectors := src.Spec().Cols(), 1
	if n := len(src.Spec().Classes); n > 2 {
		vectors = n
	}
	p := &problem[T]{src: src, cols: cols, stride: dense.Pad(cols), vectors: vectors, l2: l2, workers: workers}
	p.scratch.New = func() any {
		c := &scratch[T]{panel: dense.NewPanel[T](cols, vectors), scores: make([]float64, vectors*dense.PanelRows)}
		for i := range c.ones {
			c.ones[i] = 1
		}
		return c
	}
	return p
}

// zeros returns weights of zero.
func (p *problem[T]) zeros() []float64 { return make([]float64, p.vectors*p.stride) }

// sums are sums over rows.
type sums struct {
	loss      float64
	objective float64   // loss and penalty
	gradient  []float64 // of the objective, laid out as weights are
	margin    float64   // the smallest y (w.x), or by how much the score of a row's class is above the others'
	largest   float64   // the largest |w.x| of two classes
	noLabels  bool
	hessian   []float64 // of the objective, the rows of its lower triangle
}

// pass computes the sums at w, the Hessian if asked for.
func (p *problem[T]) pass(ctx context.Context, w []float64, hessian bool, at *sums) error {
	*at = sums{gradient: p.zeros(), margin: math.Inf(1), hessian: at.hessian}
	var err error
	if hessian {
		err = p.scatter(ctx, w, at)
	} else {
		part := func(run block.Run[T]) sums { return p.run(run, w, nil) }
		err = block.ReduceRuns(ctx, p.src, p.workers, part, at.add)
	}
	if err == nil && at.noLabels {
		err = block.ErrNoLabels
	}
	if err == nil && math.IsInf(at.margin, 1) { // NaN where scores are
		err = errWeightless
	}
	at.objective = at.loss
	for k := range p.vectors {
		w, gradient := w[k*p.stride:], at.gradient[k*p.stride:]
		for i := range p.penalised() {
			at.objective += float64(float64(p.l2/2*w[i]) * w[i])
			gradient[i] = math.FMA(p.l2, w[i], gradient[i])
			if hessian {
				at.hessian[i*(i+1)/2+i] += p.l2
			}
		}
	}
	return err
}

// penalised returns how many of the weights of a vector are no bias.
func (p *problem[T]) penalised() int { return len(p.src.Spec().Features) }

// scatter computes the Hessian with the other sums.
func (p *problem[T]) scatter(ctx context.Context, w []float64, at *sums) error {
	m, err := gram.NewSymmetric[float64](p.cols, gram.Packed)
	if err != nil {
		return err
	}
	part := func(run block.Run[T], s, _ []float64) sums { return p.run(run, w, s) }
	err = train.Scatter(ctx, m, p.src, p.workers, part, at.add)
	at.hessian = m.Data
	return err
}

func (s *sums) add(t sums) {
	s.loss += t.loss
	for i, v := range t.gradient {
		s.gradient[i] += v
	}
	s.margin, s.largest, s.noLabels = min(s.margin, t.margin), max(s.largest, t.largest), s.noLabels || t.noLabels
}

// run computes the sums over the rows of a run, and, of two classes, the factors in the Hessian in s unless that is nil.
func (p *problem[T]) run(run block.Run[T], w []float64, s []float64) sums {
	r := sums{margin: math.Inf(1), noLabels: run.Y == nil}
	if r.noLabels {
		clear(s)
		return r
	}
	c := p.scratch.Get().(*scratch[T])
	defer p.scratch.Put(c)
	if s == nil {
		s = c.s[:run.Len()]
	}
	for lo := 0; lo < run.Len(); lo += dense.PanelRows {
		hi := min(run.Len(), lo+dense.PanelRows)
		p.panel(c, run.Slice(lo, hi), w, s[lo:hi], &r)
	}
	r.gradient = p.zeros()
	p.take(c, r.gradient)
	return r
}

// panel adds the rows of a panel to the sums; the gradient's stay in the panel until take.
func (p *problem[T]) panel(c *scratch[T], rows *block.Block[T], w, s []float64, r *sums) {
	n := rows.Len()
	c.panel.Load(rows)
	for k := range p.vectors {
		c.panel.Scores(w[k*p.stride:][:p.stride], c.scores[k*dense.PanelRows:][:n])
	}
	if p.vectors == 1 {
		c.logistic(rows, c.scores[:n], s, r)
	} else {
		softmax(c.scores, rows.Y, rows.W, c.panel.Factors(), r)
	}
	c.panel.Add()
}

// take writes the gradient of the panels since the last time to g.
func (p *problem[T]) take(c *scratch[T], g []float64) {
	for k := range p.vectors {
		c.panel.Take(k, g[k*p.stride:][:0])
	}
}

// logistic adds up the losses of rows of two classes with such scores, and sets their factors in the gradient and, in s, in the
// Hessian, each times its weight.
func (c *scratch[T]) logistic(rows *block.Block[T], scores, s []float64, r *sums) {
	n := len(scores)
	for i, y := range rows.Y {
		c.y[i] = float64(y)
	}
	kernel.Logistic(scores, c.y[:n], c.factors[:n], s, c.losses[:n])
	weights := c.ones[:n]
	if rows.W != nil {
		weights = rows.W
		c.weigh(weights, scores, s)
	}
	r.loss += kernel.Dot(c.losses[:n], weights)
	for _, m := range scores {
		if size := math.Abs(m); size > r.largest {
			r.largest = size
		}
		if m < r.margin {
			r.margin = m
		}
	}
	factors := c.panel.Factors()
	for i, f := range c.factors[:n] {
		factors[i*dense.PanelCols] = f
	}
}

// weigh multiplies the factors of rows by their weights. Of a row that weighs 0 nothing counts, whatever its margin.
func (c *scratch[T]) weigh(weights, margins, s []float64) {
	for i, weight := range weights {
		if weight == 0 {
			margins[i], s[i], c.factors[i], c.losses[i] = math.NaN(), 0, 0, 0
			continue
		}
		s[i] *= weight
		c.factors[i] *= weight
	}
}
