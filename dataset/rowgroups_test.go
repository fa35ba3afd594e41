package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/schema"
)

// TestShortRowGroups: the memory that a pass takes for a row group of one row is small, since files may have a million.
func TestShortRowGroups(t *testing.T) {
	const groups, most = 2000, 8 << 10
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeSmall(t, path, groups, 1)
	in, err := Open(context.Background(), []string{path}, Options{Label: "label", Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data, err := in.Load(context.Background())
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if data.Rows() != groups {
		t.Fatalf("%d rows", data.Rows())
	}
	if got := (after.TotalAlloc - before.TotalAlloc) / groups; got > most {
		t.Errorf("%d bytes for a row group, more than %d", got, most)
	}
}

// TestConvertStops: a conversion that is interrupted is an error and leaves no file. The rows read so far of the only row group
// must not pass for all.
func TestConvertStops(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	writeSmall(t, path, 1<<18, 1<<18)
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		out := filepath.Join(dir, "out.csv")
		rows, err := Convert(ctx, []string{path}, out, Options{Workers: 2, Progress: stopper(cancel)}, WriterOptions{})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%d rows, error %v", rows, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s was written", out)
		}
	}
}

// TestBatchesStop is TestConvertStops for what reads blocks.
func TestBatchesStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeSmall(t, path, 1<<18, 1<<18)
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		opt := Options{Features: []string{"x"}, Workers: 2, Progress: stopper(cancel)}
		err := Scan(ctx, []string{path}, opt, func(*schema.Spec, *block.Block, arrow.Record) error { return nil })
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v", err)
		}
	}
}

// stopper returns a function that cancels, and lets what reads in the background end first.
func stopper(cancel func()) func(pass Pass, rows, total int64) {
	before := runtime.NumGoroutine()
	return func(Pass, int64, int64) {
		cancel()
		for k := 0; k < 1e6 && runtime.NumGoroutine() > before; k++ {
			runtime.Gosched()
		}
	}
}

// writeSmall writes a file of two columns of numbers.
func writeSmall(t *testing.T, path string, rows, group int64) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32}, {Name: "label", Type: arrow.PrimitiveTypes.Float32}}, nil)
	w, err := Create(path, schema, WriterOptions{RowGroupRows: group})
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	for i := range rows {
		b.Append(float32(i % 2))
	}
	values := b.NewArray()
	if err := w.Write(array.NewRecord(schema, []arrow.Array{values, values}, rows)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
