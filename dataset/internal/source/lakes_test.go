package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfspace/dataset/internal/column"
	"halfspace/internal/require"
)

// TestLakes: a Delta or Iceberg table is a version of it by its folder. Its files are refused by a folder below or above it, by a glob,
// by a file and through links, and tables of other kinds by their folder too. Folders and files whose names are like those of a log are
// data.
func TestLakes(t *testing.T) {
	tree(t, "delta/_delta_log/00000000000000000000.json", "delta/k=1/a.csv", "delta/b.csv",
		"lakes/ice/metadata/00001-0a1b.metadata.json", "lakes/ice/data/k=1/a.csv", "ice2/metadata/v1.metadata.json", "ice2/a.csv", "ice3/metadata/version-hint.text", "ice3/data/a.csv",
		"hudi/.hoodie/hoodie.properties", "hudi/a.csv", "stream/_spark_metadata/0", "stream/a.csv", "orc/_delta_log/0.json", "orc/a.orc",
		"hudi2/k=1/.hoodie/hoodie.properties", "hudi2/k=1/a.csv", "duck/ducklake-01.csv", "duck/ducklake-02-delete.parquet", "duck/ducklake-01.parquet",
		"plain/metadata/schema.json", "plain/metadata/a.csv", "plain/x.metadata.json", "plain/_delta/a.csv", "plain/delta_log/a.csv", "plain/ducklake-a.parquet", "plain/a.csv",
		"in -> delta/k=1", "file.csv -> delta/b.csv", "root -> delta")
	for path, want := range map[string]string{
		"delta": "=delta@v0", "delta/": "=delta@v0", "./delta": "=./delta@v0", "root": "=root@v0",
		"delta/*.csv": "files of the Delta Lake table delta, ", "delta/b.csv": "files of the Delta Lake table delta, ", "delta/k=1": "files of the Delta Lake table delta, ", "d*/**/a.csv": "files of the Delta Lake table delta, ",
		"in/a.csv": "files of the Delta Lake table delta, ", "in": "files of the Delta Lake table delta, ", "file.csv": "files of the Delta Lake table delta, ", "fi*.csv": "files of the Delta Lake table delta, ", "root/*.csv": "files of the Delta Lake table root, ",
		"lakes": "files of the Iceberg table lakes/ice, ", "lakes/ice": "=lakes/ice/metadata/00001-0a1b.metadata.json", "lakes/ice/data": "files of the Iceberg table lakes/ice, ", "ice2": "=ice2/metadata/v1.metadata.json", "ice2/metadata/v1.metadata.json": "=ice2/metadata/v1.metadata.json", "i*2": "=ice2/metadata/v1.metadata.json", "ice3/data/*": "files of the Iceberg table ice3, ",
		"hudi": "a Hudi table, ", "hudi/*": "files of the Hudi table hudi, ", "stream": "a table of Spark's Structured Streaming, ", "orc": "!orc: a Delta table without a version", "delta@v0": "=delta@v0", "delta@v1": "!delta: the table has no version 1: the newest is 0", "ice2@v1": "=ice2/metadata/v1.metadata.json", "ice2@v2": "!ice2: the table has no file of metadata with the number 2", "ice3": "!ice3/metadata/version-hint.text: it names \"ice3/metadata/version-hint.text\"", "hudi2": "files of the Hudi table hudi2/k=1, ",
		"duck/*.parquet": "files of a DuckLake table, whose catalog", "duck/ducklake-01.parquet": "files of a DuckLake table, whose catalog",
		"plain": "", "plain/*": "", "plain/ducklake-a.parquet": "", "duck/*.csv": "", "plain/metadata": "",
	} {
		all, _, err := Expand(t.Context(), []string{path}, csvFirst, Choice{})
		if pinned, is := strings.CutPrefix(want, "="); is {
			if err != nil || !slices.Equal(all, []string{pinned}) || PinOf(pinned) == nil {
				t.Errorf("%s: %q, error %v, want %s", path, all, err, pinned)
			}
			continue
		}
		if bad, is := strings.CutPrefix(want, "!"); is {
			if !strings.HasPrefix(fmt.Sprint(err), bad) {
				t.Errorf("%s: error %v, want %s", path, err, bad)
			}
			continue
		}
		if raw, _, err := Expand(t.Context(), []string{path}, csvFirst, Choice{Raw: true}); err != nil && path != "orc" || len(raw) == 0 {
			t.Errorf("%s: raw %q, error %v", path, raw, err)
		}
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
