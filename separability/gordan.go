package separability

import (
	"context"
	"math/big"
	"slices"
)

// An effort is the approximate number of products of CPU words that exact arithmetic may still take. It isn't a time,
// so that results are the same everywhere.
type effort struct {
	ctx          context.Context
	productsLeft int64
}

// maxEffort is the effort of a check. It takes about half a minute.
const maxEffort = 1 << 34

// spend subtracts products from the effort. It tells whether that many were left and ctx hasn't ended.
func (e *effort) spend(products int64) bool {
	e.productsLeft -= products
	return e.productsLeft >= 0 && e.ctx.Err() == nil
}

// eliminate makes column c zero in all rows but row p. d is the pivot of the last step. It stops and returns false if
// the effort is used up.
func eliminate(a [][]*big.Int, p, c int, d *big.Int, left *effort) bool {
	var product big.Int
	words := func(v *big.Int) int64 { return int64(v.BitLen()/64 + 1) }
	for i := range a {
		if i == p {
			continue
		}
		if !left.spend(0) {
			return false
		}
		factor := new(big.Int).Set(a[i][c])
		for j, v := range a[i] {
			if v.Sign() == 0 && (factor.Sign() == 0 || a[p][j].Sign() == 0) {
				continue
			}
			left.productsLeft -= 8 + words(v)*(words(a[p][c])+words(d)) + words(factor)*words(a[p][j])
			v.Mul(v, a[p][c])
			if factor.Sign() != 0 && a[p][j].Sign() != 0 {
				v.Sub(v, product.Mul(factor, a[p][j]))
			}
			v.Quo(v, d) // without a remainder
		}
	}
	return true
}

// maxEntries is the largest number of entries of gordan's tableau. A larger tableau would need far more than maxEffort.
const maxEntries = 1 << 20

// gordan returns the weights that combination returns, or weights w with w.z > 0 for every vector z. It returns neither
// if the effort is used up. It is the first phase of the simplex method for the equations of combination, with an
// artificial variable for each equation. Pivots follow Bland's rule ("New finite pivoting rules for the simplex
// method", 1977). w are the dual variables at the end.
func gordan(z [][]float64, left *effort) (lambda []*big.Rat, w []*big.Int) {
	if n := len(z[0]) + 1; n*(n+len(z)) > maxEntries {
		return nil, nil
	}
	a := system(z)
	n, rows := len(z), len(a)
	objective := make([]*big.Int, n+rows+1)
	for j := range objective {
		objective[j] = new(big.Int)
	}
	basis := make([]int, rows)
	for i := range a {
		right := a[i][n]
		a[i] = a[i][:n]
		for range rows {
			a[i] = append(a[i], new(big.Int))
		}
		a[i][n+i].SetInt64(1)
		a[i] = append(a[i], right)
		basis[i] = n + i
		for j := range n {
			objective[j].Add(objective[j], a[i][j])
		}
	}
	objective[n+rows].SetInt64(1)
	a = append(a, objective)
	d := big.NewInt(1)
	for {
		c := slices.IndexFunc(objective[:n], func(v *big.Int) bool { return v.Sign() > 0 })
		if c < 0 {
			return simplexResult(a, basis, d, n)
		}
		p := leavingRow(a[:rows], basis, c)
		if !eliminate(a, p, c, d, left) {
			return nil, nil
		}
		d = new(big.Int).Set(a[p][c])
		basis[p] = c
	}
}

// leavingRow returns the row whose basic variable is the first to become zero as the variable of column c grows. Of
// several rows it returns the row whose variable has the smallest number.
func leavingRow(a [][]*big.Int, basis []int, c int) int {
	p, last := -1, len(a[0])-1
	var left, right big.Int
	for i, row := range a {
		if row[c].Sign() <= 0 {
			continue
		}
		if p >= 0 {
			order := left.Mul(row[last], a[p][c]).Cmp(right.Mul(a[p][last], row[c]))
			if order > 0 || order == 0 && basis[i] > basis[p] {
				continue
			}
		}
		p = i
	}
	return p
}

func simplexResult(a [][]*big.Int, basis []int, d *big.Int, n int) (lambda []*big.Rat, w []*big.Int) {
	objective := a[len(basis)]
	last := len(objective) - 1
	if objective[last].Sign() > 0 {
		for k := range len(basis) - 1 {
			sum := new(big.Int).Add(objective[n+k], d)
			w = append(w, sum.Neg(sum))
		}
		return nil, w
	}
	for range n {
		lambda = append(lambda, new(big.Rat))
	}
	for i, c := range basis {
		if c < n {
			lambda[c].SetFrac(a[i][last], d)
		}
	}
	return lambda, nil
}
