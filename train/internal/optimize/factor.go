package optimize

import (
	"context"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/linalg"
)

const (
	picksColumn = 8   // rows for each column in a sampled Hessian
	factorWorth = 350 // a Hessian of d columns is sampled if d^3 is at most this times the number of elements
	stale       = 4   // number of products in a step above which the next step samples the Hessian again
)

// worthFactor tells whether a sampled Hessian costs less than the products that it saves. It costs 4 d^3
// multiplications, which take the time of about 4 d^3 / 70 elements in a product. It saves about 20 products in a step.
func (s *search) worthFactor(elements int64) bool {
	d := float64(s.cols)
	return d*d*d <= factorWorth*float64(elements)
}

// refactor sets the preconditioner to the factor of a sampled Hessian at the weights, unless the last factor still
// works.
//
// The sample takes every row whose curvature is at least a threshold. Among the other rows, it takes a row each time
// the sum of their curvatures passes a multiple of the threshold, and gives the row the threshold as its curvature. The
// diagonal is raised to the diagonal of the Hessian at least, for columns that the sample rarely contains.
func (s *search) refactor(ctx context.Context) error {
	if !s.factors || s.factor != nil && s.products <= stale || s.spent(3) {
		return nil
	}
	m, err := gram.NewTriangle(s.cols)
	if err != nil {
		return err
	}
	picks := s.rowVectors[1]
	s.pick(picks)
	if s.remote {
		err = s.scatterPicked(ctx, m, picks)
	} else {
		err = gram.Scatter(ctx, m, s.Rows, func(chunk block.Chunk, weights, _ []float64) {
			copy(weights, picks[chunk.First:][:chunk.Len()])
		}, s.Workers)
	}
	if err != nil {
		return err
	}
	for i, most := range s.at.Diagonal {
		at := i*(i+1)/2 + i
		if i < s.features {
			m.Data[at] += s.L2
		}
		m.Data[at] = max(m.Data[at], most)
	}
	s.passed(s.Rows.Rows())
	s.factor, _, err = linalg.Factorise(ctx, m.Data, s.cols)
	return err
}

// pick sets picks to the weights of the rows in the sampled Hessian: 0 for rows that the sample leaves out.
func (s *search) pick(picks []float64) {
	total := 0.0
	for _, c := range s.at.Curvature {
		total += c
	}
	threshold, sum := total/float64(picksColumn*s.cols), 0.0
	for i, c := range s.at.Curvature {
		picks[i] = 0
		if c >= threshold {
			picks[i] = c
			continue
		}
		if sum += c; sum >= threshold {
			picks[i] = threshold
			sum -= threshold
		}
	}
}

// precondition sets d to an approximation of the inverse Hessian times v.
func (s *search) precondition(d, v []float64) {
	if s.factor != nil {
		copy(d, s.factor.Solve(v))
		return
	}
	for i, x := range v {
		d[i] = x / s.at.Diagonal[i]
	}
}
