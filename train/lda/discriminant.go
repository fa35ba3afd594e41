package lda

import (
	"context"
	"math"

	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train/learner"
)

// discriminate computes the weights, and with project the projection. m are the moments of the rows minus shift.
func (r *Result) discriminate(ctx context.Context, m *moments, factor solver, shift []float64,
	spec *schema.Spec, project bool) error {
	d, k := len(shift), len(m.N)
	var weights [][]float64 // S^-1 (m_k - m)
	from := make([][]float64, k)
	centre := m.centre(d)
	for class := range k {
		if err := ctx.Err(); err != nil {
			return err
		}
		from[class] = m.means(class)[:d]
		means := make([]float64, d)
		for i, v := range from[class] {
			means[i] = v + shift[i]
			from[class][i] -= centre[i]
		}
		r.Means = append(r.Means, means)
		weights = append(weights, factor.Solve(from[class]))
	}
	if project {
		if err := r.project(ctx, m, from, weights); err != nil {
			return err
		}
	}
	if k == 2 {
		m0, m1 := m.means(0), m.means(1)
		diff, middle := make([]float64, d), make([]float64, d)
		for i := range diff {
			diff[i] = m1[i] - m0[i]
			middle[i] = float64((m0[i]+m1[i])/2) + shift[i]
		}
		r.ExactWeights = factor.Solve(diff)
		if spec.Bias {
			r.ExactWeights = append(r.ExactWeights, log(m.N[1], m.N[0])-f64.Dot(r.ExactWeights, middle))
		}
	} else {
		for class, w := range weights {
			middle := make([]float64, d)
			for i, v := range from[class] {
				middle[i] = float64(v/2) + centre[i] + shift[i]
			}
			r.ExactWeights = append(r.ExactWeights, w...)
			if spec.Bias {
				r.ExactWeights = append(r.ExactWeights, log(m.N[class], m.rows())-f64.Dot(w, middle))
			}
		}
	}
	r.Weights = learner.RoundToFloat32(r.ExactWeights)
	return nil
}

// project computes the directions. from are the class means minus the mean of all rows, and weights are S^-1 times
// from.
func (r *Result) project(ctx context.Context, m *moments, from, weights [][]float64) error {
	k, d := len(from), len(from[0])
	root := make([]float64, k)
	var g []float64 // M' S^-1 M
	for i := range k {
		root[i] = math.Sqrt(m.N[i] / m.rows())
		for j := range i + 1 {
			g = append(g, float64(root[i]*root[j])*f64.Dot(from[i], weights[j]))
		}
	}
	values, vectors, err := linalg.Eigen(ctx, g, k)
	if err != nil {
		return err
	}
	sum := 0.0
	for j, value := range values[:min(k-1, d)] {
		if !(value > float64(k)*1e-14*values[0]) {
			break
		}
		sum += value
		v := make([]float64, d)
		for class, u := range vectors[j] {
			f64.Axpy(v, u*root[class]/math.Sqrt(value), weights[class])
		}
		if f64.Dot(v, from[k-1]) < 0 {
			for i := range v {
				v[i] = -v[i]
			}
		}
		r.Projection, r.ExplainedShares = append(r.Projection, v), append(r.ExplainedShares, value)
	}
	for j := range r.ExplainedShares {
		r.ExplainedShares[j] /= sum
	}
	return nil
}

// log returns log(a/b), computed by package f64 so that its bits are the same on all CPUs.
func log(a, b float64) float64 {
	if a < b {
		return -log(b, a)
	}
	x := []float64{(a - b) / b}
	f64.Log1p(x, x)
	return x[0]
}
