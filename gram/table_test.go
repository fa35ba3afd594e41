package gram

import (
	"context"
	"math/rand/v2"
	"testing"

	"halfspace/internal/kerneltest"
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
		norms := Dense(values, n, cols, cols).squaredNorms(workers)
		for i := 0; i < n; i += 11 {
			want, row := make([]float32, 1), Dense(values[i*cols:(i+1)*cols], 1, cols, cols)
			if err := Cross(t.Context(), want, 1, row, row, Kernel{}, 1); err != nil || norms[i] != want[0] {
				t.Fatalf("%d workers: the norm of row %d is %v, and the product %v, error %v", workers, i, norms[i], want[0], err)
			}
		}
	}
}
