package main

import (
	"fmt"
	"math"
	"math/big"
)

// prec is the precision of all arithmetic in bits, several times that of the results: the systems of linear equations are
// ill conditioned.
const prec = 256

func number(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func zero() *big.Float { return new(big.Float).SetPrec(prec) }

func add(x, y *big.Float) *big.Float { return zero().Add(x, y) }
func sub(x, y *big.Float) *big.Float { return zero().Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return zero().Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return zero().Quo(x, y) }

// A problem asks for the polynomial p of a number of coefficients whose largest |weight*(p - f)| over [lo, hi] is the
// smallest. No weight is negative, and at most one is zero.
type problem struct {
	lo, hi *big.Float
	coeffs int
	f      func(x *big.Float) *big.Float
	weight func(x *big.Float) *big.Float
}

// remez solves the problem by the exchange algorithm (Remez 1934; Muller, "Elementary Functions", 3rd ed., section
// 3.6). It solves for the polynomial whose weighted error alternates between +e and -e at n+1 points. Then it moves the
// points to the extrema of the error, and repeats until the extrema are level. It returns the coefficients, lowest
// first.
func (p problem) remez() []*big.Float {
	points := p.chebyshev()
	for range 100 {
		c := p.alternating(points)
		extrema := p.extrema(c, len(points))
		lowest, highest := p.size(c, extrema[0]), p.size(c, extrema[0])
		for _, x := range extrema[1:] {
			s := p.size(c, x)
			if s.Cmp(lowest) < 0 {
				lowest = s
			}
			if s.Cmp(highest) > 0 {
				highest = s
			}
		}
		if r, _ := quo(highest, lowest).Float64(); r < 1+1e-9 {
			return c
		}
		points = extrema
	}
	panic("minimax: no convergence")
}

// chebyshev returns the roots of a Chebyshev polynomial, stretched over the interval: the points to begin with. They
// avoid the ends, where the weight may be zero.
func (p problem) chebyshev() []*big.Float {
	points := make([]*big.Float, p.coeffs+1)
	for i := range points {
		t := (1 - math.Cos(math.Pi*(float64(i)+0.5)/float64(len(points)))) / 2
		points[i] = add(p.lo, mul(number(t), sub(p.hi, p.lo)))
	}
	return points
}

// alternating solves sum c[j] x^j + (-1)^i e/weight(x) = f(x) for c and e, i and x running over the points, and returns
// c.
func (p problem) alternating(points []*big.Float) []*big.Float {
	n := len(points)
	rows := make([][]*big.Float, n)
	for i, x := range points {
		row, power := make([]*big.Float, 0, n+1), number(1)
		for range p.coeffs {
			row = append(row, power)
			power = mul(power, x)
		}
		sign := number(1 - 2*float64(i%2))
		rows[i] = append(row, quo(sign, p.weight(x)), p.f(x))
	}
	return solve(rows)[:n-1]
}

// solve solves a system of linear equations, each row of which ends with its right-hand side, by elimination.
func solve(rows [][]*big.Float) []*big.Float {
	n := len(rows)
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if zero().Abs(rows[i][k]).Cmp(zero().Abs(rows[best][k])) > 0 {
				best = i
			}
		}
		rows[k], rows[best] = rows[best], rows[k]
		for i := k + 1; i < n; i++ {
			factor := quo(rows[i][k], rows[k][k])
			for j := k; j <= n; j++ {
				rows[i][j] = sub(rows[i][j], mul(factor, rows[k][j]))
			}
		}
	}
	s := make([]*big.Float, n)
	for k := n - 1; k >= 0; k-- {
		sum := rows[k][n]
		for j := k + 1; j < n; j++ {
			sum = sub(sum, mul(rows[k][j], s[j]))
		}
		s[k] = quo(sum, rows[k][k])
	}
	return s
}

// gridSteps is the number of steps of the search for extrema, and refinements the number of refinements of each.
const (
	gridSteps   = 500
	refinements = 40
)

// extrema returns the n extrema of the weighted error, ends included, which alternate in sign.
func (p problem) extrema(c []*big.Float, n int) []*big.Float {
	step := quo(sub(p.hi, p.lo), number(gridSteps))
	var found []*big.Float
	sign := 0
	for i := range gridSteps + 1 {
		x := add(p.lo, mul(step, number(float64(i))))
		e := p.err(c, x)
		switch {
		case e.Sign() == 0:
		case e.Sign() != sign:
			sign = e.Sign()
			found = append(found, x)
		case p.size(c, x).Cmp(p.size(c, found[len(found)-1])) > 0:
			found[len(found)-1] = x
		}
	}
	if len(found) != n {
		panic(fmt.Sprintf("minimax: %d extrema, want %d", len(found), n))
	}
	for i, x := range found {
		found[i] = p.refine(c, x, step)
	}
	return found
}

// refine returns the extremum within a step of x.
func (p problem) refine(c []*big.Float, x, step *big.Float) *big.Float {
	for range refinements {
		for _, y := range []*big.Float{add(x, step), sub(x, step)} {
			if y.Cmp(p.lo) >= 0 && y.Cmp(p.hi) <= 0 && p.size(c, y).Cmp(p.size(c, x)) > 0 {
				x = y
			}
		}
		step = mul(step, number(0.5))
	}
	return x
}

// err is the weighted error at x, size its absolute value.
func (p problem) err(c []*big.Float, x *big.Float) *big.Float {
	sum := zero()
	for j := len(c) - 1; j >= 0; j-- {
		sum = add(mul(sum, x), c[j])
	}
	return mul(p.weight(x), sub(sum, p.f(x)))
}

func (p problem) size(c []*big.Float, x *big.Float) *big.Float { return zero().Abs(p.err(c, x)) }
