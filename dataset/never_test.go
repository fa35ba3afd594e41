package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/require"
)

// unreadRows returns the number of rows of the files that are not read.
func unreadRows(t *testing.T, path string, where string) (n int64) {
	t.Helper()
	p := column.NewPool(1)
	in := require.Value(inputOf(t.Context(), []string{path}, Options{Label: "y", Features: []string{"n"}, Where: where}))(t)
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
	trials := 150
	if require.Small() {
		trials = 50
	}
	for trial := range trials {
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
	if skipped < int64(7*trials) {
		t.Errorf("%d rows are not read in all trials, want thousands", skipped)
	}
}

// sorted writes rows in the order of their dates and texts, in row groups of 10,000 rows, and the same rows as Arrow IPC.
func sorted(t *testing.T, rows int) (parquetPath, ipcPath string) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "day", Type: arrow.FixedWidthTypes.Date32}, {Name: "at", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Int8}}, nil)
	b, r := array.NewRecordBuilder(memory.DefaultAllocator, schema), rand.New(rand.NewPCG(7, 8))
	for i := range rows {
		b.Field(0).(*array.Date32Builder).Append(arrow.Date32(20_000 + i/1000))
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(int64(i) * 86_400))
		if i%5000 == 17 || i/10_000 == 3 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("%s%06d", strings.Repeat("ä", 40), i))
		}
		b.Field(3).(*array.Float64Builder).Append(r.NormFloat64())
		b.Field(4).(*array.Int8Builder).Append(int8(r.IntN(2)))
	}
	rec, dir := b.NewRecord(), t.TempDir()
	parquetPath = filepath.Join(dir, "a.parquet")
	f := require.Value(os.Create(parquetPath))(t)
	w := require.Value(pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(10_000)), pqarrow.DefaultWriterProps()))(t)
	require.NoError(t, w.WriteBuffered(rec))
	require.NoError(t, w.Close())
	return parquetPath, newcomer{schema, rec}.write(t, filepath.Join(dir, "a.arrow"))
}

var sortedConditions = []string{"day >= '2024-11-20'", "day < '2024-10-20' or day is null", "at between '1970-01-20' and '1970-02-01' and n > 0", "not (day > '2024-10-10')",
	"text > '" + strings.Repeat("ä", 40) + "045000'", "text is not null and day = '2024-11-03'", "text <= 'a'"}

// TestNeverStream: row groups of more rows than a batch that is not read, in memory and in a stream, whole and sampled.
func TestNeverStream(t *testing.T) {
	path, ipc := sorted(t, 60_000)
	for i, where := range sortedConditions {
		for _, opt := range []Options{{Workers: 1}, {Workers: 2, Sample: 0.3}, {Workers: 2, Limit: 777}} {
			opt.Label, opt.Features, opt.Where = "y", []string{"n"}, where
			want, failed := Load(t.Context(), ipc, opt)
			got, err := Load(t.Context(), path, opt)
			if err != nil || failed != nil {
				if err == nil || failed == nil {
					t.Errorf("%s: %v, as Arrow %v", where, err, failed)
				}
				continue
			}
			x, y := rowsOf(t, want)
			in := require.Value(planOf(t.Context(), []string{path}, opt, memory.DefaultAllocator))(t)
			for _, src := range []block.Source{got, require.Value(in.Stream(t.Context()))(t)} {
				if rows, labels := rowsOf(t, src); !slices.EqualFunc(rows, x, slices.Equal) || !slices.Equal(labels, y) {
					t.Errorf("%s, sample %v, limit %d: %d rows, want %d", where, opt.Sample, opt.Limit, len(rows), len(x))
				}
			}
		}
		if n := unreadRows(t, path, where); n == 0 {
			t.Errorf("%s (%d): all rows are read", where, i)
		}
	}
}

// TestNeverOrders: bounds count only if the footer says that they are in the order of the type.
func TestNeverOrders(t *testing.T) {
	path, _ := sorted(t, 30_000)
	const where = "day >= '2024-10-30'"
	if unreadRows(t, path, where) == 0 {
		t.Error("all rows are read")
	}
	data := require.Value(os.ReadFile(path))(t)
	orders := append([]byte{0x19, 0x5c}, bytes.Repeat([]byte{0x1c, 0, 0}, 5)...) // field 7, a list of five unions with the order of the type
	at := bytes.LastIndex(data, orders)
	if at < 0 {
		t.Fatal("the footer has no orders of columns")
	}
	data[at+2] = 0x2c // another order
	require.NoError(t, os.WriteFile(path, data, 0o644))
	if n := unreadRows(t, path, where); n > 0 {
		t.Errorf("%d rows are not read, and the order of the bounds is unknown", n)
	}
}

// TestNeverDamaged: a footer with damaged statistics ends in an error or in rows, not in a panic.
func TestNeverDamaged(t *testing.T) {
	path, _ := sorted(t, 11_000)
	data := require.Value(os.ReadFile(path))(t)
	footer := int(binary.LittleEndian.Uint32(data[len(data)-8:])) + 8
	r := rand.New(rand.NewPCG(9, 10))
	for trial := range 200 {
		bad := slices.Clone(data)
		for range 1 + r.IntN(3) {
			bad[len(bad)-1-r.IntN(footer)] ^= 1 << r.IntN(8)
		}
		require.NoError(t, os.WriteFile(path, bad, 0o644))
		_, err := Load(t.Context(), path, Options{Label: "y", Features: []string{"n"}, Where: sortedConditions[trial%len(sortedConditions)]})
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Fatalf("trial %d: %v", trial, err)
		}
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
