package source

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"halfspace/dataset/internal/column"
	"halfspace/internal/require"
)

// TestLakes: a lake table is refused by its folder, by a folder below or above it, by a glob, by a file and through
// links. Folders and files whose names are like those of a log are data.
func TestLakes(t *testing.T) {
	tree(t, "delta/_delta_log/00000000000000000000.json", "delta/k=1/a.csv", "delta/b.csv",
		"lakes/ice/metadata/00001-0a1b.metadata.json", "lakes/ice/data/k=1/a.csv", "ice2/metadata/v1.metadata.json", "ice2/a.csv", "ice3/metadata/version-hint.text", "ice3/data/a.csv",
		"hudi/.hoodie/hoodie.properties", "hudi/a.csv", "stream/_spark_metadata/0", "stream/a.csv", "orc/_delta_log/0.json", "orc/a.orc",
		"duck/ducklake-01.csv", "duck/ducklake-02-delete.parquet", "duck/ducklake-01.parquet",
		"plain/metadata/schema.json", "plain/metadata/a.csv", "plain/x.metadata.json", "plain/_delta/a.csv", "plain/delta_log/a.csv", "plain/ducklake-a.parquet", "plain/a.csv",
		"in -> delta/k=1", "file.csv -> delta/b.csv", "root -> delta")
	for path, want := range map[string]string{
		"delta": "a Delta Lake table, whose log", "delta/": "a Delta Lake table, whose log", "./delta": "a Delta Lake table, whose log", "root": "a Delta Lake table, whose log",
		"delta/*.csv": "files of the Delta Lake table delta, ", "delta/b.csv": "files of the Delta Lake table delta, ", "delta/k=1": "files of the Delta Lake table delta, ", "d*/**/a.csv": "files of the Delta Lake table delta, ",
		"in/a.csv": "files of the Delta Lake table delta, ", "in": "files of the Delta Lake table delta, ", "file.csv": "files of the Delta Lake table delta, ", "fi*.csv": "files of the Delta Lake table delta, ", "root/*.csv": "files of the Delta Lake table root, ",
		"lakes": "files of the Iceberg table lakes/ice, ", "lakes/ice": "a Iceberg table, ", "lakes/ice/data": "files of the Iceberg table lakes/ice, ", "ice2": "a Iceberg table, ", "ice3/data/*": "files of the Iceberg table ice3, ",
		"hudi": "a Hudi table, ", "hudi/*": "files of the Hudi table hudi, ", "stream": "a table of Spark's Structured Streaming, ", "orc": "a Delta Lake table, ",
		"duck/*.parquet": "files of a DuckLake table, whose catalog", "duck/ducklake-01.parquet": "files of a DuckLake table, whose catalog",
		"plain": "", "plain/*": "", "plain/ducklake-a.parquet": "", "duck/*.csv": "", "plain/metadata": "",
	} {
		want = strings.Replace(want, "a Iceberg", "an Iceberg", 1)
		_, _, err := Expand(t.Context(), []string{path}, csvFirst, Choice{})
		if want == "" && err != nil || want != "" && (!strings.HasPrefix(fmt.Sprint(err), path+": "+want) || !errors.Is(err, column.ErrFormat)) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	t.Chdir("delta/k=1")
	for path, want := range map[string]string{".": "files of the Delta Lake table .., ", "a.csv": "files of the Delta Lake table .., ", "../b.csv": "files of the Delta Lake table .., "} {
		_, _, err := Expand(t.Context(), []string{path}, csvFirst, Choice{})
		if !strings.HasPrefix(fmt.Sprint(err), path+": "+want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	_, _, err := Expand(t.Context(), []string{"a.csv", "none"}, csvFirst, Choice{})
	if text := fmt.Sprint(err); !strings.Contains(text, "Delta") || !strings.Contains(text, "none: no such file") {
		t.Errorf("error %v", err)
	}
	require.NoError(t, newLakeFinder().refuse("-", &lister{files: []string{"-"}}))
}
