package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
)

var ctx = context.Background()

func key(options string, sources ...Source) Key {
	return Key{json.RawMessage(fmt.Sprintf("%q", options)), sources}
}

// source returns a file of a size and a time, on a system that says no more.
func source(path string, size, modified int64) Source { return Source{path, size, modified, State{}} }

func mustWrite(t *testing.T, path string, k Key, src block.Source) *File {
	t.Helper()
	f := require.Value(Write(ctx, path, k, src, nil))(t)
	t.Cleanup(func() { f.Close() })
	return f
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
		rowsOf := func() (block.Source, error) { return warned{random(10, 1), want}, nil }
		for run := range 2 {
			var notes []string
			f := require.Value(Ensure(ctx, path, key(""), rowsOf, func(s string) { notes = append(notes, s) }, nil))(t)
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
	whole := require.Value(os.ReadFile(path))(t)
	head := int64(strings.Index(string(whole), "}\x00")) + 1
	_, at := f.block(0)
	var places []int64
	for i := range head {
		places = append(places, i)
	}
	places = append(places, at.x, at.x+17, at.y-1, at.y, at.y+3, at.w-1, at.w, at.w+9, at.w+8*5000-1, f.table(), f.table()+9, f.tail()-17, f.tail()-9, f.tail()-1, f.tail(), f.tail()+7, int64(len(whole))-1)
	for _, at := range places {
		for _, flip := range []byte{1, 0x80} {
			bad := slices.Clone(whole)
			bad[at] ^= flip
			mustBeStale(t, fmt.Sprint("byte ", at), path, k, bad, at < int64(len(family)))
		}
	}
	for cut := int64(1); cut < int64(len(whole)); cut += 1499 {
		mustBeStale(t, fmt.Sprint("cut at ", cut), path, k, whole[:cut], cut < int64(len(family)))
	}
	mustBeStale(t, "longer", path, k, append(slices.Clone(whole), 0), false)
}

// mustBeStale opens a file of that content, which is no good cache, or, without the name of the format, none at all.
func mustBeStale(t *testing.T, what, path string, k Key, content []byte, foreign bool) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, content, 0o600))
	got, err := Open(ctx, path, k)
	if err == nil {
		got.Close()
	}
	if stale := StaleError(""); err == nil || errors.As(err, &stale) == foreign || errors.Is(err, errForeign) != foreign {
		t.Errorf("%s: error %v, foreign %t", what, err, foreign)
	}
}

// TestForeign: what isn't a cache is left alone, and an empty file is taken for none.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	empty := filepath.Join(dir, "empty")
	for path, content := range map[string]string{text: "my only copy", empty: ""} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	rowsOf := func() (block.Source, error) { return random(10, 1), nil }
	note := func(s string) { t.Errorf("note %q", s) }
	for _, path := range []string{text, dir, os.DevNull} {
		_, err := Ensure(ctx, path, key(""), rowsOf, note, nil)
		if err == nil || !strings.HasPrefix(err.Error(), path+": it is no cache of halfspace") {
			t.Errorf("%s: error %v", path, err)
		}
	}
	if content, err := os.ReadFile(text); string(content) != "my only copy" {
		t.Errorf("the text is %q, error %v", content, err)
	}
	f := require.Value(Ensure(ctx, empty, key(""), rowsOf, note, nil))(t)
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
		{key("p", Source{"/b", 4, 5, State{6, 7}}), "/b was replaced, or its attributes changed since it was made"},
		{key("p", Source{"/b", 4, 5, State{6, 8}}), "/b was replaced, or its attributes changed since it was made"},
		{key("p", Source{"/b", 4, 5, State{7, 8}}), "/b was replaced, or its attributes changed since it was made"},
		{key("p", Source{"/b", 4, 5, State{7, 8}}), ""},
	} {
		var note string
		made := 0
		f, err := Ensure(ctx, path, c.key, func() (block.Source, error) {
			made++
			return random(800, 2), nil
		}, func(s string) { note = s }, nil)
		require.NoError(t, err)
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
