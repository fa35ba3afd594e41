package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/dataset"
)

// TestErrorsExplained: what learners say names the file and the options with dashes, and rows of text have a line.
func TestErrorsExplained(t *testing.T) {
	dir := text(t, map[string]string{
		"bits.csv":   "a,s,y\n1,\"two\nlines\",p\n\n0,x,q\n3,x,p\n",
		"plane.csv":  "a,b,y\n1,2,p\n2,5,p\n-1,-3,q\n-2,1,q\n",
		"three.csv":  "a,y\n1,p\n2,q\n3,r\n4,p\n5,q\n1,r\n",
		"null.csv":   "a,y\n1,p\n2,q\n\n,p\n",
		"label.csv":  "1,p\n2,q\n3,\n",
		"more.csv":   "a,y\n5,p\n",
		"x.svm":      "# rows\n1 1:2\n\n0 1:0.5 # one\n1 1:inf\n",
		"bits.svm":   "1 1:1\n\n0 1:2\n",
		"judges.csv": "a,b,y\n1,2,p\n2,,q\n",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "train", at("plane.csv"), "--label", "y", "--algo", "perceptron", "--out", at("m.json"))
	if err := os.WriteFile(at("bad.csv"), []byte("a,b,y\n1,2,p\n2,7,q\n3,4,r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"train bits.csv --label y --algo winnow", `bits.csv: column "a", line 6, row 2: 3 is neither 0 nor 1`},
		{"train more.csv bits.csv --label y --algo winnow", `more.csv: column "a", line 2, row 0: 5 is neither 0 nor 1`},
		{"train bits.svm --algo winnow", `bits.svm: column "f1", line 3, row 1: 2 is neither 0 nor 1`},
		{"train bits.csv --label y --algo winnow --nulls drop", `bits.csv: column "a", row 2: 3 is neither 0 nor 1`},
		{"train plane.csv --label y --algo logistic --l2 0", `plane.csv: a plane separates the classes`},
		{"train plane.csv --label y --algo logistic --l2 0", `--l2 above 0`},
		{"train three.csv --label y --algo logistic --l2 1 --solver newton", `three.csv: column "y": 3 classes are too many for the --solver newton, which takes two: use --solver lbfgs, or use --multiclass ovr`},
		{"train null.csv --label y --algo perceptron", `null.csv: column "a", line 5, row 2: null (exclude`},
		{"check null.csv --label y", `null.csv: column "a", line 5, row 2: null (exclude`},
		{"train more.csv null.csv --label y --algo perceptron", `null.csv: column "a", line 5, row 3: null (exclude`},
		{"train label.csv --label last --algo perceptron", `label.csv: column "c2", line 3, row 2: null (fill the label in`},
		{"train x.svm --algo perceptron", `x.svm: column "f1", line 5, row 2: +Inf (exclude`},
		{"train plane.csv --label y --algo pocket --validation judges.csv", `--validation: DIR/judges.csv: column "b", line 3, row 1: null`},
		{"eval --model m.json bad.csv", `bad.csv: column "y", line 4, row 2: "r" is no class of the model`},
		{"predict --model m.json judges.csv --out p.csv", `judges.csv: column "b", line 3, row 1: null (fill`},
		{"online null.csv --label y", `null.csv: column "a", line 5, row 2: null (exclude`},
	} {
		args := strings.Fields(c.args)
		for i, arg := range args {
			if strings.Contains(arg, ".") {
				args[i] = at(arg)
			}
		}
		want := strings.ReplaceAll(c.want, "DIR", dir)
		if status, _, stderr := command(args...); status != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", c.args, status, stderr, want)
		}
	}
	parquet := write(t, "x.parquet", col{"a", []float64{1, 3}}, col{"y", []int64{0, 1}})
	if _, _, stderr := command("train", parquet, "--label", "y", "--algo", "winnow"); !strings.Contains(stderr, `x.parquet: column "a", row 1: 3 is neither`) {
		t.Errorf("of Parquet: %s", stderr)
	}
	if path, line, ok := dataset.Line(context.Background(), []string{at("bits.csv")}, dataset.TextOptions{}, 3); ok {
		t.Errorf("row 3 of 3 is in %s, line %d", path, line)
	}
}
