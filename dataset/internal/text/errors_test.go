package text_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset"
	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/internal/source"
	textfile "halfspace/dataset/internal/text"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

func TestTextErrors(t *testing.T) {
	many := strings.Repeat("1,2\n", textfile.SampleBytes/4)
	for _, c := range []struct {
		file, text string
		opt        dataset.Options
		want       string
	}{
		{"a.csv", "", dataset.Options{}, "a.csv: the file is empty: write it again"},
		{"a.csv", "\n \n", dataset.Options{}, "a.csv: the file is empty: write it again"},
		{"a.csv", "x,y\n1,2\n1,2,3\n", dataset.Options{}, "a.csv: line 3: the number of fields is 3, but 2 in the first line: mend the line"},
		{"a.csv", "x,y\n1,2\n\n1\n", dataset.Options{}, "a.csv: line 4: the number of fields is 1, but 2 in the first line: mend the line"},
		{"a.csv", "x,y,z\n" + strings.Repeat("1,2,3\n", 20) + "4,+5\n" + strings.Repeat("1,2,3\n", 20), dataset.Options{}, "a.csv: line 22: the number of fields is 2, but 3 in the first line: mend the line"},
		{"a.csv", "x,y\n1,\"a\nb\"\n1\n", dataset.Options{}, "a.csv: line 4: the number of fields is 1, but 2 in the first line: mend the line"},
		{"a.csv", "x,y\n1,\"a\"\n" + many + "1,a\"b\n", dataset.Options{}, `a.csv: line 1048579, column "y": a quote inside a field: put the field in quotes and double the quote`},
		{"a.csv", "Sales of pipes\n1;2\n3;4\n5;6\n", dataset.Options{}, "a.csv: line 2: the number of fields is 2, but 1 in the first line: mend the line"},
		{"a.csv", "w,x,y\n1,2,c\n3,a\"b,c\"\n", dataset.Options{}, "a.csv: line 3: a quote inside a field: put the field in quotes and double the quote"},
		{"a.csv", "x,y\n1,\"a\" b\n", dataset.Options{}, "a.csv: line 2: text after closing quotes: double the quotes inside the field"},
		{"a.csv", "x,y\n1,\"a\n\n", dataset.Options{}, "a.csv: line 2: the quotes that begin here aren't closed: close them"},
		{"a.csv", "\xff\xfe\x00\x00x\x00\x00\x00", dataset.Options{}, "a.csv: line 1: the text is UTF-32: save it as UTF-8"},
		{"a.csv", "\xff\xfex\x00\n\x001", dataset.Options{}, "a.csv: the text is UTF-16, and its last character is truncated: copy or write it again"},
		{"a.csv", "x,z,y\n1,2,\n1,2,\n1,2,\n1,2,a,\n1,2,a,\n", dataset.Options{}, "a.csv: line 5: the number of fields is 4, but 3 in the first line: mend the line"},
		{"a.csv", "one,two,three,four,five\nx,y\n1,2\n", dataset.Options{Label: "y"}, `a.csv: no column "y" (columns: one, two, three, four, five): the name is in line 2 of DIR/a.csv: remove the lines above it`},
		{"a.csv", "x,s\n1,\xff\n", dataset.Options{Keep: []string{"s"}}, `a.csv: line 2, column "s": "\xff" is not valid UTF-8: save it as UTF-8, or convert it: iconv -f cp1252 -t utf-8`},
		{"a.csv", many + "1,b\n", dataset.Options{},
			`a.csv: line 1048577, column "c2": "b" is not a number, unlike the first rows: correct it, leave the column out with Exclude, or use NullValues b if it stands for no value`},
		{"a.csv", many + "1,1e999\n", dataset.Options{}, `a.csv: line 1048577, column "c2": "1e999" is too large for float64: correct it, or leave the column out with Exclude`},
		{"a.csv", "x,y\n1,2\n3,\n", dataset.Options{}, `a.csv: column "y", line 3, row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{"a.csv", "x,y\n1,2\n", dataset.Options{Label: "3"}, `a.csv: no column "3" (columns: x, y)`},
		{"a.csv", "x,y\n1,2\n", dataset.Options{Text: dataset.TextOptions{Delimiter: "::"}}, `Delimiter is "::": use one ASCII character, or comma, tab, semicolon, pipe or space`},
		{"a.csv.gz", "x,y\n1,2\n", dataset.Options{}, "a.csv.gz: not compressed by gzip, though its name says so: rename it or copy it again"},
		{"a.svm", "", dataset.Options{}, "a.svm: no rows: name a file that has some"},
		{"a.svm", "# nothing\n\n", dataset.Options{Label: column.SvmlightLabel}, "a.svm: no rows: name a file that has some"},
		{"a.svm", "1 1:1\na 1:1\n", dataset.Options{}, `a.svm: line 2: the label "a" is not a number: write one label in front of each line`},
		{"a.svm", "1 1:1\n1,2 1:1\n", dataset.Options{}, `a.svm: line 2: the label "1,2" is not a number: write one label in front of each line`},
		{"a.svm", "1 1:1 2\n", dataset.Options{}, `a.svm: line 1: "2" is no pair of an index and a number, like 7:0.5: mend it`},
		{"a.svm", "1 1:x\n", dataset.Options{}, `a.svm: line 1: "1:x" is no pair of an index and a number, like 7:0.5: mend it`},
		{"a.svm", "1 1: 2:3\n", dataset.Options{}, `a.svm: line 1: "1:" is no pair of an index and a number, like 7:0.5: mend it`},
		{"a.svm", "1 -1:2\n", dataset.Options{}, `a.svm: line 1: "-1:2" is no pair of an index and a number, like 7:0.5: mend it`},
		{"a.svm", "1 1:1\n1 3:1 2:1\n", dataset.Options{}, "a.svm: line 2: index 2 follows 3: sort the indices of each line, each once"},
		{"a.svm", "1 1:1\n1 2:1 2:1\n", dataset.Options{}, "a.svm: line 2: index 2 follows 2: sort the indices of each line, each once"},
		{"a.svm", "1 0:1\n", dataset.Options{Text: dataset.TextOptions{IndexBase: "1"}}, "a.svm: no feature is left, and a feature is a number, a boolean or a list of numbers (columns: label float64)"},
		{"a.svm", "1 0:1 1:1\n", dataset.Options{Text: dataset.TextOptions{IndexBase: "1"}}, "a.svm: line 1: index 0, though the first is 1: choose another IndexBase"},
		{"a.svm", "1 1:1\n0 123456789:1\n", dataset.Options{}, "a.svm: line 2: index 123456789: a row has at most 16777216 features: leave the larger indices out"},
		{"a.svm", "1 1:1\n0 99999999999999999999:1\n", dataset.Options{Storage: dataset.Dense}, "a.svm: line 2: index 99999999999999999999: a row has at most 262144 features: leave the larger indices out"},
		{"a.svm", "1 1:nan\n0 1:1\n", dataset.Options{}, `a.svm: column "f1", row 0: NaN (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{"a", "a\x00b", dataset.Options{}, "a: neither Parquet, Arrow IPC, CSV nor svmlight: convert it to one of them"},
		{"a", "x,y\n1,2\x00\n", dataset.Options{}, "a: line 2: a NUL byte: save the file as UTF-8 if it is UTF-16 or UTF-32, otherwise mend the line"},
		{"a", "", dataset.Options{}, "a: the file is empty: write it again"},
		{"a.arrow", "", dataset.Options{}, "a.arrow: the file is empty: write it again"},
		{"a.arrow", "x,y\n1,2\n", dataset.Options{}, "a.arrow: neither an Arrow IPC file nor a stream: check the file"},
		{"a", "FEA1....", dataset.Options{}, "a: Feather of version 1 can't be read: write it as version 2, or as Parquet"},
	} {
		name := c.file
		if strings.HasSuffix(name, ".gz") {
			name = "a.csv"
		}
		path := datatest.TextFile(t, name, c.text)
		if name != c.file {
			require.NoError(t, os.Rename(path, filepath.Join(filepath.Dir(path), c.file)))
			path = filepath.Join(filepath.Dir(path), c.file)
		}
		var err error
		if len(c.opt.Keep) > 0 {
			err = dataset.Scan(context.Background(), []string{path}, c.opt, func(*schema.Spec, *block.Block, arrow.Record) error {
				return nil
			})
		} else {
			_, err = dataset.Load(context.Background(), path, c.opt)
		}
		want := c.want
		if !strings.HasPrefix(want, "Delimiter") {
			want = "DIR/" + want
		}
		datatest.WantError(t, err, filepath.Dir(path), want)
	}
}

// TestBehindGzip: several members and zeros behind them are one text, and anything else behind them is an error that says so.
func TestBehindGzip(t *testing.T) {
	one, two := string(datatest.Gzip(t, "x,y\n1,2\n3,4\n")), string(datatest.Gzip(t, "5,6\n"))
	zeros := strings.Repeat("\x00", 100_000)
	const behind = "DIR/a.csv.gz: the gzip data ends, and something else stands behind it: copy it again, or cut that off"
	for data, want := range map[string]string{
		one: "", one + two: "", one + zeros: "", one + two + zeros: "", one + "\x00": "",
		one + "more": behind, one + "\x1f": behind, one + zeros + "x": behind, one + zeros + two: behind,
		one + "\x1f\x8b": "DIR/a.csv.gz: the gzip data is truncated: copy or write it again",
		one[:len(one)-5] + "\xff" + one[len(one)-4:]: "DIR/a.csv.gz: the gzip data is damaged (gzip: invalid checksum): copy or write it again",
	} {
		path := filepath.Join(t.TempDir(), "a.csv.gz")
		require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
		rows, err := table(t, dataset.Options{}, path)
		if want != "" {
			datatest.WantError(t, err, filepath.Dir(path), want)
		} else if err != nil || rows.NumRows() != int64(2+strings.Count(data, two)) {
			t.Errorf("%d bytes: rows %v, error %v", len(data), rows, err)
		}
	}
}

// TestLongRecord: a line without end is refused before it fills the memory.
func TestLongRecord(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name, start string
		memory      int64
		want        string
	}{
		{"a.csv", "x,y\n1,2\n", 0, "DIR/a.csv: line 3: the record that begins here is longer than 64.0 MiB: break it"},
		{"a.csv", "x,y\n1,2\n1,\"", 1 << 30, "DIR/a.csv: line 3: the record that begins here is longer than 64.0 MiB: close the quotes in it"},
		{"a.svm", "1 1:2\n", 512 * mib, "DIR/a.svm: line 2: the record that begins here is longer than 64.0 MiB: break it"},
		{"a.csv", "x,y\n1,2\n1,\"", 64 * mib,
			"DIR/a.csv: line 3: the record that begins here is longer than 8.0 MiB, an eighth of the memory: use --memory 512MiB, or close the quotes in it"},
		{"a.jsonl", "{\"x\":1,\"y\":2}\n", mib,
			"DIR/a.jsonl: line 2: the record that begins here is longer than 6.0 MiB, an eighth of the memory: use --memory 512MiB, or break it"},
	} {
		path := datatest.TextFile(t, c.name, c.start)
		if err := os.Truncate(path, 1<<30); err != nil {
			t.Skipf("the file system makes no file of 1 GiB: %v", err)
		}
		_, err := dataset.Load(context.Background(), path, dataset.Options{Memory: c.memory})
		datatest.WantError(t, err, filepath.Dir(path), c.want)
	}
}

// TestPanickingJob: what panics while text is parsed is an error that says where.
func TestPanickingJob(t *testing.T) {
	s := require.Value(source.NewFile(context.Background(), datatest.TextFile(t, "a.csv", "x\n1\n"), nil, 0))(t)
	jobs := textfile.Chunks([]*source.File{s}, func(int) textfile.Breaks { return textfile.Breaks{Quote: '"'} }, textfile.ChunkBytes, nil, func(int, textfile.Chunk) iter.Seq[column.Job] {
		return textfile.One(textfile.Chunk{}, func() (*column.Batch, error) { panic("no more") })
	})
	for _, err := range column.InOrder(context.Background(), column.NewPool(2), 0, jobs) {
		datatest.WantError(t, err, filepath.Dir(s.Path), "DIR/a.csv: from line 1 on: can't be parsed (no more): check the file")
	}
}

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
		{"a;b;x;y\n" + rows("1.2.24;1,2,3"), `columns "a" (string), "b" (string): left out, a feature is a number, a boolean or a list of numbers (use Categorical onehot or hash:BITS for text)`},
	} {
		path := datatest.TextFile(t, "x.csv", c.text)
		if notes := notesOf(t, path, dataset.Options{Label: "y"}); !slices.Equal(notes, []string{c.want}) {
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
		opt        dataset.Options
	}{
		{"a;b;y\n1,5;2,5;0\n1,5;2,5;1\n", `columns "a" (string), "b" (string): left out, numbers with commas (write them with a decimal point`, dataset.Options{Label: "y"}},
		{"a;b;y\n1,5;2;0\n1,5;2;1\n", `it has numbers with commas (write them`, dataset.Options{Label: "y", Features: []string{"a"}}},
		{long + "1,5;2;1\n", `line 530002, column "a": "1,5" has a comma, unlike the first rows: write numbers with a decimal point alone`, dataset.Options{Label: "y"}},
	} {
		path := datatest.TextFile(t, "x.csv", c.text)
		if _, err := dataset.Load(context.Background(), path, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// TestContentAsCategories: dates that are used as categories look like a time.
func TestContentAsCategories(t *testing.T) {
	path := datatest.TextFile(t, "x.csv", "day,y\n2024-01-31,0\n2024-02-01,1\n")
	want := []string{`column "day" looks like a time: new rows will have later ones (use Exclude day)`}
	if notes := notesOf(t, path, dataset.Options{Label: "y", Categorical: "onehot"}); !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// TestDigitsAmongBooleans: a 1 or a 0 among true and false beyond the first rows is a boolean; another number is an error.
func TestDigitsAmongBooleans(t *testing.T) {
	long := "a,x,y\n" + strings.Repeat("true,2,0\nfalse,2,1\n", 225_000)
	path := datatest.TextFile(t, "x.csv", long+"1,2,1\n0,2,1\n")
	data := require.Value(dataset.Load(context.Background(), path, dataset.Options{Label: "y"}))(t)
	for b := range data.Blocks(context.Background()) {
		if n := b.Len(); b.First+int64(n) == data.Rows() && (b.X[(n-2)*b.Stride] != 1 || b.X[(n-1)*b.Stride] != 0) {
			t.Errorf("the last rows have %v and %v", b.X[(n-2)*b.Stride], b.X[(n-1)*b.Stride])
		}
	}
	path = datatest.TextFile(t, "x.csv", "a,x,y\n1,2,0\ntrue,2,1\n0,2,1\nfalse,2,0\n")
	if _, in, err := dataset.Inspect(context.Background(), path, dataset.Options{}); err != nil || in.Columns[0].Type != "bool" || in.Columns[1].Type != "int64" {
		t.Errorf("%+v (%v)", in.Columns, err)
	}
	path = datatest.TextFile(t, "x.csv", long+"true,true,1\n")
	data, err := dataset.Load(context.Background(), path, dataset.Options{Spec: &schema.Spec{Features: []string{"x"}}})
	if err != nil || data.Rows() != 450_001 {
		t.Errorf("a model doesn't take true among numbers: %v", err)
	}
	path = datatest.TextFile(t, "x.csv", long+"2,2,1\n")
	if _, err := dataset.Load(context.Background(), path, dataset.Options{Label: "y"}); err == nil || !strings.Contains(err.Error(), `"2" is neither true nor false`) {
		t.Errorf("error %v", err)
	}
}

// TestLongFirstRecord: the first row tells the types of the columns, however long it is.
func TestLongFirstRecord(t *testing.T) {
	long := strings.Repeat("a", textfile.SampleBytes+1)
	path := datatest.TextFile(t, "a.csv.gz", "x,text,label\n1,"+long+",yes\n2,b,no\n")
	_, info, err := dataset.Inspect(context.Background(), path, dataset.Options{})
	require.NoError(t, err)
	types := ""
	for _, c := range info.Columns {
		types += fmt.Sprintf("%s %s, ", c.Name, c.Type)
	}
	if info.Rows != 2 || types != "x int64, text string, label string, " {
		t.Errorf("%d rows of %s", info.Rows, types)
	}
}
