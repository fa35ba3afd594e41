package logistic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel/f64"
)

// TestSharedChunks: a pass in which all workers share a chunk has the bits of a pass of one worker.
func TestSharedChunks(t *testing.T) {
	for _, c := range []struct {
		rows, columns, classes int
		weighted               bool
	}{{1, 256, 3, false}, {40, 300, 2, true}, {700, 257, 5, true}, {block.ChunkRows + 1000, 280, 35, false}} {
		x, y := draw(c.rows, c.columns, 11)
		if c.classes > 2 {
			for i := range y {
				y[i] = float64(i % c.classes)
			}
		}
		d := testproblems.Dense(x, y, true)
		if c.classes > 2 {
			d = testproblems.Classes(x, y, c.classes, true)
		}
		if c.weighted {
			d = testproblems.Weighted(d, func(r int) float64 { return float64(r % 4) })
		}
		var sum [2]sums
		for i, workers := range []int{1, 3} {
			p := newProblem(d, 0.5, workers)
			if shares := p.sharesChunks(t.Context()); shares != (workers > 1) {
				t.Errorf("%+v, %d workers: chunks are shared %v", c, workers, shares)
			}
			rng, w := rand.New(rand.NewPCG(1, 2)), p.zeros()
			for k := 0; k < len(w); k += p.stride {
				for j := range p.cols {
					w[k+j] = rng.NormFloat64() / 10
				}
			}
			require.NoError(t, p.pass(t.Context(), w, false, &sum[i]))
		}
		if !reflect.DeepEqual(sum[0], sum[1]) || f64.Dot(sum[0].Gradient, sum[0].Gradient) == 0 || math.IsInf(sum[0].Margin, 0) {
			t.Errorf("%+v: %s", c, fmt.Sprint(sum[0].Loss, sum[1].Loss, sum[0].Margin, sum[1].Margin))
		}
	}
}
