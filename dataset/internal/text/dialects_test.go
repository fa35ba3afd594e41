package text_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset"
	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// table reads all columns of files.
func table(tb testing.TB, opt dataset.Options, paths ...string) (arrow.Table, error) {
	tb.Helper()
	opt.Spec, opt.Keep = &schema.Spec{Bias: true}, []string{"*"}
	var recs []arrow.Record
	var columns *arrow.Schema
	err := dataset.Scan(tb.Context(), paths, opt, func(_ *schema.Spec, _ *block.Block, rec arrow.Record) error {
		if rec == nil {
			return errors.New("no column")
		}
		rec.Retain()
		recs, columns = append(recs, rec), rec.Schema()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return array.NewTableFromRecords(columns, recs), nil
}

// notesOf returns what Load warns of.
func notesOf(t *testing.T, path string, opt dataset.Options) (notes []string) {
	t.Helper()
	opt.Warn = func(s string) { notes = append(notes, s) }
	require.Value(dataset.Load(t.Context(), path, opt))(t)
	return notes
}

// TestDialects reads text of every kind as columns. Words are nulls in every column, a dash in columns of numbers and booleans alone; words
// that are named take the place of the usual ones, whether they are text or numbers.
func TestDialects(t *testing.T) {
	named := func(words ...string) dataset.TextOptions {
		return dataset.TextOptions{NullValues: append([]string{}, words...)}
	}
	for _, c := range []struct {
		file, text string
		opt        dataset.TextOptions
		want       string
	}{
		{"a.csv", "x,y\n1,a\n2,b\n", dataset.TextOptions{}, "x int64 1 2; y string a b"},
		{"a.csv", "1,a\n2,b", dataset.TextOptions{}, "c1 int64 1 2; c2 string a b"},
		{"a.csv", "x,1\n1,2\n", dataset.TextOptions{}, "c1 string x 1; c2 int64 1 2"},
		{"a.csv", "x,y\na,b\n", dataset.TextOptions{}, "x string a; y string b"},
		{"a.csv", "x,y\na,b\n", dataset.TextOptions{Header: "no"}, "c1 string x a; c2 string y b"},
		{"a.csv", "x,x\na,b\n", dataset.TextOptions{}, "c1 string x a; c2 string x b"},
		{"a.csv", "x,\na,b\n", dataset.TextOptions{}, "c1 string x a; c2 string null b"},
		{"a.csv", "x,NA\na,b\n", dataset.TextOptions{}, "c1 string x a; c2 string null b"},
		{"a.csv", "x,\na,true\n", dataset.TextOptions{Header: "auto"}, "x string a; c2 bool true"},
		{"a.csv", "x,y\na,true\n", dataset.TextOptions{}, "x string a; y bool true"},
		{"a.csv", "a,true\nb,false\n", dataset.TextOptions{}, "c1 string a b; c2 bool true false"},
		{"a.csv", "x,y\na,b\n", dataset.TextOptions{Header: "yes"}, "x string a; y string b"},
		{"a.csv", "x,y\n1,b\n", dataset.TextOptions{Header: "no"}, "c1 string x 1; c2 string y b"},
		{"a.csv", "2001,2002\n1,2\n", dataset.TextOptions{Header: "yes"}, "2001 int64 1; 2002 int64 2"},
		{"a.csv", ",x\n0,1\n", dataset.TextOptions{}, "c1 int64 0; x int64 1"},
		{"a.csv", "\ufeffx,y\r\n1,2\r\n3,4\r\n", dataset.TextOptions{}, "x int64 1 3; y int64 2 4"},
		{"a.csv.gz", "x,y\n1,2\n", dataset.TextOptions{}, "x int64 1; y int64 2"},
		{"a.tsv", "x\ty z\n1\t2,5\n", dataset.TextOptions{}, "x int64 1; y z string 2,5"},
		{"a.txt", "x;y\n1;2\n", dataset.TextOptions{}, "x int64 1; y int64 2"},
		{"a.csv", "x|y\n1|2\n", dataset.TextOptions{}, "x int64 1; y int64 2"},
		{"a.csv", "x\ty\n1\t2\n", dataset.TextOptions{}, "x int64 1; y int64 2"},
		{"a.data", " 1  2 a \n\n3\t4 b\n", dataset.TextOptions{}, "c1 int64 1 3; c2 int64 2 4; c3 string a b"},
		{"a.csv", "1:2:3\n4:5:6\n", dataset.TextOptions{Delimiter: ":"}, "c1 int64 1 4; c2 int64 2 5; c3 int64 3 6"},
		{"a.csv", "a b,c d\ne f,g h\n", dataset.TextOptions{}, "a b string e f; c d string g h"},
		{"a.csv", "a b,c d\n", dataset.TextOptions{Delimiter: "space", Header: "no"}, "c1 string a; c2 string b,c; c3 string d"},
		{"a.csv", "x,s\n1,\n,NA\n?,\"\"\nNaN,\"NA\"\nnull,nan\n", dataset.TextOptions{}, "x int64 1 null null null null; s string null null  NA null"},
		{"a.csv", "x,y\n\"1\",\"\"\n \"2\" , 3 \n", dataset.TextOptions{}, "x int64 1 2; y int64 null 3"},
		{"a.csv", "x,s\n1,\"a,\"\"b\"\"\nc\"\n2,\"\"\"\"\n", dataset.TextOptions{}, `x int64 1 2; s string a,\"b\"\nc \"`},
		{"a.csv", "x,b\n1,true\n2,False\n3,\n", dataset.TextOptions{}, "x int64 1 2 3; b bool true false null"},
		{"a.csv", "x,e\n1,\n2,?\n", dataset.TextOptions{}, "x int64 1 2; e float64 null null"},
		{"a.csv", "x\n1e3\n+2\n-.5\n5.\n25e-2\n-0\n", dataset.TextOptions{}, "x float64 1000 2 -0.5 5 0.25 -0"},
		{"a.csv", "x\n12345678901234567890\n1e-400\n0.1\n9007199254740993\n", dataset.TextOptions{}, "x float64 1.2345678901234567e+19 0 0.1 9.007199254740992e+15"},
		{"a.csv", "x,y,z,m,u\n9007199254740993,-9223372036854775808,1,-0,18446744073709551615\n-12,+9223372036854775807,1.0,1,1\n",
			dataset.TextOptions{}, "x int64 9007199254740993 -12; y int64 -9223372036854775808 9223372036854775807; z float64 1 1; " +
				"m float64 -0 1; u string 18446744073709551615 1"},
		{"a.csv", "x,y\r\n-0,1\r\n1,-0\r\n", dataset.TextOptions{}, "x float64 -0 1; y float64 1 -0"},
		{"a.csv", "x,y\n", dataset.TextOptions{}, "x float64; y float64"},
		{"a.csv", "x,y\r", dataset.TextOptions{}, "x float64; y float64"},
		{"a.csv", "x,\"y\rz\"\r", dataset.TextOptions{}, "x float64; y\rz float64"},
		{"a", "x,y\n1,2\n", dataset.TextOptions{}, "x int64 1; y int64 2"},
		{"a.csv", "x,x,x_2,\n1,2,3,4\n", dataset.TextOptions{}, "x int64 1; x_3 int64 2; x_2 int64 3; c4 int64 4"},
		{"a.csv", "x,y\r1,\"a\rb\"\r2,c", dataset.TextOptions{}, `x int64 1 2; y string a\nb c`},
		{"a.svm", "1 1:2\r0 1:3\r", dataset.TextOptions{}, "label float64 1 0; f1 float64 2 3"},
		{"a.csv", "x,'y, z'\n1,'a,\"b'\n2,'it''s'\n3,NULL\n", dataset.TextOptions{}, `x int64 1 2 3; y, z string a,\"b it's null`},
		{"a.csv", "x,y\n1,'a'\n2,b\n", dataset.TextOptions{}, "x int64 1 2; y string 'a' b"},
		{"a.csv", "x,y\n1,\"'a'\"\n2,'b'\n", dataset.TextOptions{}, "x int64 1 2; y string 'a' 'b'"},
		{"a.csv", "# made by hand, 5\" wide\n#\nx,y\n# more\n1,2\n# 5\" long\n\n3,4\n# end", dataset.TextOptions{}, "x int64 1 3; y int64 2 4"},
		{"a.csv", "# one, two\nx,y\n1,2\n", dataset.TextOptions{}, "x int64 1; y int64 2"},
		{"a.tsv", "##form=1\n##more\n#x\ty\n1\t2\n", dataset.TextOptions{}, "#x int64 1; y int64 2"},
		{"a.csv", "#x,y\n1,2\n", dataset.TextOptions{Header: "no"}, "c1 int64 1; c2 int64 2"},
		{"a.csv", "#x,y\n#1,2\n", dataset.TextOptions{}, "#x string #1; y int64 2"},
		{"a.csv", "#ff0000,red\n#00ff00,lime\nred,red\n", dataset.TextOptions{}, "#ff0000 string #00ff00 red; red string lime red"},
		{"a.csv", "color,n\n#ff0000,1\nred,2\n#00ff00,3\n", dataset.TextOptions{}, "color string #ff0000 red #00ff00; n int64 1 2 3"},
		{"a.csv", "color,n\n#ff0000,1\nred,2\n# a remark\n#00ff00,3\n", dataset.TextOptions{}, "color string #ff0000 red #00ff00; n int64 1 2 3"},
		{"a.csv", "x,y\n#N/A,2\n#5,6\n3,4\n", dataset.TextOptions{}, "x string #N/A #5 3; y int64 2 6 4"},
		{"a.csv", "x,y\n#N/A,2\n1,6\n", dataset.TextOptions{}, "x int64 null 1; y int64 2 6"},
		{"a.csv", "#N/A,2\n1,6\n", dataset.TextOptions{}, "c1 int64 null 1; c2 int64 2 6"},
		{"a.csv", "#N/A,a\n1,b\n2,b\n", dataset.TextOptions{}, "c1 int64 null 1 2; c2 string a b b"},
		{"a.csv", "x\n1\n#N/A\n# a remark\n#\n3\n", dataset.TextOptions{}, "x int64 1 null 3"},
		{"a.csv", "x\na\n# b\n", dataset.TextOptions{}, "x string a # b"},
		{"a.csv", "x,y\n#a,1\n#b,2\n", dataset.TextOptions{}, "x string #a #b; y int64 1 2"},
		{"a.csv", "# one\n# two, three\nx,y\n1,a\n# four\n#b,c\n", dataset.TextOptions{}, "x string 1 #b; y string a c"},
		{"a.csv", "x,s\n#a,\"1\n2\"\n# 5\" wide\n#b,3\n", dataset.TextOptions{}, `x string #a #b; s string 1\n2 3`},
		{"a.csv", "t,n\n\"a\n# b\n\",1\nc,2\n", dataset.TextOptions{}, `t string a\n# b\n c; n int64 1 2`},
		{"a.data", "# a b\n1 2\n3 4\n", dataset.TextOptions{}, "c1 int64 1 3; c2 int64 2 4"},
		{"a.csv", "sep=;\nx;y\n1;2\n", dataset.TextOptions{}, "x int64 1; y int64 2"},
		{"a.csv", "\ufeff\"sep=\t\"\r\nx\ty\r\n1\t2\r\n", dataset.TextOptions{}, "x int64 1; y int64 2"},
		{"a.csv", "sep=,\nx;y\n1;2\n", dataset.TextOptions{Delimiter: ";"}, "x int64 1; y int64 2"},
		{"a.csv", "sep=x\ny\nz\n", dataset.TextOptions{Header: "no", Delimiter: ","}, "c1 string y z"},
		{"a.csv", "Sales, all\nof 2025\n\nx,y,s\n1,2,a\n3,4,b\n", dataset.TextOptions{}, "x int64 1 3; y int64 2 4; s string a b"},
		{"a.csv", "Sales,,\n,,\nx,y,s\n1,2,a\n3,4,b\n", dataset.TextOptions{}, "x int64 1 3; y int64 2 4; s string a b"},
		{"a.csv", "x,y\nx,y\n1,2\n3,4\n", dataset.TextOptions{}, "x int64 1 3; y int64 2 4"},
		{"a.csv", "a,b\na,b\nc,d\nc,e\n", dataset.TextOptions{}, "c1 string a a c c; c2 string b b d e"},
		{"a.csv", "Sales of 5\" pipes\nx;y\n1;2\n3;4\n5;6\n", dataset.TextOptions{}, "x int64 1 3 5; y int64 2 4 6"},
		{"a.csv", "x,y,z\n1,5\" wide,6\" deep\n2,a,b\n", dataset.TextOptions{}, `x int64 1 2; y string 5\" wide a; z string 6\" deep b`},
		{"a.csv", "x,y\n1,2,\n3,4,\n", dataset.TextOptions{}, "x int64 1 3; y int64 2 4"},
		{"a.csv", "x,y\n1,2,\n3,4\n5,6,\n7,8,\n9,1,\n1,2,\n3,4,\n5,6,\n7,8,\n9,1,\n", dataset.TextOptions{}, "x int64 1 3 5 7 9 1 3 5 7 9; y int64 2 4 6 8 1 2 4 6 8 1"},
		{"a.csv", "a,b,\nc,d,\ne,f,\n", dataset.TextOptions{}, "a string c e; b string d f; c3 float64 null null"},
		{"a.csv", "x,s\nr1,2,a\nr2,4,b\n", dataset.TextOptions{}, "x int64 2 4; s string a b"},
		{"a.csv", "c1,s\n7,2,a\n9,4,b\n", dataset.TextOptions{}, "c1 int64 2 4; s string a b"},
		{"a.txt", "\"s\" \"t\"\n\"1\" \"a b\" \"c\"\n\"2\" \"d\" \"e\"\n", dataset.TextOptions{}, "s string a b d; t string c e"},
		{"a.csv", "x,y,s\nmm,°C,\n1,2,a\n3,4,b\n", dataset.TextOptions{}, "x int64 1 3; y int64 2 4; s string a b"},
		{"a.csv", "x,y,s\nmm,°C,\n1,2,a\n3,4,b\n", dataset.TextOptions{Header: "yes"}, "x string mm 1 3; y string °C 2 4; s string null a b"},
		{"a.csv", "x,y,s\nmm,°C,\n1,2,a\n3,4,b\n", named("mm", "°C"), "x int64 null 1 3; y int64 null 2 4; s string null a b"},
		{"a.csv", "x,y,s\nunknown,2,\n1,2,a\n3,4,b\n", dataset.TextOptions{}, "x string unknown 1 3; y int64 2 2 4; s string null a b"},
		{"a.csv", "x,y,s\nmm,kg,b\n1,2,a\n3,4,b\n", dataset.TextOptions{}, "x string mm 1 3; y string kg 2 4; s string b a b"},
		{"a.csv", "0,1,2\n0.5,1.5,0\n2.5,0.1,1\n", dataset.TextOptions{}, "0 float64 0.5 2.5; 1 float64 1.5 0.1; 2 int64 0 1"},
		{"a.csv", "s,2019,2020\na,5,6\na,7,9\nb,1,2\nb,3,4\n", dataset.TextOptions{}, "s string a a b b; 2019 int64 5 7 1 3; 2020 int64 6 9 2 4"},
		{"a.csv", "0,1,2\n5,1,0\n2,1,1\n", dataset.TextOptions{}, "c1 int64 0 5 2; c2 int64 1 1 1; c3 int64 2 0 1"},
		{"a.csv", "x,s\n1,5\" wide\n2,\"a, b\"\n3,\"c\nd\"\n", dataset.TextOptions{}, `x int64 1 2 3; s string 5\" wide a, b c\nd`},
		{"a.txt", "x\ts\n1\t\"a\" b\n2\t\"open\n3\tc\n", dataset.TextOptions{}, `x int64 1 2 3; s string \"a\" b \"open c`},
		{"a.txt", "12:30:00 1 a\n12:40:00 2 b\n", dataset.TextOptions{}, "c1 string 12:30:00 12:40:00; c2 int64 1 2; c3 string a b"},
		{"a.csv", "a,b\nb,a\na,b\n", dataset.TextOptions{}, "c1 string a b a; c2 string b a b"},
		{"a.svm", "1 2:0.5 4:1e2\n-1 1:3 # a comment\n\n# another\n+1\n", dataset.TextOptions{}, "label float64 1 -1 1; f1 float64 0 3 0; f2 float64 0.5 0 0; f3 float64 0 0 0; f4 float64 100 0 0"},
		{"a.txt", "1 qid:7 1:2\n0 qid:7 2:3\n", dataset.TextOptions{}, "label float64 1 0; f1 float64 2 0; f2 float64 0 3"},
		{"a.svm.gz", "1 0:2\r\n0 1:3", dataset.TextOptions{}, "label float64 1 0; f0 float64 2 0; f1 float64 0 3"},
		{"a.svm", "1 1:2\n", dataset.TextOptions{IndexBase: "0"}, "label float64 1; f0 float64 0; f1 float64 2"},
		{"a.svm", "1\n0\n", dataset.TextOptions{}, "label float64 1 0"},
		{"a.svm", "1 00:2 01:3\n", dataset.TextOptions{}, "label float64 1; f0 float64 2; f1 float64 3"},
		{"a.svm", "1 10:2\n1 1:3 # 0:\n", dataset.TextOptions{IndexBase: "auto"}, "label float64 1 1; f1 float64 0 3; f2 float64 0 0; " +
			"f3 float64 0 0; f4 float64 0 0; f5 float64 0 0; f6 float64 0 0; f7 float64 0 0; f8 float64 0 0; f9 float64 0 0; f10 float64 2 0"},
		{"a.svm", "1 qid:0\t \tqid:0 0:4\n", dataset.TextOptions{}, "label float64 1; f0 float64 4"},
		{"a.csv", "x,b,s\nNone,true,a\nN/A,-,None\n-,false,-\n\\N,n/a,\\N\n1.5,\\N,N/A\n", dataset.TextOptions{}, "x float64 null null null null 1.5; b bool true null false null null; s string a null - null null"},
		{"a.csv", "x,y\n-1,+\n-,-\n2,+\n", dataset.TextOptions{}, "x int64 -1 null 2; y string + - +"},
		{"a.csv", "x,y\n1,-\n2,-\n", dataset.TextOptions{}, "x int64 1 2; y string - -"},
		{"a.csv", "x,s\n\"1\",\"a\"\n\"NA\",\"NA\"\n\"-\",\"-\"\n\"\",\"\"\n", dataset.TextOptions{}, "x int64 1 null null null; s string a NA - "},
		{"a.csv", "x,s\nnone,none\n1,NONE\n", dataset.TextOptions{}, "x string none 1; s string none NONE"},
		{"a.csv", "x,y,s\n-999,-999.0,-999\n2,0.5,b\n,1,NA\n", named("-999"), "x int64 null 2 null; y float64 null 0.5 1; s string null b NA"},
		{"a.csv", "x,s\n1,a\nmissing,missing\n2,\"missing\"\n", named("missing"), "x int64 1 null 2; s string a null null"},
		{"a.csv", "x,s\n1,NA\n2,\n", named(), "x int64 1 2; s string NA null"},
		{"a.csv", "x,s\n1,NA\n?,-\n", named("-"), "x string 1 ?; s string NA null"},
		{"a.csv", "x,s\n1,a\n-,-\n", named("NA"), "x int64 1 null; s string a -"},
		{"a.csv", "a,b\n1e3,2\n1000,1000\n5,1e3\n", named("1000"), "a int64 null null 5; b int64 2 null null"},
	} {
		all, err := table(t, dataset.Options{Text: c.opt}, datatest.TextFile(t, c.file, c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := datatest.Show(all); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
	datatest.WantError(t, named("\xff").Check(), "", `NullValues has "\xff": use UTF-8 text`)
}

// TestOddAlone: where the only column is mostly numbers, the error says what to type.
func TestOddAlone(t *testing.T) {
	path := datatest.TextFile(t, "a.csv", "x,y\n1,0\nNA,1\nunknown,0\n3,1\n5,1\n")
	_, err := dataset.Load(context.Background(), path, dataset.Options{Label: "y"})
	datatest.WantError(t, err, filepath.Dir(path), `DIR/a.csv: no feature is left, and a feature is a number, a boolean or a list of numbers (columns: `+
		`x string, since line 4 has "unknown", y int64); DIR/a.csv: column "x" is string, since line 4 has "unknown", and most of its values are `+
		`numbers, so it is left out: use NullValues unknown,NA if that stands for no value, or correct it`)
	if _, err := dataset.Load(context.Background(), path, dataset.Options{Label: "y", Nulls: "mean", Text: dataset.TextOptions{NullValues: []string{"unknown", "NA"}}}); err != nil {
		t.Error(err)
	}
}

// TestFurtherFiles: columns are found by name in every file, and typed as in the first.
func TestFurtherFiles(t *testing.T) {
	first, second := datatest.TextFile(t, "a.csv", "x,id,y\n1,a,0\n"), datatest.TextFile(t, "b.csv", "y;id;x\n1;7;2\n")
	all := require.Value(table(t, dataset.Options{}, first, second))(t)
	if got, want := datatest.Show(all), "x int64 1 2; id string a 7; y int64 0 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	third := datatest.TextFile(t, "c.csv", "x,id,y\n1,a,b\n2,b,c\n")
	all = require.Value(table(t, dataset.Options{}, first, third))(t)
	if got, want := datatest.Show(all), "x int64 1 1 2; id string a a b; y string 0 b c"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHeaderOfText: where all is text, a file that was written is read with the names it was written with, further files
// are read as the first, and a note says what the first line is taken for.
func TestHeaderOfText(t *testing.T) {
	words, out := arrow.BinaryTypes.String, filepath.Join(t.TempDir(), "a.csv")
	rec := datatest.Record(t, datatest.Values("y", words, `["y", "n", null]`), datatest.Values("b c", words, `["1x", "", "d"]`))
	w := require.Value(dataset.Create(context.Background(), out, rec.Schema(), dataset.WriterOptions{}))(t)
	require.NoError(t, errors.Join(w.Write(rec), w.Close()))
	const want = "y string y n null; b c string 1x  d"
	if got, err := table(t, dataset.Options{}, out); err != nil || datatest.Show(got) != want {
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
		first, second := datatest.TextFile(t, "a.csv", c.first), datatest.TextFile(t, "b.csv", c.second)
		to := filepath.Join(t.TempDir(), "c.parquet")
		_, err := dataset.Convert(context.Background(), []string{first, second}, to, dataset.Options{Warn: func(s string) {
			notes = append(notes, s)
		}}, dataset.WriterOptions{})
		require.NoError(t, err)
		if got, err := table(t, dataset.Options{}, to); err != nil || strings.TrimSpace(datatest.Show(got)) != c.want {
			t.Errorf("%q and %q: %v (%v), want %s", c.first, c.second, got, err, c.want)
		}
		note := first + ": all is text, and the first line is taken for the names of the columns (use Header no if it is data)"
		if len(notes) != c.notes || c.notes > 0 && notes[0] != note {
			t.Errorf("%q: notes %q", c.first, notes)
		}
	}
}

// TestOddLines: a first line whose values recur below, and values in single quotes, are told.
func TestOddLines(t *testing.T) {
	for text, want := range map[string]string{
		"red,?,yes\nblue,1,no\nred,2,yes\n": `the first line is taken for a row, since a row below has its "red" in column 1 too (use Header yes if it has the names of the columns)`,
		"a,b,yes\nb,a,no\nc,d,yes\n":        `but a row below has its "yes" in column 3 too`,
		"x,y\n1,a\n2,b\n":                   "",
		"x,y\n'1','a'\n'2','it''s'\n":       "fields in single quotes are read without the quotes",
		"x,y\n'1','a'\n2,'b'\n":             "fields in single quotes are read without the quotes",
		"x,n,y\n'twas,1,'a'\n'tis',2,b\n":   "",
		"'1','a'\n'2','a'\n":                "fields in single quotes are read without the quotes",
	} {
		notes := ""
		_, err := dataset.Convert(context.Background(), []string{datatest.TextFile(t, "a.csv", text)}, filepath.Join(t.TempDir(), "c.parquet"), dataset.Options{Warn: func(s string) { notes += s }}, dataset.WriterOptions{})
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
		return datatest.TextFile(t, "a.csv", text.String())
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
		opt := dataset.Options{Label: "y", Warn: func(s string) { notes = append(notes, s) }}
		if _, err := dataset.Load(context.Background(), path, opt); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`column "x" (%s): left out, a feature is a number, a boolean or a list of numbers (use Categorical onehot or `+
			`hash:BITS for text)`, desc)
		words := "none"
		if c.odd[8] == "?" {
			words = "'none,?'"
		}
		advice := fmt.Sprintf(`%s: column "x" is %s, and most of its values are numbers: use NullValues %s if that stands for no value, or correct it`,
			path, desc, words)
		if c.told {
			want = strings.Replace(advice, ": use", ", so it is left out: use", 1)
		}
		if len(notes) != 1 || notes[0] != want {
			t.Errorf("%d rows: notes %q, want %q", c.rows, notes, want)
		}
		opt.Categorical, opt.Nulls, notes = "onehot", schema.NullsZero, nil
		if _, err := dataset.Load(context.Background(), path, opt); err != nil {
			t.Fatal(err)
		}
		if want = "[" + advice + "]"; !c.told {
			want = "[]"
		}
		if fmt.Sprint(notes) != want {
			t.Errorf("%d rows: notes %q, want %q", c.rows, notes, want)
		}
		opt = dataset.Options{Spec: &schema.Spec{Features: []string{"x"}}}
		_, err := dataset.Load(context.Background(), path, opt)
		if err == nil || !strings.Contains(err.Error(), `a.csv: column "x", line `) {
			t.Errorf("%d rows: error %v, want one about the first text that is no number", c.rows, err)
		}
		if _, info, err := dataset.Inspect(context.Background(), path, dataset.Options{}); err != nil || info.Columns[0].Type != "string" {
			t.Errorf("%+v (%v)", info, err)
		}
	}
}
