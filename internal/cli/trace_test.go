package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/trace/tracefile"
)

// TestTraceFile: a trace in each format has the same points, the model has the same bytes without it, and the last
// update is that of the report.
func TestTraceFile(t *testing.T) {
	iris, dir := filepath.Join("..", "..", "examples", "iris.parquet"), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	base := []string{"train", iris, "--label", "species", "--json", "--out"}
	for name, options := range map[string][]string{
		"pocket": {"--algo", "pocket", "--max-updates", "50"}, "joint": {"--algo", "perceptron", "--multiclass", "joint", "--epochs", "5"},
		"svm": {"--algo", "svm"}, "dual": {"--algo", "dual", "--epochs", "3"}} {
		succeed(t, append(append(base, at("plain.json")), options...)...)
		var tables []*tracefile.Table
		for _, ext := range []string{".csv", ".parquet", ".arrow"} {
			report := decode(t, append(append(base, at("m.json"), "--trace", at(name+ext)), options...)...)
			if plain := readBytes(t, at("plain.json")); !bytes.Equal(plain, readBytes(t, at("m.json"))) {
				t.Errorf("%s: the trace changes the model", name)
			}
			table, err := tracefile.Read(context.Background(), at(name+ext), 0)
			if err != nil {
				t.Fatal(err)
			}
			tables = append(tables, table)
			if updates := table.Columns["update"]; name == "joint" && updates[table.Rows-1] != report["updates"] {
				t.Errorf("the last update is %v, the report says %v", updates[table.Rows-1], report["updates"])
			}
		}
		if first := tables[0]; (name == "pocket") != first.Has("errors") || (name == "joint" || name == "dual") != (first.Classes == nil) ||
			(name == "pocket") != first.Has("weight:bias") {
			t.Errorf("%s: the columns are %v", name, first.Names)
		}
		for _, other := range tables[1:] {
			for _, column := range tables[0].Names {
				for i, v := range tables[0].Columns[column] {
					if w := other.Columns[column][i]; w != v && (w == w || v == v) {
						t.Fatalf("%s: column %s, point %d: %v and %v", name, column, i, v, w)
					}
				}
			}
		}
	}
}

// TestTraceResumed: a trace that begins at a checkpoint says so, and never replaces one that is there.
func TestTraceResumed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	base := []string{"train", filepath.Join("..", "..", "examples", "iris.parquet"), "--label", "species", "--algo", "perceptron", "--epochs", "5",
		"--out", at("m.json"), "--checkpoint", at("ck"), "--checkpoint-every", "1"}
	succeed(t, base...)
	resumed := append(slices.Clone(base), "--resume", "--trace", at("t.csv"))
	if status, _, notes := command(resumed...); status != exitDone || !strings.Contains(notes, "--trace begins at the checkpoint") {
		t.Errorf("status %d, no note in %s", status, notes)
	}
	before := readBytes(t, at("t.csv"))
	if status, _, told := command(resumed...); status == exitDone || !strings.Contains(told, "name another file") || !bytes.Equal(before, readBytes(t, at("t.csv"))) {
		t.Errorf("status %d: %s", status, told)
	}
}

func readBytes(t *testing.T, path string) []byte {
	t.Helper()
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTraceErrors: wrong uses say what to type.
func TestTraceErrors(t *testing.T) {
	setosa, dir := filepath.Join("..", "..", "examples", "iris-setosa.parquet"), t.TempDir()
	base := []string{"train", setosa, "--label", "setosa", "--algo", "perceptron"}
	for want, options := range map[string][]string{
		"name the file of the trace":      {"--reference", "check"},
		"use 1 or more":                   {"--trace", filepath.Join(dir, "t.csv"), "--trace-every", "0"},
		"no extension tells":              {"--trace", filepath.Join(dir, "t")},
		"standard output":                 {"--trace", "-"},
		"is to be read and to be written": {"--trace", setosa},
		"name another file":               {"--trace", filepath.Join(dir, "m.csv"), "--out", filepath.Join(dir, "m.csv")},
		"use the same features":           {"--trace", filepath.Join(dir, "t.csv"), "--reference", modelOfOthers(t, dir)},
	} {
		if status, _, stderr := command(append(base, options...)...); status == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %s, not %q", options, status, stderr, want)
		}
	}
}

// modelOfOthers returns the path of a model of other features.
func modelOfOthers(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "other.json")
	succeed(t, "train", filepath.Join("..", "..", "examples", "iris-setosa.parquet"), "--label", "setosa", "--exclude", "sepal_*", "--algo", "perceptron", "--out", path)
	return path
}
