package gram_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/gram"
	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
)

// TestRowCache: cached rows are those of the whole matrix for any memory, workers and announced rows. No more rows are
// computed than requested or announced.
func TestRowCache(t *testing.T) {
	kerneltest.OnLevels(t, testRowCache)
}

func testRowCache(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(5, 6))
	kernels := slices.Clone(mercers)
	for _, k := range mercers {
		k.Bias = true
		kernels = append(kernels, k)
	}
	sizes := [][2]int{{1, 1}, {40, 3}, {50, 300}, {170, 30}}
	if require.Small() {
		sizes = sizes[:2]
	}
	for _, size := range sizes {
		n := size[0]
		x := random(rng, n, size[1], rng.NormFloat64)
		whole, err := gram.NewSymmetric(n, gram.Full)
		require.NoError(t, err)
		for i, k := range kernels {
			require.NoError(t, gram.Gram(ctx, whole, x.rows, k, 2))
			row := int64(whole.Stride) * 4
			for _, held := range []int{1, 2, 7, n} {
				c, err := gram.NewRowCache(t.Context(), x.rows, k, row*int64(held)+row-1, 1+i%3)
				require.NoError(t, err)
				wanted := map[uint32]bool{}
				for range 40 {
					r := uint32(rng.IntN(n))
					wanted[r] = true
					next := make([]uint32, rng.IntN(5))
					for j := range next {
						next[j] = uint32(rng.IntN(n))
						wanted[next[j]] = true
					}
					got, err := c.Row(ctx, int(r), slices.Values(next))
					require.NoError(t, err)
					if !slices.EqualFunc(got, whole.Data[int(r)*whole.Stride:][:n], same) {
						t.Fatalf("%v %+v, room for %d rows: row %d is not that of the matrix", size, k, held, r)
					}
				}
				if held == n && c.ComputedRows() > int64(len(wanted)) {
					t.Errorf("%v: %d rows computed for %d different ones", size, c.ComputedRows(), len(wanted))
				}
			}
		}
	}
}

// TestRowCacheKeeps: rows that are requested again and again stay, however many others pass. Of rows that are requested
// equally often in turn, one fewer than fit are found.
func TestRowCacheKeeps(t *testing.T) {
	const n, held = 100, 10
	rng := rand.New(rand.NewPCG(7, 8))
	x := random(rng, n, 5, rng.NormFloat64)
	computed := func(rows ...int) int64 {
		c, err := gram.NewRowCache(t.Context(), x.rows, gram.Kernel{}, held*int64(kernel.Stride(n))*4, 1)
		require.NoError(t, err)
		for _, r := range rows {
			if _, err := c.Row(context.Background(), r, slices.Values([]uint32{})); err != nil {
				t.Fatal(err)
			}
		}
		return c.ComputedRows()
	}
	var hot, cyclic []int
	for i := range n {
		hot = append(hot, 3, 7, i)
		cyclic = append(cyclic, i%20)
	}
	if got := computed(hot...); got != n {
		t.Errorf("%d rows computed, want %d: those in use stay", got, n)
	}
	// There are 20 rows in 5 rounds. The first computes all of them, and each later one finds 9.
	if got := computed(cyclic...); got > 20+4*11 {
		t.Errorf("%d of %d rows computed", got, n)
	}
}

// TestRowCacheErrors: too little memory, an invalid kernel, and a cancelled context are errors. After the last the
// cache goes on.
func TestRowCacheErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := random(rng, 100, 5, rng.NormFloat64)
	require.Error(t, require.ErrorOf(gram.NewRowCache(t.Context(), x.rows, gram.Kernel{}, 415, 1)), "take 416")
	if _, err := gram.NewRowCache(t.Context(), x.rows, gram.Kernel{Kind: gram.RBF}, 1<<20, 1); err == nil {
		t.Error("an RBF kernel without gamma is accepted")
	}
	c, err := gram.NewRowCache(t.Context(), x.rows, gram.Kernel{}, 416, 1)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	none := slices.Values([]uint32{})
	if _, err := c.Row(ctx, 3, none); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if row, err := c.Row(context.Background(), 3, none); err != nil || row[3] == 0 {
		t.Errorf("after a cancelled call: error %v", err)
	}
}

// TestFeaturesOf takes dense and sparse rows without their bias. A kernel with a bias adds its product.
func TestFeaturesOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var values [][]float64
	for range 50 {
		row := make([]float64, 7)
		for c := range row {
			row[c] = float64(rng.IntN(7) - 3)
		}
		values = append(values, row)
	}
	d := testproblems.Dense(values, make([]float64, 50), true)
	var got []string
	for _, x := range []*gram.Rows{gram.RowsOf(d), gram.FeaturesOf(d), gram.FeaturesOf(testproblems.Sparse(d))} {
		m := products(t, x, gram.Packed, gram.Kernel{Bias: x.Cols() == 7}, 1)
		got = append(got, fmt.Sprint(m.Data))
	}
	if got[0] != got[1] || got[0] != got[2] {
		t.Error("the products with the bias differ from those of the features and 1")
	}
}

// TestDiagonal compares the kernel of rows with themselves with the matrix.
func TestDiagonal(t *testing.T) {
	kerneltest.OnLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 1))
		x := random(rng, 61, 300, rng.NormFloat64)
		for i, k := range mercers {
			k.Bias = i%2 == 1
			m := products(t, x.rows, gram.Packed, k, 1)
			d, err := gram.Diagonal(x.rows, k)
			require.NoError(t, err)
			for r, v := range d {
				if v != m.At(r, r) {
					t.Fatalf("%+v: element %d is %v, want %v", k, r, v, m.At(r, r))
				}
			}
		}
	})
}

// TestColumns: rows that are the columns of a matrix have the bits of the same rows of Dense, in products and single.
func TestColumns(t *testing.T) {
	kerneltest.OnLevels(t, testColumns)
}

func testColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, size := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {7, 5}, {33, 300}, {150, 20}} {
		n, cols := size[0], size[1]
		x, stride := random(rng, n, cols, rng.NormFloat64), n+rng.IntN(3)
		across := make([]float32, cols*stride)
		for r := range n {
			for c, v := range x.row(r) {
				across[c*stride+r] = v
			}
		}
		across = across[:max(0, len(across)-stride+n)] // nothing follows the last row's end
		columns := gram.Columns(across, n, cols, stride)
		want, got := make([]float32, n*n), make([]float32, n*n)
		k := gram.Kernel{Kind: gram.RBF, Gamma: 0.01}
		for i, rows := range []*gram.Rows{x.rows, columns} {
			require.NoError(t, gram.Cross(t.Context(), [][]float32{want, got}[i], n, rows, columns, k, 2))
		}
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("%v: other products", size)
		}
		require.NoError(t, gram.Cross(t.Context(), want, n, x.rows, x.rows, k, 2))
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("%v: other products than of rows", size)
		}
		if n > 2 && !slices.Equal(columns.Values([]uint32{2, 0}), x.rows.Values([]uint32{2, 0})) {
			t.Errorf("%v: other values", size)
		}
	}
}
