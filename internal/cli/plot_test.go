package cli

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlot draws each kind of picture, and says what to type after a wrong use.
func TestPlot(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	iris, cancer := filepath.Join(examples, "iris-versicolor-virginica.parquet"), filepath.Join(examples, "breast-cancer.parquet")
	succeed(t, "train", iris, "--label", "species", "--algo", "pocket", "--features", "petal_*", "--max-updates", "30", "--trace", "t.csv", "--out", "two.json")
	succeed(t, "train", cancer, "--label", "diagnosis", "--algo", "logistic", "--l2", "1", "--standardize", "--trace", "l.parquet", "--out", "l.json")
	succeed(t, "train", filepath.Join(examples, "iris.parquet"), "--label", "species", "--algo", "perceptron", "--trace", "three.csv", "--out", "three.json")
	for _, args := range [][]string{
		{"trace", "t.csv"}, {"trace", "l.parquet", "--theme", "dark"}, {"trace", "three.csv", "--class", "virginica"}, {"errors", "t.csv"}, {"weights", "--model", "l.json"},
		{"weights", "--model", "three.json", "--class", "virginica"}, {"roc", cancer, "--model", "l.json", "--model", "l.json"}, {"pr", cancer, "--model", "l.json"},
		{"calibration", cancer, "--model", "l.json"}, {"margins", cancer, "--model", "l.json"}, {"line", iris, "--model", "two.json"},
		{"line", iris, "--model", "two.json", "--trace", "t.csv"},
	} {
		if out := succeed(t, append(append([]string{"plot"}, args...), "-o", "p.svg")...); out != "" {
			t.Errorf("%v prints %s", args, out)
		}
		text, err := os.ReadFile("p.svg")
		if err != nil || !strings.HasPrefix(string(text), "<svg ") || !strings.HasSuffix(string(text), "</svg>\n") {
			t.Errorf("%v: %s, %v", args, text, err)
		}
	}
	for _, theme := range []string{"page", "dark"} {
		succeed(t, "plot", "weights", "--model", "l.json", "--theme", theme, "-o", "p.PNG")
		m, err := png.Decode(bytes.NewReader(readBytes(t, "p.PNG")))
		if err != nil {
			t.Fatal(err)
		}
		if r, _, _, _ := m.At(0, 0).RGBA(); (r > 0x8000) != (theme == "page") {
			t.Errorf("the paper of the theme %s is %v", theme, m.At(0, 0))
		}
	}
	one := "mean_radius,diagnosis\n12,malignant\n"
	if err := os.WriteFile("one.csv", []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "train", cancer, "--label", "diagnosis", "--algo", "logistic", "--features", "mean_radius", "--l2", "1", "--out", "radius.json")
	succeed(t, "plot", "calibration", "one.csv", "--model", "radius.json", "-o", "p.svg")
	succeed(t, "train", iris, "--label", "species", "--algo", "kernel-perceptron", "--kernel", "rbf", "--features", "petal_*", "--out", "kernel.json")
	succeed(t, "train", iris, "--label", "species", "--algo", "dual", "--features", "petal_*", "--epochs", "3", "--out", "dual.json")
	succeed(t, "plot", "alphas", "--model", "kernel.json", "-o", "p.svg")
	if curves := ">virginica<"; !strings.Contains(string(readBytes(t, "p.svg")), curves) {
		t.Errorf("the picture of the dual coefficients lacks %s", curves)
	}
	succeed(t, "plot", "trace", "three.csv", "-o", "p.svg")
	if title := ": class setosa<"; !strings.Contains(string(readBytes(t, "p.svg")), title) {
		t.Errorf("the picture of the first class lacks %s", title)
	}
	for want, args := range map[string][]string{
		"no kind of picture":          {},
		"did you mean roc?":           {"rok", cancer, "--model", "l.json", "-o", "p.svg"},
		"--out is missing":            {"weights", "--model", "l.json"},
		"ends in .svg or .png":        {"weights", "--model", "l.json", "-o", "p.jpg"},
		"needs --model":               {"roc", cancer, "-o", "p.svg"},
		"name labelled data":          {"roc", "--model", "l.json", "-o", "p.svg"},
		"has no errors":               {"errors", "three.csv", "-o", "p.svg"},
		"no columns update and visit": {"trace", cancer, "-o", "p.svg"},
		"has 3 classes":               {"roc", cancer, "--model", "three.json", "-o", "p.svg"},
		"no probabilities":            {"calibration", iris, "--model", "two.json", "-o", "p.svg"},
		"of two features":             {"line", cancer, "--model", "l.json", "-o", "p.svg"},
		"no row is of class benign":   {"roc", "one.csv", "--model", "radius.json", "-o", "p.svg"},
		"--class is for":              {"roc", cancer, "--model", "l.json", "--class", "zz", "-o", "p.svg"},
		"same weights for both":       {"weights", "--model", "l.json", "--class", "zz", "-o", "p.svg"},
		"is of one training":          {"trace", "t.csv", "--class", "zz", "-o", "p.svg"},
		"the model has no such class: use one of \"setosa\", \"versicolor\"": {"weights", "--model", "three.json", "--class", "zz", "-o", "p.svg"},
		"draw its dual coefficients with plot alphas":                        {"weights", "--model", "kernel.json", "-o", "p.svg"},
		"for all classes together: leave out --class":                        {"alphas", "--model", "dual.json", "--class", "setosa", "-o", "p.svg"},
		"no dual coefficients: train --algo dual":                            {"alphas", "--model", "l.json", "-o", "p.svg"},
		"takes one trace: leave out three.csv":                               {"trace", "t.csv", "three.csv", "-o", "p.svg"},
		"with plot weights --class CLASS":                                    {"roc", iris, "--model", "three.json", "-o", "p.svg"},
		"--label is for":                                                     {"weights", "--model", "l.json", "--label", "zz", "-o", "p.svg"},
		"--calibrate platt":                                                  {"calibration", iris, "--model", "two.json", "-o", "p.svg"},
		"has a kernel":                                                       {"line", iris, "--model", "kernel.json", "-o", "p.svg"},
		"no class is":                                                        {"trace", "three.csv", "--class", "x", "-o", "p.svg"},
		"--class x: t.csv is of one training":                                {"trace", "t.csv", "--class", "x", "-o", "p.svg"},
	} {
		if status, _, stderr := command(append([]string{"plot"}, args...)...); status == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %s, not %q", args, status, stderr, want)
		}
	}
}
