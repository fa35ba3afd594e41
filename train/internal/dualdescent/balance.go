package dualdescent

import "slices"

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
