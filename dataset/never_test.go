package dataset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/require"
)

// unreadRows returns the number of rows of the files that are not read.
func unreadRows(t *testing.T, path string, where string) (n int64) {
	t.Helper()
	p := column.NewPool(1)
	in := require.Value(openInput(t.Context(), []string{path}, Options{Label: "y", Features: []string{"n"}, Where: where}, p))(t)
	for b, err := range in.Batches(t.Context(), p, memory.DefaultAllocator) {
		require.NoError(t, err)
		if b.Unread {
			n += b.Rows
		}
		b.Release()
	}
	return n
}

// TestNever: conditions choose the same rows whether statistics exclude row groups or not. Files without statistics, and Arrow IPC, exclude none.
func TestNever(t *testing.T) {
	r, dir, skipped := rand.New(rand.NewPCG(3, 4)), t.TempDir(), int64(0)
	rows, table := whereTable(600)
	ipc := table.write(t, filepath.Join(dir, "a.arrow"))
	var paths []string
	for _, stats := range []bool{true, false} {
		path := filepath.Join(dir, fmt.Sprint(stats, ".parquet"))
		f := require.Value(os.Create(path))(t)
		w := require.Value(pqarrow.NewFileWriter(table.schema, f, parquet.NewWriterProperties(parquet.WithStats(stats), parquet.WithMaxRowGroupLength(3)), pqarrow.DefaultWriterProps()))(t)
		require.NoError(t, w.Write(table.rec))
		require.NoError(t, w.Close())
		paths = append(paths, path)
	}
	for trial := range 150 {
		e := randomExpr(r, rows, 2)
		opt := Options{Label: "y", Features: []string{"n"}, Where: e.text, Workers: 1 + trial%3, Prepare: trial%4 == 1}
		if trial%5 == 0 {
			opt.Limit = 20
		}
		if trial%7 == 0 {
			opt.Sample = 0.5
		}
		var want string
		for i, path := range append([]string{ipc}, paths...) {
			var notes []string
			opt.Warn = func(text string) { notes = append(notes, text) }
			data, err := Load(t.Context(), path, opt)
			got := fmt.Sprint(err != nil)
			if err == nil {
				features, labels := rowsOf(t, data)
				if opt.Limit > 0 {
					notes = nil // they count the rows up to the end of a batch, which depends on the format
				}
				got = fmt.Sprint(features, labels, notes)
			}
			if i > 0 && got != want {
				t.Fatalf("%s: %s: %s, want %s", path, e.text, got, want)
			}
			want = got
		}
		skipped += unreadRows(t, paths[0], e.text)
		if n := unreadRows(t, paths[1], e.text); n > 0 {
			t.Errorf("%s: %d rows are not read, without statistics", e.text, n)
		}
	}
	if skipped < 1000 {
		t.Errorf("%d rows are not read in all trials, want thousands", skipped)
	}
}

// TestNeverPartitions: a file whose folder contradicts the condition is not read.
func TestNeverPartitions(t *testing.T) {
	_, table := whereTable(100)
	dir := t.TempDir()
	for _, part := range []string{"k=1", "k=2", "k=__HIVE_DEFAULT_PARTITION__"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, part), 0o755))
		table.write(t, filepath.Join(dir, part, "a.parquet"))
	}
	for where, want := range map[string]int64{"k = 1": 200, "not k = 1": 200, "k is null": 200, "k is not null": 100, "k >= 1 or n >= 0": 0, "k > 2": 300} {
		if n := unreadRows(t, dir, where); n != want {
			t.Errorf("%s: %d rows are not read, want %d", where, n, want)
		}
	}
}

// TestNeverBounds: bounds of each type exclude no row for which the condition is true.
func TestNeverBounds(t *testing.T) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32,
		arrow.FixedWidthTypes.Float16, &arrow.Decimal128Type{Precision: 9, Scale: 1}}
	for _, typ := range types {
		schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: typ}, {Name: "y", Type: arrow.PrimitiveTypes.Int8}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		texts := []string{"1", "7", "100", "30", "2", "90"}
		switch typ.ID() {
		case arrow.UINT32:
			texts[1] = "4000000000"
		case arrow.UINT64:
			texts[1] = "18446744073709551615"
		}
		for i, text := range texts {
			require.NoError(t, b.Field(0).AppendValueFromString(text))
			require.NoError(t, b.Field(1).AppendValueFromString(fmt.Sprint(i%2)))
		}
		path := filepath.Join(t.TempDir(), "a.parquet")
		f := require.Value(os.Create(path))(t)
		w := require.Value(pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(2)), pqarrow.DefaultWriterProps()))(t)
		require.NoError(t, w.Write(b.NewRecord()))
		require.NoError(t, w.Close())
		for _, where := range []string{"n > 50", "n < 3", "n <> 7", "n between 5 and 80"} {
			in := require.Value(Load(t.Context(), path, Options{Where: where}))(t)
			plain := require.Value(Load(t.Context(), table2ipc(t, schema, b, texts), Options{Where: where}))(t)
			got, _ := rowsOf(t, in)
			want, _ := rowsOf(t, plain)
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s: %s: %v, want %v", typ, where, got, want)
			}
		}
	}
}

// table2ipc writes the rows as Arrow IPC.
func table2ipc(t *testing.T, schema *arrow.Schema, b *array.RecordBuilder, texts []string) string {
	for i, text := range texts {
		require.NoError(t, b.Field(0).AppendValueFromString(text))
		require.NoError(t, b.Field(1).AppendValueFromString(fmt.Sprint(i%2)))
	}
	return newcomer{schema, b.NewRecord()}.write(t, filepath.Join(t.TempDir(), "a.arrow"))
}
