package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// A scaling is a change of variables for first-order methods: to features with mean 0 and about the same second
// derivative. The weights are w[i] = v[i]/scale[i], and the bias is b = v/scale - sum of w[i] mean[i].
type scaling struct {
	Mean, Scale []float64 // for each column; the means are 0 if there is no bias
	Bias        int       // column of the bias, or -1
	ColumnSums  []float64 // sums of the columns
	Square      float64   // mean squared norm of a row
	Elements    int64     // number of elements that aren't 0
}

// scaling returns the scaling of the rows. It makes one pass over them. scale[i]^2 is the diagonal of the Hessian at
// zero weights: l2 plus, for K classes, 1/K (1 - 1/K) times n times the variance of the column. The bias has no l2.
func (p *problem) scaling(ctx context.Context) (*scaling, error) {
	all := columns{Sums: make([]float64, p.cols), Squares: make([]float64, p.cols)}
	err := columnsPass.Reduce(ctx, p.src, p.workers, struct{}{}, func(m columns) {
		f64.Axpy(all.Sums, 1, m.Sums)
		f64.Axpy(all.Squares, 1, m.Squares)
		all.N += m.N
		all.Elements += m.Elements
	})
	n, bound := all.N, p.zeroCurvature()
	if err == nil && n == 0 {
		err = learner.ErrWeightless
	}
	s := &scaling{Mean: make([]float64, p.cols), Scale: make([]float64, p.cols), Bias: p.bias(), ColumnSums: all.Sums,
		Elements: all.Elements}
	for i := range p.cols {
		s.Square += all.Squares[i] / n
		if square := all.Squares[i]; i != s.Bias {
			if s.Bias >= 0 {
				s.Mean[i] = all.Sums[i] / n
				square = max(square-float64(s.Mean[i]*all.Sums[i]), 0)
				if square <= 1e-13*all.Squares[i] { // the column is constant up to rounding
					square = all.Squares[i]
				}
			}
			s.Scale[i] = math.Sqrt(float64(square*bound) + p.l2)
		} else {
			s.Scale[i] = math.Sqrt(n * bound)
		}
		if s.Scale[i] == 0 {
			s.Scale[i] = 1
		}
		if err == nil && s.Scale[i]-s.Scale[i] != 0 {
			err = learner.OverflowError()
		}
	}
	return s, err
}

// columns are sums over rows: of each column, of its squares, and of the sample weights.
type columns struct {
	Sums, Squares []float64
	N             float64
	Elements      int64
}

var columnsPass = newPass("logistic.columns", func(p *problem, _ struct{}) func(block.Chunk) columns { return p.columns })

// columns returns the sums over the rows of a chunk.
func (p *problem) columns(chunk block.Chunk) columns {
	m, part := columns{Elements: int64(linalg.Elements(chunk))}, new(block.Block)
	rows, squares := linalg.NewPanel(p.cols, 1), linalg.NewPanel(p.cols, 1)
	for lo := 0; lo < chunk.Len(); lo += linalg.PanelRows {
		chunk.SliceInto(part, lo, min(chunk.Len(), lo+linalg.PanelRows))
		rows.Load(part)
		squares.LoadSquares(rows)
		for i := range part.Len() {
			weight := part.Weight(i)
			m.N += weight
			rows.Factors()[i*linalg.PanelCols], squares.Factors()[i*linalg.PanelCols] = weight, weight
		}
		rows.Add()
		squares.Add()
	}
	m.Sums, m.Squares = rows.Take(0, nil), squares.Take(0, nil)
	return m
}

// A whitening is the change of variables that makes the Hessian at zero weights the identity.
type whitening struct{ *linalg.Factor }

func (f whitening) Weights(v []float64) []float64 {
	w := slices.Clone(v)
	for one := range slices.Chunk(w, f.Size()) {
		f.Unwhiten(one)
	}
	return w
}

func (f whitening) Gradient(g []float64) (by []float64) {
	for one := range slices.Chunk(g, f.Size()) {
		by = append(by, f.Whiten(one)...)
	}
	return by
}

// toWeights turns the variables of a vector into its weights.
func (s *scaling) toWeights(v []float64) {
	for i, scale := range s.Scale {
		v[i] /= scale
	}
	if s.Bias >= 0 {
		v[s.Bias] -= f64.Dot(v[:s.Bias], s.Mean[:s.Bias])
	}
}

// toGradient turns the gradient by the weights of a vector into the gradient by its variables.
func (s *scaling) toGradient(g []float64) {
	if s.Bias >= 0 {
		f64.Axpy(g[:s.Bias], -g[s.Bias], s.Mean[:s.Bias])
	}
	for i, scale := range s.Scale {
		g[i] /= scale
	}
}

func (s *scaling) Weights(v []float64) []float64 { return s.each(v, s.toWeights) }

func (s *scaling) Gradient(g []float64) []float64 { return s.each(g, s.toGradient) }

// each returns a copy of vectors after change changed each.
func (s *scaling) each(vectors []float64, change func([]float64)) []float64 {
	c := slices.Clone(vectors)
	for one := range slices.Chunk(c, len(s.Scale)) {
		change(one)
	}
	return c
}

// variables returns the change of variables for L-BFGS, and the sum of the rows: a whitening, or a scaling if there are
// more than optimize.MostHessianColumns columns.
func (p *problem) variables(ctx context.Context) (optimize.VariableChange, []float64, error) {
	if p.cols > optimize.MostHessianColumns {
		sc, err := p.scaling(ctx)
		if err != nil {
			return nil, nil, err
		}
		return sc, sc.ColumnSums, nil
	}
	m, err := p.moments(ctx)
	if err != nil {
		return nil, nil, err
	}
	f, err := p.factoriseMoments(ctx, m.hessian)
	return whitening{f}, m.total, err
}
