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

	succeed(t, "train", iris, "--label", "setosa", "--algo", "voted", "--out", at("voted.json"))
	t.Chdir(dir)
	for args, want := range map[string]string{
		"m.json":                      "no format",
		"m.json --c x.c --go ./x.c":   "both write",
		"m.json --c - --go -":         "both write",
		"m.json --c m.json":           "to be read and to be written",
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
