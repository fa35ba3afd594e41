package linalg_test

import (
	"math"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
)

// TestRows: dense rows, sparse ones and sparse ones with zeros give the same elements, and their sums are those of the rows.
func TestRows(t *testing.T) {
	x := [][]float64{{0, 1, 0, 2, -3, 0.5, 4}, {0, 0, 0, 0, 0, 0, 0}, {7, 0, 0, 0, 0, 0, 1}}
	d := testproblems.Dense(x, []float64{1, -1, 1}, true)
	var dense, sparse *block.Block
	for b := range d.Blocks(t.Context()) {
		dense = b
	}
	for b := range testproblems.Sparse(d).Blocks(t.Context()) {
		sparse = b
	}
	zeros := sparse.Clone()
	zeros.Sparse = &kernel.SparseRows{Ptr: []int64{0}}
	for r := range x {
		for i := range 8 {
			zeros.Sparse.Idx, zeros.Sparse.Val = append(zeros.Sparse.Idx, uint32(i)), append(zeros.Sparse.Val, dense.X[r*dense.Stride+i])
		}
		zeros.Sparse.Ptr = append(zeros.Sparse.Ptr, int64(len(zeros.Sparse.Idx)))
	}
	w := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for name, b := range map[string]*block.Block{"dense": dense, "sparse": sparse, "with zeros": zeros} {
		chunk := block.Chunk{Block: b}
		if clean := linalg.CleanSparse(chunk); clean != (name == "sparse") {
			t.Errorf("%s: clean is %t", name, clean)
		}
		rows := linalg.SparseRows(chunk, linalg.CleanSparse(chunk), &kernel.SparseRows{})
		for r := range x {
			columns, values := rows.Row(r)
			score, square, sum := 8.0, 0.0, slices.Clone(w) // the bias is 1
			for i, v := range x[r] {
				score += v * w[i]
				square += v * v
				sum[i] += 2 * v
			}
			sum[7] += 2
			got := slices.Clone(w)
			linalg.AddSparse(got, columns, values, 2)
			if slices.Contains(values, 0) || linalg.ScoreSparse(columns, values, w) != score || linalg.SquareSparse(columns, values, 7) != square || !slices.Equal(got, sum) {
				t.Errorf("%s: row %d is %v %v", name, r, columns, values)
			}
			if norm := linalg.NormSparse(columns, values, 7); norm < math.Sqrt(square) || norm > 1.001*math.Sqrt(square) {
				t.Errorf("%s: the norm of row %d is %v", name, r, norm)
			}
		}
	}
}
