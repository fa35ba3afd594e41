package dataset

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestShortRowGroups: the memory that a pass takes for a row group of one row is small, since files may have a million.
func TestShortRowGroups(t *testing.T) {
	const groups, most = 2000, 8 << 10
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32}, {Name: "label", Type: arrow.PrimitiveTypes.Float32}}, nil)
	path := filepath.Join(t.TempDir(), "a.parquet")
	w, err := Create(path, schema, WriterOptions{RowGroupRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	for i := range groups {
		b.Append(float32(i % 2))
	}
	values := b.NewArray()
	if err := w.Write(array.NewRecord(schema, []arrow.Array{values, values}, groups)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := Open[float32](context.Background(), []string{path}, Options{Label: "label", Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data, err := in.Load(context.Background())
	runtime.ReadMemStats(&after)
	if err != nil || data.Rows() != groups {
		t.Fatalf("%d rows, error %v", data.Rows(), err)
	}
	if got := (after.TotalAlloc - before.TotalAlloc) / groups; got > most {
		t.Errorf("%d bytes for a row group, more than %d", got, most)
	}
}
