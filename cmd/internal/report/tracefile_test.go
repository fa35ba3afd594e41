package report_test

import (
	"path/filepath"
	"slices"
	"testing"

	"halfspace/cmd/internal/report"
	"halfspace/internal/require"
	"halfspace/internal/train"
)

// TestIntegerClasses: classes that are integers come back as text from every format.
func TestIntegerClasses(t *testing.T) {
	for _, ext := range []string{".csv", ".parquet", ".arrow"} {
		path := filepath.Join(t.TempDir(), "t"+ext)
		w, err := report.CreateTrace(t.Context(), path, report.TraceLayout{Classes: []string{"-7", "10", "2"}})
		require.NoError(t, err)
		for class := range 3 {
			w.Add(train.TracePoint{Class: class, Epoch: 1, Visit: 5, Update: 2})
		}
		require.NoError(t, w.Close())
		table, err := report.ReadTrace(t.Context(), path, 0)
		if err != nil || !slices.Equal(table.Classes, []string{"-7", "10", "2"}) || table.Has("class") || table.Rows != 3 {
			t.Errorf("%s: %+v, %v", ext, table, err)
		}
	}
}

// TestReadMemory: a table that takes more than its memory is refused before all of it is read, and one that takes less is not.
func TestReadMemory(t *testing.T) {
	const points, columns = 1 << 17, 2
	path := filepath.Join(t.TempDir(), "t.parquet")
	w, err := report.CreateTrace(t.Context(), path, report.TraceLayout{})
	require.NoError(t, err)
	for i := range int64(points) {
		w.Add(train.TracePoint{Class: -1, Epoch: 1, Visit: i, Update: i})
	}
	require.NoError(t, w.Close())
	whole, err := report.ReadTrace(t.Context(), path, 0)
	if err != nil || whole.Rows != points || len(whole.Columns) < columns {
		t.Fatalf("%d points, %v", whole.Rows, err)
	}
	holds := int64(len(whole.Columns)) * points * 8
	require.Error(t, require.ErrorOf(report.ReadTrace(t.Context(), path, holds)), "--trace-every")
	if again, err := report.ReadTrace(t.Context(), path, 3*holds); err != nil || again.Rows != points {
		t.Errorf("with enough memory: %v", err)
	}
}
