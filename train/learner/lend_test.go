package learner_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// A library lends copies of blocks and spoils each once it is released.
type library struct{ testproblems.Stream }

func (l library) Lend(ctx context.Context) iter.Seq2[block.Lease, error] {
	return func(yield func(block.Lease, error) bool) {
		for b := range l.Data.Blocks(ctx) {
			c := b.Clone()
			spoil := func() {
				for _, values := range [][]float32{c.X, c.Y} {
					for i := range values {
						values[i] = float32(math.NaN())
					}
				}
			}
			if !yield(block.Lease{Block: c, Release: spoil}, nil) {
				return
			}
		}
	}
}

// TestWrappedLoans: sources that change the labels, sample weights or features of a lender lend as many blocks at once,
// and have the rows that they have for data in memory.
func TestWrappedLoans(t *testing.T) {
	data := testproblems.RandomClasses(5*block.ChunkRows+7, 599, 3, 0.1)
	pivots := make([]float64, 600)
	pivots[1], pivots[3] = 0.5, -2
	compareLent(t, "versus", data, func(src block.Source) block.Source { return learner.VersusRest(src, 1) })
	compareLent(t, "class weights", data, func(src block.Source) block.Source {
		return learner.WithClassWeights(src, []float64{2, 0.5, 3})
	})
	compareLent(t, "centred", data, func(src block.Source) block.Source { return learner.Centre(src, 599, pivots) })
}

// compareLent compares the rows of a wrapped lender with those of wrapped data in memory, and borrows two blocks at
// once.
func compareLent(t *testing.T, what string, data *block.Data, wrap func(block.Source) block.Source) {
	t.Helper()
	rows := func(src block.Source) (all []string) {
		if err := block.ReduceChunks(t.Context(), src, 3, func(r block.Chunk) string {
			return fmt.Sprint(r.First, r.Len(), r.X[:2*r.Stride], r.X[len(r.X)-r.Stride:], r.Y, r.W, r.Centring)
		}, func(s string) { all = append(all, s) }); err != nil {
			t.Error(what, err)
		}
		return all
	}
	lent := wrap(library{testproblems.Stream{Data: data}})
	if want, got := rows(wrap(data)), rows(lent); len(want) != 6 || !slices.Equal(got, want) {
		t.Errorf("%s: rows of a lender differ from those in memory", what)
	}
	lender, ok := lent.(block.Leaser)
	if !ok {
		t.Fatalf("%s: %T lends no blocks", what, lent)
	}
	var before *block.Lease
	for loan, err := range lender.Lend(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if before != nil {
			before.Release()
		}
		before = &loan
	}
	before.Release()
}
