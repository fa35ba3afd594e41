package optimize

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// TestPieces: pieces have each chunk and each batch once, in order. No piece divides a batch.
func TestPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, chunks := range []int{1, 2, 255, 256, 257, 3000} {
		for _, most := range []int{1, 3, 40, 5000} {
			var batches []batch
			for end := 0; end < chunks; {
				end = min(chunks, end+1+rng.IntN(most))
				batches = append(batches, batch{End: end, HasAllColumns: rng.IntN(2) == 0})
			}
			rows := int64(chunks)*block.ChunkRows - 7
			var got []batch
			next := int64(0)
			cut := pieces(batches, rows)
			for _, p := range cut {
				first := next
				for _, g := range p.batches {
					got = append(got, batch{int(first) + g.End, g.HasAllColumns})
				}
				for _, chunk := range p.chunks {
					if chunk != next {
						t.Fatalf("%d chunks: chunk %d follows chunk %d", chunks, chunk, next-1)
					}
					next++
				}
				if p.lo != first*block.ChunkRows || p.hi != min(rows, next*block.ChunkRows) {
					t.Errorf("%d chunks: rows %d to %d of a piece of chunks %d to %d", chunks, p.lo, p.hi, first, next)
				}
			}
			if !reflect.DeepEqual(got, batches) || len(cut) > 256 {
				t.Errorf("%d chunks: %d pieces with batches %v, want %v", chunks, len(cut), got, batches)
			}
		}
	}
}

// TestBatchesOfPiece: a batch has the same sums in a piece of several batches as in one of its own. Arguments for other
// rows are an error.
func TestBatchesOfPiece(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([][]float64, 3*block.ChunkRows+5), make([]float64, 3*block.ChunkRows+5)
	o := &pieceArgs{Batches: []batch{{1, true}, {3, false}, {4, true}}}
	for r := range x {
		x[r], y[r] = []float64{rng.NormFloat64(), 0, rng.NormFloat64()}, 1
		o.Factor, o.Curvature = append(o.Factor, rng.NormFloat64()), append(o.Curvature, float64(rng.IntN(3))*rng.Float64())
	}
	d, direction := testproblems.Dense(x, y, true), []float64{1, 2, 3, 4}
	for i, d := range []*block.Data{d, testproblems.Sparse(d), d, testproblems.Sparse(d)} {
		o.IsDense = i > 1
		var each, products []*batchSums
		from := 0
		of := func(lo, hi int) block.Source {
			var blocks []*block.Block
			for b := range d.Blocks(t.Context()) {
				b = b.Slice(lo, hi)
				b.First = 0
				blocks = append(blocks, b)
			}
			return block.NewData(d.Spec(), blocks)
		}
		for _, g := range o.Batches {
			lo, hi := from*block.ChunkRows, min(len(x), g.End*block.ChunkRows)
			alone := &pieceArgs{[]batch{{g.End - from, g.HasAllColumns}}, o.Factor[lo:hi], o.Curvature[lo:hi], o.IsDense}
			src := passes.Piece{Source: of(lo, hi), Workers: 1}
			sums := require.Value(sumsOf(t.Context(), src, struct{}{}, alone))(t)
			product := require.Value(productOf(t.Context(), src, direction, alone))(t)
			each, products, from = append(each, sums...), append(products, product...), g.End
		}
		for _, src := range []block.Source{d, testproblems.Stream{Data: d}} {
			all := passes.Piece{Source: src, Workers: 3}
			if got, err := sumsOf(t.Context(), all, struct{}{}, o); err != nil || !reflect.DeepEqual(got, each) {
				t.Errorf("sums %v, error %v, want %v", got, err, each)
			}
			if got, err := productOf(t.Context(), all, direction, o); err != nil || !reflect.DeepEqual(got, products) {
				t.Errorf("products %v, error %v, want %v", got, err, products)
			}
		}
		for _, wrong := range []*pieceArgs{
			{o.Batches, o.Factor, o.Curvature[1:], o.IsDense}, {o.Batches, o.Factor[1:], o.Curvature, o.IsDense},
			{o.Batches[:2], o.Factor, o.Curvature, o.IsDense},
			{[]batch{{3, true}, {3, true}, {4, true}}, o.Factor, o.Curvature, o.IsDense},
		} {
			if _, err := sumsOf(t.Context(), passes.Piece{Source: d, Workers: 1}, struct{}{}, wrong); err == nil {
				t.Error("arguments for other rows are no error")
			}
		}
	}
}
