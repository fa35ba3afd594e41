package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/internal/require"
)

// TestConvertLists writes lists of numbers to the files that can hold them.
func TestConvertLists(t *testing.T) {
	p := arrow.PrimitiveTypes
	rec := record(t, field("l", arrow.ListOf(p.Float32), "[[1.5, 2], null, [], [null, 4]]"), field("f", arrow.FixedSizeListOf(2, p.Int16), "[[1, 2], [3, 4], null, [7, 8]]"),
		field("w", arrow.LargeListOf(p.Float64), "[[1], [2, 3], null, []]"), field("x", p.Int8, "[1, 2, 3, 4]"))
	dir := t.TempDir()
	start := filepath.Join(dir, "a.arrow")
	require.NoError(t, writeAll(start, WriterOptions{}, rec, rec.NewSlice(1, 4), rec.NewSlice(2, 3)))
	const want = "l list [1.5,2] null [] [null,4] null [] [null,4] []; f list [1,2] [3,4] null [7,8] [3,4] null [7,8] null; " +
		"w list [1] [2,3] null [] [2,3] null [] null; x int8 1 2 3 4 2 3 4 3"
	for i, name := range []string{"b.arrow", "b.parquet", "c.parquet", "c.arrow"} {
		out := filepath.Join(dir, name)
		convertFile(t, 8, start, out, WriterOptions{RowGroupRows: int64(3 + i)})
		all := show(require.Value(table(t, Options{}, out))(t))
		if got := strings.NewReplacer("fixed_size_list", "list", "large_list", "list").Replace(all); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		start = out
	}
}

// TestInspectLists: columns of lists are shown, and others that can't be handed on are told of.
func TestInspectLists(t *testing.T) {
	rec := record(t, field("l", arrow.ListOf(arrow.PrimitiveTypes.Int8), "[[1], null]"), field("w", arrow.ListOf(arrow.BinaryTypes.String), "[[], []]"))
	path := filepath.Join(t.TempDir(), "a.arrow")
	require.NoError(t, writeAll(path, WriterOptions{}, rec))
	var notes []string
	_, info, err := Inspect(context.Background(), path, Options{Warn: func(s string) { notes = append(notes, s) }})
	require.NoError(t, err)
	if got := fmt.Sprint(info.Columns, notes); got != `[{l list 1 true}] [column "w" (list): left out, values of such a type can't be handed on]` {
		t.Error(got)
	}
}

// TestConvertSelects: what can't be written is an error, or told of where a pattern passes over it; Exclude leaves out.
func TestConvertSelects(t *testing.T) {
	t.Parallel()
	words := arrow.ListOf(arrow.BinaryTypes.String)
	rec := record(t, field("x1", arrow.PrimitiveTypes.Int8, "[1, 2]"), field("x2", arrow.PrimitiveTypes.Int8, "[3, 4]"),
		field("w", words, `[["a"], []]`))
	dir := t.TempDir()
	parquet, ipc := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "a.arrow")
	writeFile(t, parquet, rec, 10)
	require.NoError(t, writeAll(ipc, WriterOptions{}, rec))
	for _, c := range []struct{ keep, exclude, want string }{
		{"", "", `ERROR: column "w" is list, which can't be written: leave it out with Exclude`},
		{"", "w", "x1 int8 1 2; x2 int8 3 4"},
		{"", "w,*1", "x2 int8 3 4"},
		{"", "*", "ERROR: no columns are left to write: name a file that has some, or exclude fewer"},
		{"", "y", `ERROR: no column "y" (columns: x1, x2, w)`},
		{"", "y*", `ERROR: no column matches "y*": change it in Exclude (columns: x1, x2, w)`},
		{"*", "", `x1 int8 1 2; x2 int8 3 4, notes [column "w" (list): left out, values of such a type can't be handed on]`},
		{"x2,x1", "x1", "x2 int8 3 4"},
		{"*", "w", "x1 int8 1 2; x2 int8 3 4"},
		{"w", "", `ERROR: column "w" is list, which can't be kept: leave it out of Keep`},
	} {
		for _, path := range []string{parquet, ipc} {
			split := func(s string) []string {
				return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
			}
			var notes []string
			out := filepath.Join(t.TempDir(), "b.arrow")
			_, err := Convert(context.Background(), []string{path}, out, Options{Keep: split(c.keep), Exclude: split(c.exclude),
				Warn: func(s string) { notes = append(notes, s) }}, WriterOptions{})
			if err != nil {
				wantError(t, err, dir, strings.Replace(c.want, "ERROR", "DIR/"+filepath.Base(path), 1))
				continue
			}
			all := require.Value(table(t, Options{}, out))(t)
			got := show(all)
			if notes != nil {
				got += fmt.Sprintf(", notes %v", notes)
			}
			if got != c.want {
				t.Errorf("%+v: %s", c, got)
			}
		}
	}
}

// TestConvertFloat32: text has float32 in digits that float64 reads as another number, which a note says, unless there is no such number.
func TestConvertFloat32(t *testing.T) {
	for values, noted := range map[string]bool{"[0.1, 2]": true, "[null, 0.5]": false, "[16777215, -3]": false} {
		dir := t.TempDir()
		path := file1(t, dir, "a.parquet", field("x", arrow.PrimitiveTypes.Float32, values), field("z", arrow.PrimitiveTypes.Float64, "[0.1, 0.1]"))
		for _, ext := range []string{".csv", ".arrow"} {
			var notes []string
			_, err := Convert(context.Background(), []string{path}, filepath.Join(dir, "out"+ext), Options{Warn: func(s string) { notes = append(notes, s) }}, WriterOptions{})
			if err != nil || (len(notes) == 1) != (noted && ext == ".csv") {
				t.Errorf("%s to %s: notes %q, error %v", values, ext, notes, err)
			}
		}
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
		text := require.Value(os.ReadFile(target))(t)
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
		{start, "b.svm", []string{"x", "y"}, "", `DIR/b.svm can't be written: no column "label" for the labels: name it with Label`},
		{start, "b.svm", []string{"n", "y"}, "y", `DIR/b.svm can't be written: column "n", row 1: null, which svmlight can't hold: fill the value in, or leave the column out`},
		{start, "b.xlsx", nil, "", `DIR/b.xlsx: files with the extension ".xlsx" can't be written: use .parquet, .csv, .jsonl, .arrow, .npy or ` +
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

func convertFile(t *testing.T, rows int64, from, to string, opt WriterOptions) {
	t.Helper()
	got, err := Convert(context.Background(), []string{from}, to, Options{Workers: 2}, opt)
	if err != nil || got != rows {
		t.Fatalf("%s to %s: %d rows, want %d (%v)", from, to, got, rows, err)
	}
}
