package lda

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"halfspace/internal/testproblems"
)

// TestNearlyDependent: where features nearly depend on each other, or a row is far larger than others, the direction is the
// best one. The reference computes with rational numbers.
func TestNearlyDependent(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		d, by := 2+rng.IntN(3), math.Pow(10, -3-6*rng.Float64())
		x, y := draw(100, d, 0, seed)
		if seed%2 == 0 {
			for _, row := range x {
				row[0] = row[1] + float64(by*row[0])
			}
		} else {
			for i := range x[7] {
				x[7][i] /= by
			}
		}
		r := mustTrain(t, testproblems.Dense(testproblems.Round(x), y, true))
		if r.Ridge != 0 {
			t.Errorf("seed %d, %v: a ridge of %v", seed, by, r.Ridge)
		}
		best, reached := distances(x, y, r.ExactWeights[:d])
		if !(reached > best*(1-1e-6)) {
			t.Errorf("seed %d, %v: the squared distance of the means is %v, at most it is %v", seed, by, reached, best)
		}
	}
}

// distances returns the greatest squared distance of the class means in any direction, in units of the variance within
// classes, and that in direction w.
func distances(x [][]float64, y, w []float64) (best, reached float64) {
	rat := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	d, n := len(w), map[float64]int64{}
	means := map[float64][]*big.Rat{-1: make([]*big.Rat, d), 1: make([]*big.Rat, d)}
	for r, row := range x {
		n[y[r]]++
		for i, v := range row {
			if means[y[r]][i] == nil {
				means[y[r]][i] = new(big.Rat)
			}
			means[y[r]][i].Add(means[y[r]][i], rat(v))
		}
	}
	a := make([][]*big.Rat, d) // the covariance, and the difference of the means
	for i := range a {
		for label, m := range means {
			m[i].Mul(m[i], big.NewRat(1, n[label]))
		}
		for range d {
			a[i] = append(a[i], new(big.Rat))
		}
		a[i] = append(a[i], new(big.Rat).Sub(means[1][i], means[-1][i]))
	}
	product := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	for r, row := range x {
		for i := range d {
			for j := range d {
				u, v := new(big.Rat).Sub(rat(row[i]), means[y[r]][i]), new(big.Rat).Sub(rat(row[j]), means[y[r]][j])
				a[i][j].Add(a[i][j], product(product(u, v), big.NewRat(1, int64(len(x)))))
			}
		}
	}
	along, variance := new(big.Rat), new(big.Rat)
	for i := range d {
		along.Add(along, product(rat(w[i]), a[i][d]))
		for j := range d {
			variance.Add(variance, product(product(rat(w[i]), rat(w[j])), a[i][j]))
		}
	}
	reached, _ = new(big.Rat).Quo(product(along, along), variance).Float64()
	sum := new(big.Rat) // of b' S^-1 b, by elimination
	for k := range d {
		sum.Add(sum, new(big.Rat).Quo(product(a[k][d], a[k][d]), a[k][k]))
		for i := k + 1; i < d; i++ {
			f := new(big.Rat).Quo(a[i][k], a[k][k])
			for j := k; j <= d; j++ {
				a[i][j].Sub(a[i][j], product(f, a[k][j]))
			}
		}
	}
	best, _ = sum.Float64()
	return best, reached
}
