package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/schema"
)

// randomSparse returns rows of up to 20 random elements in that many columns, with a bias. Some rows have the bias alone.
func randomSparse(rows, features int, weighted bool) *block.Data {
	rng := rand.New(rand.NewPCG(3, uint64(rows)))
	spec := &schema.Spec{Bias: true, Label: "y", Weighted: weighted, Classes: []schema.Class{schema.StringClass("no"), schema.StringClass("yes")}}
	for c := range features {
		spec.Features = append(spec.Features, fmt.Sprint("x", c))
	}
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

// rowText shows a row, its label and its weight bit for bit.
func rowText(b *block.Block, r int) string {
	columns, values := b.Sparse.Row(r)
	text := fmt.Sprint(columns, math.Float64bits(float64(b.Y[r])), math.Float64bits(b.Weight(r)))
	for _, v := range values {
		text += fmt.Sprint(" ", math.Float64bits(float64(v)))
	}
	return text
}

// TestSparseBlocks holds every way to read sparse rows of a file against the rows that it was written from, bit for bit.
func TestSparseBlocks(t *testing.T) {
	for _, c := range []struct{ rows, features int }{{1, 1}, {511, 3}, {513, 3000}, {9000, 70}, {3 * 4096, 40000}} {
		testSparseBlocks(t, randomSparse(c.rows, c.features, false))
		testSparseBlocks(t, randomSparse(c.rows, c.features, true))
	}
}

func testSparseBlocks(t *testing.T, data *block.Data) {
	t.Helper()
	var want []string
	elements := 0
	for b := range data.Blocks(ctx) {
		for r := range b.Len() {
			want = append(want, rowText(b, r))
		}
		elements += len(b.Sparse.Idx)
	}
	path, k := filepath.Join(t.TempDir(), "c"), key("o", source("/a", 1, 2))
	mustWrite(t, path, k, data)
	named, err := Open(ctx, path, k)
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	temporary, err := Temporary(ctx, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer temporary.Close()
	for _, f := range []*File{named, temporary} {
		if !f.Sparse() || f.elements(0, f.chunks()) != int64(elements) {
			t.Fatalf("sparse: %t, %d elements, want %d", f.Sparse(), f.elements(0, f.chunks()), elements)
		}
		if got := f.Density() * float64(f.Rows()) * float64(len(f.Spec().Features)); math.Abs(got-float64(elements-len(want))) > 0.1 {
			t.Errorf("the density says %v elements, want %d", got, elements-len(want))
		}
		for range 2 {
			at := 0
			for b, err := range f.Blocks(ctx) {
				if err != nil || b.First != int64(at) || b.CheckShape(f.Spec().Cols()) != nil {
					t.Fatalf("row %d: a block from row %d, errors %v, %v", at, b.First, err, b.CheckShape(f.Spec().Cols()))
				}
				for r := range b.Len() {
					if got := rowText(b, r); got != want[at] {
						t.Fatalf("row %d: %s, want %s", at, got, want[at])
					}
					at++
				}
			}
			if at != len(want) {
				t.Fatalf("%d rows, want %d", at, len(want))
			}
		}
		sameSparseRows(t, f, want)
	}
}

// sameSparseRows compares chunks, and single rows in any order.
func sameSparseRows(t *testing.T, f *File, want []string) {
	t.Helper()
	to := block.NewSparseFor(f.Spec(), 0, kernel.ChunkRows, 0)
	for c := range f.chunks() {
		if err := f.ReadChunk(c, to); err != nil || to.Len() != min(kernel.ChunkRows, len(want)-c*kernel.ChunkRows) {
			t.Fatalf("chunk %d: %d rows, error %v", c, to.Len(), err)
		}
		for r := range to.Len() {
			if got := rowText(to, r); got != want[c*kernel.ChunkRows+r] {
				t.Fatalf("chunk %d, row %d: %s", c, r, got)
			}
		}
	}
	rng := rand.New(rand.NewPCG(4, 4))
	at := []uint32{uint32(len(want) - 1), 0}
	for range 300 {
		at = append(at, uint32(rng.IntN(len(want))))
	}
	if err := f.ReadRows(at, to); err != nil || to.Len() != len(at) {
		t.Fatalf("%d rows of %d, error %v", to.Len(), len(at), err)
	}
	for i, r := range at {
		if got := rowText(to, i); got != want[r] {
			t.Fatalf("row %d: %s, want %s", r, got, want[r])
		}
	}
}

// sparseFile writes a small cache and returns its content and the numbers of its layout.
func sparseFile(t *testing.T, path string, k Key, data *block.Data) ([]byte, layout) {
	t.Helper()
	f := mustWrite(t, path, k, data)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole, f.layout
}

// mustBeDamaged opens a file of that content.
func mustBeDamaged(t *testing.T, what, path string, k Key, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(ctx, path, k)
	if err == nil {
		f.Close()
	}
	if stale := Stale(""); !errors.As(err, &stale) {
		t.Errorf("%s: error %v", what, err)
	}
}

// TestSparseDamage changes bytes everywhere behind the header of a file of sparse rows, and cuts it at many places.
func TestSparseDamage(t *testing.T) {
	path, k := filepath.Join(t.TempDir(), "c"), key("o")
	whole, l := sparseFile(t, path, k, randomSparse(1200, 30, true))
	for at := l.first; at < int64(len(whole)); at += 97 {
		bad := slices.Clone(whole)
		bad[at] ^= 0x40
		mustBeDamaged(t, fmt.Sprint("byte ", at), path, k, bad)
	}
	for at := l.end; at < int64(len(whole)); at++ {
		bad := slices.Clone(whole)
		bad[at] ^= 1
		mustBeDamaged(t, fmt.Sprint("byte ", at, " of the table"), path, k, bad)
	}
	for cut := l.first; cut < int64(len(whole)); cut += 499 {
		mustBeDamaged(t, fmt.Sprint("cut at ", cut), path, k, whole[:cut])
	}
	mustBeDamaged(t, "longer", path, k, append(slices.Clone(whole), 0))
}

// TestSparseHostile: a file whose checksums are right, and whose sizes or columns are not, is damaged. Nothing is allocated
// for what it claims.
func TestSparseHostile(t *testing.T) {
	path, k := filepath.Join(t.TempDir(), "c"), key("o")
	data := randomSparse(1200, 30, false)
	whole, l := sparseFile(t, path, k, data)
	table := func(change func(elements []uint64)) []byte {
		bad := slices.Clone(whole)
		words := make([]uint64, l.words()+2)
		copy(bytesOf(words), bad[l.end:])
		change(words[l.chunks():l.words()])
		copy(bad[l.end:], bytesOf(endTable(words[:l.words()], nil)))
		return bad
	}
	mustOpen := table(func([]uint64) {})
	if !slices.Equal(mustOpen, whole) {
		t.Fatal("the table that changes nothing changes the file")
	}
	for what, change := range map[string]func(n []uint64){
		"more elements":               func(n []uint64) { n[0]++ },
		"elements of another chunk":   func(n []uint64) { n[0]--; n[1]++ },
		"elements up to the last bit": func(n []uint64) { n[1] = math.MaxUint64 },
		"elements that overflow":      func(n []uint64) { n[0], n[1] = 1<<61, 1<<63 },
		"a terabyte":                  func(n []uint64) { n[2] = 1 << 37 },
		"none":                        func(n []uint64) { clear(n) },
	} {
		mustBeDamaged(t, what, path, k, table(change))
	}
	for _, at := range []uint64{0, 1, uint64(l.first), uint64(l.end) - 8, uint64(l.end) + 8, uint64(len(whole)), 1 << 40, math.MaxInt64, math.MaxUint64} {
		bad := slices.Clone(whole)
		binary.NativeEndian.PutUint64(bad[len(bad)-8:], at)
		mustBeDamaged(t, fmt.Sprint("a table at ", at), path, k, bad)
	}
	for what, change := range map[string]func(s *kernel.SparseRows){
		"a column beyond the features": func(s *kernel.SparseRows) { s.Idx[0] = 31 },
		"the greatest column":          func(s *kernel.SparseRows) { s.Idx[len(s.Idx)-1] = math.MaxUint32 },
		"a column twice":               func(s *kernel.SparseRows) { s.Ptr[1] = s.Ptr[2] },
	} {
		bad := randomSparse(1200, 30, false)
		for b := range bad.Blocks(ctx) {
			change(b.Sparse)
		}
		content, _ := sparseFile(t, path, k, bad)
		mustBeDamaged(t, what, path, k, content)
	}
	// The rows of a chunk have other elements than the table says, under a right checksum.
	for b := range data.Blocks(ctx) {
		c := chunkOf(b.Slice(0, kernel.ChunkRows))
		c.counts[0]++
		bad := slices.Clone(whole)
		copy(bad[l.first:], bytesOf(c.counts))
		words := make([]uint64, l.words())
		copy(bytesOf(words), bad[l.end:])
		words[0] = c.sum()
		copy(bad[l.end:], bytesOf(endTable(words, nil)))
		mustBeDamaged(t, "more elements in a row", path, k, bad)
	}
}
