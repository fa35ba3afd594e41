package tracefile_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/trace"
	"halfspace/trace/tracefile"
)

// TestIntegerClasses: classes that are integers come back as text from every format.
func TestIntegerClasses(t *testing.T) {
	for _, ext := range []string{".csv", ".parquet", ".arrow"} {
		path := filepath.Join(t.TempDir(), "t"+ext)
		w, err := tracefile.Create(t.Context(), path, tracefile.Layout{Classes: []string{"-7", "10", "2"}})
		if err != nil {
			t.Fatal(err)
		}
		for class := range 3 {
			w.Add(trace.Point{Class: class, Epoch: 1, Visit: 5, Update: 2})
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		table, err := tracefile.Read(t.Context(), path, 0)
		if err != nil || !slices.Equal(table.Classes, []string{"-7", "10", "2"}) || table.Has("class") || table.Rows != 3 {
			t.Errorf("%s: %+v, %v", ext, table, err)
		}
	}
}

// TestReadMemory: a table that takes more than its memory is refused before all of it is read, and one that takes less is not.
func TestReadMemory(t *testing.T) {
	const points, columns = 1 << 20, 2
	path := filepath.Join(t.TempDir(), "t.parquet")
	w, err := tracefile.Create(t.Context(), path, tracefile.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(points) {
		w.Add(trace.Point{Class: -1, Epoch: 1, Visit: i, Update: i})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := tracefile.Read(t.Context(), path, 0)
	if err != nil || whole.Rows != points || len(whole.Columns) < columns {
		t.Fatalf("%d points, %v", whole.Rows, err)
	}
	holds := int64(len(whole.Columns)) * points * 8
	if _, err := tracefile.Read(t.Context(), path, holds); err == nil || !strings.Contains(err.Error(), "--trace-every") {
		t.Errorf("a table of %d bytes, which grows, in as much memory: %v", holds, err)
	}
	if again, err := tracefile.Read(t.Context(), path, 3*holds); err != nil || again.Rows != points {
		t.Errorf("with enough memory: %v", err)
	}
}
