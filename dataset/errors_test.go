package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestRowError: an error about a row or a line has its place as values, and Complete fills in what further passes tell.
func TestRowError(t *testing.T) {
	for text, want := range map[string]struct {
		row   RowError // without Err
		texts []string
	}{
		"x,y\n1,2\n\n,3\n4,\n": {RowError{Row: 1, Line: 4, Column: "x"}, []string{"null (exclude the column with Exclude",
			`missing values are also in "y" (1): Prepare auto`}},
		"x,y\n1,2\n3\n4,5,6\n":      {RowError{Row: -1, Line: 3}, []string{"mend the line; 1 more line can't be read either (4)"}},
		"x,y\n1,2\n3,\"4\"5\n\n6,7": {RowError{Row: -1, Line: 3, Column: "y"}, []string{"text after closing quotes"}},
	} {
		path := datatest.TextFile(t, "a.csv", text)
		_, err := Load(t.Context(), path, Options{})
		err = Options{}.Complete(t.Context(), []string{path}, err)
		row := (*RowError)(nil)
		if !errors.As(err, &row) {
			t.Errorf("%q: error %v", text, err)
			continue
		}
		want.row.File, want.row.Err = path, row.Err
		if *row != want.row || row.Err == nil {
			t.Errorf("%q: %+v, want %+v", text, *row, want.row)
		}
		for _, part := range want.texts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: error %v, want %s", text, err, part)
			}
		}
	}
	option := (*OptionError)(nil)
	if err := (Options{Limit: -1}).Check(); !errors.As(err, &option) || *option != (OptionError{Option: "limit", Value: "-1", Want: "1 or more"}) {
		t.Errorf("error %v", err)
	}
}

// TestScanErrors covers what only Scan does.
func TestScanErrors(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	a := file1(t, dir, "a.parquet", field("x", p.Float64, "[1, 2, 3]"), field("l", arrow.ListOf(p.Int32), `[[1], [2], [3]]`),
		field("w", arrow.ListOf(arrow.BinaryTypes.String), `[["a"], [], []]`))
	b := file1(t, dir, "b.parquet", field("x", p.Float32, "[1]"), field("l", p.Int32, "[1]"))
	for _, c := range []struct {
		paths []string
		opt   Options
		want  string
	}{
		{[]string{a}, Options{Label: "x"}, "labels can be read block by block only with the classes of a model: load the data, or give none"},
		{[]string{a}, Options{Keep: []string{"w"}}, `DIR/a.parquet: column "w" is list, which can't be kept: leave it out of Keep`},
		{[]string{a}, Options{Keep: []string{"k"}}, `DIR/a.parquet: no column "k" (columns: x, l, w)`},
		{[]string{a, b}, Options{Keep: []string{"x"}}, `DIR/b.parquet: column "l" is int32, but list in the first file: convert one of them`},
		{[]string{a, b}, Options{Keep: []string{"x"}, Exclude: []string{"l"}}, `DIR/b.parquet: column "x" is float32, but float64 in the first file: convert one of them`},
	} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		err := scan(context.Background(), c.paths, c.opt, mem, func(*schema.Spec, *block.Block, arrow.Record) error {
			t.Error("fn was called")
			return nil
		})
		wantError(t, err, dir, c.want)
		mem.AssertSize(t, 0)
	}
}

// TestManyClasses reads a quantity as a label: the counting ends early.
func TestManyClasses(t *testing.T) {
	values := make([]float64, 5000)
	for i := range values {
		values[i] = float64(i) / 2
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	writeFile(t, path, record(t, datatest.Column("y", values, nil), datatest.Column("x", make([]int8, 5000), nil)), 300)
	for _, workers := range []int{1, 4} {
		_, err := Load(t.Context(), path, Options{Label: "y", Workers: workers})
		wantError(t, err, dir, `DIR/a.parquet: column "y", row 1000: more than 1000 classes (0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, `+
			`4.5 and 990 more): it looks like a quantity; halfspace classifies: name a column of classes with Label`)
	}
}

// TestSeveralFiles names the file, and the row in all of the input, of the first wrong value for any number of workers.
func TestSeveralFiles(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	good := file1(t, dir, "good.parquet", field("x", p.Float64, "[1, 2, 3]"), field("y", p.Int8, "[0, 1, 0]"))
	null := file1(t, dir, "null.parquet", field("x", p.Float64, "[1, null, 3, null]"), field("y", p.Int8, "[0, 1, 0, 0]"))
	noLabel := file1(t, dir, "label.parquet", field("x", p.Float64, "[1, 1]"), field("y", p.Int8, "[0, null]"))
	missing := file1(t, dir, "missing.parquet", field("X", p.Float64, "[1]"), field("y", p.Int8, "[1]"))
	text := file1(t, dir, "text.parquet", field("x", arrow.BinaryTypes.String, `["1"]`), field("y", p.Int8, "[1]"))
	kind := file1(t, dir, "kind.parquet", field("x", p.Float64, "[1]"), field("y", arrow.BinaryTypes.String, `["1"]`))
	one := file1(t, dir, "one.parquet", field("x", p.Float64, "[1]"), field("y", p.Int8, "[0]"))
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{good, good, null, noLabel}, `DIR/null.parquet: column "x", row 7: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]string{good, noLabel, null}, `DIR/label.parquet: column "y", row 4: null (fill the label in, or use Nulls drop)`},
		{[]string{good, missing}, `DIR/good.parquet: column "X", row 0: null, since the file lacks the column (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]string{good, text, missing}, `DIR/text.parquet: column "x" is string, and a feature is a number, a boolean or a list of numbers: leave it out, or use Categorical onehot or hash:BITS`},
		{[]string{good, kind}, `DIR/kind.parquet: column "y" is string, but int8 in the first file: convert one of them`},
		{[]string{one, one, one}, `DIR/one.parquet and 2 more: column "y": no class "no": name one of 0 in Positive`},
	} {
		for _, workers := range []int{1, 2, 3, 8} {
			_, err := loadAll(context.Background(), c.paths, Options{Label: "y", Workers: workers, Positive: map[bool]string{true: "no"}[c.paths[0] == one]})
			wantError(t, err, dir, c.want)
		}
	}
}

// TestSameNames reads columns that share a name.
func TestSameNames(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("x", p.Int8, "[1]"), field("x", p.Int8, "[2]"), field("z", p.Int8, "[3]"))
	for _, opt := range []Options{{}, {Features: []string{"x"}}, {Label: "x"}} {
		_, err := Load(context.Background(), path, opt)
		wantError(t, err, dir, `DIR/a.parquet: 2 columns are named "x": rename them`)
	}
	if d, err := Load(context.Background(), path, Options{Features: []string{"z"}}); err != nil || d.Rows() != 1 {
		t.Errorf("a column with a name of its own: %v", err)
	}
}

// TestPaths finds files and says which it can't find or read.
func TestPaths(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	for _, sub := range []string{"d/b", "d/.hidden", "d/_tmp", "empty", "d/odd.parquet"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, sub), 0o777))
	}
	for i, name := range []string{"d/z.parquet", "d/b/a.parquet", "d/a.PARQUET", "d/.h.parquet", "d/_h.parquet", "d/.hidden/a.parquet",
		"d/_tmp/a.parquet", "d/a.txt", "d/odd.parquet/part-0.parquet", "x[1].parquet", "_x.parquet"} {
		file1(t, dir, name, field("x", p.Int8, fmt.Sprintf("[%d]", i)))
	}
	for name, data := range map[string]string{"zero.parquet": "", "text.parquet": "a,b\n1,2\n", "short.parquet": "PAR1",
		"cut.parquet": "PAR1 and some more that is not a footer", "secret.parquet": "PARE and some more data in betweenPARE",
		"footer.parquet": "PAR1 a footer that is none\x10\x00\x00\x00PAR1", "long.parquet": "PAR1 too long a footer\xff\x00\x00\x00PAR1"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666))
	}
	for _, c := range []struct{ path, want string }{
		{"d", "[2 1 8 0]"},
		{"d/", "[2 1 8 0]"},
		{"d/*.parquet", "[8 0]"},
		{"d/*/*.parquet", "[1 8]"},
		{"d/_tmp/*.parquet", "[6]"},
		{"d/.h*/*.parquet", "[5]"},
		{"./d/b/*", "[1]"},
		{"d/_h.parquet", "[4]"},
		{"d/_*.parquet", "[4]"},
		{"x[1].parquet", "[9]"},
		{"x*.parquet", "[9]"},
		{"none.parquet", "DIR/none.parquet: no such file: check the path"},
		{"none*.parquet", "DIR/none*.parquet: no file matches: check the path"},
		{"[none", `DIR/[none: not a valid glob: close every [ or put \ before it`},
		{"empty", "DIR/empty: no *.parquet file in this directory, nor one of another format: check the path"},
		{"zero.parquet", "DIR/zero.parquet: the file is empty: write it again"},
		{"text.parquet", "DIR/text.parquet: not a Parquet file, which begins with PAR1: convert it to Parquet"},
		{"short.parquet", "DIR/short.parquet: the file is truncated, since no footer ends it: copy or write it again"},
		{"cut.parquet", "DIR/cut.parquet: the file is truncated, since no footer ends it: copy or write it again"},
		{"secret.parquet", "DIR/secret.parquet: encrypted Parquet files can't be read: write it without encryption"},
		{"long.parquet", "DIR/long.parquet: the metadata can't be read (a footer of 255 bytes, but the file has 30): " +
			"write the file again"},
		{"/dev/null", "/dev/null: not a regular file: name a file, or - for standard input"},
	} {
		path := c.path
		if path != "-" && path[0] != '/' {
			path = dir + string(filepath.Separator) + c.path
		}
		d, err := Load(context.Background(), path, Options{NoBias: true})
		if c.want[0] != '[' {
			wantError(t, err, dir, c.want)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		var got []float32
		rows, _ := rowsOf(t, d)
		for _, r := range rows {
			got = append(got, r[0])
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: files %v, want %v", c.path, got, c.want)
		}
	}
	_, err := Load(context.Background(), filepath.Join(dir, "footer.parquet"), Options{})
	if err == nil || !strings.Contains(err.Error(), "footer.parquet: the metadata can't be read (") {
		t.Errorf("a footer that is none: %v", err)
	}
}

// An errorCase is columns that can't be read with those options, and the error, which behind a file's name is that of the file.
type errorCase struct {
	fields []testField
	opt    Options
	want   string
}

// checkErrors wants the errors of columns in a file, loaded, streamed and as sparse rows, and in records of any length.
func checkErrors(t *testing.T, cases []errorCase) {
	t.Helper()
	for _, c := range cases {
		dir := t.TempDir()
		path := file1(t, dir, "a.parquet", c.fields...)
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		_, err := load(t.Context(), []string{path}, c.opt, mem)
		wantError(t, err, dir, "DIR/a.parquet: "+strings.Replace(c.want, "no rows: give some", "no rows: name a file that has some", 1))
		dense := fmt.Sprint(err)
		loaded := strings.Replace(dense, " left of 2,", " left,", 1) // a stream counts no other rows
		in, err := planOf(t.Context(), []string{path}, c.opt, mem)
		if err == nil {
			var s *Stream
			if s, err = in.Stream(t.Context()); err == nil {
				for _, err = range s.Blocks(t.Context()) {
				}
			}
		}
		if labelFirst := c.opt.Label != "" && strings.Contains(fmt.Sprint(err), strconv.Quote(c.opt.Label)); fmt.Sprint(err) != loaded && !labelFirst {
			t.Errorf("streamed: %v, want %s", err, loaded)
		}
		mem.AssertSize(t, 0)
		sparse := c.opt
		sparse.Storage = Sparse
		if _, err := Load(t.Context(), path, sparse); fmt.Sprint(err) != dense && !strings.Contains(dense, "more than 1000 categories") { // dense rows may have
			t.Errorf("sparse: %v, want %s", err, dense)
		}
		for _, size := range []int64{1, 2000} {
			_, err := fromRecord(t, record(t, c.fields...), size, c.opt)
			wantError(t, err, "", c.want)
		}
	}
}

// TestErrors compares the whole text of errors about values, columns and classes.
func TestErrors(t *testing.T) {
	t.Parallel()
	p, s := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	x, y := field("x", p.Float64, "[1, 2, 3]"), field("y", p.Int8, "[0, 1, 0]")
	model := &schema.Spec{Features: []string{"x"}, Classes: []schema.Class{schema.StringClass("no"), schema.StringClass("yes")},
		Positive: 1}
	checkErrors(t, []errorCase{
		{[]testField{y, field("age", p.Int32, "[1, null, 3]")}, Options{Label: "y"}, `column "age", row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{y, field("age", p.Float32, "[null, null, null]")}, Options{Label: "y"}, `column "age", row 0: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{field("a", p.Int32, "[1, 2, null]"), field("b", p.Float64, "[1, null, 2]"),
			field("c", p.Float64, "[1, null, 2]")}, Options{},
			`column "b", row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{x, field("y", s, `["a", "b", null]`)}, Options{Label: "y"}, `column "y", row 2: null (fill the label in, or use Nulls drop)`},
		{[]testField{field("x", p.Int32, "[1, 2, null]"), field("y", s, `["a", null, "b"]`)},
			Options{Label: "y"}, `column "y", row 1: null (fill the label in, or use Nulls drop)`},
		{[]testField{field("x", p.Int32, "[null, 2, 1]"), field("y", s, `["a", null, "b"]`)},
			Options{Label: "y"},
			`column "x", row 0: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{y, field("x", p.Float64, "[1, 1e300, 1]")}, Options{Label: "y"}, `column "x", row 1: 1e+300 is too large for float32 (divide the column, or train with Standardize)`},
		{[]testField{x, y}, Options{Label: "why?"}, `no column "why?" (columns: x, y)`},
		{[]testField{field("income", p.Int8, "[1, 2, 3]"), y}, Options{Label: "y", Features: []string{"incme"}}, `no column "incme": did you mean "income"? (columns: income, y)`},
		{[]testField{x, field("name", s, `["a", "b", "c"]`)}, Options{Features: []string{"name"}},
			`column "name" is string, and a feature is a number, a boolean or a list of numbers: leave it out, or use Categorical onehot or hash:BITS`},
		{[]testField{x, field("l", arrow.ListOf(s), `[["a"], ["b"], ["c", "d"]]`)}, Options{Features: []string{"l"}},
			`column "l" is list, and a feature is a number, a boolean or a list of numbers: leave it out or convert it`},
		{[]testField{x, field("name", s, `["a", "b", "c"]`)}, Options{Features: []string{"n*"}}, `no feature matches "n*" (column "name" is string): change it in Features`},
		{[]testField{x, y}, Options{Label: "y", Features: []string{"y*"}}, `no feature matches "y*" (column "y" is int8): change it in Features`},
		{[]testField{x, y}, Options{Features: []string{"z*"}}, `no column matches "z*": change it in Features (columns: x, y)`},
		{[]testField{x, y}, Options{Features: []string{"[z"}}, `"[z" is not a valid pattern: close every [ or put \ before it in Features`},
		{[]testField{x, y}, Options{Exclude: []string{"z"}}, `no column "z" (columns: x, y)`},
		{[]testField{x, y}, Options{Label: "y", Exclude: []string{"*"}}, `no feature is left, and a feature is a number, a boolean or a list of numbers (columns: x float64, y int8)`},
		{[]testField{x, y}, Options{Features: []string{"x", "x"}}, `feature "x" is named twice: name it once in Features`},
		{[]testField{x, y}, Options{Label: "y", Features: []string{"y"}}, `feature "y" is the label: leave it out of Features`},
		{[]testField{x, field("at", arrow.FixedWidthTypes.Time32ms, `[1, 2, 3]`)}, Options{Label: "at"}, `column "at" is time32[ms], and a label is a number, a boolean, a string or a date: choose another one with Label`},
		{[]testField{x, y}, Options{Label: "y", Positive: "yes"}, `column "y": no class "yes": name one of 0, 1 in Positive`},
		{[]testField{x, field("y", s, `["yes", "no", "maybe"]`)}, Options{Label: "y", Spec: model},
			`column "y", row 2: "maybe" is no class of the model, which has "no", "yes": change the label, or ` +
				`leave the row out`},
		{[]testField{x, y}, Options{Label: "y", Spec: model},
			`column "y", row 0: 0 is no class of the model, which has "no", "yes": change the label, or leave ` +
				`the row out`},
		{[]testField{field("X", p.Int8, "[1]")}, Options{Spec: model}, `no column "x": did you mean "X"? (columns: X)`},
		{[]testField{field("x", p.Int8, "[]")}, Options{}, `no rows: give some`},
		{[]testField{datatest.Column("x", []float64{1, nan}, nil)}, Options{}, `column "x", row 1: NaN (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{datatest.Column("x", []float64{-inf, nan}, nil)}, Options{}, `column "x", row 0: -Inf (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{datatest.Column("x", []float64{1, inf}, nil)}, Options{}, `column "x", row 1: +Inf (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{y, datatest.Column("x", []float64{1, nan, 1}, nil)}, Options{Label: "x"}, `column "x", row 1: NaN (fill the label in, or use Nulls drop)`},
		{[]testField{y, datatest.Column("x", []float64{inf, 1, 1}, nil)}, Options{Label: "x"}, `column "x", row 0: +Inf (fill the label in, or use Nulls drop)`},
		{[]testField{x, field("y", arrow.BinaryTypes.Binary, `["b2s=", "/2E=", "b2s="]`)}, Options{Label: "y"}, `column "y", row 1: "\xffa" is not valid UTF-8: mend it, or leave the row out`},
	})
}

// TestMixedFormats: files of one input have one format.
func TestMixedFormats(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": "x,y\n1,2\n", "b.svm": "1 1:1\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, paths := range [][]string{{dir}, {filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.svm")}} {
		_, err := loadAll(context.Background(), paths, Options{})
		wantError(t, err, dir, "DIR/b.svm is svmlight, but DIR/a.csv is CSV: read files of one format at a time, or convert them")
	}
}

// TestOtherContent: a file whose name says that it is text, and whose content is another format, is an error that says so.
func TestOtherContent(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, content, want string }{
		{"a.csv", "PAR1\x15\x00", `a.csv: the name says CSV, but the content is Parquet: rename it to *.parquet`},
		{"a.svm", "PAR1\x15\x00", `a.svm: the name says svmlight, but the content is Parquet: rename it to *.parquet`},
		{"a.tsv", "ARROW1\x00\x00", `a.tsv: the name says CSV, but the content is Arrow IPC: rename it to *.arrow`},
	} {
		path := filepath.Join(dir, c.name)
		require.NoError(t, os.WriteFile(path, []byte(c.content), 0o644))
		_, err := Load(context.Background(), path, Options{Label: "y"})
		wantError(t, err, dir, "DIR/"+c.want)
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v is no ErrFormat", c.name, err)
		}
	}
	path := filepath.Join(dir, "b.csv.gz")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte("PAR1\x15\x00"))
	w.Close()
	require.NoError(t, os.WriteFile(path, packed.Bytes(), 0o644))
	_, err := Load(context.Background(), path, Options{Label: "y"})
	wantError(t, err, dir, "DIR/b.csv.gz: the name says CSV, but the content is Parquet: decompress it and rename it to *.parquet")
	path = filepath.Join(dir, "c.csv") // a column's name may begin like that
	require.NoError(t, os.WriteFile(path, []byte("PAR1,y\n1,0\n2,1\n"), 0o644))
	if _, err := Load(context.Background(), path, Options{Label: "y"}); err != nil {
		t.Error(err)
	}
}

// TestNoFile: programs can tell a missing file from other errors.
func TestNoFile(t *testing.T) {
	for _, path := range []string{"none.csv", "none*.csv", "none/none.parquet"} {
		if _, err := Load(context.Background(), path, Options{Label: "y"}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v isn't fs.ErrNotExist", path, err)
		}
	}
	if _, err := inspectParquet("none.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Inspect: %v isn't fs.ErrNotExist", err)
	}
}
