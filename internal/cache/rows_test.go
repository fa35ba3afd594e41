package cache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/schema"
)

// random returns rows of random values, with a bias.
func random(rows, features int) *block.Data {
	rng := rand.New(rand.NewPCG(1, uint64(rows)))
	spec := specOf(features, false)
	var blocks []*block.Block
	for first, per := 0, block.Rows(spec.Cols()); first < rows; first += per {
		b := block.New(int64(first), min(per, rows-first), spec.Cols())
		for r := range b.Len() {
			for c := range features {
				b.X[r*b.Stride+c] = float32(rng.NormFloat64())
			}
			b.X[r*b.Stride+features] = 1
			b.Y[r] = float32(2*rng.IntN(2) - 1)
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}

func specOf(features int, weighted bool) *schema.Spec {
	spec := &schema.Spec{Bias: true, Label: "y", Weighted: weighted, Classes: []schema.Class{schema.StringClass("no"), schema.StringClass("yes")}, Positive: 1}
	for c := range features {
		spec.Features = append(spec.Features, fmt.Sprint("x", c))
	}
	return spec
}

// rowText returns the bits of a row, its label and its weight.
func rowText(b *block.Block, r int) string {
	bits := []uint64{uint64(math.Float32bits(b.Y[r])), math.Float64bits(b.Weight(r))}
	var columns []uint32
	var values []float32
	if b.Sparse != nil {
		columns, values = b.Sparse.Row(r)
	} else {
		values = b.X[r*b.Stride:][:b.Cols]
	}
	for _, c := range columns {
		bits = append(bits, uint64(c))
	}
	for _, v := range values {
		bits = append(bits, uint64(math.Float32bits(v)))
	}
	return string(bytesOf(bits))
}

// rowsOf returns the texts of all rows, whose blocks follow each other.
func rowsOf(t *testing.T, src block.Source) (rows []string) {
	t.Helper()
	for b, err := range src.Blocks(ctx) {
		require.NoError(t, err)
		if b.First != int64(len(rows)) || b.CheckShape(src.Spec().Cols()) != nil {
			t.Fatalf("row %d: a block from row %d: %v", len(rows), b.First, b.CheckShape(src.Spec().Cols()))
		}
		for r := range b.Len() {
			rows = append(rows, rowText(b, r))
		}
	}
	return rows
}

// TestRows holds every way to read a file against the rows that it was written from, bit for bit.
func TestRows(t *testing.T) {
	dense := []struct{ rows, features int }{{70000, 37}, {513, 3}, {512, 3}, {1, 1}, {511, 3}, {5000, 40}, {4 * 4096, 511}, {30000, 200}}
	if require.Small() {
		dense = dense[:3] // the first has two blocks
	}
	for _, c := range dense {
		checkRows(t, random(c.rows, c.features))
		checkRows(t, weighted(random(c.rows, c.features)))
	}
	for _, c := range []struct{ rows, features int }{{1, 1}, {511, 3}, {513, 3000}, {9000, 70}, {3 * 4096, 40000}} {
		checkRows(t, randomSparse(c.rows, c.features, false))
		checkRows(t, randomSparse(c.rows, c.features, true))
	}
}

// weighted gives rows random weights.
func weighted(d *block.Data) *block.Data {
	rng := rand.New(rand.NewPCG(2, 2))
	return testproblems.Weighted(d, func(int) float64 { return rng.ExpFloat64() })
}

func checkRows(t *testing.T, data *block.Data) {
	t.Helper()
	want := rowsOf(t, data)
	path, k, dir := filepath.Join(t.TempDir(), "c"), key("o", source("/a", 1, 2)), t.TempDir()
	t.Setenv("TMPDIR", dir)
	mustWrite(t, path, k, data)
	named, temporary := require.Value(Open(ctx, path, k))(t), require.Value(Temporary(ctx, data, nil))(t)
	defer named.Close()
	for _, f := range []*File{named, temporary} {
		if f.Rows() != data.Rows() || fmt.Sprint(f.Spec()) != fmt.Sprint(data.Spec()) {
			t.Fatalf("%d rows and %v, want %d and %v", f.Rows(), f.Spec(), data.Rows(), data.Spec())
		}
		for range 2 {
			if !slices.Equal(rowsOf(t, f), want) {
				t.Error("other rows")
			}
		}
		to := block.NewFor(f.Spec(), 0, kernel.GroupRows)
		if f.Sparse() {
			to = block.NewSparseFor(f.Spec(), 0, kernel.GroupRows, 0)
			elements := f.elements(0, f.groups())
			if got := f.Density() * float64(f.Rows()) * float64(len(f.Spec().Features)); math.Abs(got-float64(elements)+float64(len(want))) > 0.1 {
				t.Errorf("the density says %v elements, want %d and a bias in each row", got, elements)
			}
		}
		for c := range f.groups() {
			require.NoError(t, f.ReadGroup(c, to))
			for r := range min(kernel.GroupRows, len(want)-c*kernel.GroupRows) {
				if rowText(to, r) != want[c*kernel.GroupRows+r] {
					t.Fatalf("group %d: row %d differs", c, r)
				}
			}
		}
		rng := rand.New(rand.NewPCG(4, 4))
		at := []uint32{uint32(len(want) - 1), 0}
		for range 300 {
			at = append(at, uint32(rng.IntN(len(want))))
		}
		require.NoError(t, f.ReadRows(at, to))
		for i, r := range at {
			if rowText(to, i) != want[r] {
				t.Fatalf("row %d differs", r)
			}
		}
		for range f.Blocks(ctx) { // a pass in a pass
			if !slices.Equal(rowsOf(t, f), want) {
				t.Error("other rows")
			}
			break
		}
	}
	require.NoError(t, temporary.Close())
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// randomSparse returns rows of up to 20 random elements in that many columns, with a bias. Some rows have the bias alone.
func randomSparse(rows, features int, weighted bool) *block.Data {
	rng := rand.New(rand.NewPCG(3, uint64(rows)))
	spec := specOf(features, weighted)
	var blocks []*block.Block
	for first, per := 0, block.Rows(spec.Cols()); first < rows; first += per {
		b := block.NewSparseFor(spec, int64(first), 0, 0)
		for range min(per, rows-first) {
			s := b.Sparse
			for c := rng.IntN(1 + features/4); c < features && rng.IntN(20) > 0; c += 1 + rng.IntN(features) {
				s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, float32(rng.NormFloat64()))
			}
			s.Idx, s.Val = append(s.Idx, uint32(features)), append(s.Val, 1)
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
			b.Y = append(b.Y, float32(2*rng.IntN(2)-1))
			if weighted {
				b.W = append(b.W, rng.ExpFloat64())
			}
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}
