package main

import (
	"context"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/internal/require"
)

// load returns the columns of a file of this folder in one record, and its source.
func load(t *testing.T, path string) (rec arrow.Record, source string) {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	require.NoError(t, err)
	defer f.Close()
	if v := f.MetaData().KeyValueMetadata().FindValue("source"); v != nil {
		source = *v
	}
	reader, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	require.NoError(t, err)
	table, err := reader.ReadTable(context.Background())
	require.NoError(t, err)
	defer table.Release()
	batches := array.NewTableReader(table, 0)
	defer batches.Release()
	if !batches.Next() {
		t.Fatal(path, "has no rows")
	}
	rec = batches.Record()
	rec.Retain()
	t.Cleanup(rec.Release)
	if rec.NumRows() != table.NumRows() {
		t.Fatalf("%s has more than one row group", path)
	}
	return rec, source
}

// counts returns how often each label comes.
func counts(label arrow.Array) map[string]int {
	n := map[string]int{}
	for i := range label.Len() {
		n[label.ValueStr(i)]++
	}
	return n
}

// ranges returns the least, the greatest and the mean value of a column.
func ranges(rec arrow.Record, name string) [3]float64 {
	r := [3]float64{math.Inf(1), math.Inf(-1)}
	values := rec.Column(rec.Schema().FieldIndices(name)[0]).(*array.Float64).Float64Values()
	for _, v := range values {
		r[0], r[1], r[2] = min(r[0], v), max(r[1], v), r[2]+v/float64(len(values))
	}
	return r
}

// TestPublishedFigures: the figures are those that UCI and scikit-learn publish beside the data; the means are from R's summary(iris), and
// would be 3.054 and 3.759 for sepal_width and petal_length with the two errors in UCI's copy.
func TestPublishedFigures(t *testing.T) {
	for _, test := range []struct {
		name   string
		fields int
		label  string
		counts map[string]int
		ranges map[string][2]float64 // of some features
		means  map[string]float64    // to three decimals
		source string
	}{
		{"breast-cancer", 31, "diagnosis", map[string]int{"malignant": 212, "benign": 357}, map[string][2]float64{
			"mean_radius": {6.981, 28.11}, "mean_area": {143.5, 2501}, "texture_error": {0.36, 4.885},
			"worst_perimeter": {50.41, 251.2}, "worst_fractal_dimension": {0.055, 0.208},
		}, nil, "10.24432/C5DW2B"},
		{"iris", 5, "species", map[string]int{"setosa": 50, "versicolor": 50, "virginica": 50}, map[string][2]float64{
			"sepal_length": {4.3, 7.9}, "petal_length": {1, 6.9},
		}, map[string]float64{"sepal_length": 5.843, "petal_width": 1.199}, "10.24432/C56C76"},
		{"iris-setosa", 5, "setosa", map[string]int{"true": 50, "false": 100}, map[string][2]float64{
			"sepal_length": {4.3, 7.9}, "sepal_width": {2, 4.4}, "petal_length": {1, 6.9}, "petal_width": {0.1, 2.5},
		}, map[string]float64{"sepal_length": 5.843, "sepal_width": 3.057, "petal_length": 3.758, "petal_width": 1.199},
			"10.24432/C56C76"},
		{"iris-versicolor-virginica", 5, "species", map[string]int{"versicolor": 50, "virginica": 50}, map[string][2]float64{
			"petal_length": {3, 6.9},
		}, nil, "10.24432/C56C76"},
		{"textbook", 3, "label", map[string]int{"1": 2, "-1": 1}, map[string][2]float64{"x1": {1, 4}, "x2": {1, 3}}, nil, "2.1"},
	} {
		rec, source := load(t, filepath.Join(root, "examples", test.name+".parquet"))
		last := int(rec.NumCols()) - 1
		if last+1 != test.fields || rec.ColumnName(last) != test.label {
			t.Errorf("%s: %d columns, the last %q", test.name, last+1, rec.ColumnName(last))
		}
		if got := counts(rec.Column(last)); !maps.Equal(got, test.counts) {
			t.Errorf("%s: labels %v, not %v", test.name, got, test.counts)
		}
		for name, want := range test.ranges {
			got := ranges(rec, name)
			for i := range want {
				if math.Abs(got[i]-want[i]) > 0.000501 {
					t.Errorf("%s: %s is from %v to %v, not from %v to %v", test.name, name, got[0], got[1], want[0], want[1])
				}
			}
			if mean, ok := test.means[name]; ok && math.Abs(got[2]-mean) > 0.0005 {
				t.Errorf("%s: the mean of %s is %v, not %v", test.name, name, got[2], mean)
			}
		}
		if !strings.Contains(source, test.source) {
			t.Errorf("%s: the source is %q", test.name, source)
		}
		for _, f := range rec.Schema().Fields() {
			if f.Nullable {
				t.Errorf("%s: column %q may have nulls", test.name, f.Name)
			}
		}
	}
}
