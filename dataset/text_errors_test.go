package dataset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	textfile "halfspace/dataset/internal/text"
	"halfspace/schema"
)

func TestTextErrors(t *testing.T) {
	many := strings.Repeat("1,2\n", textfile.SampleBytes/4)
	for _, c := range []struct {
		file, text string
		opt        Options
		want       string
	}{
		{"a.csv", "", Options{}, "a.csv: the file is empty: write it again"},
		{"a.csv", "\n \n", Options{}, "a.csv: the file is empty: write it again"},
		{"a.csv", "x,y\n1,2\n1,2,3\n", Options{}, "a.csv: line 3: the number of fields is 3, but 2 in the first line: mend the line"},
		{"a.csv", "x,y\n1,2\n\n1\n", Options{}, "a.csv: line 4: the number of fields is 1, but 2 in the first line: mend the line"},
		{"a.csv", "x,y\n1,\"a\nb\"\n1\n", Options{}, "a.csv: line 4: the number of fields is 1, but 2 in the first line: mend the line"},
		{"a.csv", "x,y\n1,a\"b\n", Options{}, "a.csv: line 2: a quote inside a field: put the field in quotes and double the quote"},
		{"a.csv", "x,y\n1,\"a\" b\n", Options{}, "a.csv: line 2: text after closing quotes: double the quotes inside the field"},
		{"a.csv", "x,y\n1,\"a\n\n", Options{}, "a.csv: line 2: the quotes that begin here aren't closed: close them"},
		{"a.csv", "\xff\xfex\x00", Options{}, "a.csv: the text is UTF-16: save it as UTF-8"},
		{"a.csv", "x,s\n1,\xff\n", Options{Keep: []string{"s"}},
			`a.csv: line 2, column "s": "\xff" is not valid UTF-8: convert the file to UTF-8`},
		{"a.csv", many + "1,b\n", Options{},
			`a.csv: line 1048577, column "c2": "b" is not a number, unlike the first rows: correct it, leave the column out with --exclude, or use --null-values b if it stands for no value`},
		{"a.csv", many + "1,1e999\n", Options{},
			`a.csv: line 1048577, column "c2": "1e999" is too large for float64: correct it, or leave the column out with --exclude`},
		{"a.csv", "x,y\n1,2\n3,\n", Options{},
			`a.csv: column "y", row 1: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{"a.csv", "x,y\n1,2\n", Options{Label: "3"}, `a.csv: no column "3" (columns: x, y)`},
		{"a.csv", "x,x\n1,2\n", Options{}, `a.csv: 2 columns are named "x": rename them`},
		{"a.csv", "x,y\n1,2\n", Options{Text: TextOptions{Delimiter: "::"}},
			`delimiter is "::": use one ASCII character, or comma, tab, semicolon, pipe or space`},
		{"a.csv.gz", "x,y\n1,2\n", Options{}, "a.csv.gz: not compressed by gzip, though its name says so: rename it or copy it again"},
		{"a.csv", "x,y\r1,2\r3,4", Options{}, `a.csv: lines end in a carriage return alone, as on old Macs: convert them, as with tr '\r' '\n'`},
		{"a.svm", "1 1:2\r0 1:3\r", Options{}, `a.svm: lines end in a carriage return alone, as on old Macs: convert them, as with tr '\r' '\n'`},
		{"a.csv", "x,y\r" + strings.Repeat("1,2\r", textfile.HeadBytes), Options{},
			`a.csv: lines end in a carriage return alone, as on old Macs: convert them, as with tr '\r' '\n'`},
		{"a.svm", "", Options{}, "a.svm: no rows: name a file that has some"},
		{"a.svm", "# nothing\n\n", Options{Label: frame.SvmlightLabel}, "a.svm: no rows: name a file that has some"},
		{"a.svm", "1 1:1\na 1:1\n", Options{},
			`a.svm: line 2: the label "a" is not a number: write one label in front of each line`},
		{"a.svm", "1 1:1\n1,2 1:1\n", Options{},
			`a.svm: line 2: the label "1,2" is not a number: write one label in front of each line`},
		{"a.svm", "1 1:1 2\n", Options{}, `a.svm: line 1: "2" is no pair of an index and a number, like 7:0.5: mend it`},
		{"a.svm", "1 1:x\n", Options{}, `a.svm: line 1: "1:x" is no pair of an index and a number, like 7:0.5: mend it`},
		{"a.svm", "1 1: 2:3\n", Options{}, `a.svm: line 1: "1:" is no pair of an index and a number, like 7:0.5: mend it`},
		{"a.svm", "1 -1:2\n", Options{}, `a.svm: line 1: "-1:2" is no pair of an index and a number, like 7:0.5: mend it`},
		{"a.svm", "1 1:1\n1 3:1 2:1\n", Options{}, "a.svm: line 2: index 2 follows 3: sort the indices of each line, each once"},
		{"a.svm", "1 1:1\n1 2:1 2:1\n", Options{}, "a.svm: line 2: index 2 follows 2: sort the indices of each line, each once"},
		{"a.svm", "1 0:1\n", Options{Text: TextOptions{IndexBase: "1"}},
			"a.svm: line 1: index 0, though the first is 1: choose another --index-base"},
		{"a.svm", "1 1:1\n0 123456789:1\n", Options{},
			"a.svm: line 2: index 123456789: a row has at most 262144 features: leave the larger indices out"},
		{"a.svm", "1 1:1\n0 99999999999999999999:1\n", Options{},
			"a.svm: line 2: index 99999999999999999999: a row has at most 262144 features: leave the larger indices out"},
		{"a.svm", "1 1:nan\n0 1:1\n", Options{}, `a.svm: column "f1", row 0: NaN (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{"a", "a\x00b", Options{}, "a: neither Parquet, Arrow IPC, CSV nor svmlight: convert it to one of them"},
		{"a", "", Options{}, "a: the file is empty: write it again"},
		{"a.arrow", "", Options{}, "a.arrow: the file is empty: write it again"},
		{"a.arrow", "x,y\n1,2\n", Options{}, "a.arrow: neither an Arrow IPC file nor a stream: check the file"},
		{"a", "FEA1....", Options{}, "a: Feather of version 1 can't be read: write it as version 2, or as Parquet"},
	} {
		name := c.file
		if strings.HasSuffix(name, ".gz") {
			name = "a.csv"
		}
		path := textFile(t, name, c.text)
		if name != c.file {
			if err := os.Rename(path, filepath.Join(filepath.Dir(path), c.file)); err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(filepath.Dir(path), c.file)
		}
		var err error
		if len(c.opt.Keep) > 0 {
			err = Scan(context.Background(), []string{path}, c.opt, func(*schema.Spec, *block.Block, arrow.Record) error {
				return nil
			})
		} else {
			_, err = Load(context.Background(), []string{path}, c.opt)
		}
		want := c.want
		if !strings.HasPrefix(want, "delimiter") {
			want = "DIR/" + want
		}
		wantError(t, err, filepath.Dir(path), want)
	}
}

// TestTruncatedGzip: every cut of a compressed file is an error.
func TestTruncatedGzip(t *testing.T) {
	data := compressed(t, "x,y\n1,2\n3,4\n")
	path := filepath.Join(t.TempDir(), "a.csv.gz")
	for n := 2; n < len(data); n++ {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := table(t, Options{}, path)
		wantError(t, err, filepath.Dir(path), "DIR/a.csv.gz: the gzip data is truncated: copy or write it again")
	}
	data[len(data)-5] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := table(t, Options{}, path); err == nil || !strings.Contains(err.Error(), "the gzip data is damaged") {
		t.Errorf("a wrong checksum: %v", err)
	}
}

// TestBehindGzip: several members and zeros behind them are one text, and anything else behind them is an error that says so.
func TestBehindGzip(t *testing.T) {
	one, two := string(compressed(t, "x,y\n1,2\n3,4\n")), string(compressed(t, "5,6\n"))
	zeros := strings.Repeat("\x00", 100_000)
	const behind = "DIR/a.csv.gz: the gzip data ends, and something else stands behind it: copy it again, or cut that off"
	for data, want := range map[string]string{
		one: "", one + two: "", one + zeros: "", one + two + zeros: "", one + "\x00": "",
		one + "more": behind, one + "\x1f": behind, one + zeros + "x": behind, one + zeros + two: behind,
		one + "\x1f\x8b": "DIR/a.csv.gz: the gzip data is truncated: copy or write it again",
	} {
		path := filepath.Join(t.TempDir(), "a.csv.gz")
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := table(t, Options{}, path)
		if want != "" {
			wantError(t, err, filepath.Dir(path), want)
		} else if err != nil || rows.NumRows() != int64(2+strings.Count(data, two)) {
			t.Errorf("%d bytes: rows %v, error %v", len(data), rows, err)
		}
	}
}

// TestLongRecord: a line without end is refused before it fills the memory.
func TestLongRecord(t *testing.T) {
	for _, c := range []struct{ name, start, want string }{
		{"a.csv", "x,y\n1,2\n", "DIR/a.csv: line 3: the record that begins here is longer than 64.0 MiB: break it"},
		{"a.csv", "x,y\n1,2\n1,\"", "DIR/a.csv: line 3: the record that begins here is longer than 64.0 MiB: close the quotes in it"},
		{"a.svm", "1 1:2\n", "DIR/a.svm: line 2: the record that begins here is longer than 64.0 MiB: break it"},
	} {
		path := textFile(t, c.name, c.start)
		if err := os.Truncate(path, 1<<30); err != nil {
			t.Skip(err)
		}
		_, err := Load(context.Background(), []string{path}, Options{})
		wantError(t, err, filepath.Dir(path), c.want)
	}
}
