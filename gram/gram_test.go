package gram_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/asm/ref"
	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/schema"
)

// A matrix is dense rows, and what the package makes of them.
type matrix struct {
	values []float32
	n, d   int
	rows   *gram.Rows
}

func random(rng *rand.Rand, n, d int, draw func() float64) matrix {
	m := matrix{n: n, d: d}
	stride := d + rng.IntN(3)
	m.values = block.Alloc[float32](n * stride)
	for i := range m.values {
		m.values[i] = float32(math.NaN()) // elements between the rows must not matter
	}
	for r := range n {
		for c := range d {
			m.values[r*stride+c] = float32(draw())
		}
	}
	m.rows = gram.Dense(m.values, n, d, stride)
	packed := block.Alloc[float32](n * d)
	for r := range n {
		copy(packed[r*d:(r+1)*d], m.values[r*stride:])
	}
	m.values = packed
	return m
}

func (m matrix) row(i int) []float32 { return m.values[i*m.d : (i+1)*m.d] }

func fma(x, y, z float32) float32 {
	acc := []float32{z}
	ref.AxpyF32(acc, x, []float32{y})
	return acc[0]
}

// inner is the inner product in the documented order.
func inner(x, y []float32) float32 {
	var sum float32
	for lo := 0; lo < len(x); lo += 256 {
		var s float32
		for k := lo; k < min(len(x), lo+256); k++ {
			s = fma(x[k], y[k], s)
		}
		if lo == 0 {
			sum = s
		} else {
			sum += s
		}
	}
	return sum
}

// value is the kernel in the documented order.
func value(k gram.Kernel, x, y []float32) float32 {
	s := inner(x, y)
	switch k.Kind {
	case gram.Polynomial:
		v := float32(float32(k.Gamma)*s) + float32(k.Coef0)
		bits := k.Degree
		var p float32
		for first := true; bits > 0; bits >>= 1 {
			if bits&1 == 1 {
				if first {
					p, first = v, false
				} else {
					p = float32(p * v)
				}
			}
			v = float32(v * v)
		}
		return p
	case gram.RBF:
		v := -float32(k.Gamma) * max(0, (inner(x, x)+inner(y, y))-float32(2*s))
		out := []float32{v}
		ref.ExpF32(out, out)
		return out[0]
	}
	return s
}

func same(a, b float32) bool {
	return a != a && b != b || math.Float32bits(a) == math.Float32bits(b)
}

var mercers = []gram.Kernel{{}, {Kind: gram.Polynomial, Degree: 1, Gamma: 0.5, Coef0: -1},
	{Kind: gram.Polynomial, Degree: 4, Gamma: 0.25, Coef0: 1}, {Kind: gram.Polynomial, Degree: 7, Gamma: 1},
	{Kind: gram.RBF, Gamma: 0.125}}

// products returns the matrix of rows.
func products(t *testing.T, rows *gram.Rows, storage gram.Storage, k gram.Kernel, workers int) *gram.Symmetric {
	t.Helper()
	m, err := gram.NewSymmetric(rows.Len(), storage)
	if err == nil {
		err = gram.Gram(t.Context(), m, rows, k, workers)
	}
	require.NoError(t, err)
	return m
}

// checkGram compares every element of both storages with the definition.
func checkGram(t *testing.T, x matrix, k gram.Kernel, workers int) {
	t.Helper()
	for _, storage := range []gram.Storage{gram.Packed, gram.Full} {
		m := products(t, x.rows, storage, k, workers)
		for i := range x.n {
			for j := range i + 1 {
				want := value(k, x.row(i), x.row(j))
				if !same(m.At(i, j), want) || !same(m.At(j, i), want) {
					t.Fatalf("n=%d d=%d storage=%d %+v workers=%d: (%d, %d) is %v and %v, want %v", x.n, x.d, storage, k, workers, i, j, m.At(i, j), m.At(j, i), want)
				}
			}
			for j := x.n; storage == gram.Full && j < m.Stride; j++ {
				if m.Data[i*m.Stride+j] != 0 {
					t.Fatalf("n=%d: the padding of row %d isn't zero", x.n, i)
				}
			}
		}
	}
}

func TestGram(t *testing.T) {
	kerneltest.OnLevels(t, testGram)
}

// testGram takes sizes around those of tiles, panels and blocks, random ones, and several blocks for each number of workers.
func testGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := [][2]int{{0, 3}, {1, 1}, {5, 0}, {1, 300}, {6, 16}, {7, 17}, {143, 2}, {145, 3}, {193, 5}, {33, 255}, {33, 256}, {400, 3},
		{33, 257}, {17, 600}, {241, 2}}
	if require.Small() {
		sizes = sizes[:12]
	}
	for range 5 {
		sizes = append(sizes, [2]int{1 + rng.IntN(150), 1 + rng.IntN(40)})
	}
	for _, s := range sizes {
		x := random(rng, s[0], s[1], rng.NormFloat64)
		workers := []int{0, 1, 2, 3, 8}[rng.IntN(5)]
		checkGram(t, x, mercers[rng.IntN(len(mercers))], workers)
		checkGram(t, x, gram.Kernel{}, workers)
	}
	x := random(rng, 400, 3, rng.NormFloat64)
	for _, workers := range []int{1, 2, 3, 8} {
		checkGram(t, x, gram.Kernel{}, workers)
	}
}

// TestWide has rows so long that not all fit into the packed rows at once. It checks a sample of the elements.
func TestWide(t *testing.T) {
	if require.Small() {
		t.Skip("takes long")
	}
	rng := rand.New(rand.NewPCG(13, 14))
	x := random(rng, 500, 17500, func() float64 { return float64(rng.IntN(1<<20)) / 7 })
	m := products(t, x.rows, gram.Full, gram.Kernel{}, 2)
	for range 500 {
		i, j := rng.IntN(x.n), rng.IntN(x.n)
		if got, want := m.At(i, j), inner(x.row(i), x.row(j)); got != want {
			t.Fatalf("(%d, %d) is %v, want %v", i, j, got, want)
		}
	}
}

// TestSpecials: rounding, overflow, signed zeros and NaN follow the definition.
func TestSpecials(t *testing.T) {
	kerneltest.OnLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		special := []float64{0, math.Copysign(0, -1), 1e-45, -1e-45, 3e38, -3e38, math.Inf(1), math.NaN(), 1e-23, -1e-23}
		for range 20 {
			x := random(rng, 20, 1+rng.IntN(5), func() float64 { return special[rng.IntN(len(special))] })
			checkGram(t, x, gram.Kernel{}, 2)
		}
	})
}

func TestCross(t *testing.T) {
	kerneltest.OnLevels(t, testCross)
}

func testCross(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, s := range [][3]int{{1, 1, 1}, {3, 500, 4}, {300, 3, 4}, {50, 20, 300}, {98, 97, 1}, {5, 5, 0}, {0, 5, 2}, {5, 0, 2}} {
		x, y := random(rng, s[0], s[2], rng.NormFloat64), random(rng, s[1], s[2], rng.NormFloat64)
		for _, k := range mercers {
			stride := y.n + rng.IntN(3)
			dst := make([]float32, x.n*stride)
			for i := range dst {
				dst[i] = -77
			}
			require.NoError(t, gram.Cross(context.Background(), dst, stride, x.rows, y.rows, k, 1+rng.IntN(3)))
			for i, got := range dst {
				want := float32(-77)
				if r, c := i/stride, i%stride; c < y.n {
					want = value(k, x.row(r), y.row(c))
				}
				if !same(got, want) {
					t.Fatalf("%v %+v: element %d is %v, want %v", s, k, i, got, want)
				}
			}
		}
	}
}

// TestBlocks: rows in several blocks, dense or sparse, give the same matrix as in one piece.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n, d = 50, 300
	x := random(rng, n, d, func() float64 { return float64(rng.IntN(3) - 1) })
	cuts := []int{0, 20, 21, 50}
	var dense, sparse []*block.Block
	for i := range len(cuts) - 1 {
		lo, hi := cuts[i], cuts[i+1]
		b := block.New(int64(lo), hi-lo, d)
		s := &kernel.SparseRows{Ptr: []int64{0}}
		for r := lo; r < hi; r++ {
			copy(b.X[(r-lo)*b.Stride:], x.row(r))
			for c, v := range x.row(r) {
				if v != 0 {
					s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
				}
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		dense = append(dense, b)
		sparse = append(sparse, &block.Block{First: int64(lo), Cols: d, Stride: b.Stride, Sparse: s})
	}
	spec := &schema.Spec{Features: make([]string, d)}
	for _, blocks := range [][]*block.Block{dense, sparse} {
		x.rows = gram.RowsOf(block.NewData(spec, blocks))
		checkGram(t, x, gram.Kernel{}, 3)
	}
}
