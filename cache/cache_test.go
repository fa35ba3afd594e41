package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/schema"
)

var ctx = context.Background()

// random returns rows of random values, with a bias.
func random(rows, features int) *block.Data {
	rng := rand.New(rand.NewPCG(1, uint64(rows)))
	spec := &schema.Spec{Bias: true, Label: "y", Classes: []schema.Class{schema.StringClass("no"), schema.StringClass("yes")}, Positive: 1}
	for c := range features {
		spec.Features = append(spec.Features, fmt.Sprint("x", c))
	}
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

func key(options string, sources ...Source) Key {
	return Key{json.RawMessage(fmt.Sprintf("%q", options)), sources}
}

// source returns a file of a size and a time, on a system that says no more.
func source(path string, size, modified int64) Source { return Source{path, size, modified, State{}} }

func mustWrite(t *testing.T, path string, k Key, src block.Source) *File {
	t.Helper()
	f, err := Write(ctx, path, k, src, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestSameBlocks holds every way to read a file against the blocks that it was written from, bit for bit.
func TestSameBlocks(t *testing.T) {
	for _, c := range []struct{ rows, features int }{{70000, 37}, {1, 1}, {511, 3}, {512, 3}, {513, 3}, {5000, 40}, {4 * 4096, 511}, {30000, 200}} {
		testSameBlocks(t, random(c.rows, c.features))
		if testing.Short() {
			break // after two blocks
		}
		testSameBlocks(t, weighted(random(c.rows, c.features)))
	}
}

// weighted gives rows random weights.
func weighted(d *block.Data) *block.Data {
	rng := rand.New(rand.NewPCG(2, 2))
	return testrows.Weighted(d, func(int) float64 { return rng.ExpFloat64() })
}

func testSameBlocks(t *testing.T, want *block.Data) {
	path := filepath.Join(t.TempDir(), "c")
	k := key("o", source("/a", 1, 2))
	mustWrite(t, path, k, want)
	named, err := Open(ctx, path, k)
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	temporary, err := Temporary(ctx, want, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*File{named, temporary} {
		if f.Rows() != want.Rows() || fmt.Sprint(f.Spec()) != fmt.Sprint(want.Spec()) {
			t.Fatalf("%d rows and %v, want %d and %v", f.Rows(), f.Spec(), want.Rows(), want.Spec())
		}
		for range 2 {
			sameBlocks(t, f, want)
		}
		sameRows(t, f, want)
	}
	if err := temporary.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// sameBlocks compares the rows; a file's blocks are smaller.
func sameBlocks(t *testing.T, got *File, want block.Source) {
	t.Helper()
	next, stop := iter.Pull2(got.Blocks(ctx))
	defer stop()
	for w := range want.Blocks(ctx) {
		for lo := 0; lo < w.Len(); lo += got.blockRows {
			w := w.Slice(lo, min(w.Len(), lo+got.blockRows))
			g, err, ok := next()
			if !ok || err != nil {
				t.Fatalf("block from row %d: %t, error %v", w.First, ok, err)
			}
			if g.First != w.First || g.Cols != w.Cols || g.Stride != w.Stride || !slices.Equal(g.X, w.X) || !slices.Equal(g.Y, w.Y) ||
				!slices.Equal(g.W, w.W) {
				t.Fatalf("block from row %d differs", w.First)
			}
		}
	}
	if _, _, ok := next(); ok {
		t.Fatal("there are more blocks")
	}
}

// sameRows compares chunks and single rows, also while a pass is under way.
func sameRows(t *testing.T, f *File, want *block.Data) {
	t.Helper()
	stride := kernel.Stride(want.Spec().Cols())
	to := block.NewFor(want.Spec(), 0, 512)
	x, y := to.X, to.Y
	for w := range want.Blocks(ctx) {
		for lo := 0; lo < w.Len(); lo += 512 {
			c := w.Slice(lo, min(w.Len(), lo+512))
			if err := f.ReadChunk(int(c.First/512), to); err != nil || !slices.Equal(x[:len(c.X)], c.X) || !slices.Equal(y[:c.Len()], c.Y) ||
				c.W != nil && !slices.Equal(to.W[:c.Len()], c.W) {
				t.Fatalf("chunk from row %d differs, error %v", c.First, err)
			}
			at := []uint32{uint32(c.First), uint32(c.First) + uint32(c.Len()) - 1}
			if err := f.ReadRows(at, to); err != nil || !slices.Equal(x[:stride], c.X[:stride]) ||
				!slices.Equal(x[stride:2*stride], c.X[len(c.X)-stride:]) || y[0] != c.Y[0] || y[1] != c.Y[c.Len()-1] ||
				c.W != nil && (to.W[0] != c.W[0] || to.W[1] != c.W[c.Len()-1]) {
				t.Fatalf("rows %d differ, error %v", at, err)
			}
		}
		break
	}
	for range f.Blocks(ctx) {
		sameBlocks(t, f, want)
		break
	}
}

// A warned source has warnings.
type warned struct {
	block.Source
	warnings []string
}

func (w warned) Warnings() []string { return w.warnings }

// TestWarnings: a file has its source's warnings, and Ensure repeats them where it serves.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	for i, want := range [][]string{nil, {}, {"column \"é\": left out"}, {"a", "b\n", strings.Repeat("c", 1<<17)}} {
		path := filepath.Join(dir, fmt.Sprint(i))
		make := func() (block.Source, error) { return warned{random(10, 1), want}, nil }
		for run := range 2 {
			var notes []string
			f, err := Ensure(ctx, path, key(""), make, func(s string) { notes = append(notes, s) }, nil)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			if !slices.Equal(f.Warnings(), want) || run == 0 && notes != nil || run == 1 && !slices.Equal(notes, want) {
				t.Errorf("run %d: warnings %.99q, notes %.99q, want %.99q", run, f.Warnings(), notes, want)
			}
		}
	}
}

// TestDamage changes every byte of the head of a file, bytes of its blocks and of its table, and cuts it at many places:
// it is stale, or, without the name of the format, no cache. Padding between those means nothing.
func TestDamage(t *testing.T) {
	data := weighted(random(5000, 3))
	path := filepath.Join(t.TempDir(), "c")
	k := key("o", source("/a", 1, 2))
	f := mustWrite(t, path, k, warned{data, []string{"beware", "of \"rows\""}})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := int64(strings.Index(string(whole), "}\x00")) + 1
	_, at := f.block(0)
	var places []int64
	for i := range head {
		places = append(places, i)
	}
	places = append(places, at.x, at.x+17, at.y-1, at.y, at.y+3, at.w-1, at.w, at.w+9, at.w+8*5000-1, f.table(), f.table()+9, f.tail()-17, f.tail()-9, f.tail()-1, f.tail(), f.tail()+7, int64(len(whole))-1)
	try := func(what string, content []byte, foreign bool) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Open(ctx, path, k)
		if err == nil {
			got.Close()
			t.Fatalf("%s: no error", what)
		}
		if stale := Stale(""); errors.As(err, &stale) == foreign || errors.Is(err, errForeign) != foreign {
			t.Fatalf("%s: error %v, foreign %t", what, err, foreign)
		}
	}
	for _, at := range places {
		for _, flip := range []byte{1, 0x80} {
			bad := slices.Clone(whole)
			bad[at] ^= flip
			try(fmt.Sprint("byte ", at), bad, at < int64(len(family)))
		}
	}
	for cut := int64(1); cut < int64(len(whole)); cut += 1499 {
		try(fmt.Sprint("cut at ", cut), whole[:cut], cut < int64(len(family)))
	}
	try("longer", append(slices.Clone(whole), 0), false)
}

// TestForeign: what isn't a cache is left alone, and an empty file is taken for none.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	empty := filepath.Join(dir, "empty")
	for path, content := range map[string]string{text: "my only copy", empty: ""} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	make := func() (block.Source, error) { return random(10, 1), nil }
	note := func(s string) { t.Errorf("note %q", s) }
	for _, path := range []string{text, dir, os.DevNull} {
		_, err := Ensure(ctx, path, key(""), make, note, nil)
		if err == nil || !strings.HasPrefix(err.Error(), path+": it is no cache of halfspace") {
			t.Errorf("%s: error %v", path, err)
		}
	}
	if content, err := os.ReadFile(text); string(content) != "my only copy" {
		t.Errorf("the text is %q, error %v", content, err)
	}
	f, err := Ensure(ctx, empty, key(""), make, note, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestStale: a cache for other options, sources or types is made anew, with a note that says why.
func TestStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	a, b := source("/a", 1, 2), source("/b", 3, 4)
	last := key("o", a, b)
	mustWrite(t, path, last, random(700, 2))
	for _, c := range []struct {
		key  Key
		want string
	}{
		{key("o", a, b), ""},
		{key("p", a, b), "it was made with other options"},
		{key("p", a), "it was made of other files"},
		{key("p", b), "it was made of other files"},
		{key("p", source("/b", 4, 4)), "/b changed since it was made"},
		{key("p", source("/b", 4, 5)), "/b changed since it was made"},
		{key("p", source("/b", 4, 5)), ""},
		{key("p", Source{"/b", 4, 5, State{6, 7}}), "/b was replaced, or its attributes changed"},
		{key("p", Source{"/b", 4, 5, State{6, 8}}), "/b was replaced, or its attributes changed"},
		{key("p", Source{"/b", 4, 5, State{7, 8}}), "/b was replaced, or its attributes changed"},
		{key("p", Source{"/b", 4, 5, State{7, 8}}), ""},
	} {
		var note string
		made := 0
		f, err := Ensure(ctx, path, c.key, func() (block.Source, error) {
			made++
			return random(800, 2), nil
		}, func(s string) { note = s }, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if c.want != "" {
			c.want = path + ": " + c.want + "; the cache is made anew"
		}
		if note != c.want || made > 0 != (c.want != "") {
			t.Errorf("%v: note %q, made %d times, want %q", c.key, note, made, c.want)
		}
	}
	if wide := (&header{Dtype: "float64"}); wide.mismatch(&header{Dtype: "float32"}) == "" { // as earlier versions wrote it
		t.Error("a cache of float64 rows serves for float32")
	}
	if _, err := Open(ctx, path+"x", last); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: error %v", err)
	}
}

func (b broken) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b := range b.Data.Blocks(ctx) {
			if yield(b, nil) {
				yield(nil, errors.New("out of rows"))
			}
			return
		}
	}
}

func (m miscounted) Rows() int64 { return m.Data.Rows() + m.missing }
