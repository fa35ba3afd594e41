package dataset

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/require"
)

// A counter is an allocator that knows how much is allocated.
type counter struct {
	mu        sync.Mutex
	now, most int
}

func (c *counter) Add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += n
	c.most = max(c.most, c.now)
}

func (c *counter) above(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most > n
}

func (c *counter) Allocate(n int) []byte {
	c.Add(n)
	return memory.DefaultAllocator.Allocate(n)
}

func (c *counter) Free(b []byte) {
	c.Add(-len(b))
	memory.DefaultAllocator.Free(b)
}

func (c *counter) Reallocate(n int, b []byte) []byte {
	c.Add(n - len(b))
	return memory.DefaultAllocator.Reallocate(n, b)
}

// largePages writes columns c0, c1, ... of doubles, and a label, whose row groups have one page in each column, with a
// dictionary or without.
func largePages(t *testing.T, cols, rows, group int, dictionary bool) string {
	t.Helper()
	var fields []testField
	for c := range cols + 1 {
		values, name := make([]float64, rows), fmt.Sprint("c", c)
		for i := range values {
			values[i] = float64((i*7919 + c) % rows)
			if c == cols {
				values[i], name = float64(i%2), "label"
			}
		}
		fields = append(fields, datatest.Column(name, values, nil))
	}
	path := filepath.Join(t.TempDir(), "large.parquet")
	writeFile(t, path, record(t, fields...), int64(group), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(dictionary),
		parquet.WithDataPageSize(1<<30), parquet.WithDictionaryPageSizeLimit(1<<30))
	return path
}

// TestPagesInMemory: within a bound fewer row groups are read side by side, and where not even one fits, the error says
// so. What is allocated stays within the bound and some batches.
func TestPagesInMemory(t *testing.T) {
	if require.Small() {
		t.Skip("a million rows")
	}
	const rows, group, bound, batches = 1_000_000, 200_000, 12 << 20, 6 << 20
	for _, dictionary := range []bool{false, true} {
		path := largePages(t, 2, rows, group, dictionary)
		read := func(memory int64) (most int, err error) {
			in := require.Value(openColumns(path))(t)
			in.Memory = memory
			mem := new(counter)
			wait := 100 // ms, for what is read beside the first row group
			if memory == 0 {
				wait = 20_000
			}
			err = readColumns(in, 8, mem, func(int, arrow.Array) {
				for ; wait > 0 && !mem.above(bound+batches); wait-- {
					time.Sleep(time.Millisecond)
				}
			})
			if mem.now != 0 {
				t.Errorf("memory %d: %d bytes are left", memory, mem.now)
			}
			return mem.most, err
		}
		free := require.Value(read(0))(t)
		if free < bound+batches { // or the next check couldn't fail
			t.Fatalf("%d bytes are allocated without a bound", free)
		}
		if most, err := read(bound); err != nil || most > bound+batches {
			t.Errorf("dictionary %t: %d bytes within %d, error %v", dictionary, most, bound, err)
		}
		for _, bound := range []int64{100_000, 1 << 20} {
			most, err := read(bound)
			if err == nil || most > int(bound)+batches {
				t.Errorf("dictionary %t: %d bytes within %d, error %v", dictionary, most, bound, err)
				continue
			}
			got := err.Error()
			if !strings.HasPrefix(got, path+`: column "c`) || !strings.Contains(got, " page") ||
				!strings.HasSuffix(got, ": give more with Memory, leave columns out, or write smaller pages") {
				t.Errorf("error %s", got)
			}
		}
	}
}

// TestRoom: blocks are made at once only where a file is as large as their rows need, and the machine has the memory.
func TestRoom(t *testing.T) {
	path := largePages(t, 2, 1000, 10, false)
	in := require.Value(openColumns(path))(t)
	f := in.Files[0]
	once := in.Stored()
	f.Groups = slices.Repeat(f.Groups, 1000) // whose chunks lie in the same bytes
	if all := in.Stored(); once <= 0 || all < once || all > f.Info.Size() {
		t.Errorf("columns take %d bytes, those of more row groups %d, and the file has %d", once, all, f.Info.Size())
	}
	for _, c := range []struct {
		rows, stored int64
		made         bool
	}{{1000, 0, true}, {1 << 29, 0, false}, {1 << 42, 1 << 50, false}, {math.MaxInt64, math.MaxInt64 / 64, false}} {
		b := transform.NewBuilder(&transform.Binding{Roles: in.Roles}, transform.NewLabels(nil), column.NewPool(1), memory.DefaultAllocator, c.rows, nil)
		if b.MakeRoom(c.stored); c.made != (b.All != nil) {
			t.Errorf("%d rows of %d bytes in a file: made %t", c.rows, c.stored, b.All != nil)
		}
	}
}

// TestShortRowGroups: the memory that a pass takes for a row group of one row is small, since files may have a million.
func TestShortRowGroups(t *testing.T) {
	const groups, most = 2000, 8 << 10
	path := filepath.Join(t.TempDir(), "a.parquet")
	values := make([]float32, groups)
	values[1] = 1
	require.NoError(t, writeAll(path, WriterOptions{RowGroupRows: 1}, record(t, datatest.Column("x", values, nil), datatest.Column("label", values, nil))))
	in := require.Value(planOf(context.Background(), []string{path}, Options{Label: "label", Memory: 64 << 20}, memory.DefaultAllocator))(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data, err := in.Load(context.Background())
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	if data.Rows() != groups {
		t.Fatalf("%d rows", data.Rows())
	}
	if got := (after.TotalAlloc - before.TotalAlloc) / groups; got > most {
		t.Errorf("%d bytes for a row group, more than %d", got, most)
	}
}

// TestMemory reads a file of many row groups: pages and arrays of a few of them are in memory at a time.
func TestMemory(t *testing.T) {
	const rows, columns, group = 20_000, 5, 100
	g := newGappyTable(t, rows, 0, 0, false)
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeFile(t, path, g.rec, group)
	for _, workers := range []int{1, 4} {
		mem := new(counter)
		require.Value(load(context.Background(), []string{path}, Options{Label: "label", Features: []string{"x[0-3]"}, Workers: workers}, mem))(t)
		// A row has 4+8+1+2 bytes of features and 8 of the label, in a page and in an array.
		if most := int64(workers+1) * 2 * (group*(15+8) + 64*(columns+3)); int64(mem.most) > most || mem.now != 0 {
			t.Errorf("%d workers: %d bytes at a time, %d at the end, want %d at most and 0", workers, mem.most,
				mem.now, most)
		}
	}
}
