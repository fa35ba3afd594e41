package gram

import (
	"context"
	"fmt"

	"halfspace/kernel"
)

// A Support is support vectors s_j of a kernel, stored so that all values k(x, s_j) of one vector x are computed
// together. It doesn't change, so goroutines may share it.
type Support struct {
	n, cols int
	columns []float32 // column k of all vectors is columns[k*n : (k+1)*n]
	apply   mercerMap
}

// NewSupport returns copies of the rows of x as support vectors. It returns an error if float32 can't hold the numbers
// of k.
func NewSupport(x *Rows, k Kernel) (*Support, error) {
	if _, err := checkRows(1, x); err != nil {
		return nil, err
	}
	apply, err := newMap(context.Background(), k, x, x, 1)
	if err != nil {
		return nil, err
	}
	s := &Support{n: x.n, cols: x.cols, columns: make([]float32, x.n*x.cols), apply: *apply}
	for j := range x.n {
		for c, v := range x.row(j, x.n) {
			s.columns[c*s.n+j] = v
		}
	}
	return s, nil
}

// Len returns the number of support vectors.
func (s *Support) Len() int { return s.n }

// Values sets out[j] to k(x, s_j), with the bits of Cross. Products are sums over panels of KC columns, added in order.
// out and sums have Len elements, and x has one element for each column. sums is work memory.
func (s *Support) Values(out, sums, x []float32) error {
	if len(out) != s.n || len(sums) != s.n || len(x) != s.cols {
		return fmt.Errorf("out has %d elements and x has %d, and there are %d support vectors of %d", len(out), len(x), s.n, s.cols)
	}
	clear(out)
	var norm, square [1]float32
	for k := 0; k < s.cols; k += kc {
		clear(sums)
		square[0] = 0
		for c := k; c < min(s.cols, k+kc); c++ {
			kernel.Axpy(sums, x[c], s.columns[c*s.n:(c+1)*s.n])
			if s.apply.Kind == RBF {
				kernel.Axpy(square[:], x[c], x[c:c+1])
			}
		}
		if k == 0 {
			copy(out, sums)
			norm = square
			continue
		}
		for j, v := range sums {
			out[j] += v
		}
		norm[0] += square[0]
	}
	apply := s.apply
	apply.x = norm[:]
	apply.row(out, 0, 0)
	return nil
}

// Combine returns the sum over j of alpha[j] values[j], with the bits of Expand. values and alpha have the same length.
func Combine(values, alpha []float32) float32 {
	sum := float32(0)
	for j := 0; j < len(values); j += nb {
		end := min(len(values), j+nb)
		part := kernel.Dot(values[j:end], alpha[j:end])
		if j > 0 {
			part += sum
		}
		sum = part
	}
	return sum
}

// Expand sets out[c][i] to the sum over the rows s_j of support of alpha[c][j] k(x_i, s_j). These numbers are the
// scores of several expansions on support vectors: expansion c has the coefficients alpha[c], and x.Len() scores.
// Expand doesn't store the matrix of kernels.
//
// A score is the sum, in order, over blocks of 384 rows of support. The part of each block is a kernel.Dot. The sum
// starts with the first part, not with zero.
func Expand(ctx context.Context, out [][]float32, x, support *Rows, alpha [][]float32, k Kernel, workers int) error {
	workers, err := checkRows(workers, x, support)
	if err != nil {
		return err
	}
	if len(out) != len(alpha) {
		return fmt.Errorf("%d results for %d expansions", len(out), len(alpha))
	}
	for c := range alpha {
		if len(alpha[c]) != support.n || len(out[c]) != x.n {
			return fmt.Errorf("expansion %d has %d coefficients for %d rows, and %d scores for %d", c, len(alpha[c]), support.n,
				len(out[c]), x.n)
		}
		clear(out[c])
	}
	apply, err := newMap(ctx, k, x, support, workers)
	if err != nil {
		return err
	}
	return visitRows(ctx, x, support, workers, func(i, j int, row []float32) {
		apply.row(row, i, j)
		for c, a := range alpha {
			s := kernel.Dot(row, a[j:j+len(row)])
			if j > 0 {
				s += out[c][i]
			}
			out[c][i] = s
		}
	})
}
