package svm

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/testproblems"
)

// unlikeScales returns rows whose columns have scales from 1e-3 to 1e3. If rank is above 0, the columns are sums of that
// number of columns, up to noise.
func unlikeScales(n, d, rank int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	normal := func(n, d int) [][]float64 {
		m := make([][]float64, n)
		for i := range m {
			for range d {
				m[i] = append(m[i], rng.NormFloat64())
			}
		}
		return m
	}
	x = normal(n, d)
	if rank > 0 {
		parts, sums := normal(n, rank), normal(rank, d)
		for i, row := range x {
			for j := range row {
				row[j] *= 0.05
				for k, v := range parts[i] {
					row[j] += v * sums[k][j]
				}
			}
		}
	}
	scales, truth := make([]float64, d), make([]float64, d)
	for j := range d {
		scales[j] = math.Pow(10, 6*rng.Float64()-3)
		if rng.IntN(3) == 0 {
			truth[j] = rng.NormFloat64()
		}
	}
	for _, row := range x {
		z := 0.7 * rng.NormFloat64()
		for j := range row {
			z += row[j] * truth[j]
			row[j] = float64(float32(row[j] * scales[j]))
		}
		y = append(y, math.Copysign(1, z))
	}
	return x, y
}

// lassoGap returns the objective of weights and a bias, and its distance from a lower bound: the dual objective, the sum
// of a - a^2/4, at the a of these weights, scaled until the sums of both classes are equal and no column exceeds l1.
func lassoGap(x [][]float64, y, w []float64, l1 float64) (objective, gap float64) {
	a, sums, d := make([]float64, len(x)), [2]float64{}, len(w)-1
	for i, row := range x {
		z := w[d]
		for j, v := range row {
			z += v * w[j]
		}
		u := max(0, 1-y[i]*z)
		objective += u * u
		a[i] = 2 * u
		sums[int(y[i]+1)/2] += a[i]
	}
	for _, v := range w[:d] {
		objective += l1 * math.Abs(v)
	}
	most := 0.0
	for j := range d {
		slope := 0.0
		for i, row := range x {
			class := int(y[i]+1) / 2
			slope += y[i] * a[i] * min(1, sums[1-class]/sums[class]) * row[j]
		}
		most = max(most, math.Abs(slope))
	}
	dual := 0.0
	for i, v := range a {
		class := int(y[i]+1) / 2
		v *= min(1, sums[1-class]/sums[class]) * min(1, l1/most)
		dual += v - v*v/4
	}
	return objective, objective - dual
}

// TestUnlikeScales: with l1, columns of unlike scales have a proven optimum, also if the columns depend on each other or
// outnumber the rows. Steps that damping alone shortens end far from it after 100 passes.
func TestUnlikeScales(t *testing.T) {
	for _, c := range []struct {
		rows, columns, rank int
		l1                  float64
	}{{100, 150, 0, 0.01}, {200, 60, 0, 0.01}, {150, 60, 20, 0.03}} {
		x, y := unlikeScales(c.rows, c.columns, c.rank, 7)
		r := mustTrain(t, testproblems.Dense(x, y, true), Settings{Options: Options{L1: c.l1}})
		objective, gap := lassoGap(x, y, r.ExactWeights, c.l1)
		if !r.Converged && !r.GapLostByRounding || gap > 1e-5*objective {
			t.Errorf("%+v: converged %v in %d passes with a gap of %v of %v; before rounding it is %v of %v", c, r.Converged,
				r.Epochs, r.Gap, r.Objective, gap, objective)
		}
	}
}

// TestSlowDual: where dual coordinate descent is slow, because rows are fewer than columns of unlike scales or of a few
// factors, Newton's method finds the optimum. It also does for separable rows with a small penalty.
func TestSlowDual(t *testing.T) {
	for name, c := range map[string]struct {
		rows, factors int
		scale, l2     float64
	}{"scales": {100, 0, 1e4, 1}, "factors": {290, 5, 1, 1}, "separable": {700, 0, 1, 1e-3}} {
		rng := rand.New(rand.NewPCG(uint64(c.rows), 4))
		x, y := testproblems.Factors(rng, c.rows, 300, c.factors)
		for i, row := range x {
			row[0] *= c.scale
			if c.factors == 0 {
				y[i] = math.Copysign(1, row[0]/c.scale+rng.NormFloat64()/2)
			}
		}
		for _, loss := range Losses {
			r := mustTrain(t, testproblems.Dense(testproblems.Round(x), y, true), Settings{Options: Options{Loss: loss, L2: c.l2}})
			if !r.Converged && !r.GapLostByRounding {
				t.Errorf("%s, %s: a gap of %v of %v after %d passes", name, loss, r.Gap, r.Objective, r.Epochs)
			}
		}
	}
}

// TestOneOfManyRows: with one row of its class among many, nearly all rows are at their kink at the optimum: a bias of
// -1 alone has a loss of 2.
func TestOneOfManyRows(t *testing.T) {
	const n = 60_000
	rng := rand.New(rand.NewPCG(9, 9))
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = make([]float64, 6), -1
		for j := range x[i] {
			x[i][j] = rng.NormFloat64()
		}
	}
	y[777] = 1
	r := mustTrain(t, testproblems.Dense(testproblems.Round(x), y, true), Settings{Options: Options{Loss: Hinge, L2: 1e-6}})
	if !r.Converged || r.Objective > 2*(1+1e-6) || r.Epochs > 200 {
		t.Errorf("the objective is %v, at most %v above the optimum, after %d passes", r.Objective, r.Gap, r.Epochs)
	}
}
