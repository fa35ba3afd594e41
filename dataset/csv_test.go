package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/klauspost/compress/gzip"

	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// textFile writes text to a file of that name in a new directory, compressed if the name says so.
func textFile(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	data := []byte(text)
	if strings.HasSuffix(name, ".gz") {
		data = compressed(tb, text)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func compressed(tb testing.TB, text string) []byte {
	tb.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := io.WriteString(z, text); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// show writes a table as its columns: name, type and values.
func show(t arrow.Table) string {
	var s strings.Builder
	for i, f := range t.Schema().Fields() {
		fmt.Fprintf(&s, "%s %s", f.Name, frame.Describe(f.Type))
		for _, a := range t.Column(i).Data().Chunks() {
			for r := range a.Len() {
				text := "null"
				if !a.IsNull(r) {
					text = fmt.Sprintf("%q", a.ValueStr(r))
				}
				s.WriteString(" " + strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`))
			}
		}
		s.WriteString("; ")
	}
	return strings.TrimSuffix(s.String(), "; ")
}

func TestDialects(t *testing.T) {
	for _, c := range []struct {
		file, text string
		opt        TextOptions
		want       string
	}{
		{"a.csv", "x,y\n1,a\n2,b\n", TextOptions{}, "x int64 1 2; y string a b"},
		{"a.csv", "1,a\n2,b", TextOptions{}, "c1 int64 1 2; c2 string a b"},
		{"a.csv", "x,1\n1,2\n", TextOptions{}, "c1 string x 1; c2 int64 1 2"},
		{"a.csv", "x,y\na,b\n", TextOptions{}, "x string a; y string b"},
		{"a.csv", "x,y\na,b\n", TextOptions{Header: "no"}, "c1 string x a; c2 string y b"},
		{"a.csv", "x,x\na,b\n", TextOptions{}, "c1 string x a; c2 string x b"},
		{"a.csv", "x,\na,b\n", TextOptions{}, "c1 string x a; c2 string null b"},
		{"a.csv", "x,NA\na,b\n", TextOptions{}, "c1 string x a; c2 string null b"},
		{"a.csv", "x,\na,true\n", TextOptions{Header: "auto"}, "x string a; c2 bool true"},
		{"a.csv", "x,y\na,true\n", TextOptions{}, "x string a; y bool true"},
		{"a.csv", "a,true\nb,false\n", TextOptions{}, "c1 string a b; c2 bool true false"},
		{"a.csv", "x,y\na,b\n", TextOptions{Header: "yes"}, "x string a; y string b"},
		{"a.csv", "x,y\n1,b\n", TextOptions{Header: "no"}, "c1 string x 1; c2 string y b"},
		{"a.csv", "2001,2002\n1,2\n", TextOptions{Header: "yes"}, "2001 int64 1; 2002 int64 2"},
		{"a.csv", ",x\n0,1\n", TextOptions{}, "c1 int64 0; x int64 1"},
		{"a.csv", "\ufeffx,y\r\n1,2\r\n3,4\r\n", TextOptions{}, "x int64 1 3; y int64 2 4"},
		{"a.csv.gz", "x,y\n1,2\n", TextOptions{}, "x int64 1; y int64 2"},
		{"a.tsv", "x\ty z\n1\t2,5\n", TextOptions{}, "x int64 1; y z string 2,5"},
		{"a.txt", "x;y\n1;2\n", TextOptions{}, "x int64 1; y int64 2"},
		{"a.csv", "x|y\n1|2\n", TextOptions{}, "x int64 1; y int64 2"},
		{"a.csv", "x\ty\n1\t2\n", TextOptions{}, "x int64 1; y int64 2"},
		{"a.data", " 1  2 a \n\n3\t4 b\n", TextOptions{}, "c1 int64 1 3; c2 int64 2 4; c3 string a b"},
		{"a.csv", "1:2:3\n4:5:6\n", TextOptions{Delimiter: ":"}, "c1 int64 1 4; c2 int64 2 5; c3 int64 3 6"},
		{"a.csv", "a b,c d\ne f,g h\n", TextOptions{}, "a b string e f; c d string g h"},
		{"a.csv", "a b,c d\n", TextOptions{Delimiter: "space", Header: "no"}, "c1 string a; c2 string b,c; c3 string d"},
		{"a.csv", "x,s\n1,\n,NA\n?,\"\"\nNaN,\"NA\"\nnull,nan\n", TextOptions{},
			"x int64 1 null null null null; s string null null  NA null"},
		{"a.csv", "x,y\n\"1\",\"\"\n \"2\" , 3 \n", TextOptions{}, "x int64 1 2; y int64 null 3"},
		{"a.csv", "x,s\n1,\"a,\"\"b\"\"\nc\"\n2,\"\"\"\"\n", TextOptions{}, `x int64 1 2; s string a,\"b\"\nc \"`},
		{"a.csv", "x,b\n1,true\n2,False\n3,\n", TextOptions{}, "x int64 1 2 3; b bool true false null"},
		{"a.csv", "x,e\n1,\n2,?\n", TextOptions{}, "x int64 1 2; e float64 null null"},
		{"a.csv", "x\n1e3\n+2\n-.5\n5.\n25e-2\n-0\n", TextOptions{}, "x float64 1000 2 -0.5 5 0.25 -0"},
		{"a.csv", "x\n12345678901234567890\n1e-400\n0.1\n9007199254740993\n", TextOptions{},
			"x float64 1.2345678901234567e+19 0 0.1 9.007199254740992e+15"},
		{"a.csv", "x,y,z,m,u\n9007199254740993,-9223372036854775808,1,-0,18446744073709551615\n-12,+9223372036854775807,1.0,1,1\n",
			TextOptions{}, "x int64 9007199254740993 -12; y int64 -9223372036854775808 9223372036854775807; z float64 1 1; " +
				"m float64 -0 1; u float64 1.8446744073709552e+19 1"},
		{"a.csv", "x,y\r\n-0,1\r\n1,-0\r\n", TextOptions{}, "x float64 -0 1; y float64 1 -0"},
		{"a.csv", "x,y\n", TextOptions{}, "x float64; y float64"},
		{"a.csv", "x,y\r", TextOptions{}, "x float64; y float64"},
		{"a.csv", "x,\"y\rz\"\r", TextOptions{}, "x float64; y\rz float64"},
		{"a", "x,y\n1,2\n", TextOptions{}, "x int64 1; y int64 2"},
		{"a.svm", "1 2:0.5 4:1e2\n-1 1:3 # a comment\n\n# another\n+1\n", TextOptions{},
			"label float64 1 -1 1; f1 float64 0 3 0; f2 float64 0.5 0 0; f3 float64 0 0 0; f4 float64 100 0 0"},
		{"a.txt", "1 qid:7 1:2\n0 qid:7 2:3\n", TextOptions{}, "label float64 1 0; f1 float64 2 0; f2 float64 0 3"},
		{"a.svm.gz", "1 0:2\r\n0 1:3", TextOptions{}, "label float64 1 0; f0 float64 2 0; f1 float64 0 3"},
		{"a.svm", "1 1:2\n", TextOptions{IndexBase: "0"}, "label float64 1; f0 float64 0; f1 float64 2"},
		{"a.svm", "1\n0\n", TextOptions{}, "label float64 1 0"},
		{"a.svm", "1 00:2 01:3\n", TextOptions{}, "label float64 1; f0 float64 2; f1 float64 3"},
		{"a.svm", "1 10:2\n1 1:3 # 0:\n", TextOptions{IndexBase: "auto"}, "label float64 1 1; f1 float64 0 3; f2 float64 0 0; " +
			"f3 float64 0 0; f4 float64 0 0; f5 float64 0 0; f6 float64 0 0; f7 float64 0 0; f8 float64 0 0; f9 float64 0 0; f10 float64 2 0"},
		{"a.svm", "1 qid:0\t \tqid:0 0:4\n", TextOptions{}, "label float64 1; f0 float64 4"},
	} {
		all, err := table(t, Options{Text: c.opt}, textFile(t, c.file, c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := show(all); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// TestOddAlone: where the only column is mostly numbers, the error says what to type.
func TestOddAlone(t *testing.T) {
	path := textFile(t, "a.csv", "x,y\n1,0\nNA,1\nunknown,0\n3,1\n5,1\n")
	_, err := Load(context.Background(), []string{path}, Options{Label: "y"})
	wantError(t, err, filepath.Dir(path), `DIR/a.csv: no feature is left, and a feature is a number, a boolean or a list of numbers (columns: `+
		`x string, since line 4 has "unknown", y int64); DIR/a.csv: column "x" is string, since line 4 has "unknown", and most of its values are `+
		`numbers, so it is left out: use --null-values unknown,NA with --nulls drop, zero or mean if that stands for no value, or correct it`)
	if _, err := Load(context.Background(), []string{path}, Options{Label: "y", Nulls: "mean", Text: TextOptions{NullValues: []string{"unknown", "NA"}}}); err != nil {
		t.Error(err)
	}
}

// TestNullValues: words are nulls in every column, a dash in columns of numbers and booleans alone. Words that are named take the place
// of the usual ones, whether they are text or numbers.
func TestNullValues(t *testing.T) {
	named := func(words ...string) TextOptions { return TextOptions{NullValues: append([]string{}, words...)} }
	for _, c := range []struct {
		text string
		opt  TextOptions
		want string
	}{
		{"x,b,s\nNone,true,a\nN/A,-,None\n-,false,-\n\\N,n/a,\\N\n1.5,\\N,N/A\n", TextOptions{},
			"x float64 null null null null 1.5; b bool true null false null null; s string a null - null null"},
		{"x,y\n-1,+\n-,-\n2,+\n", TextOptions{}, "x int64 -1 null 2; y string + - +"},
		{"x,y\n1,-\n2,-\n", TextOptions{}, "x int64 1 2; y string - -"},
		{"x,s\n\"1\",\"a\"\n\"NA\",\"NA\"\n\"-\",\"-\"\n\"\",\"\"\n", TextOptions{}, "x int64 1 null null null; s string a NA - "},
		{"x,s\nnone,none\n1,NONE\n", TextOptions{}, "x string none 1; s string none NONE"},
		{"x,y,s\n-999,-999.0,-999\n2,0.5,b\n,1,NA\n", named("-999"), "x int64 null 2 null; y float64 null 0.5 1; s string null b NA"},
		{"x,s\n1,a\nmissing,missing\n2,\"missing\"\n", named("missing"), "x int64 1 null 2; s string a null null"},
		{"x,s\n1,NA\n2,\n", named(), "x int64 1 2; s string NA null"},
		{"x,s\n1,NA\n?,-\n", named("-"), "x string 1 ?; s string NA null"},
		{"x,s\n1,a\n-,-\n", named("NA"), "x int64 1 null; s string a -"},
		{"a,b\n1e3,2\n1000,1000\n5,1e3\n", named("1000"), "a int64 null null 5; b int64 2 null null"},
	} {
		all, err := table(t, Options{Text: c.opt}, textFile(t, "a.csv", c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := show(all); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
	err := TextOptions{NullValues: []string{"\xff"}}.Check()
	wantError(t, err, "", `null-values has "\xff": use UTF-8 text`)
}

// TestMixedFormats: files of one input have one format.
func TestMixedFormats(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": "x,y\n1,2\n", "b.svm": "1 1:1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, paths := range [][]string{{dir}, {filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.svm")}} {
		_, err := Load(context.Background(), paths, Options{})
		wantError(t, err, dir, "DIR/b.svm is svmlight, but DIR/a.csv is CSV: read files of one format at a time, or convert them")
	}
}

// TestFurtherFiles: columns are found by name in every file, and typed as in the first.
func TestFurtherFiles(t *testing.T) {
	first, second := textFile(t, "a.csv", "x,id,y\n1,a,0\n"), textFile(t, "b.csv", "y;id;x\n1;7;2\n")
	all, err := table(t, Options{}, first, second)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(all), "x int64 1 2; id string a 7; y int64 0 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	third := textFile(t, "c.csv", "x,id,y\n1,a,b\n2,b,c\n")
	_, err = table(t, Options{}, first, third)
	wantError(t, err, filepath.Dir(third),
		`DIR/c.csv: line 2, column "y": "b" is not a number, unlike the first rows: correct it, leave the column out with --exclude, or use --null-values b if it stands for no value`)
}

// TestFurtherColumns: in every format the columns are those of the first file; more of another are left out.
func TestFurtherColumns(t *testing.T) {
	dir := t.TempDir()
	p := arrow.PrimitiveTypes
	first := file1(t, dir, "a.parquet", field("x", p.Int64, "[1]"), field("y", p.Int64, "[0]"))
	second := file1(t, dir, "b.parquet", field("z", p.Int64, "[7]"), field("y", p.Int64, "[1]"), field("x", p.Int64, "[2]"))
	for _, ext := range []string{".parquet", ".csv", ".arrow"} {
		paths := []string{filepath.Join(dir, "c"+ext), filepath.Join(dir, "d"+ext)}
		convertFile(t, 1, first, paths[0], WriterOptions{})
		convertFile(t, 1, second, paths[1], WriterOptions{})
		all, err := table(t, Options{}, paths...)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := show(all), "x int64 1 2; y int64 0 1"; got != want {
			t.Errorf("%s: %s, want %s", ext, got, want)
		}
		_, err = table(t, Options{}, paths[1], paths[0])
		wantError(t, err, dir, fmt.Sprintf(`DIR/c%s: no column "z" (columns: x, y)`, ext))
	}
}

// TestHeaderOfText: where all is text, a file that was written is read with the names it was written with, further files
// are read as the first, and a note says what the first line is taken for.
func TestHeaderOfText(t *testing.T) {
	dir := t.TempDir()
	start, out := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "a.csv")
	words := arrow.BinaryTypes.String
	writeFile(t, start, record(t, field("y", words, `["y", "n", null]`), field("b c", words, `["1x", "", "d"]`)), 10)
	convertFile(t, 3, start, out, WriterOptions{})
	const want = "y string y n null; b c string 1x  d"
	if got, err := table(t, Options{}, out); err != nil || show(got) != want {
		t.Errorf("%v (%v), want %s", got, err, want)
	}
	for _, c := range []struct {
		first, second, want string
		notes               int
	}{
		{"x,y\na,b\n", "y,x\nc,d\n", "x string a d; y string b c", 1},
		{"x,x\na,b\n", "y,x\nc,d\n", "c1 string x a y c; c2 string x b x d", 0},
		{"x,y\n", "y,x\n", "x float64; y float64", 1},
		{"x,y\na,1\n", "y,x\n", "x string a; y int64 1", 0},
	} {
		var notes []string
		first, second := textFile(t, "a.csv", c.first), textFile(t, "b.csv", c.second)
		to := filepath.Join(t.TempDir(), "c.parquet")
		_, err := Convert(context.Background(), []string{first, second}, to, Options{Warn: func(s string) {
			notes = append(notes, s)
		}}, WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := table(t, Options{}, to); err != nil || strings.TrimSpace(show(got)) != c.want {
			t.Errorf("%q and %q: %v (%v), want %s", c.first, c.second, got, err, c.want)
		}
		note := first + ": all is text, and the first line is taken for the names of the columns (use --header no if it is data)"
		if len(notes) != c.notes || c.notes > 0 && notes[0] != note {
			t.Errorf("%q: notes %q", c.first, notes)
		}
	}
}

// TestOddLines: a first line whose values recur below, and values in single quotes, are told.
func TestOddLines(t *testing.T) {
	for text, want := range map[string]string{
		"red,?,yes\nblue,1,no\nred,2,yes\n": `the first line is taken for the names of the columns, but a row below has its "red" in column 1 too (use --header no if it is data)`,
		"a,b,yes\nb,a,no\nc,d,yes\n":        `but a row below has its "yes" in column 3 too`,
		"x,y\n1,a\n2,b\n":                   "",
		"x,y\n'1','a'\n'2','it''s'\n":       "all values are in single quotes, which count as a part of them",
		"x,y\n'1','a'\n2,'b'\n":             "",
		"x,n,y\n'twas,1,'a'\n'tis',2,b\n":   "",
		"'1','a'\n'2','a'\n":                "all values are in single quotes",
	} {
		notes := ""
		_, err := Convert(context.Background(), []string{textFile(t, "a.csv", text)}, filepath.Join(t.TempDir(), "c.parquet"), Options{Warn: func(s string) { notes += s }}, WriterOptions{})
		if err != nil || !strings.Contains(notes, want) || want == "" && notes != "" {
			t.Errorf("%q: notes %q, want %q (%v)", text, notes, want, err)
		}
	}
}

// TestOddCells: where few values make a column text the first of them is named, wherever that counts.
func TestOddCells(t *testing.T) {
	file := func(rows int, odd map[int]string) string {
		var text strings.Builder
		text.WriteString("x,z,y\n")
		for r := range rows {
			x := "1.5"
			if o, ok := odd[r]; ok {
				x = o
			}
			fmt.Fprintf(&text, "%s,2,%d\n", x, r%2)
		}
		return textFile(t, "a.csv", text.String())
	}
	many := map[int]string{}
	for r := range 20 {
		many[r+500] = "none"
	}
	for _, c := range []struct {
		rows int
		odd  map[int]string
		told bool
	}{
		{20, map[int]string{4: "none"}, true},
		{9, map[int]string{4: "none"}, true},
		{9, map[int]string{2: "a", 3: "b", 4: "none", 7: "c", 8: "d"}, false},
		{20, map[int]string{4: "none", 7: "-", 8: "?"}, true},
		{1000, map[int]string{4: "none", 7: "x"}, true},
		{1999, many, true},
	} {
		path, line := file(c.rows, c.odd), 6
		if c.rows > 1000 {
			line = 502
		}
		desc := "string"
		if c.told {
			desc = fmt.Sprintf(`string, since line %d has "none"`, line)
		}
		var notes []string
		opt := Options{Label: "y", Warn: func(s string) { notes = append(notes, s) }}
		if _, err := Load(context.Background(), []string{path}, opt); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`column "x" (%s): left out, a feature is a number, a boolean or a list of numbers (use --categorical onehot or `+
			`hash:BITS for text)`, desc)
		words := "none"
		if c.odd[8] == "?" {
			words = "'none,?'"
		}
		advice := fmt.Sprintf(`%s: column "x" is %s, and most of its values are numbers: use --null-values %s with --nulls drop, zero or mean if that stands for no value, or correct it`,
			path, desc, words)
		if c.told {
			want = strings.Replace(advice, ": use", ", so it is left out: use", 1)
		}
		if len(notes) != 1 || notes[0] != want {
			t.Errorf("%d rows: notes %q, want %q", c.rows, notes, want)
		}
		opt.Categorical, opt.Nulls, notes = "onehot", schema.NullsZero, nil
		if _, err := Load(context.Background(), []string{path}, opt); err != nil {
			t.Fatal(err)
		}
		if want = "[" + advice + "]"; !c.told {
			want = "[]"
		}
		if fmt.Sprint(notes) != want {
			t.Errorf("%d rows: notes %q, want %q", c.rows, notes, want)
		}
		opt = Options{Spec: &schema.Spec{Features: []string{"x"}}}
		_, err := Load(context.Background(), []string{path}, opt)
		wantError(t, err, filepath.Dir(path), fmt.Sprintf(`DIR/a.csv: column "x" is %s, and the model takes a number: convert it`, desc))
		if info, err := InspectTable(context.Background(), path, Options{}); err != nil || info.Columns[0].Type != "string" {
			t.Errorf("%+v (%v)", info, err)
		}
	}
}
