// Package dense is the linear algebra in float64 that trainers share: rows of blocks as float64, with their scores and
// weighted sums, and Cholesky's factors of small symmetric matrices. It is built on the kernels, so that its results are the
// same on every CPU.
package dense

import (
	"halfspace/block"
	"halfspace/kernel"
)

const (
	// PanelRows is how many rows a Panel holds at most: with a block of columns they fill a quarter of the first-level cache.
	PanelRows = 32
	// Sums is how many weighted sums over rows Add makes at a time.
	Sums = 4
	// PanelCols is from the factors of a row to those of the next.
	PanelCols = cols
)

const (
	cols      = kernel.OuterCols
	panelSize = PanelRows * cols
	blockSize = cols * cols
)

// A Panel is a few rows of a block as float64, in blocks of columns. It isn't safe for concurrent use.
type Panel[T kernel.Float] struct {
	cols, rows   int
	wide, spare  []float64
	ones, scores []float64
	factors      []float64
	sums         []float64 // a block for each block of columns, of which the first rows count
	dense        []T       // of sparse rows
}

// NewPanel returns a panel for rows of so many columns.
func NewPanel[T kernel.Float](columns int) *Panel[T] {
	n := Pad(columns) / cols
	p := &Panel[T]{cols: columns, wide: block.Alloc[float64](n * panelSize), spare: block.Alloc[float64](panelSize),
		ones: make([]float64, PanelRows), scores: make([]float64, PanelRows), factors: block.Alloc[float64](panelSize),
		sums: block.Alloc[float64](n * blockSize)}
	for i := range p.ones {
		p.ones[i] = 1
	}
	return p
}

// Pad returns the length of weights for so many columns, zeros at their end included.
func Pad(columns int) int { return (columns + cols - 1) / cols * cols }

// Load fills the panel with rows, PanelRows at most.
func (p *Panel[T]) Load(rows *block.Block[T]) {
	x := rows.X
	if rows.Sparse != nil {
		x = p.densify(rows)
	}
	p.rows = rows.Len()
	for first := 0; first < p.cols; first += cols {
		n := min(cols, (p.cols-first+3)/4*4)
		kernel.Weigh(p.wide[first*PanelRows:][:panelSize], p.spare, x[first:], p.ones[:p.rows], rows.Stride, n)
	}
}

func (p *Panel[T]) densify(rows *block.Block[T]) []T {
	if p.dense == nil {
		p.dense = make([]T, PanelRows*rows.Stride)
	}
	clear(p.dense)
	for r := range rows.Len() {
		columns, values := rows.Sparse.Row(r)
		for k, c := range columns {
			p.dense[r*rows.Stride+int(c)] = values[k]
		}
	}
	return p.dense
}

// Scores writes each row's product with w, of Pad(columns) elements, to out: the sum over blocks of 32 columns, in order, of
// their dot products.
func (p *Panel[T]) Scores(w, out []float64) {
	for j := 0; j < len(w); j += cols {
		x := p.wide[j*PanelRows:][:p.rows*cols]
		if j == 0 {
			kernel.Scores(x, w[:cols], out)
			continue
		}
		kernel.Scores(x, w[j:j+cols], p.scores[:p.rows])
		kernel.Axpy(1, p.scores[:p.rows], out)
	}
}

// Factors returns the factors of the rows, which the caller sets before Add: factor k of row r is element r*PanelCols+k. Those
// from Sums on stay 0.
func (p *Panel[T]) Factors() []float64 { return p.factors }

// Add adds the sum over the rows of the panel of factor k times the row to sum k, for each k.
func (p *Panel[T]) Add() {
	for j := range len(p.sums) / blockSize {
		kernel.Outer(p.factors[:p.rows*cols], p.wide[j*panelSize:][:p.rows*cols], p.sums[j*blockSize:][:blockSize], Sums, true)
	}
}

// Take appends sum k to out and sets it to zeros. Sums add up panel by panel: fma(factor, element, sum) from +0 over the rows
// of a panel, and panels in order.
func (p *Panel[T]) Take(k int, out []float64) []float64 {
	for first := 0; first < p.cols; first += cols {
		sum := p.sums[first/cols*blockSize+k*cols:][:cols]
		out = append(out, sum[:min(cols, p.cols-first)]...)
		clear(sum)
	}
	return out
}
