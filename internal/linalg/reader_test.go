package linalg_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
)

// TestReader: rows read one by one are those of Rows, whatever their form. One reader serves chunks of several forms.
func TestReader(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var r linalg.SparseReader
	for _, zeros := range []float64{0, 0.1, 0.5, 0.9, 1} {
		for _, features := range []int{1, 7, 40} {
			x, y := make([][]float64, 20), make([]float64, 20)
			for k := range x {
				x[k], y[k] = make([]float64, features), 1
				for i := range x[k] {
					if rng.Float64() >= zeros {
						x[k][i] = rng.NormFloat64()
					}
				}
			}
			for b := range testproblems.Dense(x, y, false).Blocks(t.Context()) {
				chunk := block.Chunk{Block: b}
				want := linalg.SparseRows(chunk, false, &kernel.SparseRows{})
				elements := linalg.Elements(chunk)
				if elements != len(want.Idx) {
					t.Errorf("%v zeros: %d elements, want %d", zeros, elements, len(want.Idx))
				}
				for form := range 2 {
					if r.ReadDense(chunk, elements == len(x)*features); form == 1 {
						r.Read(want)
					}
					for k := range x {
						columns, values := r.Row(k)
						if c, v := want.Row(k); !slices.Equal(columns, c) || !slices.Equal(values, v) {
							t.Errorf("%v zeros: row %d is %v %v, want %v %v", zeros, k, columns, values, c, v)
						}
					}
				}
			}
		}
	}
}
