package logistic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// separatingDirection tells, in integers, whether some d other than 0 has z.d >= 0 for all rows z, and z.d > 0 for one.
// Rows have full rank n. So if there is such a d, one is orthogonal to n-1 independent rows.
func separatingDirection(rows [][]int64) (found, full bool) {
	n := len(rows[0])
	chosen := make([][]int64, 0, n-1)
	var try func(from int)
	try = func(from int) {
		if found {
			return
		}
		if len(chosen) < n-1 {
			for i := from; i < len(rows); i++ {
				chosen = append(chosen, rows[i])
				try(i + 1)
				chosen = chosen[:len(chosen)-1]
			}
			return
		}
		d := orthogonalVector(chosen, n)
		least, most := int64(0), int64(0)
		for _, z := range rows {
			s := int64(0)
			for i, v := range z {
				s += v * d[i]
			}
			least, most = min(least, s), max(most, s)
		}
		full = full || least != most
		found = found || (least == 0) != (most == 0)
	}
	try(0)
	return found, full
}

// orthogonalVector returns the vector of minors of n-1 rows.
func orthogonalVector(rows [][]int64, n int) []int64 {
	d := make([]int64, n)
	for c := range n {
		var minor [][]int64
		for _, r := range rows {
			minor = append(minor, append(append([]int64(nil), r[:c]...), r[c+1:]...))
		}
		d[c] = determinant(minor)
		if c%2 == 1 {
			d[c] = -d[c]
		}
	}
	return d
}

func determinant(m [][]int64) (sum int64) {
	if len(m) == 0 {
		return 1
	}
	for c, v := range m[0] {
		if v == 0 {
			continue
		}
		var minor [][]int64
		for _, r := range m[1:] {
			minor = append(minor, append(append([]int64(nil), r[:c]...), r[c+1:]...))
		}
		if c%2 == 1 {
			v = -v
		}
		sum += v * determinant(minor)
	}
	return sum
}

// TestVerdict: if the loss has a minimum, every solver converges. If it has none, every solver says that a plane
// separates the rows, also if rows lie on the plane. Rows are small integers, in some cases with an outlier. Integers
// decide which is true.
func TestVerdict(t *testing.T) {
	count, seeds := map[string]int{}, uint64(400)
	if require.Small() {
		seeds = 120 // pure Go and emulators take seconds for these
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		classes := 2 + int(seed%4/3)
		features := 4 - classes
		n := 5 + rng.IntN(12)
		x, y := make([][]float64, n), make([]float64, n)
		for r := range x {
			row, score := make([]float64, features), rng.IntN(5)-2
			for c := range row {
				v := rng.IntN(6)
				row[c], score = float64(v), score+v-2
			}
			if r == 0 && seed%3 == 0 {
				row[0] = 1000
			}
			x[r] = row
			if y[r] = 0; score > 0 {
				y[r] = 1
			}
			if classes > 2 && rng.IntN(2) == 0 && score > -2 {
				y[r] = 2
			}
		}
		d := testproblems.Classes(x, y, classes, true)
		if classes == 2 {
			for r := range y {
				y[r] = 2*y[r] - 1
			}
			d = testproblems.Dense(x, y, true)
		}
		want, full := separatingDirection(differences(x, y, classes))
		if !full {
			continue
		}
		count[fmt.Sprint(classes, want)]++
		for _, solver := range []Solver{Newton, LBFGS, SGD} {
			if solver == Newton && classes > 2 {
				continue
			}
			r, err := Train(t.Context(), d, Settings{Options: Options{Epochs: 200, NoPenalty: true, Solver: solver}})
			if want != errors.Is(err, ErrSeparable) || !want && (err != nil || !r.Converged && solver != SGD) {
				t.Errorf("seed %d, %s, %d classes, rows %v, labels %v: error %v, result %+v; separable: %v", seed, solver, classes, x, y, err, r, want)
			}
		}
	}
	for _, k := range []string{"2 true", "2 false", "3 true", "3 false"} {
		if count[k] < 10 {
			t.Errorf("%d problems of the kind %s", count[k], k)
		}
	}
}

// differences returns rows of coefficients, for each row of x and each other class. Their products with the weights of
// all classes but 0 are the score of the row's class less that of the other.
func differences(x [][]float64, y []float64, classes int) (rows [][]int64) {
	for r, features := range x {
		own := int(y[r])
		if classes == 2 && own < 0 {
			own = 0
		}
		cols := len(features) + 1
		for other := range classes {
			if other == own {
				continue
			}
			z := make([]int64, (classes-1)*cols)
			put := func(class int, sign int64) {
				if class > 0 {
					for c, v := range features {
						z[(class-1)*cols+c] = sign * int64(v)
					}
					z[class*cols-1] = sign
				}
			}
			put(own, 1)
			put(other, -1)
			rows = append(rows, z)
		}
	}
	return rows
}
