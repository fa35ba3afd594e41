// Package testproblems makes data sets for tests.
package testproblems

import (
	"fmt"
	"math"
	"math/rand/v2"

	"halfspace/internal/block"
)

// Columns is the number of features of a family, unless its rule says otherwise.
const Columns = 8

// A Family is a rule for rows of features, labels of -1 and +1, and weights.
type Family struct {
	Name string
	fill func(d *draw)
}

// Rows returns that many rows of the family, with a bias column. The same arguments give the same rows.
func Rows(f Family, rows int) *block.Data {
	d := &draw{Rand: rand.New(rand.NewPCG(16, uint64(rows))), x: make([][]float64, rows), y: make([]float64, rows)}
	for i := range d.x {
		d.x[i] = d.normals(Columns)
	}
	f.fill(d)
	data := Dense(d.x, d.y, true)
	if d.w != nil {
		data = Weighted(data, func(row int) float64 { return d.w[row] })
	}
	return data
}

// A draw is a family during its construction: rows of independent normal features. The rule changes them, labels them,
// and may give them weights.
type draw struct {
	*rand.Rand
	x    [][]float64
	y, w []float64
}

func (d *draw) normals(n int) []float64 {
	row := make([]float64, n)
	for j := range row {
		row[j] = d.NormFloat64()
	}
	return row
}

// each calls f for each row, with the row's position in the file, from 0 to 1.
func (d *draw) each(f func(row []float64, at float64)) {
	for i, row := range d.x {
		f(row, float64(i)/float64(len(d.x)))
	}
}

// values replaces each value by f of the number of its column, the value, and the row's position.
func (d *draw) values(f func(j int, v, at float64) float64) {
	d.each(func(row []float64, at float64) {
		for j, v := range row {
			row[j] = f(j, v, at)
		}
	})
}

// columns replaces each column. f takes the column's number and returns a function that makes the value of each row in
// turn.
func (d *draw) columns(f func(j int) func() float64) {
	for j := range d.x[0] {
		next := f(j)
		for _, row := range d.x {
			row[j] = next()
		}
	}
}

// label draws labels from a logistic model of the current features. The score is slope times the sum with weights 1,
// -1, 1, ..., plus bias.
func (d *draw) label(slope, bias float64) {
	for i, row := range d.x {
		score := bias
		for j, v := range row {
			score += slope * v * float64(1-2*(j%2))
		}
		d.y[i] = -1
		if d.Float64() < 1/(1+math.Exp(-score)) {
			d.y[i] = 1
		}
	}
}

// labelledRule returns the rule that labels normal features and then changes them.
func labelledRule(change func(d *draw)) func(*draw) {
	return func(d *draw) {
		d.label(0.7, 0.3)
		change(d)
	}
}

// drawnRule returns the rule that replaces the features by values of next, and then labels the rows with that slope.
func drawnRule(slope float64, next func(d *draw, j int) float64) func(*draw) {
	return func(d *draw) {
		d.columns(func(j int) func() float64 { return func() float64 { return next(d, j) } })
		d.label(slope, 0.1)
	}
}

// All returns the families.
func All() []Family {
	var all []Family
	add := func(fill func(*draw), format string, args ...any) {
		all = append(all, Family{fmt.Sprintf(format, args...), fill})
	}
	scales(add)
	offsets(add)
	outliers(add)
	indicators(add)
	counts(add)
	tails(add)
	drifts(add)
	weights(add)
	imbalances(add)
	return all
}

type adder func(fill func(*draw), format string, args ...any)

func scales(add adder) {
	for k := 1; k <= 4; k++ {
		add(labelledRule(func(d *draw) {
			d.values(func(j int, v, _ float64) float64 { return v * math.Pow(10, float64(k)*(2*float64(j)/(Columns-1)-1)) })
		}), "scales 1e-%d to 1e%d", k, k)
	}
	for _, scale := range []float64{1e-6, 1e-3, 1e4, 1e6} {
		add(labelledRule(func(d *draw) { d.each(func(row []float64, _ float64) { row[0] *= scale }) }), "one column times %g", scale)
	}
}

func offsets(add adder) {
	for _, offset := range []float64{10, 1e2, 1e3, 1e4, 1e5} {
		add(labelledRule(func(d *draw) { d.values(func(_ int, v, _ float64) float64 { return v + offset }) }), "mean %g deviations", offset)
	}
	for _, offset := range []float64{1e6, 1e7} {
		add(labelledRule(func(d *draw) { d.each(func(row []float64, _ float64) { row[0] += offset }) }), "one mean %g deviations", offset)
	}
	add(labelledRule(func(d *draw) { d.each(func(row []float64, at float64) { row[1] = 1.7e9 + 86400*365*at }) }), "Unix seconds of a year")
}

func outliers(add adder) {
	for _, size := range []float64{1e2, 1e3, 1e4, 1e5} {
		add(labelledRule(func(d *draw) {
			row := d.x[len(d.x)/2]
			for j := range row {
				row[j] *= size
			}
		}), "one row times %g", size)
	}
	for _, size := range []float64{10, 100, 1000} {
		add(labelledRule(func(d *draw) {
			d.each(func(row []float64, _ float64) {
				if d.Float64() < 0.01 {
					for j := range row {
						row[j] *= size
					}
				}
			})
		}), "1%% of rows times %g", size)
	}
	add(labelledRule(func(d *draw) {
		for i := range 4 {
			at := (2*i + 1) * len(d.x) / 8
			copy(d.x[at], d.x[0])
			d.x[at][0], d.y[at] = 1000, float64(1-2*(i%2))
		}
	}), "equal outliers of both classes")
}

func indicators(add adder) {
	for _, p := range []float64{0.5, 0.1, 0.01, 1e-3, 3e-4} {
		add(drawnRule(0.7, func(d *draw, _ int) float64 { return d.flag(p) }), "indicators, %g set", p)
	}
	add(drawnRule(0.7, func(d *draw, j int) float64 {
		if j%2 == 0 {
			return d.NormFloat64()
		}
		return d.flag(1e-3)
	}), "normals and indicators, 0.001 set")
	add(drawnRule(0.7, func(d *draw, j int) float64 { return d.flag(math.Pow(4, -float64(j))) }), "indicators, 4^-j set")
	add(func(d *draw) {
		for i := range d.x {
			d.x[i] = make([]float64, 20)
			k := 0
			for k < 19 && d.Float64() > 0.3 { // categories of geometric frequencies
				k++
			}
			d.x[i][k] = 1
		}
		d.label(1, 0)
	}, "one-hot, 20 categories")
}

func (d *draw) flag(p float64) float64 {
	if d.Float64() < p {
		return 1
	}
	return 0
}

// poisson draws a Poisson number by multiplication (Knuth, "The Art of Computer Programming", section 3.4.1). It splits
// a large mean into a sum of small ones.
func (d *draw) poisson(mean float64) float64 {
	n := 0.0
	for ; mean > 16; mean -= 16 {
		n += d.poisson(16)
	}
	for p := d.Float64(); p > math.Exp(-mean); p *= d.Float64() {
		n++
	}
	return n
}

func counts(add adder) {
	for _, mean := range []float64{0.1, 1, 10, 100} {
		add(drawnRule(0.7/math.Sqrt(mean), func(d *draw, _ int) float64 { return d.poisson(mean) }), "counts of mean %g", mean)
	}
	for _, sigma := range []float64{2, 3} {
		add(drawnRule(0.1, func(d *draw, _ int) float64 { return math.Floor(math.Exp(sigma * d.NormFloat64())) }),
			"counts, lognormal %g", sigma)
	}
	add(func(d *draw) {
		for _, row := range d.x {
			row[Columns-1] = 0
			for j := range row[:Columns-1] {
				row[j] = d.poisson(5)
				row[Columns-1] += row[j]
			}
		}
		d.label(0.3, 9)
	}, "counts and their total")
}

func tails(add adder) {
	for _, sigma := range []float64{1, 2, 3} {
		add(drawnRule(0.3, func(d *draw, _ int) float64 { return math.Exp(sigma * d.NormFloat64()) }), "lognormal %g", sigma)
	}
	for _, freedom := range []int{5, 2, 1} {
		add(drawnRule(0.5, func(d *draw, _ int) float64 {
			sum := 0.0
			for range freedom {
				v := d.NormFloat64()
				sum += v * v
			}
			return d.NormFloat64() / math.Sqrt(sum/float64(freedom))
		}), "Student's t, %d degrees", freedom)
	}
	add(drawnRule(0.1, func(d *draw, _ int) float64 { return 1 / (1 - d.Float64()) }), "Pareto, alpha 1")
}

func drifts(add adder) {
	for _, size := range []float64{1, 10, 100} {
		add(labelledRule(func(d *draw) { d.values(func(_ int, v, at float64) float64 { return v + size*at }) }), "means drift by %g", size)
	}
	add(labelledRule(func(d *draw) { d.values(func(_ int, v, at float64) float64 { return v * math.Pow(100, at) }) }),
		"deviations drift to 100")
	add(func(d *draw) {
		for i, row := range d.x {
			at := float64(i) / float64(len(d.x))
			score := (1-at)*row[0] - at*row[0] + row[1]
			d.y[i] = -1
			if score+d.NormFloat64()/2 > 0 {
				d.y[i] = 1
			}
		}
	}, "the model drifts")
	add(func(d *draw) {
		for i, row := range d.x {
			at := float64(i) / float64(len(d.x))
			d.y[i] = -1
			if at > 0.6 {
				d.y[i] = 1
				row[0]++
			}
		}
	}, "sorted by label")
	add(func(d *draw) {
		d.each(func(row []float64, at float64) { row[0] = 6*at - 3 })
		d.label(0.7, 0)
	}, "sorted by a feature")
}

func weights(add adder) {
	weighted := func(next func(d *draw, i int) float64) func(*draw) {
		return labelledRule(func(d *draw) {
			d.w = make([]float64, len(d.x))
			for i := range d.w {
				d.w[i] = next(d, i)
			}
		})
	}
	add(weighted(func(d *draw, _ int) float64 { return d.Float64() }), "weights below 1")
	for _, sigma := range []float64{1, 2, 4} {
		add(weighted(func(d *draw, _ int) float64 { return math.Exp(sigma * d.NormFloat64()) }), "weights, lognormal %g", sigma)
	}
	add(weighted(func(d *draw, i int) float64 { return float64(i % 2) }), "every other weight 0")
	add(weighted(func(d *draw, _ int) float64 { return 1e-3 + 1e3*d.flag(0.01) }), "weights 0.001 and 1000")
	add(weighted(func(d *draw, _ int) float64 { return 1 + d.poisson(3) }), "weights that are counts")
}

func imbalances(add adder) {
	for _, bias := range []float64{-3, -5, -7, -9} {
		add(func(d *draw) {
			d.label(0.7, bias)
			d.y[len(d.y)/3] = 1
		}, "bias %g", bias)
	}
	for _, positives := range []int{1, 10} {
		add(func(d *draw) {
			for i := range d.y {
				d.y[i] = -1
			}
			for i := range positives {
				d.y[(2*i+1)*len(d.y)/(2*positives)] = 1
			}
		}, "positive rows: %d", positives)
	}
	add(func(d *draw) {
		d.label(0.7, -6)
		for i, row := range d.x {
			if d.y[i] > 0 {
				row[0] += 5
			}
		}
		d.y[len(d.y)/3] = 1
	}, "rare and nearly apart")
}

// Circle returns points around the origin, of which those on the right are true. A margin separates the classes.
func Circle(n int) (x [][]float64, y []bool) {
	for i := range n {
		sin, cos := math.Sincos(float64(i) + 0.25)
		if math.Abs(cos) > 0.2 {
			x, y = append(x, []float64{cos, sin}), append(y, cos > 0)
		}
	}
	return x, y
}
