package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// text writes files of text to a new directory.
func text(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFormats: the text book's rows give the same weights from every format, which every verb takes.
func TestFormats(t *testing.T) {
	dir := text(t, map[string]string{"a.csv": "3,3,1\n4,3,1\n1,1,-1\n", "b.svm": "1 1:3 2:3\n1 1:4 2:3\n-1 1:1 2:1\n",
		"c.txt": "x1 x2 y\n3 3 1\n4 3 1\n1 1 -1\n", "d.txt": "+1 1:3 2:3\n+1 1:4 2:3\n-1 1:1 2:1\n"})
	arrow, m := filepath.Join(dir, "e.arrow"), filepath.Join(dir, "m.json")
	succeed(t, "convert", filepath.Join(dir, "c.txt"), "--out", arrow)
	for name, label := range map[string]string{"a.csv": "last", "b.svm": "", "c.txt": "y", "d.txt": "", "e.arrow": "y"} {
		path := filepath.Join(dir, name)
		args := []string{"train", "--algo", "perceptron", path, "--json", "--out", m}
		if label != "" {
			args = append(args, "--label", label)
		}
		if got := decode(t, args...); got["converged"] != true || got["rows"] != 3.0 || got["features"] != 2.0 {
			t.Errorf("%s: %v", name, got)
		}
		if got := decode(t, "eval", "--model", m, path, "--json"); got["errors"] != 0.0 {
			t.Errorf("%s: %v", name, got)
		}
		svm := filepath.Join(t.TempDir(), "predictions.svm")
		succeed(t, "predict", "--model", m, path, "--keep", "*[12]", "--out", svm)
		if got, err := os.ReadFile(svm); err != nil || string(got) != "1 1:3 2:3\n1 1:4 2:3\n-1 1:1 2:1\n" {
			t.Errorf("%s: predictions %q (%v)", name, got, err)
		}
		out := filepath.Join(dir, "predictions.csv")
		succeed(t, "predict", "--model", m, path, "--out", out)
		if got, err := os.ReadFile(out); err != nil || string(got) != "prediction\n1\n1\n-1\n" {
			t.Errorf("%s: %q (%v)", name, got, err)
		}
		if got := decode(t, "inspect", path, "--json"); got["kind"] != "table" || got["rows"] != 3.0 {
			t.Errorf("%s: %v", name, got)
		}
		weights := decode(t, "inspect", m, "--json")["weights"].([]any)[0].([]any)
		if weights[0] != 1.0 || weights[1] != 1.0 {
			t.Errorf("%s: weights %v", name, weights)
		}
	}
	if got := succeed(t, "inspect", filepath.Join(dir, "c.txt")); !strings.Contains(got, "c.txt: CSV") ||
		!strings.Contains(got, "space") || !strings.Contains(got, "x2") {
		t.Errorf("inspect prints\n%s", got)
	}
}

// TestGenFormats: gen writes the same rows in each of the formats that its help names.
func TestGenFormats(t *testing.T) {
	dir := t.TempDir()
	weights := ""
	for _, ext := range []string{".parquet", ".csv", ".arrow", ".svm"} {
		path, m := filepath.Join(dir, "x"+ext), filepath.Join(dir, "m.json")
		succeed(t, "gen", "--rows", "50", "--features", "3", "--noise", "0.1", "--out", path)
		if help := succeed(t, "gen", "--help"); strings.Count(help, ext) < 2 {
			t.Errorf("the help doesn't name %s", ext)
		}
		succeed(t, "train", "--algo", "perceptron", path, "--label", "label", "--epochs", "2", "--out", m)
		got := fmt.Sprint(decode(t, "inspect", m, "--json")["weights"])
		if weights == "" {
			weights = got
		}
		if got != weights {
			t.Errorf("%s: weights %s, want %s", ext, got, weights)
		}
	}
}

func TestConvert(t *testing.T) {
	dir := text(t, map[string]string{"a.csv": "x,s\n1,a\n2,\n"})
	a, b, c := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.parquet"), filepath.Join(dir, "c.csv")
	if got := decode(t, "convert", a, "--out", b, "--json", "--compression", "zstd"); got["rows"] != 2.0 || got["out"] != b {
		t.Errorf("report %v", got)
	}
	if got := succeed(t, "convert", b, "--out", c); !strings.HasPrefix(got, c+": 2 rows in ") {
		t.Errorf("convert prints %q", got)
	}
	if got, err := os.ReadFile(c); err != nil || string(got) != "x,s\n1,a\n2,\n" {
		t.Errorf("%q (%v)", got, err)
	}
	succeed(t, "convert", b, "--out", c, "--keep", "s")
	if got, err := os.ReadFile(c); err != nil || string(got) != "s\na\n\"\"\n" {
		t.Errorf("kept: %q (%v)", got, err)
	}
	succeed(t, "convert", b, "--out", c, "--exclude", "s")
	if got, err := os.ReadFile(c); err != nil || string(got) != "x\n1\n2\n" {
		t.Errorf("without s: %q (%v)", got, err)
	}
	onlyFiles(t, dir, "a.csv", "b.parquet", "c.csv")
}

// TestUnusedOptions: an option for another format than that of the data gets a note in every verb.
func TestUnusedOptions(t *testing.T) {
	dir := text(t, map[string]string{"a.csv": "x,y\n1,0\n2,1\n"})
	a, b, m := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.parquet"), filepath.Join(dir, "m.json")
	succeed(t, "convert", a, "--out", b)
	for _, args := range [][]string{{"train", "--algo", "perceptron", b, "--label", "y", "--out", m}, {"predict", "--model", m, b, "--out", filepath.Join(dir, "c.csv")},
		{"eval", "--model", m, b}, {"convert", b, "--out", filepath.Join(dir, "d.csv")}, {"inspect", b}} {
		status, _, stderr := command(append(args, "--delimiter", "tab")...)
		if want := "note: --delimiter is ignored: it is for CSV, and the data is Parquet\n"; status != exitDone || stderr != want {
			t.Errorf("%v: status %d, standard error %q, want %q", args, status, stderr, want)
		}
	}
}

// TestNoRows: a CSV file without rows is told from one without a byte, and verbs that need none go on.
func TestNoRows(t *testing.T) {
	dir := text(t, map[string]string{"empty.csv": "", "head.csv": "a,b,y\n", "x.csv": "a,b,y\n1,2,p\n3,1,q\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "train", at("x.csv"), "--label", "y", "--algo", "perceptron", "--out", at("m.json"))
	for _, c := range []struct{ args, want string }{
		{"train empty.csv --label y --algo perceptron", "empty.csv: the file is empty: write it again"},
		{"eval --model m.json empty.csv", "empty.csv: the file is empty: write it again"},
		{"train head.csv --label y --algo perceptron", "head.csv: no rows after the header: name a file with rows, or use --header no if the first line is a row"},
		{"check head.csv --label y", "head.csv: no rows after the header"},
		{"online head.csv --label y", "head.csv: no rows after the header"},
		{"eval --model m.json head.csv", "head.csv: no rows: name data that has some"},
	} {
		args := strings.Fields(c.args)
		for i, arg := range args {
			if strings.Contains(arg, ".") {
				args[i] = at(arg)
			}
		}
		if status, _, stderr := command(args...); status != exitFailed || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %s", c.args, status, stderr)
		}
	}
	succeed(t, "predict", "--model", at("m.json"), at("head.csv"), "--out", at("p.csv"))
	if got := read(t, at("p.csv")); got != "prediction\n" {
		t.Errorf("predictions of no rows are %q", got)
	}
}

func TestFormatFailures(t *testing.T) {
	dir := text(t, map[string]string{"a.csv": "x,y\n1,0\n2,1\n", "bad.csv": "x,y\n1,0\n2\n", "bad.svm": "1 1:1\nx 1:1\n",
		"cut.csv.gz": "\x1f\x8b\x08\x00", "m.svm": "1 qid:1 1:1\n-1 qid:1 1:-1\n"})
	m := filepath.Join(dir, "m.json")
	status, _, stderr := command("train", "--algo", "perceptron", filepath.Join(dir, "m.svm"), "--out", m)
	if status != exitDone || !strings.Contains(stderr, "note: qid: ignored") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"train DIR/bad.csv --label y --out DIR/n.json", exitFailed, "bad.csv: line 3: the number of fields is 1, but 2 in the first line: mend the line"},
		{"train DIR/bad.svm --out DIR/n.json", exitFailed, `bad.svm: line 2: the label "x" is not a number`},
		{"train DIR/cut.csv.gz --label y --out DIR/n.json", exitFailed, "cut.csv.gz: the gzip data is truncated"},
		{"train DIR/a.csv DIR/m.svm --label y --out DIR/n.json", exitFailed, "m.svm is svmlight, but "},
		{"train DIR/a.csv", exitUsage, "--label is missing"},
		{"train DIR/a.csv --label y --delimiter ab", exitUsage, `--delimiter is "ab": use one ASCII character`},
		{"train DIR/a.csv --label y --header maybe", exitUsage, "--header maybe: use auto, yes or no"},
		{"predict --model MODEL DIR/a.csv --index-base 2 --out -", exitUsage, "--index-base 2: use auto, 0 or 1"},
		{"predict --model MODEL DIR/a.csv --out DIR/p.csv", exitFailed, `a.csv: no column "f1"`},
		{"eval --model MODEL --model MODEL -", exitUsage, "2 models: standard input can be read once"},
		{"convert DIR/a.csv", exitUsage, "--out is missing"},
		{"convert --out DIR/b.csv", exitUsage, "no data"},
		{"convert DIR/a.csv --out - --json", exitUsage, "choose one"},
		{"convert DIR/a.csv --out DIR/b.csv --workers -1", exitUsage, "--workers is -1"},
		{"convert DIR/a.csv --out DIR/b.csv --row-group-rows -1", exitUsage, "--row-group-rows is -1"},
		{"convert DIR/a.csv --out DIR/a.csv", exitFailed, "is to be read and to be written"},
		{"convert DIR/bad.csv --out DIR/b.csv", exitFailed, "bad.csv: line 3"},
		{"convert DIR/a.csv --out DIR/b.xls", exitFailed, `the extension ".xls" can't be written`},
		{"convert DIR/a.csv --out DIR/b.svm", exitFailed, `no column "label" for the labels: name it with --label`},
		{"inspect DIR/bad.csv", exitFailed, "bad.csv: line 3"},
	} {
		args := strings.Fields(strings.NewReplacer("DIR", dir, "MODEL", m).Replace(c.args))
		status, stdout, stderr := command(args...)
		if status != c.status || stdout != "" || !isOneLine(stderr) || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, standard output %q, standard error %q, want one line with %q", c.args, status, stdout, stderr,
				c.want)
		}
	}
	onlyFiles(t, dir, "a.csv", "bad.csv", "bad.svm", "cut.csv.gz", "m.svm", "m.json")
}
