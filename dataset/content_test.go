package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/schema"
)

// TestContent: columns of dates, and of numbers with commas, are told once for all of a kind, with what to write in their place.
func TestContent(t *testing.T) {
	const dates = ": left out, dates written as text (to use them, write numbers, such as the days since a date, or the month)"
	const commas = ": left out, numbers with commas (write them with a decimal point alone, such as 1234.5)"
	rows := func(cells string) string { return strings.Repeat(cells+";1;0\n"+cells+";2;1\n", 60) }
	for _, c := range []struct{ text, want string }{
		{"day;at;x;y\n" + rows("2024-01-31;31.01.2024 10:30:00"), `columns "day" (string), "at" (string)` + dates},
		{"day;at;x;y\n" + rows("1/31/2024;31-Jan-2024"), `columns "day" (string), "at" (string)` + dates},
		{"a;b;x;y\n" + rows("1,5;1.234,5"), `columns "a" (string), "b" (string)` + commas},
		{"a;b;x;y\n" + rows("-0,5;1,234,567.8"), `columns "a" (string), "b" (string)` + commas},
		{"a;b;x;y\n7;2;1;0\n" + rows("1,5;3"), `column "a" (string)` + commas},
		{"a;b;x;y\n" + rows("1.2.24;1,2,3"), `columns "a" (string), "b" (string): left out, a feature is a number, a boolean or a list of numbers (use --categorical onehot or hash:BITS for text)`},
	} {
		path := textFile(t, "x.csv", c.text)
		if notes := notesOf[float32](t, path, Options{Label: "y"}); !slices.Equal(notes, []string{c.want}) {
			t.Errorf("%.40q: notes %q, want %q", c.text, notes, c.want)
		}
	}
}

// TestContentErrors: an error says that the only columns have such text, that a later number has a comma, and that the first line may be
// a comment.
func TestContentErrors(t *testing.T) {
	long := "a;b;y\n" + strings.Repeat("1.5;2;0\n1.5;2;1\n", 265_000)
	for _, c := range []struct {
		text, want string
		opt        Options
	}{
		{"a;b;y\n1,5;2,5;0\n1,5;2,5;1\n", `columns "a" (string), "b" (string): left out, numbers with commas (write them with a decimal point`, Options{Label: "y"}},
		{"a;b;y\n1,5;2;0\n1,5;2;1\n", `it has numbers with commas (write them`, Options{Label: "y", Features: []string{"a"}}},
		{long + "1,5;2;1\n", `line 530002, column "a": "1,5" has a comma, unlike the first rows: write numbers with a decimal point alone`, Options{Label: "y"}},
		{"# made by hand\na,b,y\n1,2,0\n", `no column "y": delete the first line if it is a comment (columns: # made by hand)`, Options{Label: "y"}},
		{"# made by hand\na,b,y\n1,2,0\n", `no feature is left, and a feature is a number, a boolean or a list of numbers (columns: # made by hand string): delete the first line`, Options{Label: "last"}},
		{"# by,hand\n1,2,0\n1,2,1\n", `but 2 in the first line: delete the first line if it is a comment, or mend this one`, Options{Label: "last"}},
	} {
		path := textFile(t, "x.csv", c.text)
		if _, err := Load(context.Background(), []string{path}, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// TestContentAsCategories: dates that are used as categories look like a time.
func TestContentAsCategories(t *testing.T) {
	path := textFile(t, "x.csv", "day,y\n2024-01-31,0\n2024-02-01,1\n")
	want := []string{`column "day" looks like a time: new rows will have later ones (use --exclude day)`}
	if notes := notesOf[float32](t, path, Options{Label: "y", Categorical: "onehot"}); !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// TestDigitsAmongBooleans: a 1 or a 0 among true and false beyond the first rows is a boolean; another number is an error.
func TestDigitsAmongBooleans(t *testing.T) {
	long := "a,x,y\n" + strings.Repeat("true,2,0\nfalse,2,1\n", 225_000)
	path := textFile(t, "x.csv", long+"1,2,1\n0,2,1\n")
	data, err := Load(context.Background(), []string{path}, Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	for b := range data.Blocks(context.Background()) {
		if n := b.Len(); b.First+int64(n) == data.Rows() && (b.X[(n-2)*b.Stride] != 1 || b.X[(n-1)*b.Stride] != 0) {
			t.Errorf("the last rows have %v and %v", b.X[(n-2)*b.Stride], b.X[(n-1)*b.Stride])
		}
	}
	path = textFile(t, "x.csv", "a,x,y\n1,2,0\ntrue,2,1\n0,2,1\nfalse,2,0\n")
	if in, err := InspectTable(context.Background(), path, Options{}); err != nil || in.Columns[0].Type != "bool" || in.Columns[1].Type != "int64" {
		t.Errorf("%+v (%v)", in.Columns, err)
	}
	path = textFile(t, "x.csv", long+"true,true,1\n")
	data, err = Load(context.Background(), []string{path}, Options{Spec: &schema.Spec{Features: []string{"x"}}})
	if err != nil || data.Rows() != 450_001 {
		t.Errorf("a model doesn't take true among numbers: %v", err)
	}
	path = textFile(t, "x.csv", long+"2,2,1\n")
	if _, err := Load(context.Background(), []string{path}, Options{Label: "y"}); err == nil || !strings.Contains(err.Error(), `"2" is neither true nor false`) {
		t.Errorf("error %v", err)
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
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Load(context.Background(), []string{path}, Options{Label: "y"})
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
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(context.Background(), []string{path}, Options{Label: "y"})
	wantError(t, err, dir, "DIR/b.csv.gz: the name says CSV, but the content is Parquet: decompress it and rename it to *.parquet")
	path = filepath.Join(dir, "c.csv") // a column's name may begin like that
	if err := os.WriteFile(path, []byte("PAR1,y\n1,0\n2,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(context.Background(), []string{path}, Options{Label: "y"}); err != nil {
		t.Error(err)
	}
}
