package learner_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/learner"
)

// TestWithClassWeights reads reweighted rows from memory, from a stream, and in every way from a file. Each row has its
// own weight times that of its class, and is otherwise unchanged.
func TestWithClassWeights(t *testing.T) {
	ctx := context.Background()
	const rows = 3*block.ChunkRows + 700
	own := func(r int) float64 { return float64(r%5) / 4 }
	for _, labels := range [][]float64{{-1, 1}, {0, 1, 2}} {
		for positive := range 2 {
			for _, weighted := range []bool{false, true} {
				x, y := make([][]float64, rows), make([]float64, rows)
				for r := range x {
					x[r], y[r] = []float64{float64(r), 1}, labels[r*r%7%len(labels)]
				}
				d := testproblems.Dense(x, y, true)
				d.Spec().SetPositive(positive)
				for len(d.Spec().Classes) < len(labels) {
					d.Spec().Classes = append(d.Spec().Classes, schema.IntClass(7))
				}
				if weighted {
					d = testproblems.Weighted(d, own)
				}
				file := require.OpenFile(cache.Temporary(t.Context(), d, nil))(t)
				classes := []float64{0.5, 3, 7}[:len(labels)]
				want := func(r int) float64 {
					c := int(y[r])
					if len(labels) == 2 {
						if c = 1 - positive; y[r] > 0 {
							c = positive
						}
					}
					if weighted {
						return classes[c] * own(r)
					}
					return classes[c]
				}
				check := func(name string, rows []uint32, b *block.Block) {
					t.Helper()
					for i, r := range rows {
						if b.W[i] != want(int(r)) || b.Y[i] != float32(y[r]) || b.X[i*b.Stride] != float32(r) {
							t.Fatalf("%d classes, positive %d, weighted %t, %s: row %d is %v with label %v and weight %v, want weight %v", len(labels),
								positive, weighted, name, r, b.X[i*b.Stride], b.Y[i], b.W[i], want(int(r)))
						}
					}
				}
				for name, src := range map[string]block.Source{"memory": d, "stream": testproblems.Stream{Data: d}, "file": file} {
					w := learner.WithClassWeights(src, classes)
					for range 2 {
						for b, err := range w.Blocks(ctx) {
							if err != nil {
								t.Fatal(err)
							}
							check(name, numbers(int(b.First), b.Len()), b)
						}
					}
					if src.Spec().Weighted != weighted || !w.Spec().Weighted {
						t.Errorf("%s: weighted %t before and %t after", name, src.Spec().Weighted, w.Spec().Weighted)
					}
				}
				sparse := require.OpenFile(cache.Temporary(t.Context(), testproblems.Sparse(d), nil))(t)
				few := learner.WithClassWeights(sparse, classes).(block.Seekable)
				dense := learner.WithClassWeights(file, classes).(block.Seekable)
				to, elements := block.NewFor(dense.Spec(), 0, kernel.GroupRows), block.NewSparseFor(few.Spec(), 0, 0, 0)
				same := func(way string) {
					t.Helper()
					for r, y := range elements.Y {
						if _, values := elements.Sparse.Row(r); y != to.Y[r] || elements.W[r] != to.W[r] || len(elements.W) != len(elements.Y) ||
							values[len(values)-1] != to.X[r*to.Stride+to.Cols-1] {
							t.Fatalf("sparse %s: row %d has label %v and weight %v, want %v and %v", way, r, y, elements.W[r], to.Y[r], to.W[r])
						}
					}
				}
				for range 2 {
					for c := range (rows + kernel.GroupRows - 1) / kernel.GroupRows {
						require.NoError(t, errors.Join(dense.ReadGroup(c, to), few.ReadGroup(c, elements)))
						same("group")
						check("group", numbers(c*kernel.GroupRows, min(kernel.GroupRows, rows-c*kernel.GroupRows)), to)
					}
					at := []uint32{rows - 1, 5, 5, 4097}
					require.NoError(t, errors.Join(dense.ReadRows(at, to), few.ReadRows(at, elements)))
					same("rows")
					check("rows", at, to)
				}
				if _, ok := learner.WithClassWeights(d, classes).(*block.Data); !ok {
					t.Error("reweighted data aren't in memory any more")
				}
			}
		}
	}
}

func numbers(first, n int) (all []uint32) {
	for i := range n {
		all = append(all, uint32(first+i))
	}
	return all
}

// TestBalancedWeights expects s/(k m), with the sums m of the sample weights of the classes that occur: rows of weight 2 are two rows.
func TestBalancedWeights(t *testing.T) {
	y := slices.Concat(slices.Repeat([]float64{0}, 6000), slices.Repeat([]float64{1}, 3000), slices.Repeat([]float64{3}, 1000))
	x := make([][]float64, len(y))
	for r := range x {
		x[r] = []float64{1}
	}
	d := testproblems.Dense(x, y, false)
	for _, c := range []int64{7, 8} { // beside -1 and 1
		d.Spec().Classes = append(d.Spec().Classes, schema.IntClass(c))
	}
	for _, c := range []struct {
		weight func(r int) float64 // nil: none
		sums   []float64
	}{
		{nil, []float64{6000, 3000, 0, 1000}},
		{func(int) float64 { return 2.5 }, []float64{6000, 3000, 0, 1000}},
		{func(r int) float64 { return float64(1 + r%2) }, []float64{9000, 4500, 0, 1500}},
		{func(r int) float64 { return float64(r / 9000) }, []float64{0, 0, 0, 1000}},
	} {
		rows := d
		if c.weight != nil {
			rows = testproblems.Weighted(d, c.weight)
		}
		all, present := 0.0, 0.0
		for _, s := range c.sums {
			all += s
			present += min(s, 1)
		}
		for _, workers := range []int{1, 3} {
			got := require.Value(learner.BalancedWeights(context.Background(), rows, workers))(t)
			for k, s := range c.sums {
				if s == 0 && got[k] != 1 || s > 0 && got[k] != all/(present*s) {
					t.Errorf("%d workers, sums %v: %v", workers, c.sums, got)
				}
			}
		}
	}
}
