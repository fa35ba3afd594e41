package logistic

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/internal/microkernel"
	"halfspace/kernel"
)

// products are sums of u u' over rows, with u = (p_1 x, p_2 x, ...) times the root of the sample weight. p_k is the
// probability of class k. They are stored in blocks of 32 x 32, row by row of the lower triangle.
type products struct {
	cols, n int // n is the length of u
	u       []float64
	blocks  []float64
}

const (
	unit      = dense.PanelCols
	unitBlock = unit * unit
)

func newProducts(cols, n int) *products {
	blocks := (n + unit - 1) / unit
	return &products{cols: cols, n: n, u: block.Alloc[float64](blocks * dense.PanelRows * unit), blocks: block.Alloc[float64](blocks * (blocks + 1) / 2 * unitBlock)}
}

// addProducts adds the rows of a panel. p has dense.PanelRows probabilities for each class.
func addProducts[T kernel.Float](s *products, rows *block.Block[T], p []float64) {
	n := rows.Len()
	if rows.Sparse != nil {
		clear(s.u)
	}
	for r := range n {
		root := math.Sqrt(rows.Weight(r))
		for k := range s.n / s.cols {
			f := float64(p[k*dense.PanelRows+r] * root)
			put := func(c int, x T) {
				at := k*s.cols + c
				s.u[(at/unit*dense.PanelRows+r)*unit+at%unit] = f * float64(x)
			}
			if rows.Sparse != nil {
				columns, values := rows.Sparse.Row(r)
				for i, c := range columns {
					put(int(c), values[i])
				}
				continue
			}
			for c, x := range rows.X[r*rows.Stride:][:s.cols] {
				put(c, x)
			}
		}
	}
	for i, at := 0, 0; i*unit < s.n; i++ {
		height := min(unit, (s.n-i*unit+3)/4*4)
		a := s.u[i*dense.PanelRows*unit:][:n*unit]
		for j := range i + 1 {
			microkernel.RankKUpdate(s.blocks[at:][:unitBlock], a, s.u[j*dense.PanelRows*unit:][:n*unit], height, j < i)
			at += unitBlock
		}
	}
}

// element returns the sum of products of elements i and j <= i.
func (s *products) element(i, j int) float64 {
	bi, bj := i/unit, j/unit
	return s.blocks[(bi*(bi+1)/2+bj)*unitBlock+i%unit*unit+j%unit]
}

// joint computes the Hessian of more than two classes with the other sums. Its block for classes k and j is -X'
// diag(p_k p_j) X. The blocks for k = j make the blocks of a row sum to zero. The Hessian is singular, since the same
// vector may be added to the weights of all classes. So joint adds a matrix that acts on such vectors alone; gradients
// are orthogonal to them.
func (p *problem[T]) joint(ctx context.Context, w []float64, at *sums) error {
	type part struct {
		sums
		products *products
	}
	n := p.vectors * p.cols
	all := newProducts(p.cols, n)
	run := func(run block.Run[T]) part {
		s := newProducts(p.cols, n)
		return part{p.run(run, w, nil, s), s}
	}
	err := block.ReduceRuns(ctx, p.src, p.workers, run, func(s part) {
		at.add(s.sums)
		kernel.Axpy(all.blocks, 1, s.products.blocks)
	})
	at.hessian = all.hessian()
	return err
}

func (s *products) hessian() []float64 {
	h := make([]float64, s.n*(s.n+1)/2)
	element := func(i, j int) *float64 { return &h[max(i, j)*(max(i, j)+1)/2+min(i, j)] }
	classes := s.n / s.cols
	for i := range s.n {
		for j := range i {
			k, l, a, b := i/s.cols, j/s.cols, i%s.cols, j%s.cols
			if k == l {
				continue
			}
			v := s.element(i, j)
			*element(i, j) -= v
			if b <= a { // once in the lower triangle of each of the two classes' own blocks
				*element(k*s.cols+a, k*s.cols+b) += v
				*element(l*s.cols+a, l*s.cols+b) += v
			}
		}
	}
	for a := range s.cols {
		sum := 0.0
		for k := range classes {
			sum += *element(k*s.cols+a, k*s.cols+a)
		}
		for k := range classes {
			for l := range k + 1 {
				*element(k*s.cols+a, l*s.cols+a) += sum / float64(classes*classes)
			}
		}
	}
	return h
}
