package separability

import (
	"math/big"
	"math/bits"
	"slices"
)

// prime is the modulus of combination. A word can hold the sum of 128 products of two residues.
const prime = 1<<28 - 57

const barrett = (1<<64 - 1) / prime

// residue returns x modulo the prime.
func residue(x uint64) uint64 {
	q, _ := bits.Mul64(x, barrett)
	x -= q * prime
	for x >= prime {
		x -= prime
	}
	return x
}

// inverse returns the number whose product with x is 1 modulo the prime. x must not be a multiple of the prime.
func inverse(x uint64) uint64 {
	y := uint64(1)
	for e := uint64(prime - 2); e > 0; e >>= 1 { // by Fermat's little theorem
		if e&1 > 0 {
			y = residue(y * x)
		}
		x = residue(x * x)
	}
	return y
}

// reduce brings a matrix modulo the prime to reduced row echelon form. It looks for pivots only in the first columns.
// It returns the rows and the columns of the pivots; rows keep their places. It stops once the context of the effort
// has ended.
func reduce(a [][]uint64, columns int, left *effort) (rows, cols []int) {
	used := make([]bool, len(a))
	for c := 0; c < columns && len(rows) < len(a) && left.spend(0); c++ {
		p := 0
		for p < len(a) && (used[p] || a[p][c] == 0) {
			p++
		}
		if p == len(a) {
			continue
		}
		used[p] = true
		rows, cols = append(rows, p), append(cols, c)
		scale := inverse(a[p][c])
		for j, v := range a[p] {
			a[p][j] = residue(v * scale)
		}
		for i, row := range a {
			if f := row[c]; i != p && f != 0 {
				f = prime - f
				for j, v := range a[p] {
					if v != 0 {
						row[j] = residue(row[j] + f*v)
					}
				}
			}
		}
	}
	return rows, cols
}

// combination returns weights >= 0 with sum 1 for which the weighted sum of the vectors z is zero. It returns nil if it
// finds none, or if the effort is used up. A vector that depends on the vectors before it gets the weight 0, so the
// solution is a vertex of the set of all solutions.
//
// It solves the equations modulo a prime, and lifts the solution to a solution modulo powers of the prime. It stops
// once fractions with small enough terms solve the equations (Dixon, "Exact solution of linear equations using p-adic
// expansions", 1982). It checks all equations exactly, so that no unlucky prime makes the result wrong.
func combination(z [][]float64, left *effort) []*big.Rat {
	k := int64(len(z))
	if !left.spend(3 * int64(len(z[0])+1) * k * k) {
		return nil
	}
	a := system(z)
	residues := make([][]uint64, len(a))
	p, r := big.NewInt(prime), new(big.Int)
	size := 1 // bits of the largest entry
	for i, row := range a {
		halve(row)
		residues[i] = make([]uint64, k+1)
		for j, v := range row {
			residues[i][j] = r.Mod(v, p).Uint64()
			size = max(size, v.BitLen())
		}
	}
	rows, cols := reduce(residues, len(z), left)
	if !left.spend(0) {
		return nil
	}
	for i := range a {
		if residues[i][k] != 0 && !slices.Contains(rows, i) {
			return nil
		}
	}
	l := newLifting(a, rows, cols, size, left)
	// By Cramer's rule and Hadamard's bound, neither term of a fraction has more bits than this.
	most := len(rows) * (size + bits.Len(uint(len(rows))))
	for digits := 8; ; digits *= 2 {
		for l.digits < digits {
			if !left.spend(int64(len(rows) * len(rows) * (l.limbs + 2))) {
				return nil
			}
			l.step()
		}
		numbers, d := l.fractions(left)
		if !left.spend(0) {
			return nil
		}
		if numbers != nil && solves(a, cols, numbers, d) {
			lambda := make([]*big.Rat, k)
			for j := range lambda {
				lambda[j] = new(big.Rat)
			}
			for i, c := range cols {
				if numbers[i].Sign()*d.Sign() < 0 {
					return nil
				}
				lambda[c].SetFrac(numbers[i], d)
			}
			return lambda
		}
		if 28*(digits-1) > 2*most+2 {
			return nil
		}
	}
}

// halve divides the numbers of a row by the largest power of two that divides all of them.
func halve(row []*big.Int) {
	least := ^uint(0)
	for _, v := range row {
		if v.Sign() != 0 {
			least = min(least, v.TrailingZeroBits())
		}
	}
	for _, v := range row {
		if v.Sign() != 0 {
			v.Quo(v, new(big.Int).Lsh(big.NewInt(1), least))
		}
	}
}

// solves tells whether numbers divided by d, for the columns cols, solve the equations a.
func solves(a [][]*big.Int, cols []int, numbers []*big.Int, d *big.Int) bool {
	var sum, product big.Int
	for _, row := range a {
		sum.Mul(row[len(row)-1], d)
		for i, c := range cols {
			if row[c].Sign() != 0 {
				sum.Sub(&sum, product.Mul(row[c], numbers[i]))
			}
		}
		if sum.Sign() != 0 {
			return false
		}
	}
	return true
}

// A lifting is the solution of a square system of equations modulo a power of the prime.
type lifting struct {
	entries []int64 // entries of the matrix in limbs of limbBits with the entry's sign: for each row, limb by limb
	limbs   int
	inverse [][]uint64 // inverse of the matrix modulo the prime

	residual []*big.Int
	solution []*big.Int
	power    *big.Int // power of the prime
	digits   int
}

const limbBits = 16

// newLifting returns the lifting of the equations rows for the columns cols. The last column of a has the right sides.
func newLifting(a [][]*big.Int, rows, cols []int, size int, left *effort) *lifting {
	n := len(rows)
	l := &lifting{limbs: (size + limbBits - 1) / limbBits, power: big.NewInt(1)}
	l.entries = make([]int64, 0, n*n*l.limbs)
	joined := make([][]uint64, n) // the matrix beside the unit matrix
	p, mask, r := big.NewInt(prime), big.NewInt(1<<limbBits-1), new(big.Int)
	for i, from := range rows {
		row := a[from]
		joined[i] = make([]uint64, 2*n)
		joined[i][n+i] = 1
		for j, c := range cols {
			joined[i][j] = r.Mod(row[c], p).Uint64()
		}
		for limb := range l.limbs {
			for _, c := range cols {
				r.Rsh(r.Abs(row[c]), uint(limb*limbBits))
				l.entries = append(l.entries, r.And(r, mask).Int64()*int64(row[c].Sign()))
			}
		}
		l.residual = append(l.residual, new(big.Int).Set(row[len(row)-1]))
		l.solution = append(l.solution, new(big.Int))
	}
	l.inverse = make([][]uint64, n)
	at, columns := reduce(joined, n, left)
	for i, c := range columns {
		l.inverse[c] = joined[at[i]][n:]
	}
	return l
}

// step adds one digit to the solution.
func (l *lifting) step() {
	n := len(l.residual)
	p, q := big.NewInt(prime), new(big.Int)
	known := make([]uint64, n)
	for i, r := range l.residual {
		known[i] = q.Mod(r, p).Uint64()
	}
	digit := make([]int64, n)
	for i, row := range l.inverse {
		sum := uint64(0)
		for j, v := range known {
			if sum += v * row[j]; j%64 == 63 {
				sum = residue(sum)
			}
		}
		digit[i] = int64(residue(sum))
	}
	for i, r := range l.residual {
		for limb := range l.limbs {
			sum := int64(0)
			for j, v := range l.entries[(i*l.limbs+limb)*n:][:n] {
				sum += v * digit[j]
			}
			q.SetInt64(sum)
			r.Sub(r, q.Lsh(q, uint(limb*limbBits)))
		}
		r.Quo(r, p) // no remainder
		l.solution[i].Add(l.solution[i], q.Mul(l.power, q.SetInt64(digit[i])))
	}
	l.power.Mul(l.power, p)
	l.digits++
}

// fractions returns the solution modulo the power as numbers over a common denominator d. Each numerator and d is less
// than about the square root of the power. It returns nil if there are no such fractions, or if that takes too much
// effort.
func (l *lifting) fractions(left *effort) (numbers []*big.Int, d *big.Int) {
	limit := new(big.Int).Sqrt(new(big.Int).Rsh(l.power, 1))
	half := new(big.Int).Rsh(l.power, 1)
	words := int64(l.power.BitLen()/64 + 1)
	d = big.NewInt(1)
	for _, x := range l.solution {
		if !left.spend(2 * words * words) {
			return nil, nil
		}
		v := new(big.Int).Mul(x, d)
		if v.Mod(v, l.power).Cmp(half) > 0 {
			v.Sub(v, l.power)
		}
		if v.CmpAbs(limit) > 0 {
			left.productsLeft -= 30 * words * words // about as many divisions as half of the power's bits
			number, by := reconstruct(v, l.power, limit)
			for _, other := range numbers {
				other.Mul(other, by)
			}
			v = number
			if d.Mul(d, by).CmpAbs(limit) > 0 {
				return nil, nil
			}
		}
		numbers = append(numbers, v)
	}
	return numbers, d
}

// reconstruct returns a fraction that is v modulo m, with a numerator of at most limit. It is Euclid's algorithm (Wang,
// "A p-adic algorithm for univariate partial fractions", 1981).
func reconstruct(v, m, limit *big.Int) (number, d *big.Int) {
	r0, r1 := new(big.Int).Set(m), new(big.Int).Mod(v, m)
	s0, s1 := new(big.Int), big.NewInt(1)
	var q, product big.Int
	for r1.Cmp(limit) > 0 {
		rest := new(big.Int)
		q.QuoRem(r0, r1, rest)
		r0, r1 = r1, rest
		s0.Sub(s0, product.Mul(&q, s1))
		s0, s1 = s1, s0
	}
	if s1.Sign() < 0 {
		s1.Neg(s1)
		r1.Neg(r1)
	}
	return r1, s1
}
