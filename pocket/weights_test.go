package pocket

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
)

// TestWeights compares what is kept of rows with weights with the literal algorithm. The number of scored rows must be
// that of one worker.
func TestWeights(t *testing.T) {
	dropped := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(13, seed))
		rows, cols := 1+rng.IntN(150), 1+rng.IntN(6)
		if seed%10 == 9 {
			rows = 3*block.ChunkRows - rng.IntN(5000)
		}
		d, w := problem(rng, rows, cols, rng.IntN(300), seed%2 == 0, rng.Float64()/2)
		weights := make([]float64, rows)
		for r := range weights {
			weights[r] = max(0, rng.NormFloat64())
		}
		d = testproblems.Weighted(d, func(r int) float64 { return weights[r] })
		weightOf := func(w []float32) (sum float64) {
			for b := range d.Blocks(context.Background()) { // each is a chunk
				part := 0.0
				for r, y := range b.Y {
					if (kernel.Dot(b.X[r*b.Stride:(r+1)*b.Stride], w) > 0) != (y > 0) {
						part += b.W[r]
					}
				}
				sum += part
			}
			return sum
		}
		stride, scored := kernel.Stride(cols), int64(-1)
		best, least := make([]float32, stride), weightOf(make([]float32, stride))
		for c := range slices.Chunk(w, stride) {
			if sum := weightOf(c); sum < least {
				best, least = c, sum
			}
		}
		for i, src := range []block.Source{d, testproblems.Stream{Data: d}, testproblems.Sparse(d), d} {
			p := require.Value(New(context.Background(), src, Exact, []int{1, 2, 3, 8}[i]))(t)
			update := int64(0)
			for c := range slices.Chunk(w, stride) {
				require.NoError(t, p.AfterUpdate(context.Background(), c, update+1, update))
				update++
			}
			require.NoError(t, p.Judge(context.Background()))
			got, curve := p.Best(), p.Curve()
			if !slices.Equal(got.Weights, best) || got.Weight != least || got.Errors != wrong(d, best) || curve[len(curve)-1].Weight != least {
				t.Fatalf("seed %d, %T: %+v is kept, want %v, whose errors have the weight %v", seed, src, got, best, least)
			}
			candidates, s := p.Judged()
			if scored < 0 {
				scored = s
			}
			if i != 2 && s != scored || s > candidates*int64(rows) { // sparse rows have no bounds
				t.Fatalf("seed %d, %T: %d rows scored, %d by one worker", seed, src, s, scored)
			}
			if s < candidates*int64(rows) {
				dropped++
			}
		}
	}
	if dropped == 0 {
		t.Error("no candidate was ever dropped")
	}
}

// TestLeaveZeros: a pocket that leaves zeros keeps the first nonzero candidate with the fewest errors. That holds in
// every mode, also where zeros make fewer errors.
func TestLeaveZeros(t *testing.T) {
	fewer := 0
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(23, seed))
		d, w := problem(rng, 40+rng.IntN(150), 1+rng.IntN(6), 2+rng.IntN(100), true, 0.5)
		stride := kernel.Stride(d.Spec().Cols())
		clear(w[stride : 2*stride]) // zeros may come back
		if seed%2 == 1 {
			d = testproblems.Weighted(d, func(int) float64 { return 1 })
		}
		p := require.Value(New(context.Background(), d, []Mode{Exact, Epoch}[seed/2%2], 2))(t)
		p.LeaveZeros()
		var best []float32
		least, update := int64(math.MaxInt64), int64(0)
		for c := range slices.Chunk(w, stride) {
			update++
			require.NoError(t, p.AfterUpdate(context.Background(), c, update, update))
			require.NoError(t, p.AfterEpoch(context.Background(), c, update, update))
			if n := wrong(d, c); n < least && slices.ContainsFunc(c, func(v float32) bool { return v != 0 }) {
				best, least = c, n
			}
		}
		require.NoError(t, p.Judge(context.Background()))
		if got := p.Best(); !slices.Equal(got.Weights, best) || got.Errors != least {
			t.Fatalf("seed %d: %v with %d errors are kept, want %v with %d", seed, got.Weights, got.Errors, best, least)
		}
		if wrong(d, make([]float32, stride)) < least {
			fewer++
		}
	}
	if fewer == 0 {
		t.Error("the zeros never make fewer errors: there is nothing to tell")
	}
}
