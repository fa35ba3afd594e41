package dualdescent

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel/f64"
)

// Variables are the dual variables of all rows, and the weights that follow from them. They are also the difference
// between two such states: a move.
type Variables struct {
	W    []float64 `length:"weights"`   // weights of the features: for each feature in turn, the elements of all vectors
	Bias []float64 `length:"vectors"`   // bias of each vector
	A    []float64 `length:"variables"` // dual variables: for each row in turn, the variables of all vectors
}

func newVariables(features, rows, vectors int) Variables {
	return Variables{make([]float64, features*vectors), make([]float64, vectors), block.Alloc[float64](rows * vectors)}
}

func (v Variables) slices() [3][]float64 { return [3][]float64{v.W, v.Bias, v.A} }

func (v Variables) set(u Variables) {
	for i, to := range v.slices() {
		copy(to, u.slices()[i])
	}
}

// combine sets v to v times f, plus p, plus g times q.
func (v Variables) combine(f float64, p Variables, g float64, q Variables) {
	for i, to := range v.slices() {
		from, with := p.slices()[i], q.slices()[i]
		for k, x := range to {
			to[k] = float64(f*x) + from[k] + float64(g*with[k])
		}
	}
}

// noise is the relative change of a dual variable below which the change is rounding error.
const noise = 1e-12

// A row is the data of a row that a visit needs beside its elements.
type row struct {
	y      float64
	bound  float64 // sample weight divided by l2
	square float64 // curvature of the dual objective along a variable of the row, times -1
}

// A dual is the dual problem: maximise, over the variables a of all rows that problem allows,
//
//	linear term of a - 1/2 squares of a - 1/2 sum over the vectors of (|w|^2 + 2 centre sum + softness sum^2)
//
// where w is the sum of a x, and sum is the sum of a over the rows. The last two terms are the penalty on a bias, which
// is centre + softness sum; without biases the softness is 0.
type dual struct {
	problem
	features int
	rows     []row
	chunks   []keptChunk
	softness float64
	centre   []float64
}

// row returns the elements of row i; see keptChunk.row.
func (d *dual) row(i int) elements {
	return d.chunks[i/block.ChunkRows].row(i%block.ChunkRows, d.softness > 0)
}

// flow returns the parts of the linear term of the dual objective; see problem.addFlow.
func (d *dual) flow(a []float64) []float64 {
	n := d.vectors()
	parts := make([]float64, d.classes()*d.classes())
	for i := range d.rows {
		d.addFlow(d.rows[i].y, a[i*n:][:n], parts)
	}
	return parts
}

// squares returns the sum over the rows of the products of two lists of dual variables, each times the row's own square.
func (d *dual) squares(a, b []float64) (sum float64) {
	n := d.vectors()
	if d.square(1) == 0 {
		return 0
	}
	for i, one := range d.rows {
		sum += float64(d.square(one.bound) * f64.Dot(a[i*n:][:n], b[i*n:][:n]))
	}
	return sum
}

// product returns the second derivative of the dual objective by multiples of two moves, times -1.
func (d *dual) product(u, v Variables) float64 {
	p := f64.Dot(u.W, v.W) + d.squares(u.A, v.A)
	if d.softness > 0 {
		p += f64.Dot(u.Bias, v.Bias) / d.softness
	}
	return p
}

// value returns the dual objective of v.
func (d *dual) value(v Variables) float64 {
	value := d.linear(d.rows, v.A)
	value -= float64((f64.Dot(v.W, v.W) + d.squares(v.A, v.A)) / 2)
	if d.softness > 0 {
		for k, bias := range v.Bias {
			value -= float64((bias-d.centre[k])*(bias+d.centre[k])) / (2 * d.softness)
		}
	}
	return value
}

func total(a []float64) (sum float64) {
	for _, v := range a {
		sum += v
	}
	return sum
}

// rebias computes the biases of v, a state or a move, from its dual variables. The difference of the biases of two
// states would have their rounding errors, which product divides by the softness.
func (d *dual) rebias(v Variables, isMove bool) {
	if d.softness == 0 {
		return
	}
	clear(v.Bias)
	if len(v.Bias) == 1 {
		v.Bias[0] = total(v.A)
	} else {
		for i := 0; i < len(v.A); i += len(v.Bias) {
			f64.Axpy(v.Bias, 1, v.A[i:][:len(v.Bias)])
		}
	}
	for k, sum := range v.Bias {
		if v.Bias[k] = float64(d.softness * sum); !isMove {
			v.Bias[k] += d.centre[k]
		}
	}
}

// addRow adds by[k] times a row to vector k of the weights of v.
func (d *dual) addRow(v Variables, e *elements, by []float64) {
	e.addTo(v.W, by)
	for k, f := range by {
		v.Bias[k] += float64(d.softness * f)
	}
}

// projectAll replaces the variables of each row by the nearest ones that the row may have. It skips rows whose variables
// are the same in old. It returns the number of rows that it changed.
func (d *dual) projectAll(ctx context.Context, v, old Variables) (changed int64, err error) {
	n := d.vectors()
	by := make([]float64, n)
	for i, one := range d.rows {
		if i%block.ChunkRows == 0 && ctx.Err() != nil {
			return changed, ctx.Err()
		}
		a, size, most := v.A[i*n:][:n], 0.0, 0.0
		if a[0] == old.A[i*n] && slices.Equal(a, old.A[i*n:][:n]) {
			continue
		}
		copy(by, a)
		d.project(one.y, one.bound, a)
		for k, before := range by {
			by[k] = a[k] - before
			size, most = max(size, math.Abs(before)), max(most, math.Abs(by[k]))
		}
		if most > noise*size {
			e := d.row(i)
			d.addRow(v, &e, by)
			changed++
		}
	}
	return changed, nil
}

// weigh makes a pass over the rows and sets w to the weights that follow from the dual variables, without the rounding
// errors of all changes so far. The variables of class k count factors[k] times.
func (d *dual) weigh(ctx context.Context, w, a, factors []float64) error {
	n := d.vectors()
	by := make([]float64, n)
	clear(w)
	for i, one := range d.rows {
		if i%block.ChunkRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		some := false
		for k, v := range a[i*n:][:n] {
			by[k] = float64(v * factors[d.class(one.y)])
			some = some || v != 0
		}
		if some {
			e := d.row(i)
			e.addTo(w, by)
		}
	}
	return nil
}
