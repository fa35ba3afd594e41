package linalg

import (
	"context"
	"math"
	"slices"

	"halfspace/kernel/f64"
)

// A Dependence is a column that is a linear combination of the columns On, up to the rounding of their elements. On is
// empty if the column is zeros.
type Dependence struct {
	Column int
	On     []int // ascending
}

const (
	suspectPivot = 1e-3 // a column with a smaller scaled pivot may be rounding errors
	leastShare   = 1e-4 // a column with a smaller part of the combination isn't named
)

// A Claim is a column that seems to be a linear combination of other columns. Coefficients has an element for each
// column; it is 0 for the column itself and for columns that depend on others.
type Claim struct {
	Dependence
	Coefficients []float64
	sizes        []float64 // norms of the columns; 0 for the column itself and for columns that depend on others
}

// Claims returns the columns of X that seem to depend on columns before them. r is the triangle of X, R in rows. If
// first isn't negative, column first comes before all others. Elements of column i have relative errors of up to unit,
// so that its norm has an error of at most unit*sizes[i]. Its only error is ctx's.
func Claims(ctx context.Context, r []float64, n, first int, sizes []float64, unit float64) (found []Claim, err error) {
	x := make([][]float64, n)
	for j := range n {
		x[j] = make([]float64, n)
		for i := range j + 1 {
			x[j][i] = r[i*n+j]
		}
	}
	unit += float64(float64(n) * 0x1p-51)
	order, kept := columnOrder(n, first), []int(nil)
	for at, i := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rank := len(kept)
		size, rest := math.Sqrt(f64.Dot(x[i], x[i])), math.Sqrt(f64.Dot(x[i][rank:], x[i][rank:]))
		own := max(sizes[i], size)
		if rest <= suspectPivot*size || own*unit > suspectPivot*size {
			c, all := solveUpper(x, kept, x[i][:rank]), own
			for k, j := range kept {
				all += float64(math.Abs(c[k]) * max(sizes[j], math.Sqrt(f64.Dot(x[j], x[j]))))
			}
			if size == 0 || rest <= unit*all {
				found = append(found, newClaim(i, n, x, kept, c))
				continue
			}
		}
		reflectColumns(x, i, rank, order[at+1:])
		kept = append(kept, i)
	}
	return found, nil
}

// columnOrder returns the numbers from 0 to n-1. If first isn't negative, first comes before the others.
func columnOrder(n, first int) []int {
	order := make([]int, 0, n)
	if first >= 0 {
		order = append(order, first)
	}
	for i := range n {
		if i != first {
			order = append(order, i)
		}
	}
	return order
}

// newClaim returns the claim that column i is the combination of the kept columns with the coefficients c.
func newClaim(i, n int, x [][]float64, kept []int, c []float64) Claim {
	claim, most := Claim{Dependence{Column: i}, make([]float64, n), make([]float64, n)}, 0.0
	part := func(k int) float64 { return math.Abs(c[k]) * math.Sqrt(f64.Dot(x[kept[k]], x[kept[k]])) }
	for k := range kept {
		most = max(most, part(k))
	}
	for k, j := range kept {
		claim.Coefficients[j], claim.sizes[j] = c[k], math.Sqrt(f64.Dot(x[j], x[j]))
		if part(k) > leastShare*most {
			claim.On = append(claim.On, j)
		}
	}
	slices.Sort(claim.On)
	claim.Correct(nil)
	return claim
}

// Correct subtracts by from the coefficients, unless by is nil. Then it sets to 0 the coefficients that are only
// rounding errors.
func (c *Claim) Correct(by []float64) {
	f64.Axpy(c.Coefficients[:len(by)], -1, by)
	most := 0.0
	for i, v := range c.Coefficients {
		most = max(most, math.Abs(v*c.sizes[i]))
	}
	for i, v := range c.Coefficients {
		if math.Abs(v*c.sizes[i]) < float64(len(c.sizes))*0x1p-46*most {
			c.Coefficients[i] = 0
		}
	}
}

// reflectColumns zeros the elements of column i below rank by a Householder reflection, and applies the reflection to
// the columns others.
func reflectColumns(x [][]float64, i, rank int, others []int) {
	v := x[i][rank+1:]
	norm := math.Sqrt(f64.Dot(x[i][rank:], x[i][rank:]))
	head := x[i][rank] + math.Copysign(norm, x[i][rank])
	for k := range v {
		v[k] /= head
	}
	beta := 2 / (1 + f64.Dot(v, v))
	for _, j := range others {
		by := float64(beta * (x[j][rank] + f64.Dot(v, x[j][rank+1:])))
		x[j][rank] -= by
		f64.Axpy(x[j][rank+1:], -by, v)
	}
	x[i][rank] -= head
	clear(v)
}

// solveUpper returns c with T c = b. Column k of the upper triangle T is column kept[k] of x.
func solveUpper(x [][]float64, kept []int, b []float64) []float64 {
	c := slices.Clone(b)
	for k := len(c) - 1; k >= 0; k-- {
		column := x[kept[k]]
		c[k] /= column[k]
		f64.Axpy(c[:k], -c[k], column[:k])
	}
	return c
}

// DependentColumns returns the columns of X that seem to depend on columns before them. X'SX has lost half of the
// digits, so Claims must confirm the result. If first isn't negative, column first comes before all others. a is the
// lower triangle of X'SX in rows, for n columns and weights S. Elements of column i have relative errors of up to unit,
// so that its norm has an error of at most unit*sizes[i]. Sums have errors of up to n 2^-44 of the diagonal. Its only
// error is ctx's.
func DependentColumns(ctx context.Context, a []float64, n, first int, sizes []float64, unit float64) (found []Dependence, err error) {
	at := func(i, j int) float64 { return a[max(i, j)*(max(i, j)+1)/2+min(i, j)] }
	var kept []int
	var rows [][]float64 // rows of L, for the kept columns
	scale := make([]float64, n)
	for _, i := range columnOrder(n, first) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !(at(i, i) > 0) {
			found = append(found, Dependence{Column: i})
			continue
		}
		scale[i] = 1 / math.Sqrt(at(i, i))
		row := make([]float64, len(kept)+1)
		for k, j := range kept {
			v := float64(float64(at(i, j)*scale[i]) * scale[j])
			row[k] = (v - f64.Dot(row[:k], rows[k][:k])) / rows[k][k]
		}
		k := len(kept)
		pivot := 1 - f64.Dot(row[:k], row[:k])
		own := float64(sizes[i] * scale[i])
		if pivot <= suspectPivot || own*unit > suspectPivot {
			parts := multiples(rows, row[:k])
			most, all := 0.0, own
			for j, v := range parts {
				most, all = max(most, math.Abs(v)), all+float64(math.Abs(v)*float64(sizes[kept[j]]*scale[kept[j]]))
			}
			if pivot <= float64(n)/(1<<44) || math.Sqrt(pivot) <= unit*all {
				d := Dependence{Column: i}
				for j, v := range parts {
					if math.Abs(v) > leastShare*most {
						d.On = append(d.On, kept[j])
					}
				}
				slices.Sort(d.On)
				found = append(found, d)
				continue
			}
		}
		row[k] = math.Sqrt(pivot)
		kept, rows = append(kept, i), append(rows, row)
	}
	return found, nil
}

// multiples returns x with L'x = b.
func multiples(rows [][]float64, b []float64) []float64 {
	x := slices.Clone(b)
	for i := len(x) - 1; i >= 0; i-- {
		x[i] /= rows[i][i]
		f64.Axpy(x[:i], -x[i], rows[i][:i])
	}
	return x
}
