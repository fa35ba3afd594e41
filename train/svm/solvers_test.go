package svm

import (
	"context"
	"math"
	"strconv"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/kernel"
)

// cases reads a small problem that broke solvers: numbers after a header, with the label last.
func cases(t *testing.T, name string) (x [][]float64, y []float64) {
	t.Helper()
	rows := table(t, "solvers/"+name+".csv", ',')[1:]
	label := len(rows[0]) - 1
	return numbers(rows, label), signs(rows, label, "1")
}

// exactly returns the objective of weights, each sum in twice the precision by Neumaier's method.
func exactly[T kernel.Float](d *block.Data[T], w []T, loss Loss, l2 float64) float64 {
	var total sum
	for _, v := range w[:len(d.Spec().Features)] {
		total.add(l2 / 2 * float64(v) * float64(v))
	}
	for b := range d.Blocks(context.Background()) {
		for i, y := range b.Y {
			var z sum
			for k, v := range b.X[i*b.Stride:][:b.Cols] {
				p := float64(v) * float64(w[k])
				z.add(p)
				z.add(math.FMA(float64(v), float64(w[k]), -p))
			}
			u := max(0, 1-float64(y)*z.value())
			if loss == SquaredHinge {
				u *= u
			}
			total.add(u * b.Weight(i))
		}
	}
	return total.value()
}

// A sum adds up numbers and their rounding errors.
type sum struct{ s, c float64 }

func (s *sum) add(v float64) {
	t := s.s + v
	if math.Abs(s.s) >= math.Abs(v) {
		s.c += (s.s - t) + v
	} else {
		s.c += (v - t) + s.s
	}
	s.s = t
}

func (s *sum) value() float64 { return s.s + s.c }

// claims fails unless the objective and the gap of a training are true. other is the objective of some weights.
func claims[T kernel.Float](t *testing.T, name string, d *block.Data[T], r *Result[T], loss Loss, l2, other float64) {
	t.Helper()
	objective := exactly(d, r.Weights, loss, l2)
	if d := math.Abs(r.Objective - objective); d > 1e-9*objective {
		t.Errorf("%s: objective %v, it is %v", name, r.Objective, objective)
	}
	if r.Objective-r.Gap > other*(1+1e-9) {
		t.Errorf("%s: objective %v and gap %v, but weights with %v exist", name, r.Objective, r.Gap, other)
	}
	if r.Converged != (r.Gap <= tolerance*r.Objective) {
		t.Errorf("%s: converged %v with a gap of %v of %v", name, r.Converged, r.Gap, r.Objective)
	}
}

// TestSolvers: on small problems that broke solvers, the optimum is that of the rows in exact arithmetic, found with
// centred rows.
func TestSolvers(t *testing.T) {
	for _, name := range []string{"03_ts_hour", "03_ts_day", "03_offset_mixed", "06_total", "07_offset1e7", "08_sep_scaled", "08_sep_scaled64"} {
		x, y := cases(t, name)
		for _, loss := range Losses {
			for _, l2 := range []float64{1, 1e-3, 1e-6} {
				at := name + ", " + string(loss) + ", l2 " + strconv.FormatFloat(l2, 'g', -1, 64)
				wideRows, narrowRows := testrows.Dense[float64](x, y, true), testrows.Dense[float32](x, y, true)
				wide, narrow := mustTrain(t, wideRows, Options{Loss: loss, L2: l2}), mustTrain(t, narrowRows, Options{Loss: loss, L2: l2})
				t.Logf("%-44s %3d passes, gap %.1e, objective %.10g; float32 %3d passes, gap %.1e, objective %.10g", at, wide.Epochs, wide.Gap/wide.Objective,
					wide.Objective, narrow.Epochs, narrow.Gap/narrow.Objective, narrow.Objective)
				if tiny := name[:2] == "08" && l2 == 1e-6; tiny {
					if wide.Gap > 1e-2*wide.Objective || narrow.Gap > 1e-2*narrow.Objective || wide.Epochs >= 100 { // of 8e-12, where losses have errors of 1e-16
						t.Errorf("%s: after %d passes, gap %v of %v, float32 %v", at, wide.Epochs, wide.Gap, wide.Objective, narrow.Gap)
					}
					continue
				} else if !wide.Converged {
					t.Errorf("%s: not converged after %d passes, gap %v of %v", at, wide.Epochs, wide.Gap, wide.Objective)
				}
				claims(t, at, wideRows, wide, loss, l2, centredOptimum[float64](t, x, y, loss, l2))
				claims(t, at+", float32", narrowRows, narrow, loss, l2, centredOptimum[float32](t, x, y, loss, l2))
			}
		}
	}
}

// centredOptimum learns with the rows' means subtracted, and returns the objective of these weights on the rows as T
// holds them.
func centredOptimum[T kernel.Float](t *testing.T, x [][]float64, y []float64, loss Loss, l2 float64) float64 {
	t.Helper()
	centred := make([][]float64, len(x))
	for r := range x {
		centred[r] = make([]float64, len(x[r]))
	}
	for c := range x[0] {
		mean := 0.0
		for r := range x {
			mean += float64(T(x[r][c])) / float64(len(x))
		}
		mean = float64(float32(mean))
		for r := range x {
			centred[r][c] = float64(T(x[r][c])) - mean
		}
	}
	d := testrows.Dense[float64](centred, y, true)
	r := mustTrain(t, d, Options{Loss: loss, L2: l2})
	if !r.Converged {
		t.Errorf("l2 %v: the centred rows' optimum wasn't found", l2)
	}
	return exactly(d, r.Weights, loss, l2)
}
