package linalg_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/linalg"
	"halfspace/kernel"
)

// TestTranspose: rows by column have every element once, in row order. Transposed again they are the rows. Rows and columns
// may be empty.
func TestTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n, cols := rng.IntN(20), rng.IntN(20)
		rows := &kernel.SparseRows{Ptr: []int64{0}}
		for range n {
			for j := range cols {
				if rng.IntN(4) == 0 {
					rows.Idx, rows.Val = append(rows.Idx, uint32(j)), append(rows.Val, float32(rng.NormFloat64()))
				}
			}
			rows.Ptr = append(rows.Ptr, int64(len(rows.Idx)))
		}
		columns := transpose(t, cols, rows)
		if columns.Len() != cols {
			t.Fatalf("%d columns, want %d", columns.Len(), cols)
		}
		for j := range cols {
			var numbers []uint32
			var values []float32
			for r := range n {
				idx, val := rows.Row(r)
				if k := slices.Index(idx, uint32(j)); k >= 0 {
					numbers, values = append(numbers, uint32(r)), append(values, val[k])
				}
			}
			if idx, val := columns.Row(j); !slices.Equal(idx, numbers) || !slices.Equal(val, values) {
				t.Errorf("column %d is %v %v, want %v %v", j, idx, val, numbers, values)
			}
		}
		if back := transpose(t, n, columns); !slices.Equal(back.Ptr, rows.Ptr) || !slices.Equal(back.Idx, rows.Idx) || !slices.Equal(back.Val, rows.Val) {
			t.Errorf("transposed twice, the rows are %v, not %v", back, rows)
		}
	}
}

func transpose(t *testing.T, cols int, rows *kernel.SparseRows) *kernel.SparseRows {
	t.Helper()
	ptr, columns, values, err := linalg.TransposeSparse(cols, func(do func(uint32, []uint32, []float32)) error {
		for r := range rows.Len() {
			idx, val := rows.Row(r)
			do(uint32(r), idx, val)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return &kernel.SparseRows{Ptr: ptr, Idx: columns, Val: values}
}

// TestTransposeFails: an error of the first pass or of the second one comes back.
func TestTransposeFails(t *testing.T) {
	for fails := 1; fails <= 2; fails++ {
		want, pass := errors.New("no more rows"), 0
		_, _, _, err := linalg.TransposeSparse(3, func(do func(uint32, []uint32, []float32)) error {
			if pass++; pass == fails {
				return want
			}
			do(0, []uint32{1}, []float32{2})
			return nil
		})
		if err != want {
			t.Errorf("error %v in pass %d, want %v", err, fails, want)
		}
	}
}
