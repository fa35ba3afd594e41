//go:build unix

package cli

import (
	"bytes"
	"testing"

	"halfspace/internal/require"
)

// TestReportsInBrowser shows reports in a browser, narrow and wide, light and dark, and prints them.
func TestReportsInBrowser(t *testing.T) {
	if require.Small() {
		t.Skip("starts a browser")
	}
	const iris, cancer = "examples/iris.parquet", "examples/breast-cancer.parquet"
	t.Chdir(shell(t))
	b := startBrowser(t)
	for _, args := range [][]string{
		{"train", iris, "--label", "species", "--algo", "pocket", "--epochs", "3", "--trace", "t.csv", "--out", "p.json", "--report", "pocket.html"},
		{"train", cancer, "--label", "diagnosis", "--algo", "logistic", "--grid", "l2=1,10", "--out", "g.json", "--report", "grid.html"},
		{"train", cancer, "--label", "diagnosis", "--algo", "svm", "--standardize", "--validation", "0.3", "--out", "s.json", "--report", "svm.html"},
		{"train", iris, "--label", "species", "--cv", "3", "--out", "f.json", "--report", "folds.html"},
		{"eval", "--model", "g.json", cancer, "--report", "eval.html"},
		{"eval", "--model", "g.json", "--model", "g.json", cancer, "--report", "two.html"},
		{"eval", "--model", "p.json", iris, "--report", "three.html"},
		{"check", "examples/iris-setosa.parquet", "--label", "setosa", "--report", "check.html"},
		{"check", "examples/iris-versicolor-virginica.parquet", "--label", "species", "--report", "no.html"},
		{"online", cancer, "--label", "diagnosis", "--out", "o.json", "--report", "online.html"},
	} {
		succeed(t, args...)
		page := args[len(args)-1]
		for _, look := range []look{{width: 400}, {width: 1400, dark: true}} {
			for _, fault := range b.faults(page, look) {
				t.Errorf("%s, %+v: %s", page, look, fault)
			}
		}
		if pdf := b.printed(); !bytes.HasPrefix(pdf, []byte("%PDF-")) {
			t.Errorf("%s: what is printed has %d bytes, and is no PDF", page, len(pdf))
		}
	}
}
