package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/schema"
)

// TestSameBlocks reads the same rows from files of all layouts, in one file and in three, with several workers, and
// from records, into memory and block by block: the blocks are those built value by value.
func TestSameBlocks(t *testing.T) {
	const rows, columns = 45_001, 40 // two blocks of float32, three of float64
	for i, layout := range layouts {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(layout.name, func(t *testing.T) {
			m := newMixedTable(t, rows, columns, layout.nullable)
			dir := t.TempDir()
			whole := filepath.Join(dir, "whole.parquet")
			writeFile(t, whole, m.rec, layout.group, layout.opts...)
			var parts []string
			for i, cut := range [][2]int64{{0, 14_000}, {14_000, 14_001}, {14_001, rows}} {
				parts = append(parts, filepath.Join(dir, fmt.Sprintf("part%d.parquet", i)))
				writeFile(t, parts[i], m.rec.NewSlice(cut[0], cut[1]), layout.group/3+1, layout.opts...)
			}
			want := mixedBlocks(m, true, true)
			if len(want) != 2 {
				t.Fatalf("%d blocks", len(want))
			}
			for _, workers := range []int{3, 1, 8} {
				checkAll(t, []string{whole}, Options{Label: "label", Workers: workers}, m, want)
				if testing.Short() {
					break
				}
			}
			checkAll(t, parts, Options{Label: "label", Workers: 2}, m, want)
			checkAll(t, parts, Options{Label: "label", Workers: 3}, m, want)
		})
	}
}

// checkAll reads paths in every way and compares the blocks.
func checkAll(t *testing.T, paths []string, opt Options, m *mixedTable, want []*block.Block) {
	t.Helper()
	ctx := context.Background()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	d, err := load(ctx, paths, opt, mem)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameBlocks(blocksOf(t, d), want); err != nil {
		t.Errorf("Load of %d files, %d workers: %v", len(paths), opt.Workers, err)
	}
	in, err := open(ctx, paths, opt, mem)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := in.Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if stream.Rows() != d.Rows() || !reflect.DeepEqual(stream.Spec(), d.Spec()) {
		t.Errorf("Stream: %d rows, %v, want %d, %v", stream.Rows(), stream.Spec(), d.Rows(), d.Spec())
	}
	for pass := range 2 {
		copied, err := block.Collect(ctx, stream)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameBlocks(blocksOf(t, copied), want); err != nil {
			t.Errorf("Stream of %d files, %d workers, pass %d: %v", len(paths), opt.Workers, pass, err)
		}
	}
	opt.Spec, opt.Keep = d.Spec(), []string{"label", "x00[01]"}
	i, rows := 0, int64(0)
	err = scan(ctx, paths, opt, mem, func(spec *schema.Spec, b *block.Block, rec arrow.Record) error {
		if spec != opt.Spec {
			t.Error("Scan: another Spec")
		}
		if err := sameBlocks([]*block.Block{b}, want[i:i+1]); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		kept, names := m.rec.NewSlice(rows, rows+int64(b.Len())), []string{"label", "x000", "x001"}
		for k, name := range names {
			if col := kept.Column(kept.Schema().FieldIndices(name)[0]); !array.Equal(rec.Column(k), col) {
				return fmt.Errorf("block %d: kept column %s differs", i, name)
			}
		}
		i, rows = i+1, rows+int64(b.Len())
		return nil
	})
	if err != nil {
		t.Errorf("Scan of %d files, %d workers: %v", len(paths), opt.Workers, err)
	}
	if i != len(want) {
		t.Errorf("Scan: %d blocks, want %d", i, len(want))
	}
}

// TestFromRecords gives the same blocks whatever the records' lengths, and from slices.
func TestFromRecords(t *testing.T) {
	const rows, columns = 9001, 275
	m := newMixedTable(t, rows, columns, true)
	want := mixedBlocks(m, true, true)
	for _, size := range []int64{rows, 4096, 1000, 4097} {
		for _, workers := range []int{1, 3} {
			var recs []arrow.Record
			for lo := int64(0); lo < rows; lo += size {
				recs = append(recs, m.rec.NewSlice(lo, min(rows, lo+size)))
			}
			recs = append(recs, m.rec.NewSlice(5, 5))
			r, err := array.NewRecordReader(m.rec.Schema(), recs)
			if err != nil {
				t.Fatal(err)
			}
			d, err := fromRecords(context.Background(), r, Options{Label: "label", Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if err := sameBlocks(blocksOf(t, d), want); err != nil {
				t.Errorf("records of %d rows, %d workers: %v", size, workers, err)
			}
			if d.Rows() != rows {
				t.Errorf("%d rows", d.Rows())
			}
		}
	}
}

// TestSpec checks names, order, bias and classes.
func TestSpec(t *testing.T) {
	dir, f := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("b", f.Int32, "[1, 2]"), field("a", f.Float64, "[3, 4]"),
		field("name", arrow.BinaryTypes.String, `["u", "v"]`), field("a[0]", arrow.FixedWidthTypes.Boolean, "[true, false]"),
		field("day", arrow.FixedWidthTypes.Date32, "[1, 2]"), field("y", f.Int8, "[1, 0]"), field("km/h", f.Uint8, "[5, 6]"))
	for _, c := range []struct {
		name     string
		opt      Options
		features []string
		first    []float64
	}{
		{"default", Options{Label: "y"}, []string{"b", "a", "a[0]", "day", "km/h"}, []float64{1, 3, 1, 1, 5, 1}},
		{"no label", Options{}, []string{"b", "a", "a[0]", "day", "y", "km/h"}, []float64{1, 3, 1, 1, 1, 5, 1}},
		{"named", Options{Label: "y", Features: []string{"a[0]", "b"}}, []string{"a[0]", "b"}, []float64{1, 1, 1}},
		{"pattern", Options{Label: "y", Features: []string{"a*"}, NoBias: true}, []string{"a", "a[0]"}, []float64{3, 1}},
		{"slash", Options{Label: "y", Features: []string{"k*"}}, []string{"km/h"}, []float64{5, 1}},
		{"name, then all", Options{Label: "y", Features: []string{"a", "*"}}, []string{"a", "b", "a[0]", "day", "km/h"},
			[]float64{3, 1, 1, 1, 5, 1}},
		{"pattern, then name", Options{Label: "y", Features: []string{"a*", "a"}}, []string{"a", "a[0]"}, []float64{3, 1, 1}},
		{"exclude", Options{Label: "y", Exclude: []string{"a*", "name"}}, []string{"b", "day", "km/h"}, []float64{1, 1, 5, 1}},
		{"exclude a name like a pattern", Options{Label: "y", Exclude: []string{"a[0]"}}, []string{"b", "a", "day", "km/h"},
			[]float64{1, 3, 1, 5, 1}},
		{"model", Options{Features: []string{"nothing"}, Spec: &schema.Spec{Features: []string{"a", "b"}, Bias: true}},
			[]string{"a", "b"}, []float64{3, 1, 1}},
		{"model without features", Options{Spec: &schema.Spec{Bias: true}}, nil, []float64{1}},
	} {
		d, err := Load(context.Background(), []string{path}, c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		rows, y := rowsOf(t, d)
		if !slices.Equal(d.Spec().Features, c.features) || !slices.Equal(testrows.Float64s(rows[0]), c.first) || len(rows) != 2 {
			t.Errorf("%s: features %v, first row %v", c.name, d.Spec().Features, rows[0])
		}
		if d.Spec().Bias == c.opt.NoBias || d.Spec().Label != c.opt.Label || (y == nil) != (c.opt.Label == "") {
			t.Errorf("%s: spec %+v, labels %v", c.name, d.Spec(), y)
		}
	}
}

// endingReader ends with an error after its record.
type endingReader struct {
	array.RecordReader
	end error
}

func (r endingReader) Err() error { return r.end }

// TestEndOfRecords tells the end of a source, which some readers report as io.EOF, from an error about a cut file.
func TestEndOfRecords(t *testing.T) {
	rec := record(t, field("x", arrow.PrimitiveTypes.Float32, "[1, 2]"))
	for _, c := range []struct {
		end  error
		want string
	}{
		{io.EOF, ""},
		{fmt.Errorf("could not read a message: %w", io.EOF), "a record can't be read (could not read a message: EOF): check its source"},
		{io.ErrUnexpectedEOF, "a record can't be read (unexpected EOF): check its source"},
	} {
		r, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		_, err = fromRecords(context.Background(), endingReader{r, c.end}, Options{})
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("after %q: error %v, want %q", c.end, err, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	rec := record(t, field("x", arrow.PrimitiveTypes.Int32, "[1, 2, 3, 4, 5]"))
	writeFile(t, path, rec, 2)
	var got []string
	opt := Options{Progress: func(_ Pass, rows, total int64) { got = append(got, fmt.Sprint(rows, "/", total)) }}
	if _, err := Load(context.Background(), []string{path}, opt); err != nil || fmt.Sprint(got) != "[2/5 4/5 5/5]" {
		t.Errorf("files: %v, %v", err, got)
	}
	got = nil
	r, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fromRecords(context.Background(), r, opt); err != nil || fmt.Sprint(got) != "[5/-1]" {
		t.Errorf("records: %v, %v", err, got)
	}
	got, opt.Standardize = nil, true
	if _, err := Load(context.Background(), []string{path}, opt); err != nil || fmt.Sprint(got) != "[2/5 4/5 5/5 2/5 4/5 5/5]" {
		t.Errorf("two passes: %v, %v", err, got)
	}
}

// TestCancel cancels in the middle: the error is the context's, and no goroutine or memory is left behind.
func TestCancel(t *testing.T) {
	m := newMixedTable(t, 3000, 20, false)
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeFile(t, path, m.rec, 100)
	before := runtime.NumGoroutine()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	for _, workers := range []int{1, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		opt := Options{Workers: workers, Label: "label", Progress: func(_ Pass, rows, _ int64) {
			if rows == 500 {
				cancel()
			}
			if rows > 500 {
				t.Error("it went on")
			}
		}}
		if _, err := load(ctx, []string{path}, opt, mem); !errors.Is(err, context.Canceled) {
			t.Errorf("Load: %v", err)
		}
		if _, err := load(ctx, []string{path}, opt, mem); !errors.Is(err, context.Canceled) {
			t.Errorf("Load, cancelled before: %v", err)
		}
		opt = Options{Workers: workers, Keep: []string{"label"}}
		err := scan(context.Background(), []string{path}, opt, mem,
			func(*schema.Spec, *block.Block, arrow.Record) error { return errStop })
		if err != errStop {
			t.Errorf("Scan: %v", err)
		}
		cancel()
	}
	for range 100 { // goroutines that have done their last statement may still be counted
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func (a *countingAllocator) Allocate(n int) []byte {
	a.count(n)
	return a.Allocator.Allocate(n)
}

func (a *countingAllocator) Reallocate(n int, b []byte) []byte {
	a.count(n - len(b))
	return a.Allocator.Reallocate(n, b)
}

func (a *countingAllocator) Free(b []byte) {
	a.count(-len(b))
	a.Allocator.Free(b)
}

func (a *countingAllocator) count(n int) {
	now := a.now.Add(int64(n))
	for most := a.most.Load(); now > most && !a.most.CompareAndSwap(most, now); most = a.most.Load() {
	}
}
