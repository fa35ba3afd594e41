package svm

import (
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/train/learner"
)

// measure makes a pass over the rows and computes the loss, the objective and a lower bound of the minimum.
func (s *jointSearch) measure(ctx context.Context) error {
	losses, err := s.Sums(ctx, [][]float64{s.weights()})
	if err != nil {
		return err
	}
	s.loss = losses[0]
	s.Visit(s.Rows.Rows(), nil, nil)
	square := 0.0
	for _, v := range s.w {
		square += float64(v * v)
	}
	s.objective = s.loss + float64(s.L2/2*square)
	if s.objective-s.objective != 0 {
		return learner.OverflowError()
	}
	s.lower = max(s.lower, float64(s.L2*s.bound(square)))
	return nil
}

// bound returns a lower bound of the minimum, divided by l2. square is the sum of the squared weights without the
// biases.
//
// The dual objective is the sum over the rows of a_y, minus half the squared norm of the weights that follow from a.
// With biases, the sum of a_k over the rows must be 0 for every class k. So bound multiplies the a of the rows of each
// class by a factor of at most 1. If the least factor is 1-e, the weights grow by at most e times the sum of |a| |x| in
// norm.
func (s *jointSearch) bound(square float64) float64 {
	if s.features == s.cols {
		own := 0.0
		for i, one := range s.rows {
			own += s.a[i*s.classes+int(one.class)]
		}
		return own - float64(square/2)
	}
	flow, size := make([]float64, s.classes*s.classes), 0.0
	for i, one := range s.rows {
		length := 0.0
		for k, v := range s.a[i*s.classes:][:s.classes] {
			if length += float64(v * v); k != int(one.class) {
				flow[int(one.class)*s.classes+k] -= v
			}
		}
		size += math.Sqrt(float64(length * max(0, one.square-s.inertia)))
	}
	dual, least := 0.0, 1.0
	for y, factor := range balance(flow, s.classes) {
		least = min(least, factor)
		for k := range s.classes {
			if k != y {
				dual += float64(factor * flow[y*s.classes+k])
			}
		}
	}
	norm := math.Sqrt(square) + float64((1-least)*size)
	return dual - float64(float64(norm*norm)/2)
}

// balance returns one factor for each row of an n x n matrix of numbers of 0 or more. With row i multiplied by factor
// i, each row has the same sum as its column, both without the diagonal. The greatest factor is 1. The factors are the
// stationary distribution of a Markov chain in continuous time. They are found without subtractions; see Grassmann,
// Taksar and Heyman, "Regenerative Analysis and Steady State Distributions for Markov Chains", Operations Research 33,
// 1985. All factors are 0 if the elimination finds no others.
func balance(flow []float64, n int) []float64 {
	f, out, factors := slices.Clone(flow), make([]float64, n), make([]float64, n)
	for k := n - 1; k > 0; k-- {
		in := 0.0
		for j := range k {
			out[k] += f[k*n+j]
			in += f[j*n+k]
		}
		if out[k] == 0 && in > 0 {
			return factors
		}
		for i := range k {
			for j := range k {
				if out[k] > 0 {
					f[i*n+j] += float64(f[i*n+k] * (f[k*n+j] / out[k]))
				}
			}
		}
	}
	most := 0.0
	for k := range factors {
		if factors[k] = 1; out[k] > 0 { // otherwise no lower state is reached from k
			factors[k] = 0
			for i := range k {
				factors[k] += float64(factors[i]*f[i*n+k]) / out[k]
			}
		}
		most = max(most, factors[k])
	}
	for k := range factors {
		factors[k] /= most
	}
	return factors
}

// jointLoss makes a pass over the rows and returns the sum of their losses times sample weights. w has one vector for
// each class.
func jointLoss(ctx context.Context, rows block.Source, workers int, w []float64) (float64, error) {
	spec := rows.Spec()
	classes, cols, features := len(spec.Classes), spec.Cols(), spec.Width()
	by, bias := make([]float64, features*classes), make([]float64, classes)
	for k := range classes {
		for c, v := range w[k*cols:][:features] {
			by[c*classes+k] = v
		}
		if features < cols {
			bias[k] = w[k*cols+features]
		}
	}
	total := 0.0
	err := block.ReduceChunks(ctx, rows, workers, func(chunk block.Chunk) (sum float64) {
		v := newJointVisit(classes)
		for r, y := range chunk.Y {
			weight := chunk.Weight(r)
			if weight == 0 {
				continue
			}
			v.load(chunk.Block, r, features)
			v.score(by, bias, int(y))
			own, most := v.slope[int(y)], math.Inf(-1)
			for _, slope := range v.slope {
				most = max(most, slope)
			}
			sum += float64((most - own) * weight)
		}
		return sum
	}, func(sum float64) { total += sum })
	return total, err
}
