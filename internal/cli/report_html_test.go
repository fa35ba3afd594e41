package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/browsertest"
)

// TestHTMLReport: reports name what was asked and what came out, and hostile names of columns and classes are escaped. The
// model has the same bytes as without a report.
func TestHTMLReport(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	data := "\"<b>&\",y\n1,<i>no\n2,<i>no\n3,yes\n5,yes\n4,<i>no\n"
	if err := os.WriteFile("it's.csv", []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	iris, cancer := filepath.Join(examples, "iris.parquet"), filepath.Join(examples, "breast-cancer.parquet")
	succeed(t, "gen", "--rows", "9000", "--features", "2", "--margin", "0.1", "--out", "gap.parquet")
	for name, c := range map[string]struct{ args, want []string }{
		"hostile": {[]string{"train", "it's.csv", "--label", "y", "--algo", "perceptron", "--out", "h.json"},
			[]string{`&#39;it&#39;\&#39;&#39;s.csv&#39;`, "&lt;i&gt;no", "&lt;b&gt;&amp;", "Rows most often misclassified", "Updates of the perceptron"}},
		"svm":    {[]string{"train", cancer, "--label", "diagnosis", "--algo", "svm", "--standardize", "--validation", "0.3", "--out", "s.json"}, []string{"Passes over the rows", "class malignant", "SHA-256 of s.json", ", on the rows that were learned from", "of the limit"}},
		"pocket": {[]string{"train", iris, "--label", "species", "--algo", "pocket", "--epochs", "3", "--trace", "t.csv", "--out", "p.json"}, []string{"Errors of the pocket", "Weights of class virginica"}},
		"grid":   {[]string{"train", cancer, "--label", "diagnosis", "--algo", "logistic", "--grid", "l2=1,10", "--out", "g.json"}, []string{"The grid, each judged in 5 folds", "cross-validation"}},
		"first":  {[]string{"train", iris, "--label", "species", "--algo", "perceptron", "--multiclass", "ovr", "--out", "f.json"}, []string{"Updates of the perceptron: class setosa"}},
		"shards": {[]string{"train", "gap.parquet", "--label", "label", "--algo", "pocket", "--shards", "2", "--epochs", "2", "--out", "m.json"}, []string{"Weights", "by the shares of their shards"}},
		"alone": {[]string{"train", cancer, "--label", "diagnosis", "--algo", "pocket", "--calibrate", "platt", "--epochs", "2", "--out", "a.json"},
			[]string{"Best weights so far", `<th scope="row">calibration</th>`}},
		"dual": {[]string{"train", cancer, "--label", "diagnosis", "--algo", "dual", "--epochs", "2", "--out", "d.json"}, []string{"Dual coefficients"}},
	} {
		succeed(t, c.args...)
		out := c.args[len(c.args)-1]
		plain := readBytes(t, out)
		succeed(t, append(c.args, "--report", name+".html")...)
		if !bytes.Equal(plain, readBytes(t, out)) {
			t.Errorf("%s: the report changes the model", name)
		}
		hasAll(t, name+".html", append(c.want, "What was asked", "halfspace train")...)
	}
	for name, follows := range map[string]bool{"dual": false, "alone": true} {
		if page := read(t, name+".html"); strings.Contains(page, "each update was followed") != follows {
			t.Errorf("%s: the report tells the opposite of whether updates were followed", name)
		}
	}
	if status, _, stderr := command("train", "gap.parquet", "--label", "label", "--algo", "pocket", "--shards", "2", "--trace", "m.csv", "--out", "m.json"); status != exitUsage || !strings.Contains(stderr, "--trace with --shards") {
		t.Errorf("a trace of shards: exit status %d, %s", status, stderr)
	}
	succeed(t, "eval", "--model", "g.json", cancer, "--report", "eval.html")
	hasAll(t, "eval.html", "ROC curve", "Calibration", "Wrong rows whose scores are farthest from 0", ">Hard rows<", "95 % interval", `<th scope="row">score</th>`, " rows/s")
	succeed(t, "eval", "--model", "g.json", filepath.Join(filepath.Dir(cancer), "breast-cance[r].parquet"), "--report", "moved.html", "--threshold", "1")
	hasAll(t, "moved.html", "breast-cancer.parquet, ")
	if strings.Contains(read(t, "moved.html"), "Hard rows") {
		t.Error("moved.html: the hard rows of the threshold 0 beside figures of another")
	}
	succeed(t, "eval", "--model", "p.json", iris, "--report", "three.html")
	hasAll(t, "three.html", "150 rows of 3 classes", "class virginica", "Confusion of classes", "versicolor predicted as virginica: ", "ROC curve of setosa: AUC 1.0000.",
		"Precision-recall curve of virginica: ", "Weights of class setosa", "Weights of class virginica", "difference of scores", "petal_width")
	succeed(t, "eval", "--model", "h.json", "--model", "h.json", "it's.csv", "--report", "two.html")
	hasAll(t, "two.html", "Evaluation of 2 models", "Side by side", "always ", ">Hard rows of h.json<")
	if status, _, stderr := command("eval", "--model", "g.json", cancer, "--report", "eval.txt"); status != exitUsage || !strings.Contains(stderr, ".html") {
		t.Errorf("status %d, %s", status, stderr)
	}
	succeed(t, "check", filepath.Join(examples, "iris-setosa.parquet"), "--label", "setosa", "--report", "check.html")
	hasAll(t, "check.html", "A plane separates", "Weights of the plane", "halfspace check", `<th scope="row">check</th>`)
	succeed(t, "check", filepath.Join(examples, "iris-versicolor-virginica.parquet"), "--label", "species", "--report", "no.html")
	hasAll(t, "no.html", "No plane separates", "is zero, exactly", "Rows of the witness", "<svg")
	succeed(t, "online", cancer, "--label", "diagnosis", "--out", "o.json", "--report", "online.html")
	hasAll(t, "online.html", "Mistakes so far", "Each row was predicted", "learn and count errors", " rows/s")
	if testing.Short() {
		return
	}
	browser := browsertest.Start(t)
	for _, page := range []string{"online.html", "check.html", "no.html", "hostile.html", "eval.html", "two.html", "three.html", "pocket.html", "grid.html", "svm.html"} {
		for _, look := range []browsertest.Look{{Width: 400}, {Width: 1400, Dark: true}} {
			for _, fault := range browser.Faults(page, look) {
				t.Errorf("%s, %+v: %s", page, look, fault)
			}
		}
		if pdf := browser.Print(); !bytes.HasPrefix(pdf, []byte("%PDF-")) {
			t.Errorf("%s: what is printed has %d bytes, and is no PDF", page, len(pdf))
		}
	}
}

func hasAll(t *testing.T, path string, want ...string) {
	t.Helper()
	page := string(readBytes(t, path))
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("%s lacks %q", path, w)
		}
	}
	if strings.Contains(page, "<i>") || strings.Contains(page, "<b>") {
		t.Errorf("%s has a name that isn't escaped", path)
	}
}

// TestHTMLReportOfShards: shards follow no single path of weights, so the report does without updates. The model is the same.
func TestHTMLReportOfShards(t *testing.T) {
	t.Chdir(t.TempDir())
	succeed(t, "gen", "--rows", "8192", "--features", "3", "--noise", "0.1", "--out", "d.parquet")
	for _, algo := range []string{"perceptron", "averaged", "pocket"} {
		args := []string{"train", "d.parquet", "--label", "label", "--algo", algo, "--shards", "2", "--epochs", "3"}
		succeed(t, append(args, "--out", "plain.json")...)
		succeed(t, append(args, "--out", "told.json", "--report", algo+".html")...)
		if read(t, "plain.json") != read(t, "told.json") {
			t.Errorf("%s: the report changed the model", algo)
		}
		if page := read(t, algo+".html"); !strings.Contains(page, "Time by stage") || strings.Contains(page, "each update was followed") {
			t.Errorf("%s: the report has no times, or tells that updates were followed", algo)
		}
	}
}
