package tracefile_test

import (
	"path/filepath"
	"slices"
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
		table, err := tracefile.Read(t.Context(), path)
		if err != nil || !slices.Equal(table.Classes, []string{"-7", "10", "2"}) || table.Has("class") || table.Rows != 3 {
			t.Errorf("%s: %+v, %v", ext, table, err)
		}
	}
}
