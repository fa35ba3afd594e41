package separability

import (
	"context"
	"testing"
)

// TestEnds: what takes n^3 steps ends with the context: the echelon form, and the basis of a corral.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, want := range []int{2, 0} {
		if want == 0 {
			cancel()
		}
		if rows, cols := reduce([][]uint64{{1, 2}, {3, 4}}, 2, &effort{ctx, 1}); len(rows) != want || len(cols) != want {
			t.Errorf("%d rows and %d columns have pivots, want %d", len(rows), len(cols), want)
		}
		p := newPool(2, 1, 1)
		p.corral = []vertex{{point: []float64{1, 0, 0, 0}}, {point: []float64{0, 1, 0, 0}}, {point: []float64{1, 1, 0, 0}}}
		p.lambda = []float64{0.2, 0.3, 0.5}
		p.project(ctx)
		if len(p.basis) != want {
			t.Errorf("%d directions, want %d", len(p.basis), want)
		}
	}
}
