package learner_test

import (
	"math"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// TestPivots: columns far from zero have pivots, and others don't. Without a bias none has.
func TestPivots(t *testing.T) {
	x := make([][]float64, 5000)
	y := make([]float64, len(x))
	for r := range x {
		u := math.Sin(float64(r))
		x[r] = []float64{u, 1.7e9 + math.Round(1800*u), 1, float64(r % 2), 10 + u, -3e4 - u}
		y[r] = math.Copysign(1, u)
	}
	for _, src := range []*block.Data{testproblems.Dense(x, y, true), testproblems.Sparse(testproblems.Dense(x, y, true))} {
		p, err := learner.Pivots(t.Context(), block.Source(src))
		if err != nil || len(p) != 7 {
			t.Fatalf("%v, error %v", p, err)
		}
		for c, v := range p {
			if far := c == 1 || c == 5; far != (v != 0) {
				t.Errorf("column %d has the pivot %v", c, v)
			}
		}
	}
	none, err := learner.Pivots(t.Context(), block.Source(testproblems.Dense(x, y, false)))
	if err != nil || none != nil {
		t.Errorf("without a bias: %v, error %v", none, err)
	}
}

// TestCentre: rows of any kind of source are less the pivots. Recentre undoes Uncentre.
func TestCentre(t *testing.T) {
	x, y := make([][]float64, 2*block.ChunkRows+7), make([]float64, 2*block.ChunkRows+7)
	for r := range x {
		x[r] = []float64{1e7 + float64(r), float64(r % 3)}
		y[r] = float64(2*(r%2) - 1)
	}
	d := testproblems.Weighted(testproblems.Dense(x, y, true), func(r int) float64 { return float64(r % 5) })
	pivots := []float64{1e7, 0, 0}
	for _, src := range []block.Source{d, testproblems.Stream{Data: d}, testproblems.Sparse(d)} {
		next := int64(0)
		for b, err := range learner.Centre(src, 2, pivots).Blocks(t.Context()) {
			if err != nil || b.First != next || b.Stride != kernel.Stride(3) {
				t.Fatalf("block %+v, error %v", b, err)
			}
			for r := range b.Len() {
				k := int(b.First) + r
				got, want := make([]float64, 3), []float64{float64(float32(x[k][0])) - 1e7, x[k][1], 1}
				if linalg.Widen(b, r, got); !slices.Equal(got, want) || float64(b.Y[r]) != y[k] || b.W[r] != float64(k%5) {
					t.Fatalf("row %d: %v, label %v, weight %v", k, got, b.Y[r], b.W[r])
				}
			}
			next += int64(b.Len())
		}
		if next != d.Rows() {
			t.Errorf("%d rows", next)
		}
	}
	w := []float64{2, 3, 4}
	if learner.Uncentre(w, pivots); !slices.Equal(w, []float64{2, 3, 4 - 2e7}) {
		t.Errorf("weights %v", w)
	}
	if learner.Recentre(w, pivots); !slices.Equal(w, []float64{2, 3, 4}) {
		t.Errorf("weights %v", w)
	}
}
