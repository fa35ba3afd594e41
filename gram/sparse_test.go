package gram_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/gram"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
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
	if require.Small() { // as under emulation
		size, cols, each = 120, 500, 6
	}
	x, y := sparseTable(size, cols, each)
	dense := testproblems.Dense(x, y, true)
	sparse := testproblems.Sparse(dense)
	for name, pair := range map[string][2]*gram.Rows{
		"rows":     {gram.RowsOf(dense), gram.RowsOf(sparse)},
		"features": {gram.FeaturesOf(dense), gram.FeaturesOf(sparse)},
	} {
		n := pair[0].Len()
		for _, workers := range []int{1, 3} {
			var values [2][]float32
			for i, rows := range pair {
				values[i] = make([]float32, n*n)
				require.NoError(t, gram.LowerProducts(t.Context(), rows, workers, func(r, j int, row []float32) { copy(values[i][r*n+j:], row) }))
			}
			equal(t, name+", lower", values)
			for i, rows := range pair {
				require.NoError(t, gram.Cross(t.Context(), values[i], n, rows, rows, gram.Kernel{Kind: gram.RBF, Gamma: 0.1}, workers))
			}
			equal(t, name+", crossed", values)
			for i, rows := range pair {
				full := products(t, rows, gram.Full, gram.Kernel{}, workers)
				values[i] = full.Data
				cache, err := gram.NewRowCache(t.Context(), rows, gram.Kernel{}, 1<<20, workers)
				require.NoError(t, err)
				for r := 0; r < n; r += 97 {
					row, err := cache.Row(t.Context(), r, func(func(uint32) bool) {})
					require.NoError(t, err)
					for j, v := range row[:n] {
						if v != full.At(r, j) {
							t.Fatalf("%s, cache: element %d, %d is %v, want %v", name, r, j, v, full.At(r, j))
						}
					}
				}
			}
			equal(t, name+", full", values)
		}
	}
}

// TestSparseNotFinite: the product of 0 and an element that isn't finite is NaN in sparse rows too.
func TestSparseNotFinite(t *testing.T) {
	const n, cols = 3, 400
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		finite, other := make([]float32, n*cols), make([]float32, n*cols)
		finite[7], other[cols+9] = 2, v
		x, y := gram.SupportRows(finite, n, cols), gram.SupportRows(other, n, cols)
		for i, pair := range [][2]*gram.Rows{{x, y}, {y, x}} {
			out := make([]float32, n*n)
			require.NoError(t, gram.Cross(t.Context(), out, n, pair[0], pair[1], gram.Kernel{}, 1))
			for k, got := range out {
				if isNaN := got != got; isNaN != ([]int{k % n, k / n}[i] == 1) {
					t.Errorf("%v in %d: product %d is %v", v, 1-i, k, got)
				}
			}
		}
	}
}

func equal(t *testing.T, what string, values [2][]float32) {
	t.Helper()
	for i, want := range values[0] {
		if got := values[1][i]; got != want {
			t.Fatalf("%s: element %d of sparse rows is %v, of dense ones %v", what, i, got, want)
		}
	}
}
