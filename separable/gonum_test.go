package separable

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// TestAgainstGonum compares the verdict with gonum's simplex method, which works in floating point. Where the two
// differ, exact linear programming decides. Rows are in general position; or a plane separates them by 1e-6, or misses
// by as much; or they lie on a grid, with copies of either label.
func TestAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	verdicts, differ := map[Verdict]int{}, 0
	for trial := range trials(450) {
		d := 2 + rng.IntN(7)
		n := d + 1 + rng.IntN(2*d)
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			for j := range x[i] {
				x[i][j] = rng.NormFloat64()
				if trial%3 == 2 {
					x[i][j] = float64(rng.IntN(3) - 1)
				}
			}
			y[i] = float64(2*rng.IntN(2) - 1)
			if trial%3 == 1 { // the first feature follows the rest
				x[i][0] = y[i] * 1e-6 * float64(1-2*(trial%2))
				for j, v := range x[i][1:] {
					x[i][0] += v * float64(j+1)
				}
			}
		}
		data := dense(x, y, true)
		r := check(t, data, Options{})
		verdicts[r.Verdict]++
		if want, told := byGonum(folded(data)); told && r.Verdict == want {
			continue
		}
		differ++
		agree(t, data)
	}
	t.Log(verdicts, differ, "were left to exact linear programming")
	if verdicts[Separable] < trials(90) || verdicts[NotSeparable] < trials(90) || differ > trials(225) {
		t.Errorf("%v, %d differ from gonum: the problems aren't what they should be", verdicts, differ)
	}
}

// byGonum returns gonum's verdict on the vectors. told is false if gonum fails.
func byGonum(z [][]float64) (v Verdict, told bool) {
	defer func() { // it panics at some matrices
		if recover() != nil {
			told = false
		}
	}()
	d, n := len(z[0]), len(z)
	a := mat.NewDense(d+1, n, nil)
	for j, row := range z {
		for i, v := range row {
			a.Set(i, j, v)
		}
		a.Set(d, j, 1)
	}
	b := make([]float64, d+1)
	b[d] = 1
	_, _, err := lp.Simplex(make([]float64, n), a, b, 1e-10, nil)
	switch err {
	case nil:
		return NotSeparable, true
	case lp.ErrInfeasible:
		return Separable, true
	}
	return "", false
}
