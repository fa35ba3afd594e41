package dataset

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/plan"
	"halfspace/internal/require"
	"halfspace/schema"
)

// tables unpacks the tables of testdata/lakes, and returns their folder.
func tables(t *testing.T) string {
	t.Helper()
	z := require.Value(zip.OpenReader("testdata/lakes/tables.zip"))(t)
	defer z.Close()
	dir := t.TempDir()
	for _, f := range z.File {
		r := require.Value(f.Open())(t)
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, require.Value(io.ReadAll(r))(t), 0o600))
		r.Close()
	}
	return dir
}

// refusedTables are the tables that aren't read, and what the error says.
var refusedTables = map[string]string{
	"deltalake_empty": "the table has no rows (Delta version 0)", "deltalake_emptied": "the table has no rows (Delta version 1)",
	"pyiceberg_empty": "the table has no rows", "spark_iceberg_avro": `its files are "avro"`, "spark_iceberg_orc": `its files are "orc"`,
}

// TestLakes: the rows of lake tables are those that the library reads which wrote the table. The tables are in testdata; with
// HALFSPACE_LAKES, in a folder that make lakes made anew.
func TestLakes(t *testing.T) {
	dir := os.Getenv("HALFSPACE_LAKES")
	if dir == "" {
		dir = tables(t)
	}
	compared := 0
	for _, expected := range require.Value(filepath.Glob(filepath.Join(dir, "*.parquet")))(t) {
		name := strings.TrimSuffix(filepath.Base(expected), ".parquet")
		table := filepath.Join(dir, name)
		if want, is := refusedTables[name]; is {
			if _, err := sortedLines(t, table, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", name, err, want)
			}
			continue
		}
		info, _, err := Inspect(t.Context(), expected, Options{})
		require.NoError(t, err)
		var columns []string
		for _, c := range info.Columns {
			if top, _, _ := strings.Cut(c.Name, ".list."); !slices.Contains(columns, top) {
				columns = append(columns, top)
			}
		}
		want := require.Value(sortedLines(t, expected, columns))(t)
		got, err := sortedLines(t, table, columns)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: error %v, %d rows of %d: %s", name, err, len(got), len(want), firstOther(got, want))
		}
		of, err := InspectLake(t.Context(), table, Options{})
		if err != nil || of.Rows != int64(len(want)) {
			t.Errorf("%s: error %v, %+v", name, err, of)
			continue
		}
		var names []string
		for _, c := range of.Columns {
			if slices.Contains(columns, c.Name) {
				names = append(names, c.Name)
			}
		}
		if !strings.HasPrefix(name, "deltalake_part") && !slices.Equal(names, columns) { // deltalake puts partitions last
			t.Errorf("%s: columns %q, want %q", name, names, columns)
		}
		compared++
	}
	if compared < 25 {
		t.Errorf("%d tables were compared", compared)
	}
}

// sortedLines returns the rows of columns of a table, or of all columns, each as a line, in alphabetical order.
func sortedLines(t *testing.T, path string, columns []string) (lines []string, err error) {
	t.Helper()
	opt := Options{}
	table, err := Examine(t.Context(), []string{path}, opt)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		columns = []string{"*"}
	}
	in, err := table.read(t.Context(), plan.Draft{Plan: plan.Plan{Spec: &schema.Spec{Bias: true}, Keep: columns}})
	if err != nil {
		return nil, err
	}
	for b, err := range in.Batches(t.Context(), table.pool, memory.DefaultAllocator) {
		if err != nil {
			return nil, err
		}
		for row := range int(b.Rows) {
			line := ""
			for k, a := range b.Columns {
				line += fmt.Sprintf("%s %s=%s ", in.bound.Columns[k].Name, a.DataType(), a.ValueStr(row))
			}
			lines = append(lines, line)
		}
		b.Release()
	}
	slices.Sort(lines)
	return lines, nil
}

func firstOther(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return got[i] + ", want " + want[i]
		}
	}
	return ""
}

// TestLakeBlocks: a lake table gives the same blocks as a file with its rows, in memory, streamed and cached. An older version gives
// its own rows, also beside a cache of the newer version.
func TestLakeBlocks(t *testing.T) {
	dir := tables(t)
	for _, name := range []string{"spark_delta_vectors", "spark_iceberg_vectors", "spark_delta_partitions_and_vectors", "spark_iceberg_position_deletes"} {
		table := filepath.Join(dir, name)
		plain := filepath.Join(t.TempDir(), "rows.parquet")
		require.Value(Convert(t.Context(), []string{table}, plain, Options{}, WriterOptions{}))(t)
		opt := Options{Label: "b", Features: []string{"x", "k", "f", "d"}, Nulls: "mean"}
		want, _ := rowsOf(t, require.Value(Load(t.Context(), plain, opt))(t))
		for _, b := range []Budget{{Memory: 1 << 30}, {Memory: 1 << 30, Copies: 1 << 20, InOrder: true}, {Memory: 1 << 30, Cache: filepath.Join(t.TempDir(), "cache")}} {
			for range 2 { // the second time, the cache has the rows
				rows := require.Value(Open(t.Context(), []string{table}, opt, b))(t)
				got, _ := rowsOf(t, rows.Source)
				if !slices.EqualFunc(got, want, slices.Equal) || rows.Lake == "" {
					t.Errorf("%s, %+v, %q: other rows", name, b, rows.Lake)
				}
				require.NoError(t, rows.Close())
			}
		}
	}
	opt := Options{Label: "b", Features: []string{"x", "k", "f", "d"}, Nulls: "mean"}
	for _, name := range []string{"spark_delta_partitions_and_vectors", "pyiceberg_partitions"} { // another process reads the same rows
		in := require.Value(planOf(t.Context(), []string{filepath.Join(dir, name)}, opt, memory.DefaultAllocator))(t)
		want := require.Value(in.Stream(t.Context()))(t)
		shared := in.Shared(want.Spec())
		again := require.Value(require.Value(shared.Plan(t.Context(), 2))(t).Stream(t.Context()))(t)
		a, _ := rowsOf(t, want)
		if b, _ := rowsOf(t, again); len(a) == 0 || !slices.EqualFunc(a, b, slices.Equal) {
			t.Errorf("%s: %d rows in another process, want %d", name, len(b), len(a))
		}
	}
	table, b := filepath.Join(dir, "spark_delta_vectors"), Budget{Memory: 1 << 30, Cache: filepath.Join(t.TempDir(), "cache")}
	for _, c := range []struct {
		version string
		rows    int64
	}{{"", 171}, {"0", 200}, {"1", 180}, {"", 171}, {"1", 180}} {
		rows, err := Open(t.Context(), []string{table}, Options{Label: "b", Features: []string{"x"}, Version: c.version}, b)
		require.NoError(t, err)
		if rows.Rows() != c.rows {
			t.Errorf("version %q: %d rows, want %d", c.version, rows.Rows(), c.rows)
		}
		require.NoError(t, rows.Close())
	}
}

// edit is a change of a file of a table: the text old becomes the text new, once; if old is "", the file is removed.
type edit struct{ file, old, new string }

// TestLakeRefusals: a table that lacks something, or that needs something unknown, is an error that says what to do.
func TestLakeRefusals(t *testing.T) {
	dir := tables(t)
	log := func(version int) string {
		return filepath.Join("_delta_log", strings.Repeat("0", 19)+string(rune('0'+version))+".json")
	}
	for _, c := range []struct {
		table string
		edits []edit
		want  string
	}{
		{"deltalake_plain", []edit{{log(1), "", ""}}, "version 1 is missing from the log"},
		{"deltalake_plain", []edit{{log(3), "}\n", "\n"}}, "00000000000000000003.json: line 1: it is cut, or no action of a Delta log"},
		{"deltalake_plain", []edit{{"part-*0.snappy.parquet", "", ""}}, "names this file, but it is gone: a vacuum may have deleted it"},
		{"deltalake_plain", []edit{{log(0), `"minReaderVersion":1`, `"minReaderVersion":4`}}, "needs a reader of version 4"},
		{"deltalake_plain", []edit{{log(0), `"minReaderVersion":1`, `"minReaderVersion":3,"readerFeatures":["catalogManaged"]`}}, "are known to its catalog only"},
		{"deltalake_plain", []edit{{log(0), `"minReaderVersion":1`, `"minReaderVersion":3,"readerFeatures":["timeTravel"]`}}, `needs "timeTravel", which is not known here`},
		{"deltalake_plain", []edit{{log(0), `"provider":"parquet"`, `"provider":"orc"`}}, `are "orc", and Parquet is read`},
		{"deltalake_plain", []edit{{log(0), `\"name\":\"x\",\"type\":\"double\"`, `\"name\":\"x\",\"type\":\"date\"`}}, `column "x" is float64, but the table's column "x" date`},
		{"deltalake_plain", []edit{{log(0), `\"name\":\"x\",\"type\":\"double\"`, `\"name\":\"id\",\"type\":\"double\"`}}, `has the column "id" twice`},
		{"deltalake_plain", []edit{{log(3), `"size":`, `"size":1`}}, " in the log of "},
		{"deltalake_plain", []edit{{log(3), `\"numRecords\":`, `\"numRecords\":1`}}, " in the log of "},
		{"deltalake_partitions", []edit{{log(0), `"partitionValues":{"k":"0"`, `"partitionValues":{"j":"0"`}}, `the value of column "k" in the log of `},
		{"deltalake_partitions", []edit{{log(0), `"partitionValues":{"k":"0"`, `"partitionValues":{"k":"zero"`}}, `the value of column "k" in the log of `},
		{"deltalake_checkpoint", []edit{{"_delta_log/*.checkpoint.parquet", "PAR1", "PAR0"}}, ".checkpoint.parquet: "},
		{"spark_delta_vectors", []edit{{log(1), `"cardinality":`, `"cardinality":1`}, {log(2), `"cardinality":`, `"cardinality":1`}, {log(4), `"cardinality":`, `"cardinality":1`}}, "the deletion vector is damaged"},
		{"spark_delta_checkpoint_v2", []edit{{"_delta_log/_sidecars/*.parquet", "", ""}}, "a checkpoint of the log names this file, but it is gone"},
		{"spark_delta_mapped_by_name", []edit{{log(0), `"delta.columnMapping.mode":"name"`, `"delta.columnMapping.mode":"order"`}, {log(1), `"delta.columnMapping.mode":"name"`, `"delta.columnMapping.mode":"order"`}, {log(5), `"delta.columnMapping.mode":"name"`, `"delta.columnMapping.mode":"order"`}}, `by "order", which is not known here`},
		{"pyiceberg_plain", []edit{{"metadata/*-m0.avro", "", ""}}, "names this file, but it is gone: expiring snapshots may have deleted it"},
		{"pyiceberg_plain", []edit{{"data/*.parquet", "", ""}}, "names this file, but it is gone: expiring snapshots may have deleted it"},
		{"pyiceberg_plain", []edit{{"metadata/00003-*.json", `"format-version":2`, `"format-version":4`}}, "has version 4, and 3 is the latest that is read"},
		{"pyiceberg_plain", []edit{{"metadata/00003-*.json", `"current-snapshot-id":`, `"current-snapshot-id":7,"was":`}}, "it lacks its current snapshot"},
		{"pyiceberg_plain", []edit{{"metadata/00003-*.json", `"properties":{`, `"properties":{"encryption.key-id":"k"},"were":{`}}, "are encrypted"},
		{"pyiceberg_plain", []edit{{"metadata/00003-*.json", `{"location"`, `[{"location"`}}, "it is cut, or no metadata of an Iceberg table"},
		{"pyiceberg_plain", []edit{{"metadata/snap-*.avro", "Obj\x01", "Obj\x02"}}, "it is damaged, or no Avro file"},
		{"pyiceberg_imported", []edit{{"metadata/0000*.json", "schema.name-mapping.default", "schema.name-mapping.other"}}, "the file has no field ids, and the table no name mapping"},
		{"spark_iceberg_vectors", []edit{{"data/*.puffin", "", ""}}, "it is gone"},
	} {
		table := filepath.Join(t.TempDir(), c.table)
		require.NoError(t, os.CopyFS(table, os.DirFS(filepath.Join(dir, c.table))))
		changed := false
		for _, e := range c.edits {
			for _, file := range require.Value(filepath.Glob(filepath.Join(table, e.file)))(t) {
				if e.old == "" {
					changed = true
					require.NoError(t, os.Remove(file))
					continue
				}
				text := require.Value(os.ReadFile(file))(t)
				changed = changed || bytes.Contains(text, []byte(e.old))
				require.NoError(t, os.WriteFile(file, bytes.Replace(text, []byte(e.old), []byte(e.new), 1), 0o600))
			}
		}
		_, err := sortedLines(t, table, nil)
		if !changed || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %+v: changed: %v, error %v, want %s", c.table, c.edits, changed, err, c.want)
		}
	}
}
