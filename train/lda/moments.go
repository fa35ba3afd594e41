package lda

import (
	"context"
	"iter"
	"math"
	"sync"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

// moments are sums over rows: of the products of columns, and for each class the number of rows and the columns' sums.
type moments struct {
	products *gram.Symmetric[float64]
	classes
}

type classes struct {
	n        [2]int64
	sums     [2][]float64
	noLabels bool
}

// sum computes the moments in one pass.
func sum[T kernel.Float](ctx context.Context, src block.Source[T], workers int) (*moments, error) {
	cols := src.Spec().Cols()
	products, err := gram.NewSymmetric[float64](cols, gram.Packed)
	if err != nil {
		return nil, err
	}
	m := &moments{products: products, classes: classes{sums: [2][]float64{make([]float64, cols), make([]float64, cols)}}}
	panels := sync.Pool{New: func() any { return dense.NewPanel[T](cols, 2) }}
	part := func(run block.Run[T], s []float64) classes {
		for i := range s {
			s[i] = 1
		}
		p := panels.Get().(*dense.Panel[T])
		defer panels.Put(p)
		return sumClasses(p, run)
	}
	if err := train.Scatter(ctx, products, src, workers, part, m.add); err != nil {
		return nil, err
	}
	if m.noLabels {
		return nil, block.ErrNoLabels
	}
	return m, nil
}

// sumClasses computes the sums of the classes over the rows of a run.
func sumClasses[T kernel.Float](p *dense.Panel[T], run block.Run[T]) (c classes) {
	if run.Y == nil {
		c.noLabels = true
		return c
	}
	for lo := 0; lo < run.Len(); lo += dense.PanelRows {
		hi := min(run.Len(), lo+dense.PanelRows)
		p.Load(run.Slice(lo, hi))
		for i, y := range run.Y[lo:hi] {
			f, class := p.Factors()[i*dense.PanelCols:], 0
			if y > 0 {
				class = 1
			}
			f[class], f[1-class] = 1, 0
			c.n[class]++
		}
		p.Add()
	}
	for class := range c.sums {
		c.sums[class] = p.Take(class, nil)
	}
	return c
}

func (c *classes) add(d classes) {
	for class := range c.n {
		c.n[class] += d.n[class]
		for i, v := range d.sums[class] {
			c.sums[class][i] += v
		}
	}
	c.noLabels = c.noLabels || d.noLabels
}

// means returns the mean of each column in a class.
func (m *moments) means(class int) []float64 {
	means := make([]float64, len(m.sums[class]))
	for i, v := range m.sums[class] {
		means[i] = v / float64(m.n[class])
	}
	return means
}

// covariance returns the covariance within classes of the first d columns, the rows of its lower triangle, and whether some
// column varies. A variance that rounding makes negative is 0.
func (m *moments) covariance(d int) (s []float64, varies bool) {
	n := float64(m.n[0] + m.n[1])
	m0, m1 := m.means(0), m.means(1)
	for i := range d {
		for j := range i + 1 {
			v := m.products.At(i, j)
			v = math.FMA(-m.sums[0][i], m0[j], v)
			v = math.FMA(-m.sums[1][i], m1[j], v)
			if i == j {
				v = max(0, v)
				varies = varies || v != 0
			}
			s = append(s, v/n)
		}
	}
	return s, varies
}

// far returns the means of those of the first d columns whose variance within classes would lose more than six digits to them,
// and zeros for the others; or nil if there is none.
func (m *moments) far(d int) []float64 {
	if m.n[0] == 0 || m.n[1] == 0 {
		return nil
	}
	var means []float64
	s, _ := m.covariance(d)
	n := float64(m.n[0] + m.n[1])
	for i := range d {
		if all := m.products.At(i, i) / n; s[i*(i+1)/2+i] < 1e-6*all {
			if means == nil {
				means = make([]float64, d)
			}
			means[i] = (m.sums[0][i] + m.sums[1][i]) / n
		}
	}
	return means
}

// shifted is a source of rows from whose features a vector is taken, which T holds exactly.
type shifted[T kernel.Float] struct {
	block.Source[T]
	by []float64
}

func (s shifted[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		for b, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			c := block.New[T](b.First, b.Len(), b.Cols)
			c.Y = b.Y
			if b.Sparse == nil {
				copy(c.X, b.X)
			}
			for r := range b.Len() {
				row := c.X[r*c.Stride:][:c.Stride]
				if b.Sparse != nil {
					columns, values := b.Sparse.Row(r)
					for k, i := range columns {
						row[i] = values[k]
					}
				}
				for i, v := range s.by {
					row[i] -= T(v)
				}
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}
