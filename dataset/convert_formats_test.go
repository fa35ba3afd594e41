package dataset

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// TestConvert writes a table from every format to every other that can hold it.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	start := filepath.Join(dir, "start.parquet")
	writeFile(t, start, mixed(t), 2)
	want, err := table(t, Options{}, start)
	if err != nil {
		t.Fatal(err)
	}
	formats := []string{".parquet", ".csv", ".arrow"}
	for _, from := range formats {
		source := filepath.Join(dir, "source"+from)
		convertFile(t, 4, start, source, WriterOptions{})
		for _, to := range formats {
			target := filepath.Join(dir, "target"+to)
			convertFile(t, 4, source, target, WriterOptions{RowGroupRows: 3})
			got, err := table(t, Options{}, target)
			if err != nil {
				t.Errorf("%s to %s: %v", from, to, err)
			} else if show(got) != show(want) {
				t.Errorf("%s to %s:\n%s\nwant\n%s", from, to, show(got), show(want))
			}
		}
	}
}

func convertFile(t *testing.T, rows int64, from, to string, opt WriterOptions) {
	t.Helper()
	got, err := Convert(context.Background(), []string{from}, to, Options{Workers: 2}, opt)
	if err != nil || got != rows {
		t.Fatalf("%s to %s: %d rows, want %d (%v)", from, to, got, rows, err)
	}
}

// TestSvmlightRoundTrip: what is written as svmlight is read as it was, but for zeros without a sign.
func TestSvmlightRoundTrip(t *testing.T) {
	dir := t.TempDir()
	p := arrow.PrimitiveTypes
	named := record(t, field("f3", p.Float32, "[0.1, 0, 3]"), field("label", p.Int8, "[-1, 1, 1]"),
		field("f0", p.Uint64, "[0, 7, 8]"))
	numbered := record(t, field("a", arrow.FixedWidthTypes.Boolean, "[true, false, true]"), field("b", p.Float64, "[1e-300, 0, -2.5]"),
		field("y", p.Float64, "[1.5, 2, 1.5]"))
	for _, c := range []struct {
		rec         arrow.Record
		label, want string
	}{
		{named, "", "-1 3:0.1\n1 0:7\n1 0:8 3:3\n"},
		{numbered, "y", "1.5 1:1 2:1e-300\n2\n1.5 1:1 2:-2.5\n"},
	} {
		source, target := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "a.svm")
		writeFile(t, source, c.rec, 2)
		convertFile(t, 3, source, target, WriterOptions{Label: c.label})
		text, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != c.want {
			t.Errorf("%q, want %q", text, c.want)
		}
		again := filepath.Join(dir, "b.svm")
		convertFile(t, 3, target, again, WriterOptions{})
		if same, err := os.ReadFile(again); err != nil || string(same) != c.want {
			t.Errorf("written again: %q, want %q (%v)", same, c.want, err)
		}
	}
}

func TestConvertErrors(t *testing.T) {
	dir := t.TempDir()
	nested, start := filepath.Join(dir, "nested.parquet"), filepath.Join(dir, "a.parquet")
	writeFile(t, nested, record(t, field("x", arrow.PrimitiveTypes.Int8, "[1]"),
		field("l", arrow.ListOf(arrow.PrimitiveTypes.Int32), "[[1]]")), 10)
	writeFile(t, start, mixed(t), 10)
	for _, c := range []struct {
		from, to string
		keep     []string
		label    string
		want     string
	}{
		{nested, "b.csv", nil, "", `DIR/b.csv can't be written: column "l" is list, and CSV has none: leave it out, or write .parquet or .arrow`},
		{nested, "b.svm", nil, "x", `DIR/b.svm can't be written: column "l" is list, and svmlight holds numbers: leave it out`},
		{start, "b.svm", nil, "y", `DIR/b.svm can't be written: column "s" is string, and svmlight holds numbers: leave it out`},
		{start, "b.svm", []string{"x", "s"}, "s", `DIR/b.svm can't be written: column "s" is string, and a label of svmlight is a number: write .parquet or .csv, or numbers in place of the classes`},
		{start, "b.svm", []string{"x", "y"}, "", `DIR/b.svm can't be written: no column "label" for the labels: name it with --label`},
		{start, "b.svm", []string{"n", "y"}, "y",
			`DIR/b.svm can't be written: column "n", row 1: null, which svmlight can't hold: fill the value in, or leave the column out`},
		{start, "b.xlsx", nil, "", `DIR/b.xlsx: files with the extension ".xlsx" can't be written: use .parquet, .csv, .arrow or ` +
			`.svm, or - for CSV on standard output`},
	} {
		_, err := Convert(context.Background(), []string{c.from}, filepath.Join(dir, c.to), Options{Keep: c.keep},
			WriterOptions{Label: c.label})
		wantError(t, err, dir, c.want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v is left (%v)", left, err)
	}
}
