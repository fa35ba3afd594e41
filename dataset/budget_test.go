package dataset

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"halfspace/block"
	"halfspace/dataset/internal/encode"
	"halfspace/dataset/internal/frame"
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
	var fields []arrow.Field
	var arrays []arrow.Array
	for c := range cols + 1 {
		values := make([]float64, rows)
		for i := range values {
			values[i] = float64((i*7919 + c) % rows)
		}
		name := fmt.Sprint("c", c)
		if c == cols {
			name = "label"
			for i := range values {
				values[i] = float64(i % 2)
			}
		}
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.AppendValues(values, nil)
		fields, arrays = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64}), append(arrays, b.NewArray())
	}
	path := filepath.Join(t.TempDir(), "large.parquet")
	writeFile(t, path, array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows)), int64(group),
		parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(dictionary), parquet.WithDataPageSize(1<<30),
		parquet.WithDictionaryPageSizeLimit(1<<30))
	return path
}

// TestPagesInMemory: within a bound fewer row groups are read side by side, and where not even one fits, the error says
// so. What is allocated stays within the bound and some batches.
func TestPagesInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a million rows")
	}
	const rows, group, bound, batches = 1_000_000, 200_000, 12 << 20, 6 << 20
	for _, dictionary := range []bool{false, true} {
		path := largePages(t, 2, rows, group, dictionary)
		read := func(memory int64) (most int, err error) {
			in, err := openColumns(path)
			if err != nil {
				t.Fatal(err)
			}
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
		free, err := read(0)
		if err != nil {
			t.Fatal(err)
		}
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
				!strings.HasSuffix(got, ": give more with --memory, leave columns out, or write smaller pages") {
				t.Errorf("error %s", got)
			}
		}
	}
}

// TestMemoryOption: blocks and pages share what there is, and pages have some in any case.
func TestMemoryOption(t *testing.T) {
	if testing.Short() {
		t.Skip("a million rows")
	}
	path := largePages(t, 5, 1<<20, 1<<20, false) // 8 MiB a page
	for _, c := range []struct {
		memory int64
		fits   bool
	}{{0, true}, {1, false}, {24 << 20, false}, {80 << 20, false}, {300 << 20, true}} {
		mem := new(counter)
		in, err := open(context.Background(), []string{path}, Options{Label: "label", Memory: c.memory, Workers: 2}, mem)
		if err != nil {
			t.Fatal(err)
		}
		s, err := in.Stream(context.Background())
		if err == nil {
			var b *block.Block
			rows := 0
			for b, err = range s.Blocks(context.Background()) {
				if err == nil {
					rows += b.Len()
				}
			}
			if err == nil && rows != 1<<20 {
				t.Errorf("%d rows", rows)
			}
		}
		_, loading := in.Load(context.Background())
		for _, err := range []error{err, loading} {
			if c.fits != (err == nil) || err != nil && !strings.Contains(err.Error(), "give more with --memory") {
				t.Errorf("memory %d: error %v", c.memory, err)
			}
		}
		if most := int(max(frame.LeastReading, c.memory)) + 6<<20; c.memory > 0 && mem.most > most {
			t.Errorf("memory %d: %d bytes are allocated", c.memory, mem.most)
		}
	}
}

// TestRoom: blocks are made at once only where a file is as large as their rows need, and the machine has the memory.
func TestRoom(t *testing.T) {
	path := largePages(t, 2, 1000, 10, false)
	in, err := openColumns(path)
	if err != nil {
		t.Fatal(err)
	}
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
		b := encode.NewBuilder(&encode.Selection{Chosen: in.Sel}, encode.NewLabels(nil), frame.NewPool(1), memory.DefaultAllocator, c.rows, nil)
		if b.MakeRoom(c.stored); c.made != (b.All != nil) {
			t.Errorf("%d rows of %d bytes in a file: made %t", c.rows, c.stored, b.All != nil)
		}
	}
}
