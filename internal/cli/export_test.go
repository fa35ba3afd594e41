package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/exchange"
	"halfspace/model"
)

// TestExport: export writes what package exchange does, by the name of each file, and refuses in one line what it can't write. A refused model
// leaves no file.
func TestExport(t *testing.T) {
	dir, iris := t.TempDir(), filepath.Join("..", "..", "examples", "iris-setosa.parquet")
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "train", iris, "--label", "setosa", "--standardize", "--out", at("m.json"))
	got := succeed(t, "export", at("m.json"), "--go", at("my-iris.go"), "--c", at("my-iris.c"))
	if want := at("my-iris.c") + ": C99, 4 features, 2 classes\n" + at("my-iris.go") + ": a Go package, 4 features, 2 classes\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	m, err := model.Load(at("m.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c, program, unnamed bytes.Buffer
	if err := exchange.WriteC(&c, m, "my_iris"); err != nil || read(t, at("my-iris.c")) != c.String() {
		t.Errorf("another C than exchange.WriteC writes; error %v", err)
	}
	if err := exchange.WriteGo(&program, m, "my_iris"); err != nil || read(t, at("my-iris.go")) != program.String() {
		t.Errorf("another Go than exchange.WriteGo writes; error %v", err)
	}
	if err := exchange.WriteC(&unnamed, m, "model"); err != nil || succeed(t, "export", at("m.json"), "--c", "-") != unnamed.String() {
		t.Errorf("another C on standard output; error %v", err)
	}
	if succeed(t, "export", at("m.json"), "--c", "-", "--go", at("my-iris.go")) != unnamed.String() {
		t.Error("there is more on standard output than the C")
	}

	succeed(t, "train", iris, "--label", "setosa", "--algo", "voted", "--out", at("voted.json"))
	t.Chdir(dir)
	for args, want := range map[string]string{
		"m.json":                      "no format",
		"m.json --c x.c --go ./x.c":   "both write",
		"m.json --c - --go -":         "both write",
		"m.json --c m.json":           "to be read and to be written",
		"m.json --go x_windows.go":    "leaves out files that end in _windows.go on other platforms",
		"m.json --go a/x_test.go":     "leaves out files that end in _test.go",
		"m.json --go _x.go":           "leaves out files whose name begins with _",
		"m.json --c no/x.c":           "no directory no",
		"m.json --c https://a.b/x.c":  "only local files are written",
		"--c x.c":                     "0 models",
		"m.json voted.json --c x.c":   "2 models",
		"voted.json --c x.c --go y.c": "vote of many vectors",
		"nothing.json --c x.c":        "no such file",
	} {
		status, _, stderr := command(append([]string{"export"}, strings.Fields(args)...)...)
		if status == exitDone || !isOneLine(stderr) || !strings.Contains(stderr, want) {
			t.Errorf("export %s: status %d, %q; want %q", args, status, stderr, want)
		}
		if _, err := os.Stat(at("x.c")); err == nil {
			t.Errorf("export %s left a file", args)
		}
	}
}

// TestImport: what import makes of a LIBLINEAR model serves every verb that takes models, and export gives the same numbers back.
func TestImport(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = "solver_type L2R_LR\nnr_class 2\nlabel 3 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-2 \n0.25 \n"
	for name, data := range map[string]string{"l.model": text, "rows.svm": "3 1:1\n-1 2:1\n"} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := succeed(t, "import", "l.model", "--out", "m.json"); got != "m.json: logistic, 2 features, 2 classes\n" {
		t.Errorf("printed %q", got)
	}
	succeed(t, "export", "m.json", "--liblinear", "back.model")
	if got := read(t, "back.model"); got != text {
		t.Errorf("came back as %q", got)
	}
	if got := decode(t, "eval", "--model", "m.json", "rows.svm", "--json"); got["errors"] != 0.0 {
		t.Errorf("eval: %v", got)
	}
	if got := succeed(t, "inspect", "m.json"); !strings.Contains(got, "f2") || !strings.Contains(got, "bias 0.25") {
		t.Errorf("inspect: %s", got)
	}
	for weight, noted := range map[string]bool{"0.5": false, "0.1": true} {
		if err := os.WriteFile("other.model", []byte(strings.Replace(text, "0.5", weight, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, stderr := command("import", "other.model", "--out", "other.json")
		if status != exitDone || strings.Contains(stderr, "note: 1 weight rounded to float32") != noted {
			t.Errorf("weight %s: status %d, %q", weight, status, stderr)
		}
	}
	for args, want := range map[string]string{
		"m.json --out x.json": "name what liblinear-train wrote", "l.model": "--out is missing", "l.model --out -": "standard output",
		"l.model --out l.model": "to be read and to be written", "no.model --out x.json": "no such file", "--out x.json": "0 files",
	} {
		status, _, stderr := command(append([]string{"import"}, strings.Fields(args)...)...)
		if status == exitDone || !isOneLine(stderr) || !strings.Contains(stderr, want) {
			t.Errorf("import %s: status %d, %q; want %q", args, status, stderr, want)
		}
	}
}
