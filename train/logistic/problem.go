package logistic

import (
	"math"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/passes"
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
	pivots    []float64 // numbers that were subtracted from the columns, or nil
}

func newProblem(src block.Source, l2 float64, workers int) *problem {
	cols, vectors := src.Spec().Cols(), 1
	if n := len(src.Spec().Classes); n > 2 {
		vectors = n
	}
	return &problem{src: src, cols: cols, stride: linalg.Pad(cols), vectors: vectors, l2: l2, workers: workers}
}

// scratches holds the work memory of earlier chunks, each a *scratch.
var scratches sync.Pool

// takeScratch returns work memory for rows of p. The caller gives it back to scratches.
func (p *problem) takeScratch() *scratch {
	if c, ok := scratches.Get().(*scratch); ok && c.cols == p.cols && len(c.scores) == p.vectors*linalg.PanelRows {
		return c
	}
	c := &scratch{cols: p.cols, panel: linalg.NewPanel(p.cols, p.vectors), scores: make([]float64, p.vectors*linalg.PanelRows)}
	for i := range c.ones {
		c.ones[i] = 1
	}
	return c
}

func (p *problem) zeros() []float64 { return make([]float64, p.vectors*p.stride) }

// newPass registers a pass that computes sums over rows. of returns the function that computes the sums of a chunk; its
// problem has no penalty.
func newPass[A, R any](name string, of func(*problem, A) func(block.Chunk) R) *passes.Pass[A, R] {
	return passes.New(name, func(src block.Source, args A) func(block.Chunk) R { return of(newProblem(src, 0, 1), args) })
}

// newScatter is newPass for a pass that also adds the products of weighted rows to a triangle.
func newScatter[A, R any](name string, of func(*problem, A) func(chunk block.Chunk, s, _ []float64) R) *learner.ScatterPass[A, R] {
	return learner.NewScatterPass(name, func(src block.Source, args A) func(chunk block.Chunk, s, _ []float64) R {
		return of(newProblem(src, 0, 1), args)
	})
}

// penalised returns the number of penalised weights of a vector: all but the bias.
func (p *problem) penalised() int { return p.src.Spec().Width() }

// panels calls do with the rows of each panel of a chunk, which it loads, and the number of rows before them.
func (p *problem) panels(chunk block.Chunk, do func(c *scratch, lo int, rows *block.Block)) {
	c := p.takeScratch()
	defer scratches.Put(c)
	for lo := 0; lo < chunk.Len(); lo += linalg.PanelRows {
		chunk.SliceInto(&c.rows, lo, min(chunk.Len(), lo+linalg.PanelRows))
		c.panel.Load(&c.rows)
		do(c, lo, &c.rows)
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

// losses adds the losses of the loaded rows to the sums. It sets their factors in the gradient and, with two classes, s
// to their factors in the Hessian.
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

// zeroCurvature returns the second derivative of a row's loss by the score of a class, at zero weights.
func (p *problem) zeroCurvature() float64 {
	k := float64(max(2, p.vectors))
	return (1 - 1/k) / k
}

// leaveOut makes the weights of dependent columns stay 0.
func (p *problem) leaveOut(columns []linalg.Dependence) {
	if columns == nil {
		return
	}
	p.staysZero = make([]bool, p.vectors*p.cols)
	for _, d := range columns {
		for k := range p.vectors {
			p.staysZero[k*p.cols+d.Column] = true
		}
	}
}

// balance subtracts from each weight the mean of its column's weights over the classes, if there are more than two
// classes. c has the order of compact.
func (p *problem) balance(c []float64) []float64 {
	for i := range p.cols * min(1, p.vectors-1) {
		mean := 0.0
		for k := range p.vectors {
			mean += c[k*p.cols+i] / float64(p.vectors)
		}
		for k := range p.vectors {
			c[k*p.cols+i] -= mean
		}
	}
	return c
}

// bias returns the column of the bias, or -1.
func (p *problem) bias() int {
	if p.penalised() == p.cols {
		return -1
	}
	return p.cols - 1
}

// columnSizes returns the greatest absolute value of each column of a chunk.
func columnSizes(chunk block.Chunk, cols int) []float64 {
	widest, wide := make([]float64, cols), linalg.WideReader{}
	for r := range chunk.Len() {
		columns, values := wide.Row(chunk.Block, r)
		for k, c := range columns {
			if v := math.Abs(values[k]); v > widest[c] {
				widest[c] = v
			}
		}
	}
	return widest
}
