package gram_test

import (
	"math/rand/v2"
	"testing"

	"halfspace/gram"
	"halfspace/internal/testrows"
)

// sparseTable returns rows that store few elements, most of them in the first columns, and some none.
func sparseTable(rows, cols, each int) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	x, y = make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r], y[r] = make([]float64, cols), float64(2*(r%2)-1)
		for range rng.IntN(2 * each) {
			x[r][int(float64(cols)*rng.Float64()*rng.Float64()*rng.Float64())] = rng.NormFloat64()
		}
	}
	return x, y
}

// TestSparseProducts: products of rows that store few elements equal those of the same rows in dense form.
func TestSparseProducts(t *testing.T) {
	size, cols, each := 701, 3000, 20
	if testing.Short() { // as under emulation
		size, cols, each = 203, 800, 7
	}
	x, y := sparseTable(size, cols, each)
	dense := testrows.Dense(x, y, true)
	sparse := testrows.Sparse(dense)
	for name, pair := range map[string][2]*gram.Rows{
		"rows":     {gram.RowsOf(dense), gram.RowsOf(sparse)},
		"features": {gram.FeaturesOf(dense), gram.FeaturesOf(sparse)},
	} {
		n := pair[0].Len()
		for _, workers := range []int{1, 3} {
			var products [2][]float32
			for i, rows := range pair {
				products[i] = make([]float32, n*n)
				if err := gram.LowerProducts(t.Context(), rows, workers, func(r, j int, row []float32) { copy(products[i][r*n+j:], row) }); err != nil {
					t.Fatal(err)
				}
			}
			equal(t, name+", lower", products)
			for i, rows := range pair {
				if err := gram.Cross(t.Context(), products[i], n, rows, rows, gram.Mercer{Kind: gram.RBF, Gamma: 0.1}, workers); err != nil {
					t.Fatal(err)
				}
			}
			equal(t, name+", crossed", products)
			for i, rows := range pair {
				full, err := gram.NewSymmetric(n, gram.Full)
				if err == nil {
					err = gram.Gram(t.Context(), full, rows, gram.Mercer{}, workers)
				}
				if err != nil {
					t.Fatal(err)
				}
				products[i] = full.Data
				cache, err := gram.NewRowCache(rows, gram.Mercer{}, 1<<20, workers)
				if err != nil {
					t.Fatal(err)
				}
				for r := 0; r < n; r += 97 {
					row, err := cache.Row(t.Context(), r, func(func(uint32) bool) {})
					if err != nil {
						t.Fatal(err)
					}
					for j, v := range row[:n] {
						if v != full.At(r, j) {
							t.Fatalf("%s, cache: element %d, %d is %v, want %v", name, r, j, v, full.At(r, j))
						}
					}
				}
			}
			equal(t, name+", full", products)
		}
	}
}

func equal(t *testing.T, what string, products [2][]float32) {
	t.Helper()
	for i, want := range products[0] {
		if got := products[1][i]; got != want {
			t.Fatalf("%s: element %d of sparse rows is %v, of dense ones %v", what, i, got, want)
		}
	}
}
