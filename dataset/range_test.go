package dataset

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
)

// TestLoadRange: the runs of a range are those of all rows, for files of every kind, with rows that are dropped too.
func TestLoadRange(t *testing.T) {
	const rows = 3*block.RunRows + 77
	dir := t.TempDir()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32, Nullable: true}, {Name: "label", Type: arrow.PrimitiveTypes.Float32}}, nil)
	x, y := array.NewFloat32Builder(memory.DefaultAllocator), array.NewFloat32Builder(memory.DefaultAllocator)
	for i := range rows {
		if y.Append(float32(i % 3 % 2)); i%1000 == 7 {
			x.AppendNull()
		} else {
			x.Append(float32(i))
		}
	}
	rec := array.NewRecord(schema, []arrow.Array{x.NewArray(), y.NewArray()}, rows)
	for _, name := range []string{"a.parquet", "a.csv", "a.arrow"} {
		path := filepath.Join(dir, name)
		w, err := Create(path, schema, WriterOptions{RowGroupRows: 5000})
		if err == nil {
			err = w.Write(rec)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []Options{{Label: "label", Nulls: "zero"}, {Label: "label", Nulls: "drop"}, {Label: "label", Nulls: "mean", Standardize: true}} {
			compareRanges(t, path, opt)
		}
	}
}

func compareRanges(t *testing.T, path string, opt Options) {
	t.Helper()
	ctx := context.Background()
	in, err := Open(ctx, []string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	data, err := in.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var all block.Block
	for b, err := range data.Blocks(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		all = *b // the rows are few: one block
	}
	again, err := Open(ctx, []string{path}, in.Spread(data.Spec()))
	if err != nil {
		t.Fatal(err)
	}
	runs := (data.Rows() + block.RunRows - 1) / block.RunRows
	for first := range runs {
		for last := first + 1; last <= runs; last++ {
			got, err := again.LoadRange(ctx, first*block.RunRows, min(data.Rows(), last*block.RunRows), data.Rows())
			if err != nil {
				t.Fatalf("%s, %+v: %v", path, opt, err)
			}
			if len(got) != int(last-first) {
				t.Fatalf("%s: %d runs from %d to %d", path, len(got), first, last)
			}
			for i, b := range got {
				lo := (int(first) + i) * block.RunRows
				want := all.Slice(lo, min(all.Len(), lo+block.RunRows))
				if b.First != want.First || !slices.Equal(b.X, want.X) || !slices.Equal(b.Y, want.Y) {
					t.Fatalf("%s, %+v: run %d differs", path, opt, first+int64(i))
				}
			}
		}
	}
	if _, err := again.LoadRange(ctx, 0, data.Rows()+1, data.Rows()+1); err == nil {
		t.Errorf("%s: rows that are not there were read", path)
	}
}
