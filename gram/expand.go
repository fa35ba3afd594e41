package gram

import (
	"context"
	"fmt"

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
