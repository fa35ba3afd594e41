package separability

import (
	"context"
	"math/big"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
)

// A Witness proves that no plane separates the rows: the weighted sum of the rows, each times its label, is zero.
type Witness struct {
	Rows    []int64    // numbers of rows, ascending
	Labels  []int      // labels of these rows, -1 or +1
	Weights []*big.Rat // one weight for each row, above zero; their sum is 1
}

// verifyWitness tells whether all weights are above zero and the weighted sum of the rows, times their labels, is zero
// in every column, the bias included. It reads the rows from src.
func verifyWitness(ctx context.Context, src block.Source, w *Witness) (bool, error) {
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
			linalg.Widen(b, i, x)
			for j := range x {
				x[j] *= y
			}
			z = append(z, slices.Clone(x))
		}
	}
	return next == len(w.Rows) && sumsToZero(z, w.Weights), nil
}

// sumsToZero tells whether the weighted sum of the vectors z is zero.
func sumsToZero(z [][]float64, weights []*big.Rat) bool {
	d, common := big.NewInt(1), new(big.Int) // least common denominator of the weights
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

// system returns the equations of combination as rows of integers, the right side last. There is one equation for each
// coordinate, and one for the sum of the weights.
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
