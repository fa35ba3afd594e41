package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
)

// openFilesIn returns the number of files of a folder that this process has open, as far as the system tells.
func openFilesIn(dir string) (n int) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}

// TestCachingStream makes a first pass of many kinds, then removes the file of rows: only a pass over a cache goes well.
// The pass after one that was left writes the cache. No cache is left half-written.
func TestCachingStream(t *testing.T) {
	g := newGappyTable(t, 4*block.ChunkRows+1, 0, 248, false) // five blocks
	path, want := filepath.Join(t.TempDir(), "wide.parquet"), g.blocks(false, nil)
	writeFile(t, path, g.rec, 1500)
	data := contents(t, path)
	pass := func(ctx context.Context, src block.Source, see func(n int) bool) error {
		n := 0
		for b, err := range src.Blocks(ctx) {
			if err == nil {
				err = sameBlocks([]*block.Block{b}, want[n:n+1])
			}
			if err != nil || !see(n) {
				return err
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%d blocks", n)
		}
		return nil
	}
	ctx, every := t.Context(), func(int) bool { return true }
	budget := Budget{Memory: 64 << 20, InOrder: true, ManyPasses: true,
		Beside: func(rows int64, cols int, _ func(int64) int64) int64 {
			return 64<<20 - 2*block.BlocksInFlight*block.Bytes(block.ChunkRows, cols, false)
		}}
	whole := func(src block.Source) error { return pass(ctx, src, every) }
	for name, c := range map[string]struct {
		first         func(src block.Source) error
		cached, later bool // whether there is a cache after first, and after a whole pass that follows
	}{
		"whole": {whole, true, true},
		"whole, leased": {func(src block.Source) error {
			rows := 0
			err := block.ReduceChunks(ctx, src, 2, func(c block.Chunk) int { return c.Len() }, func(n int) { rows += n })
			if rows != 4*block.ChunkRows+1 {
				t.Errorf("%d rows", rows)
			}
			return err
		}, true, true},
		"left": {func(src block.Source) error { return pass(ctx, src, func(n int) bool { return n < 3 }) }, false, true},
		"left at once, twice": {func(src block.Source) error {
			at := func(int) bool { return false }
			return errors.Join(pass(ctx, src, at), pass(ctx, src, at))
		}, false, true},
		"nested": {func(src block.Source) error {
			return pass(ctx, src, func(int) bool { return whole(src) == nil })
		}, true, true},
		"nested in one that is left": {func(src block.Source) error {
			return pass(ctx, src, func(int) bool { return whole(src) != nil })
		}, false, true},
		"cancelled": {func(src block.Source) error {
			ctx, cancel := context.WithCancel(ctx)
			if err := pass(ctx, src, func(n int) bool { cancel(); return true }); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v after the context was cancelled", err)
			}
			return nil
		}, false, false},
		"without a folder": {func(src block.Source) error {
			t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
			return whole(src)
		}, false, false},
	} {
		for _, again := range []bool{false, true} {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			put(t, path, data)
			rows := require.Value(Open(ctx, []string{path}, Options{Label: "label", Workers: 2, Memory: 64 << 20}, budget))(t)
			src, cached := rows.Source.(*cachingStream), c.cached
			require.NoError(t, c.first(src))
			if again {
				cached = c.later
				require.NoError(t, whole(src))
			}
			require.NoError(t, os.Remove(path))
			if err := whole(src); cached != (err == nil) || err != nil && !strings.Contains(err.Error(), "no such file") {
				t.Errorf("%s, again %t: error %v without the file of rows", name, again, err)
			}
			if n := openFilesIn(dir); n > 0 && !cached {
				t.Errorf("%s, again %t: %d open files without a cache", name, again, n)
			}
			require.NoError(t, rows.Close())
			if n := openFilesIn(dir); n > 0 || whole(src) == nil {
				t.Errorf("%s, again %t: %d open files after Close, or the cache is still read", name, again, n)
			}
		}
	}
}

// TestCachingStreamErrors: a pass that ends in an error makes no cache, although it gave all blocks.
func TestCachingStreamErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	put(t, path, []byte("x,w,y\n1,0,a\n2,0,b\n"))
	opt := Options{Label: "y", SampleWeight: "w", Memory: 8 << 20}
	rows := require.Value(Open(t.Context(), []string{path}, opt, Budget{InOrder: true, ManyPasses: true, Weighted: true,
		Beside: func(int64, int, func(int64) int64) int64 { return 7 << 20 }}))(t)
	defer rows.Close()
	for range 2 {
		seen, last := 0, error(nil)
		for b, err := range rows.Source.(*cachingStream).Blocks(t.Context()) {
			seen, last = seen+b.Len(), err
		}
		if seen != 2 || last == nil || !strings.Contains(last.Error(), "weight") {
			t.Errorf("%d rows, error %v", seen, last)
		}
	}
}
