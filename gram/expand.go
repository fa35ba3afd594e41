package gram

import (
	"context"
	"fmt"

	"halfspace/internal/parallel"
	"halfspace/kernel"
)

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
	apply, err := newMap(k, x, support, workers)
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

// MulVec sets y to the product of m and v. Both have N elements and must not overlap.
//
// With Full storage it runs on workers goroutines, and y[i] is kernel.Dot of row i and v, padding included. With Packed
// storage one core passes over the elements once, in order: y[i] = kernel.Dot(row i up to the diagonal, v), then y[j] =
// fma(v[i], row i[j], y[j]) for j < i.
func (m *Symmetric) MulVec(ctx context.Context, y, v []float32, workers int) error {
	workers, err := parallel.Resolve(workers)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return err
	}
	if len(y) != m.N || len(v) != m.N {
		return fmt.Errorf("a matrix of %d rows times %d elements doesn't give %d", m.N, len(v), len(y))
	}
	if m.Storage == Packed {
		for i := range m.N {
			if i%1024 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			row := m.lower(i)
			y[i] = kernel.Dot(row, v[:i+1])
			kernel.Axpy(y[:i], v[i], row[:i])
		}
		return nil
	}
	padded := make([]float32, m.Stride)
	copy(padded, v)
	panel := kernel.PanelRows(max(1, m.Stride))
	return parallel.For(ctx, workers, (m.N+panel-1)/panel, func(_, task int) {
		lo := task * panel
		hi := min(m.N, lo+panel)
		kernel.Scores(y[lo:hi], m.Data[lo*m.Stride:hi*m.Stride], padded)
	})
}
