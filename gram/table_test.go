package gram

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
	"halfspace/kernel"
)

// TestTable: tiles fill the blocks at every level. Otherwise results would lie outside of them.
func TestTable(t *testing.T) {
	kerneltest.OnLevels(t, func(t *testing.T) {
		for _, cols := range []int{0, 1, 28, 512, 1 << 20} {
			if s := tableFor(cols); mc%s.mr != 0 || nb%s.nr != 0 || s.nc%nb != 0 || s.nc == 0 || s.mr%2 != 0 || s.nr%2 != 0 {
				t.Errorf("%d columns: %+v", cols, s)
			}
		}
	})
}

// TestGramEnds: a cancelled product ends within its rows, not after them: each may write all of a large matrix.
func TestGramEnds(t *testing.T) {
	const n = 4000
	x := Dense(make([]float32, n), n, 1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	p := newProduct(x, x, true)
	blocks := 0
	p.finish = func(int, *part) {
		blocks++
		cancel()
	}
	if err := p.run(ctx, 1); err != context.Canceled || blocks != 1 {
		t.Errorf("error %v after %d blocks", err, blocks)
	}
}

// TestSquaredNorms: norms are the products of rows with themselves, whatever the number of workers that computed them.
func TestSquaredNorms(t *testing.T) {
	const n, cols = 2*normRows + 77, 300
	rng := rand.New(rand.NewPCG(5, 6))
	values := make([]float32, n*cols)
	for i := range values {
		values[i] = rng.Float32() - 0.5
	}
	for _, workers := range []int{1, 2, 3} {
		norms, err := Dense(values, n, cols, cols).squaredNorms(t.Context(), workers)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < n; i += 11 {
			want, row := make([]float32, 1), Dense(values[i*cols:(i+1)*cols], 1, cols, cols)
			if err := Cross(t.Context(), want, 1, row, row, Kernel{}, 1); err != nil || norms[i] != want[0] {
				t.Fatalf("%d workers: the norm of row %d is %v, and the product %v, error %v", workers, i, norms[i], want[0], err)
			}
		}
	}
}

// TestSparseNorms: norms of sparse rows have the bits of the norms of the same rows in dense form. The values are of all
// sizes, so that a sum in another order would differ, and squares vanish and overflow.
func TestSparseNorms(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-30, -1e-45, 3e38, float32(math.Inf(-1)), float32(math.NaN())}
	for _, cols := range []int{1, 255, 256, 257, 1000} {
		dense := block.New(0, normRows+100, cols)
		stored := &kernel.SparseRows{Ptr: []int64{0}}
		for r := range dense.Len() {
			for c := range cols {
				if rng.IntN(7) > r%9 {
					continue
				}
				v := float32(math.Ldexp(rng.Float64()-0.5, rng.IntN(20)))
				if rng.IntN(200) == 0 {
					v = special[rng.IntN(len(special))]
				}
				dense.X[r*dense.Stride+c] = v
				stored.Idx, stored.Val = append(stored.Idx, uint32(c)), append(stored.Val, v)
			}
			stored.Ptr = append(stored.Ptr, int64(len(stored.Idx)))
		}
		sparse := &block.Block{Cols: cols, Stride: dense.Stride, Sparse: stored}
		for _, workers := range []int{1, 3} {
			want := require.Value(BlockRows(dense, cols).squaredNorms(t.Context(), workers))(t)
			for r, got := range require.Value(BlockRows(sparse, cols).squaredNorms(t.Context(), workers))(t) {
				if w := want[r]; math.Float32bits(got) != math.Float32bits(w) && (got == got || w == w) {
					t.Fatalf("%d columns: the norm of sparse row %d is %v, of the dense row %v", cols, r, got, w)
				}
			}
		}
	}
}

// TestSparseNormsMemory: norms of sparse rows take no memory for columns.
func TestSparseNormsMemory(t *testing.T) {
	const cols = 1 << 20
	b := &block.Block{Cols: cols, Stride: kernel.Stride(cols),
		Sparse: &kernel.SparseRows{Ptr: []int64{0, 1, 2}, Idx: []uint32{3, cols - 1}, Val: []float32{1, 2}}}
	x := BlockRows(b, cols)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	norms := require.Value(x.squaredNorms(t.Context(), 1))(t)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > cols || norms[0] != 1 || norms[1] != 4 {
		t.Errorf("norms %v took %d bytes, more than one for each column", norms, took)
	}
}

// TestNormsEnd: norms of a context that ended are an error, and are computed again for the next caller.
func TestNormsEnd(t *testing.T) {
	const n, cols = normRows + 5, 50
	values := make([]float32, n*cols)
	for r := range n {
		values[r*cols] = float32(r)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	rbf := Kernel{Kind: RBF, Gamma: 1}
	for _, x := range []*Rows{Dense(values, n, cols, cols), SupportRows(values, n, cols)} {
		if _, err := NewRowCache(ended, x, rbf, 1<<20, 1); !errors.Is(err, context.Canceled) || x.norms != nil {
			t.Fatalf("error %v, and %d norms are kept", err, len(x.norms))
		}
		if _, err := NewRowCache(t.Context(), x, rbf, 1<<20, 1); err != nil || x.norms[n-1] != (n-1)*(n-1) {
			t.Errorf("error %v, and the last norm is %v", err, x.norms[n-1])
		}
	}
}
