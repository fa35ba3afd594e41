package separable

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
)

// A Witness proves that no plane separates the rows: the weighted sum of the rows, each times its label, is zero.
type Witness struct {
	Rows    []int64    // numbers of rows, ascending
	Labels  []int      // of those rows, -1 or +1
	Weights []*big.Rat // one for each, above zero; their sum is 1
}

// verifySeparator tells whether y (w.x) > 0 for every row, exactly, the bias being the last of w where there is one; only
// the direction of w counts. It returns the number of the first row for which it isn't, -1 if there is none, and how many
// rows took exact arithmetic. No row is longer than radius.
//
// A row's score is computed in floating point first, as Scores does it and then in float64; it counts where it is beyond
// the error of that arithmetic (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.1). The rest is
// settled with integers: a floating-point number is one, times a power of two.
func verifySeparator[T kernel.Float](ctx context.Context, src block.Source[T], whole []*big.Int, radius float64,
	workers int) (row, exact int64, err error) {
	w := rounded(whole)
	s := newScorer[T](w, radius)
	type found struct{ row, exact int64 }
	part := func(r block.Run[T]) found {
		f := found{row: -1}
		var buf [block.RunRows]T
		scores := buf[:r.Len()]
		r.Scores(s.w, scores)
		x := make([]float64, len(w))
		for i, score := range scores {
			y := float64(r.Y[i])
			if y*float64(score) > s.limit {
				continue
			}
			copyRow(r.Block, i, x)
			m, off := dot(x, w)
			sign := 0
			switch {
			case y*m > off:
				continue
			case y*m < -off:
				sign = -1
			default:
				f.exact++
				sign = exactSign(x, whole) * int(y)
			}
			if sign <= 0 {
				f.row = r.First + int64(i)
				return f
			}
		}
		return f
	}
	row = -1
	err = block.ReduceRuns(ctx, src, workers, part, func(f found) {
		exact += f.exact
		if row < 0 {
			row = f.row
		}
	})
	return row, exact, err
}

// exactMargin returns the smallest y (w.x) of a row, divided by the norm of w. What float64 can tell isn't the smallest isn't
// computed exactly.
func exactMargin[T kernel.Float](ctx context.Context, src block.Source[T], whole []*big.Int, workers int) (float64, error) {
	w := rounded(whole)
	part := func(r block.Run[T]) *big.Float {
		x := make([]float64, len(w))
		above := math.Inf(1) // the smallest
		low := make([]float64, r.Len())
		for i := range low {
			copyRow(r.Block, i, x)
			v, off := dot(x, w)
			v = float64(v * float64(r.Y[i]))
			low[i], above = v-off, min(above, v+off)
		}
		least := new(big.Float).SetInf(false)
		for i, v := range low {
			if v > above {
				continue
			}
			copyRow(r.Block, i, x)
			sum := new(big.Rat)
			for j, v := range x {
				sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(v*float64(r.Y[i])), new(big.Rat).SetInt(whole[j])))
			}
			if f := new(big.Float).SetRat(sum); f.Cmp(least) < 0 {
				least = f
			}
		}
		return least
	}
	least := new(big.Float).SetInf(false)
	err := block.ReduceRuns(ctx, src, workers, part, func(f *big.Float) {
		if f.Cmp(least) < 0 {
			least = f
		}
	})
	square := new(big.Float)
	for _, v := range whole {
		f := new(big.Float).SetInt(v)
		square.Add(square, f.Mul(f, f))
	}
	margin, _ := new(big.Float).Quo(least, square.Sqrt(square)).Float64()
	return margin, err
}

// verifyWitness tells whether the weighted sum of the rows, times their labels, is zero in every column, the bias
// included, and the weights are above zero. It reads the rows from src.
func verifyWitness[T kernel.Float](ctx context.Context, src block.Source[T], w *Witness) (bool, error) {
	if len(w.Rows) == 0 || len(w.Rows) != len(w.Weights) {
		return false, nil
	}
	x := make([]float64, src.Spec().Cols())
	z := make([][]float64, 0, len(w.Rows))
	next := 0
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return false, err
		}
		for ; next < len(w.Rows) && w.Rows[next] < b.First+int64(b.Len()); next++ {
			if w.Weights[next].Sign() <= 0 || w.Rows[next] < b.First || next > 0 && w.Rows[next] <= w.Rows[next-1] {
				return false, nil
			}
			i := int(w.Rows[next] - b.First)
			y := float64(b.Y[i]) // -1 or +1
			if float64(w.Labels[next]) != y {
				return false, nil
			}
			copyRow(b, i, x)
			for j := range x {
				x[j] *= y
			}
			z = append(z, slices.Clone(x))
		}
	}
	return next == len(w.Rows) && sumsToZero(z, w.Weights), nil
}

// sumsToZero tells whether the weighted sum of the vectors is zero.
func sumsToZero(z [][]float64, weights []*big.Rat) bool {
	d, common := big.NewInt(1), new(big.Int) // the least denominator that all have
	for _, w := range weights {
		common.GCD(nil, nil, d, w.Denom())
		d.Mul(d, common.Quo(w.Denom(), common))
	}
	var sum, product big.Int
	numbers := make([]*big.Int, len(weights))
	for i, w := range weights {
		numbers[i] = new(big.Int).Quo(d, w.Denom())
		numbers[i].Mul(numbers[i], w.Num())
	}
	column := make([]float64, len(z))
	for j := range z[0] {
		for i := range z {
			column[i] = z[i][j]
		}
		sum.SetInt64(0)
		for i, v := range integers(column) {
			sum.Add(&sum, product.Mul(v, numbers[i]))
		}
		if sum.Sign() != 0 {
			return false
		}
	}
	return true
}

// system returns the equations of combination as rows of integers, the right side last: a row for each coordinate, and
// that of the sum.
func system(z [][]float64) [][]*big.Int {
	n := len(z[0])
	flat := make([]float64, 0, len(z)*n)
	for _, v := range z {
		flat = append(flat, v...)
	}
	whole := integers(flat)
	a := make([][]*big.Int, n+1)
	for i := range n {
		a[i] = make([]*big.Int, 0, len(z)+1)
		for j := range z {
			a[i] = append(a[i], whole[j*n+i])
		}
		a[i] = append(a[i], new(big.Int))
	}
	for range len(z) + 1 {
		a[n] = append(a[n], big.NewInt(1))
	}
	return a
}

// An effort is about how many products of machine words exact arithmetic may still take. Time isn't what ends it, so that
// results are the same everywhere.
type effort struct {
	ctx  context.Context
	left int64
}

// maxEffort takes half a minute or so.
const maxEffort = 1 << 34

// spend tells whether as much was left, and ctx isn't done.
func (e *effort) spend(products int64) bool {
	e.left -= products
	return e.left >= 0 && e.ctx.Err() == nil
}

// eliminate makes column c zero but in row p, d being the pivot before. It stops and returns false if that is too much.
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
			left.left -= 8 + words(v)*(words(a[p][c])+words(d)) + words(factor)*words(a[p][j])
			v.Mul(v, a[p][c])
			if factor.Sign() != 0 && a[p][j].Sign() != 0 {
				v.Sub(v, product.Mul(factor, a[p][j]))
			}
			v.Quo(v, d) // which leaves no remainder
		}
	}
	return true
}

// maxEntries is the most entries of gordan's tableau: beyond that effort wouldn't be enough by far.
const maxEntries = 1 << 20

// gordan returns what combination does, or else weights w with w.z > 0 for every vector; neither if that is too much. It is the
// first phase of the simplex method for the equations of combination, with an artificial variable for each of them, by
// Bland's rule ("New finite pivoting rules for the simplex method", 1977). Its dual variables at the end are w.
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
		for k := range rows {
			a[i] = append(a[i], big.NewInt(int64(b2i(k == i))))
		}
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
		p := leaving(a[:rows], basis, c)
		if !eliminate(a, p, c, d, left) {
			return nil, nil
		}
		d = new(big.Int).Set(a[p][c])
		basis[p] = c
	}
}

// leaving returns the row whose basic variable is the first to become zero as that of column c grows; of several the one
// with the smallest number.
func leaving(a [][]*big.Int, basis []int, c int) int {
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

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// integers returns the vector times a power of two that makes all of it whole.
func integers(v []float64) []*big.Int {
	least := math.MaxInt
	for _, f := range v {
		if f != 0 {
			_, e := math.Frexp(f)
			least = min(least, e-53)
		}
	}
	out := make([]*big.Int, len(v))
	for i, f := range v {
		fraction, e := math.Frexp(f)
		out[i] = big.NewInt(int64(fraction * (1 << 53)))
		if f != 0 {
			out[i].Lsh(out[i], uint(e-53-least))
		}
	}
	return out
}

// rounded returns integers times a power of two that makes the largest magnitude less than 1, to the nearest float64.
func rounded(whole []*big.Int) []float64 {
	bits := 0
	for _, v := range whole {
		bits = max(bits, v.BitLen())
	}
	w := make([]float64, len(whole))
	for i, v := range whole {
		f := new(big.Float).SetInt(v)
		w[i], _ = f.SetMantExp(f, -bits).Float64()
	}
	return w
}

// exactSign returns the sign of the dot product of x and a vector of integers.
func exactSign(x []float64, w []*big.Int) int {
	var sum, product big.Int
	for i, v := range integers(x) {
		sum.Add(&sum, product.Mul(v, w[i]))
	}
	return sum.Sign()
}

// dot returns the dot product of x and w, and what it is off by at most.
func dot(x, w []float64) (sum, off float64) {
	size, largest := 0.0, 1.0
	for i, v := range x {
		largest = max(largest, math.Abs(v))
		product := float64(v * w[i])
		sum += product
		size += math.Abs(product)
	}
	// Each product goes through as many roundings of 2^-53 as there are elements, at most, and w may be rounded; size goes
	// through as many. A product or an element of w that is tiny is off by half the least number.
	return sum, float64(roundings(len(x))*size) + float64(float64(len(x)+2)*math.SmallestNonzeroFloat64*largest)
}

// roundings bounds what a dot product of n columns in float64 is off by, relative to the sum of its products' magnitudes.
func roundings(n int) float64 { return float64(n+2) * 0x1p-52 }

// A scorer holds weights as a block's Scores takes them, and how far such a score may be from the exact one.
type scorer[T kernel.Float] struct {
	w     []T     // of a block's stride, scaled by a power of two
	limit float64 // of |score - exact score|, both of w as scaled; +Inf: a score tells nothing
	scale float64 // what w was multiplied by
}

// newScorer prepares the weights w for rows of up to that norm. The weights are scaled to a largest magnitude below 1, so
// that they neither overflow nor vanish.
func newScorer[T kernel.Float](w []float64, radius float64) *scorer[T] {
	largest, squares := 0.0, 0.0
	for _, v := range w {
		largest = max(largest, math.Abs(v))
	}
	s := &scorer[T]{w: block.Alloc[T](kernel.Stride[T](len(w))), scale: 1}
	if largest > 0 {
		_, e := math.Frexp(largest)
		s.scale = math.Ldexp(1, -max(-1000, min(1000, e)))
	}
	for i, v := range w {
		v *= s.scale
		s.w[i] = T(v)
		squares += float64(v * v)
	}
	unit, least, most, lanes := 0x1p-53, math.SmallestNonzeroFloat64, math.MaxFloat64, 16
	if T(1)+T(0x1p-30) == 1 {
		unit, least, most, lanes = 0x1p-24, math.SmallestNonzeroFloat32, math.MaxFloat32, 32
	}
	// An element goes through the fused multiply-adds of its lane, the fold of the lanes, and two roundings of w: k
	// roundings. What the last digits of radius and squares are off by is far less than one of them; so is k u squared.
	n := float64(len(w))
	k := math.Ceil(n/float64(lanes)) + math.Log2(float64(lanes)) + 4
	s.limit = float64(k*unit*radius*math.Sqrt(squares)) + float64(least*(n+1)*(1+radius))
	if !(radius*math.Sqrt(squares) < most/4) { // a sum may overflow
		s.limit = math.Inf(1)
	}
	return s
}

// copyRow copies the columns of row i to x.
func copyRow[T kernel.Float](b *block.Block[T], i int, x []float64) {
	if b.Sparse == nil {
		for j, v := range b.X[i*b.Stride:][:len(x)] {
			x[j] = float64(v)
		}
		return
	}
	clear(x)
	idx, val := b.Sparse.Row(i)
	for k, j := range idx {
		x[j] = float64(val[k])
	}
}

// longest returns the largest norm of a row. It is an error if there are no rows, or labels that aren't -1 and +1.
func longest[T kernel.Float](ctx context.Context, src block.Source[T], workers int) (float64, error) {
	if src.Rows() == 0 {
		return 0, errors.New("there are no rows to check")
	}
	type found struct {
		norm     float64
		unsigned bool
	}
	part := func(r block.Run[T]) found {
		f := found{norm: math.Sqrt(r.MaxSquaredNorm())}
		if !squares(f.norm) {
			f.norm = scaledNorm(r.Block)
		}
		f.unsigned = len(r.Y) != r.Len()
		for _, y := range r.Y {
			f.unsigned = f.unsigned || y != 1 && y != -1
		}
		return f
	}
	norm, unsigned := 0.0, false
	err := block.ReduceRuns(ctx, src, workers, part, func(f found) {
		norm = max(norm, f.norm)
		unsigned = unsigned || f.unsigned
	})
	if err == nil && unsigned {
		err = errors.New("the labels aren't -1 and +1: take rows of two classes")
	}
	return norm, err
}

// squares tells whether the square of a norm, and what is made of that, is within float64's range.
func squares(norm float64) bool { return norm > 1e-140 && norm < 1e140 }

// scaledNorm returns the largest norm of a row, or the largest number where it is larger, without squares that overflow or
// vanish.
func scaledNorm[T kernel.Float](b *block.Block[T]) float64 {
	norm := 0.0
	x := make([]float64, b.Cols)
	for i := range b.Len() {
		copyRow(b, i, x)
		largest, sum := 0.0, 0.0
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
		if largest == 0 {
			continue
		}
		for _, v := range x {
			q := v / largest
			sum += float64(q * q)
		}
		norm = max(norm, min(math.MaxFloat64, largest*math.Sqrt(sum)))
	}
	return norm
}
