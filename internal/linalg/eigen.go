package linalg

import (
	"context"
	"math"
	"slices"
)

// maxSweeps bounds the sweeps. Jacobi's method converges quadratically and needs only about ten.
const maxSweeps = 60

// Eigen returns the eigenvalues of a symmetric n x n matrix, the greatest first, and their eigenvectors, which are
// orthonormal. a is the lower triangle in rows; Eigen doesn't change it. The method is the cyclic Jacobi method (Golub
// and Van Loan, "Matrix Computations", section 8.5). Its few operations are the same on every CPU. Its only error is
// ctx's.
func Eigen(ctx context.Context, a []float64, n int) (values []float64, vectors [][]float64, err error) {
	m := make([][]float64, n)
	vectors = make([][]float64, n)
	for i := range n {
		m[i], vectors[i] = make([]float64, n), make([]float64, n)
		vectors[i][i] = 1
	}
	for i := range n {
		for j := range i + 1 {
			m[i][j], m[j][i] = a[i*(i+1)/2+j], a[i*(i+1)/2+j]
		}
	}
	for range maxSweeps {
		turned := false
		for p := range n {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			for q := p + 1; q < n; q++ {
				if size := math.Abs(m[p][q]); size > 0 && size > 1e-17*math.Sqrt(math.Abs(m[p][p]))*math.Sqrt(math.Abs(m[q][q])) {
					turned = true
					rotate(m, vectors, p, q)
				}
			}
		}
		if !turned {
			break
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case m[i][i] > m[j][j]:
			return -1
		case m[i][i] < m[j][j]:
			return 1
		}
		return 0
	})
	sorted := make([][]float64, n)
	for k, i := range order {
		values, sorted[k] = append(values, m[i][i]), vectors[i]
	}
	return values, sorted, nil
}

// rotate rotates the plane of axes p and q, and rows p and q of vectors, so that element (p, q) of m becomes 0.
func rotate(m, vectors [][]float64, p, q int) {
	tau := (m[q][q] - m[p][p]) / (2 * m[p][q])
	t := 1 / (math.Abs(tau) + math.Sqrt(math.FMA(tau, tau, 1)))
	if tau < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(math.FMA(t, t, 1))
	s := t * c
	turn := func(x, y float64) (float64, float64) {
		return math.FMA(c, x, -float64(s*y)), math.FMA(s, x, float64(c*y))
	}
	change := float64(t * m[p][q])
	pp, qq := m[p][p]-change, m[q][q]+change
	for k := range m {
		m[k][p], m[k][q] = turn(m[k][p], m[k][q])
		m[p][k], m[q][k] = m[k][p], m[k][q]
		vectors[p][k], vectors[q][k] = turn(vectors[p][k], vectors[q][k])
	}
	m[p][p], m[q][q], m[p][q], m[q][p] = pp, qq, 0, 0
}
