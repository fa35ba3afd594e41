package gram

import (
	"context"
	"math/rand/v2"
	"testing"

	"halfspace/kernel"
)

// TestTable: tiles fill the blocks at every level. Otherwise results would lie outside of them.
func TestTable(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		for _, cols := range []int{0, 1, 28, 512, 1 << 20} {
			if s := tableFor(cols); mc%s.mr != 0 || nb%s.nr != 0 || s.nc%nb != 0 || s.nc == 0 || s.mr%2 != 0 || s.nr%2 != 0 {
				t.Errorf("%s: %+v", l, s)
			}
		}
	}
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

// TestSquaredNorms: norms are the diagonal of the products, whatever the number of workers that computed them.
func TestSquaredNorms(t *testing.T) {
	const n, cols = 2*normRows + 77, 300
	rng := rand.New(rand.NewPCG(5, 6))
	values := make([]float32, n*cols)
	for i := range values {
		values[i] = rng.Float32() - 0.5
	}
	m, err := NewSymmetric(n, Packed)
	if err != nil {
		t.Fatal(err)
	}
	if err := Gram(t.Context(), m, Dense(values, n, cols, cols), Mercer{}, 1); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2, 3} {
		for i, v := range Dense(values, n, cols, cols).squaredNorms(workers) {
			if v != m.At(i, i) {
				t.Fatalf("%d workers: the norm of row %d is %v, and %v in the matrix", workers, i, v, m.At(i, i))
			}
		}
	}
}
