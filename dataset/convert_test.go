package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// TestConvertLists writes lists of numbers to the files that can hold them.
func TestConvertLists(t *testing.T) {
	p := arrow.PrimitiveTypes
	rec := record(t, field("l", arrow.ListOf(p.Float32), "[[1.5, 2], null, [], [null, 4]]"),
		field("f", arrow.FixedSizeListOf(2, p.Int16), "[[1, 2], [3, 4], null, [7, 8]]"),
		field("w", arrow.LargeListOf(p.Float64), "[[1], [2, 3], null, []]"), field("x", p.Int8, "[1, 2, 3, 4]"))
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	w, err := Create(path("a.arrow"), rec.Schema(), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range []arrow.Record{rec, rec.NewSlice(1, 4), rec.NewSlice(2, 3)} {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	values := func(path string) string {
		all, err := table(t, Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer("fixed_size_list", "list", "large_list", "list").Replace(show(all))
	}
	want := values(path("a.arrow"))
	if !strings.Contains(want, "[1.5,2] null [] [null,4]") {
		t.Fatalf("read: %s", want)
	}
	convertFile(t, 8, path("a.arrow"), path("b.arrow"), WriterOptions{})
	convertFile(t, 8, path("a.arrow"), path("b.parquet"), WriterOptions{RowGroupRows: 3})
	convertFile(t, 8, path("b.parquet"), path("c.parquet"), WriterOptions{RowGroupRows: 5})
	convertFile(t, 8, path("c.parquet"), path("c.arrow"), WriterOptions{})
	for _, name := range []string{"b.arrow", "b.parquet", "c.parquet", "c.arrow"} {
		if got := values(path(name)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestInspectLists: columns of lists are shown, and others that can't be handed on are told of.
func TestInspectLists(t *testing.T) {
	rec := record(t, field("l", arrow.ListOf(arrow.PrimitiveTypes.Int8), "[[1], null]"), field("w", arrow.ListOf(arrow.BinaryTypes.String), "[[], []]"))
	path := filepath.Join(t.TempDir(), "a.arrow")
	w, err := Create(path, rec.Schema(), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var notes []string
	info, err := InspectTable(context.Background(), path, Options{Warn: func(s string) { notes = append(notes, s) }})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(info.Columns, notes); got != `[{l list 1 true}] [column "w" (list): left out, values of such a type can't be handed on]` {
		t.Error(got)
	}
}

// TestConvertSelects: what can't be written is an error, or told of where a pattern passes over it; Exclude leaves out.
func TestConvertSelects(t *testing.T) {
	words := arrow.ListOf(arrow.BinaryTypes.String)
	rec := record(t, field("x1", arrow.PrimitiveTypes.Int8, "[1, 2]"), field("x2", arrow.PrimitiveTypes.Int8, "[3, 4]"),
		field("w", words, `[["a"], []]`))
	dir := t.TempDir()
	parquet, ipc := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "a.arrow")
	writeFile(t, parquet, rec, 10)
	w, err := Create(ipc, rec.Schema(), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ keep, exclude, want string }{
		{"", "", `ERROR: column "w" is list, which can't be written: leave it out with --exclude`},
		{"", "w", "x1 int8 1 2; x2 int8 3 4"},
		{"", "w,*1", "x2 int8 3 4"},
		{"", "*", "ERROR: no columns are left to write: name a file that has some, or exclude fewer"},
		{"", "y", `ERROR: no column "y" (columns: x1, x2, w)`},
		{"", "y*", `ERROR: no column matches "y*": change it in --exclude (columns: x1, x2, w)`},
		{"*", "", `x1 int8 1 2; x2 int8 3 4, notes [column "w" (list): left out, values of such a type can't be handed on]`},
		{"x2,x1", "x1", "x2 int8 3 4"},
		{"*", "w", "x1 int8 1 2; x2 int8 3 4"},
		{"w", "", `ERROR: column "w" is list, which can't be kept: leave it out of --keep`},
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
			all, err := table(t, Options{}, out)
			if err != nil {
				t.Fatal(err)
			}
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
