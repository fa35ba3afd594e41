package optimize

import (
	"context"
	"math"

	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
)

const (
	endMove           = 1e-11 // coordinate descent ends when its largest move is at most this times the largest so far
	noiseMove         = 1e-8  // of the largest move so far: shorter moves that don't get shorter are rounding errors
	equationsResidual = 1e-8  // part of the gradient that a solution of well-conditioned equations leaves
	maxRounds         = 200   // most rounds of coordinate descent
	roundSweeps       = 4     // sweeps over the weights that aren't 0 in a round
	roundCorners      = 8     // most Newton steps of a round; each sets one weight to 0, or is the round's last
	constantVariance  = 1e-13 // a column is constant if its variance is at most this times its mean square
)

// A quadratic is the model g.d + 1/2 d'Hd + penalty of w + d, at a point w. It is a function of z, which is w + d
// without the bias. For each z it uses the best bias. Its gradient is then g_j - h_j g_b/h_b, and its Hessian is H_jk -
// h_j h_k/h_b, where b is the bias and h is the row of the bias in H. Damping adds a multiple of H's diagonal to H, h_b
// included: where few rows have a curvature, the best bias alone would be too far away.
type quadratic struct {
	Penalty
	point        *Point
	n            int         // number of features
	bias         []float64   // row of the bias in H; nil if there is no bias, or H is 0 there
	biasDiagonal float64     // element of the bias in the diagonal of H, with the damping
	diagonal     []float64   // diagonal of the Hessian in z, with the damping
	columns      [][]float64 // columns of that Hessian; nil until needed
	z, r         []float64   // variables, and the gradient of the loss's model at them
	largestMove  float64     // the largest move so far, in the norm of the Hessian
}

// newQuadratic returns the model at a point. biased tells whether the last column is a bias.
func newQuadratic(penalty Penalty, p *Point, biased bool, damping float64) *quadratic {
	n := len(p.W)
	if biased {
		n--
	}
	q := &quadratic{Penalty: penalty, point: p, n: n, diagonal: make([]float64, n), columns: make([][]float64, n),
		z: append([]float64(nil), p.W[:n]...), r: append([]float64(nil), p.Gradient[:n]...)}
	if last := len(p.Hessian) - 1; biased && p.Hessian[last] > 0 {
		q.bias, q.biasDiagonal = p.Hessian[last-n:last], p.Hessian[last]*(1+damping)
		f64.Axpy(q.r, -p.Gradient[n]/q.biasDiagonal, q.bias)
	}
	for j := range q.diagonal {
		h := p.Hessian[j*(j+1)/2+j]
		q.diagonal[j] = float64(h * (1 + damping))
		if q.bias != nil {
			q.diagonal[j] -= float64(q.bias[j] * (q.bias[j] / q.biasDiagonal))
		}
		if q.diagonal[j] <= constantVariance*h {
			q.diagonal[j] = 0
		}
	}
	return q
}

// column returns column j of the Hessian in z. It computes the column at its first use.
func (q *quadratic) column(j int) []float64 {
	if q.columns[j] != nil {
		return q.columns[j]
	}
	c, h := make([]float64, q.n), q.point.Hessian
	copy(c, h[j*(j+1)/2:][:j+1])
	for i := j + 1; i < q.n; i++ {
		c[i] = h[i*(i+1)/2+j]
	}
	if q.bias != nil {
		f64.Axpy(c, -q.bias[j]/q.biasDiagonal, q.bias)
	}
	c[j] = q.diagonal[j]
	q.columns[j] = c
	return c
}

// minimise finds the minimum: without L1 by Newton's method if the Hessian is far from singular, otherwise by cyclic
// coordinate descent in the order of the columns. If that is slow, Newton steps in the variables that aren't 0 help.
// Once such a step changes no sign, and moves are short but more than half as long as in the round before, only
// rounding errors are left. minimise returns ctx's error.
func (q *quadratic) minimise(ctx context.Context) error {
	if q.L1 == 0 && !q.NonNegative {
		if solved, err := q.solve(ctx); solved || err != nil {
			return err
		}
	}
	last := math.Inf(1)
	for range maxRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		moved := q.sweep(false)
		for i := 0; i < roundSweeps && moved > endMove*q.largestMove; i++ {
			moved = q.sweep(true)
			if moved <= endMove*q.largestMove {
				moved = q.sweep(false)
			}
		}
		if moved <= endMove*q.largestMove {
			return nil
		}
		for range roundCorners {
			whole, err := q.newtonStep(ctx)
			if err != nil || whole && moved > last/2 && moved <= noiseMove*q.largestMove {
				return err
			}
			if whole {
				last = moved
				break
			}
		}
	}
	return nil
}

// solve goes to the minimum of a model without L1. It tells whether a solution of the linear equations leaves so little
// of the gradient that a second one leaves rounding errors alone.
func (q *quadratic) solve(ctx context.Context) (bool, error) {
	var on []int
	for j, d := range q.diagonal {
		if d+q.L2 > 0 {
			on = append(on, j)
		}
	}
	f, ridge, err := linalg.Factorise(ctx, q.hessianOf(on), len(on))
	if f == nil || ridge > 0 {
		return false, err
	}
	var sizes [2]float64 // of the gradient before each solution
	for k := range sizes {
		g := make([]float64, len(on))
		for i, j := range on {
			g[i] = q.r[j] + float64(q.L2*q.z[j])
			sizes[k] += float64(g[i] * (g[i] / (q.diagonal[j] + q.L2)))
		}
		for i, d := range f.Solve(g) {
			if d != 0 {
				q.move(on[i], -d)
			}
		}
	}
	return sizes[1] <= equationsResidual*equationsResidual*sizes[0], nil
}

// hessianOf returns the lower triangle of the Hessian in z and of the penalty, of the variables on.
func (q *quadratic) hessianOf(on []int) (h []float64) {
	for i, j := range on {
		c := q.column(j)
		for _, k := range on[:i+1] {
			h = append(h, c[k])
		}
		h[len(h)-1] += q.L2
	}
	return h
}

// sweep minimises over one variable after another. With active, it skips variables that are 0. It returns the largest
// move.
func (q *quadratic) sweep(active bool) (largest float64) {
	for j, z := range q.z {
		if active && z == 0 {
			continue
		}
		if d := q.bestValue(j) - z; d != 0 {
			q.move(j, d)
			largest = max(largest, math.Abs(d)*math.Sqrt(q.diagonal[j]+q.L2))
		}
	}
	q.largestMove = max(q.largestMove, largest)
	return largest
}

// bestValue returns the minimum over variable j.
func (q *quadratic) bestValue(j int) float64 {
	h := q.diagonal[j]
	if h+q.L2 == 0 {
		return 0
	}
	return q.leastWeight(float64(h*q.z[j])-q.r[j], h+q.L2)
}

func (q *quadratic) move(j int, d float64) {
	if q.z[j] == -d {
		q.z[j] = 0
	} else {
		q.z[j] += d
	}
	f64.Axpy(q.r, d, q.column(j))
}

// newtonStep goes towards the minimum over the variables that aren't 0, with their signs as they are. If a sign would
// change, it stops where the first variable is 0. It tells whether it went all the way.
func (q *quadratic) newtonStep(ctx context.Context) (whole bool, err error) {
	var on []int
	for j, z := range q.z {
		if z != 0 {
			on = append(on, j)
		}
	}
	var g []float64
	for _, j := range on {
		g = append(g, q.r[j]+float64(q.L2*q.z[j])+math.Copysign(q.L1, q.z[j]))
	}
	f, _, err := linalg.Factorise(ctx, q.hessianOf(on), len(on))
	if f == nil {
		return true, err
	}
	step, part, first := f.Solve(g), 1.0, -1
	for i, j := range on {
		if t := q.z[j] / step[i]; t > 0 && t < part {
			part, first = t, i
		}
	}
	for i, j := range on {
		if i == first {
			q.move(j, -q.z[j])
		} else if d := -float64(part * step[i]); d != 0 && q.z[j]+d != 0 {
			q.move(j, d)
		}
	}
	return first < 0, nil
}

// step returns the step from the point to z, with the best bias.
func (q *quadratic) step() *Step {
	p := q.point
	s := &Step{D: make([]float64, len(p.W)), Slope: append([]float64(nil), p.Gradient...)}
	for j, z := range q.z {
		s.D[j] = z - p.W[j]
	}
	if q.bias != nil {
		s.D[q.n] = -(p.Gradient[q.n] + f64.Dot(q.bias, s.D[:q.n])) / q.biasDiagonal
	}
	for j, d := range s.D {
		if d == 0 {
			continue
		}
		row := p.Hessian[j*(j+1)/2:][:j+1]
		f64.Axpy(s.Slope[:j+1], d, row)
		for i := j + 1; i < len(s.D); i++ {
			s.Slope[i] = math.FMA(d, p.Hessian[i*(i+1)/2+j], s.Slope[i])
		}
	}
	for j, d := range s.D {
		s.Square += float64(d * (s.Slope[j] - p.Gradient[j]))
	}
	return s
}
