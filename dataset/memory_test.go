package dataset

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// countingAllocator knows the most bytes that were allocated at a time.
type countingAllocator struct {
	memory.Allocator
	now, most atomic.Int64
}

// TestMemory reads a file of many row groups: pages and arrays of a few of them are in memory at a time.
func TestMemory(t *testing.T) {
	const rows, columns, group = 20_000, 4, 100
	m := newMixedTable(t, rows, columns, false)
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeFile(t, path, m.rec, group)
	for _, workers := range []int{1, 4} {
		mem := &countingAllocator{Allocator: memory.DefaultAllocator}
		_, err := load(context.Background(), []string{path}, Options{Label: "label", Workers: workers}, mem)
		if err != nil {
			t.Fatal(err)
		}
		// A row has 4+8+1+2 bytes of features, and 4 of the label's offset and up to 3 of its text, in a page and in an array.
		if most := int64(workers+1) * 2 * (group*(15+4+3) + 64*(columns+3)); mem.most.Load() > most || mem.now.Load() != 0 {
			t.Errorf("%d workers: %d bytes at a time, %d at the end, want %d at most and 0", workers, mem.most.Load(),
				mem.now.Load(), most)
		}
	}
}
