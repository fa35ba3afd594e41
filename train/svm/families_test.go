package svm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/kernel"
)

// A family is rows made by a rule.
type family struct {
	name string
	x    [][]float64
	y, c []float64 // labels and weights; no weights if each is 1
	l2   float64
}

// data returns the rows as a data set.
func familyData[T kernel.Float](f family, bias bool) *block.Data[T] {
	d := testrows.Dense[T](f.x, f.y, bias)
	if f.c != nil {
		d = testrows.Weighted(d, func(r int) float64 { return f.c[r] })
	}
	return d
}

// A maker makes families of so many rows.
type maker struct {
	rng *rand.Rand
	n   int
}

// normal returns normal rows, and their products with normal weights.
func (m *maker) normal(d int) (x [][]float64, z, truth []float64) {
	truth = make([]float64, d)
	for i := range truth {
		truth[i] = m.rng.NormFloat64()
	}
	x, z = make([][]float64, m.n), make([]float64, m.n)
	for r := range x {
		x[r] = make([]float64, d)
		for i := range x[r] {
			x[r][i] = m.rng.NormFloat64()
			z[r] += x[r][i] * truth[i]
		}
	}
	return x, z, truth
}

// labels returns the signs of scores with so much noise.
func (m *maker) labels(z []float64, noise float64) []float64 {
	y := make([]float64, len(z))
	for r, v := range z {
		y[r] = math.Copysign(1, v+noise*m.rng.NormFloat64())
	}
	return y
}

// each changes each element.
func each(x [][]float64, change func(r, i int, v float64) float64) [][]float64 {
	for r := range x {
		for i, v := range x[r] {
			x[r][i] = change(r, i, v)
		}
	}
	return x
}

// poisson draws a count.
func (m *maker) poisson(mean float64) float64 {
	count, p := -1.0, 1.0
	for limit := math.Exp(-mean); p > limit; count++ {
		p *= m.rng.Float64()
	}
	return count
}

// families returns rows of each kind, n of each.
func families(n int, seed uint64) (all []family) {
	m := &maker{rand.New(rand.NewPCG(seed, uint64(n))), n}
	add := func(name string, x [][]float64, y, c []float64, l2 float64) {
		all = append(all, family{name, x, y, c, l2})
	}
	scale := func(_, i int, v float64) float64 { return v * math.Pow(10, float64(i)*6/7-3) }
	const d = 8

	x, z, _ := m.normal(d)
	add("normal", x, m.labels(z, 1), nil, 1)
	x, z, _ = m.normal(d)
	add("l2 1e-6", x, m.labels(z, 1), nil, 1e-6)
	x, z, _ = m.normal(d)
	add("l2 1e4", x, m.labels(z, 1), nil, 1e4)
	x, z, _ = m.normal(40)
	add("40 columns", x, m.labels(z, 3), nil, 1)
	x, z, _ = m.normal(d)
	y := m.labels(z, 1)
	add("scales", each(x, scale), y, nil, 1)
	for _, offset := range []float64{1e3, 1e5, 1e7} {
		x, z, _ = m.normal(d)
		add(fmt.Sprintf("offset %.0e", offset), each(x, func(_, _ int, v float64) float64 { return v + offset }), m.labels(z, 1), nil, 1)
	}
	x, z, _ = m.normal(d)
	add("outliers", each(x, func(r, _ int, v float64) float64 {
		if r%97 == 0 {
			return 1000 * v
		}
		return v
	}), m.labels(z, 1), nil, 1)
	x, z, _ = m.normal(2 * d)
	y = m.labels(z, 1)
	add("rare indicators", each(x, func(r, i int, v float64) float64 {
		if i < d {
			return v
		}
		if m.rng.Float64() < []float64{1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 0.5}[i-d] {
			return 1
		}
		return 0
	}), y, nil, 1)
	x, z, _ = m.normal(d)
	y = m.labels(z, 1)
	add("counts", each(x, func(_, i int, v float64) float64 { return m.poisson(math.Exp(v + float64(i)/3)) }), y, nil, 1)
	x, z, _ = m.normal(d)
	y = m.labels(z, 1)
	add("Cauchy", each(x, func(_, _ int, v float64) float64 { return v / m.rng.NormFloat64() }), y, nil, 1)
	x, z, _ = m.normal(d)
	y = m.labels(z, 1)
	add("lognormal", each(x, func(_, _ int, v float64) float64 { return math.Exp(2 * v) }), y, nil, 1)
	x, z, _ = m.normal(d)
	t := func(r int) float64 { return float64(r) / float64(n) }
	for r := range z {
		z[r] = z[r]*(1+9*t(r)) + 10*(t(r)-0.5)
	}
	add("drift", each(x, func(r, _ int, v float64) float64 { return v*(1+9*t(r)) + 5*t(r) }), m.labels(z, 1), nil, 1)
	x, z, _ = m.normal(d)
	c := make([]float64, n)
	for r := range c {
		c[r] = math.Pow(10, 6*m.rng.Float64()-3)
	}
	add("weights", x, m.labels(z, 1), c, 1)
	x, z, _ = m.normal(d)
	for r := range z {
		z[r] += m.rng.NormFloat64()
	}
	sorted := append([]float64(nil), z...)
	sort.Float64s(sorted)
	cut := sorted[n-max(3, n/1000)]
	for r := range z {
		z[r] -= cut
	}
	add("imbalance", x, m.labels(z, 0), nil, 1)
	x, z, _ = m.normal(d)
	for r := n - 1; r >= 0; r-- {
		x[r], z[r] = x[r/20], z[r/20]
	}
	add("duplicates", x, m.labels(z, 1), nil, 1)
	for _, l2 := range []float64{1, 1e-3, 1e-6} {
		x, z, w := m.normal(d)
		x = each(x, func(r, i int, v float64) float64 { return scale(r, i, v+math.Copysign(0.1, z[r])*w[i]) })
		add(fmt.Sprintf("separable, scales, l2 %g", l2), x, m.labels(z, 0), nil, l2)
	}
	x, z, _ = m.normal(d)
	y = m.labels(z, 1)
	for r := range x {
		x[r][7] = x[r][0] + x[r][1] + x[r][2]
	}
	add("dependent", x, y, nil, 1e-3)
	return append(all, m.categories(false), m.categories(true))
}

// categories returns rows of three categories, one-hot, and three normal features, standardised if asked for.
func (m *maker) categories(standardise bool) family {
	f := family{name: "one-hot", l2: 1}
	if standardise {
		f.name = "one-hot, standardised"
	}
	_, _, truth := m.normal(56)
	f.x = make([][]float64, m.n)
	z := make([]float64, m.n)
	for r := range f.x {
		f.x[r] = make([]float64, 56)
		f.x[r][m.rng.IntN(3)], f.x[r][3+m.rng.IntN(10)], f.x[r][13+min(39, int(4*m.rng.ExpFloat64()))] = 1, 1, 1
		for i := 53; i < 56; i++ {
			f.x[r][i] = m.rng.NormFloat64()
		}
		for i, v := range f.x[r] {
			z[r] += v * truth[i]
		}
	}
	f.y = m.labels(z, 2)
	if standardise {
		standardiseRows(f.x)
	}
	return f
}

// standardiseRows subtracts each column's mean and divides by its deviation.
func standardiseRows(x [][]float64) {
	for i := range x[0] {
		mean, square := 0.0, 0.0
		for _, row := range x {
			mean += row[i] / float64(len(x))
		}
		for _, row := range x {
			square += (row[i] - mean) * (row[i] - mean) / float64(len(x))
		}
		for _, row := range x {
			row[i] -= mean
			if square > 0 {
				row[i] /= math.Sqrt(square)
			}
		}
	}
}

// measure trains, and fails unless that converges after so many passes, and what it says of its weights is true.
func measure[T kernel.Float](t *testing.T, f family, d *block.Data[T], loss Loss, passes int64) {
	t.Helper()
	r := mustTrain(t, d, Options{Loss: loss, L2: f.l2})
	t.Logf("%-36s %-13s %3d passes, visits of %5.1f, %3d steps, gap %.1e, objective %.10g, %.0f ms", f.name, loss, r.Epochs,
		float64(r.Visits)/float64(d.Rows()), r.Updates, r.Gap/r.Objective, r.Objective, 1000*r.Seconds)
	objective := exactly(f.x, f.y, f.c, r.Weights, loss, f.l2)
	if !r.Converged || !(r.Gap <= tolerance*r.Objective) || r.Epochs > passes {
		t.Errorf("%s, %s: converged %v with a gap of %v of %v after %d passes, at most %d are wanted", f.name, loss, r.Converged, r.Gap, r.Objective, r.Epochs, passes)
	}
	if math.Abs(r.Objective-objective) > 1e-8*objective {
		t.Errorf("%s, %s: objective %v, it is %v", f.name, loss, r.Objective, objective)
	}
}

// TestFamilies: rows of all kinds take few passes.
func TestFamilies(t *testing.T) {
	for _, n := range []int{200, 2000, 20000, 100000} {
		if testing.Short() && n > 2000 {
			break
		}
		for _, f := range families(n, 1) {
			f.name = fmt.Sprintf("%d x %s", n, f.name)
			measure(t, f, familyData[float64](f, true), SquaredHinge, 40)
			measure(t, f, familyData[float64](f, true), Hinge, 100)
		}
	}
}
