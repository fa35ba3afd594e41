package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/kernel"
	"halfspace/model"
)

// TestDualTextbook has the published result of the dual form on the rows (3,3)+, (4,3)+, (1,1)-: n = (2, 0, 5), which inspect lists.
func TestDualTextbook(t *testing.T) {
	for _, algo := range []string{"dual", "kernel-perceptron"} {
		path := filepath.Join(t.TempDir(), "m.json")
		r := decode(t, "train", textbook(t, signs), "--label", "y", "--algo", algo, "--out", path, "--json")
		if r["algorithm"] != algo || r["updates"] != 7.0 || r["converged"] != true || r["train_errors"] != 0.0 {
			t.Errorf("train says %v", r)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Weights[0], []float64{1, 1}) || m.Bias[0] != -3 || m.Expansion != nil {
			t.Errorf("w is %v, b is %v", m.Weights, m.Bias)
		}
		if want := []model.Misclassified{{Row: 2, Updates: 5}, {Row: 0, Updates: 2}}; !slices.Equal(m.Training.Misclassified, want) {
			t.Errorf("misclassified are %v, want %v", m.Training.Misclassified, want)
		}
		want := "The rows most often misclassified, from 0:\n\n  row  updates\n  2          5\n  0          2\n"
		if text := succeed(t, "inspect", path); !strings.Contains(text, want) {
			t.Errorf("inspect says\n%s", text)
		}
	}
}

// rings returns a file of rows in n rings around the origin, a class each: no plane tells them apart.
func rings(t *testing.T, n int) string {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	var x, z []float64
	var y []string
	for i := range 400 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		r := float64(1+i%n) / math.Hypot(a, b)
		x, z, y = append(x, a*r), append(z, b*r), append(y, fmt.Sprintf("ring %d", i%n))
	}
	return write(t, "rings.parquet", col{"x", x}, col{"z", z}, col{"y", y})
}

// TestDualModels: the model file doesn't depend on instruction set, workers or memory. eval finds its errors again, and predict its
// classes.
func TestDualModels(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "p.parquet")
	for _, c := range []struct {
		classes int
		options string
	}{
		{2, "--kernel rbf --gamma 0.5"}, {2, "--kernel poly --degree 2 --gamma 1 --coef0 1 --form voted --order shuffle"},
		{2, "--algo dual --form averaged"}, {3, "--kernel rbf --gamma 2 --form averaged"}, {3, "--form voted --kernel poly --no-bias"},
		{3, "--algo dual"},
	} {
		data := rings(t, c.classes)
		var want string
		for _, machine := range []string{"--workers 1", "--workers 3 --memory 60000", "--workers 2 --memory 400000", "--isa generic --workers 8"} {
			args := []string{"train", data, "--label", "y", "--algo", "kernel-perceptron", "--epochs", "5", "--out", path, "--json"}
			r := decode(t, append(args, strings.Fields(c.options+" "+machine)...)...)
			got := read(t, path)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%s %s gives\n%s\nand other machines\n%s", c.options, machine, got, want)
			}
			if e := decode(t, "eval", "--model", path, data, "--json"); e["errors"] != r["train_errors"] || e["auc"] == nil {
				t.Errorf("%s: %v errors in training, %v in eval, AUC %v", c.options, r["train_errors"], e["errors"], e["auc"])
			}
			if strings.Contains(c.options, "rbf") && r["train_errors"].(float64) > 100 {
				t.Errorf("%s: %v errors", c.options, r["train_errors"])
			}
		}
		kernel.Use(kernel.Levels()[len(kernel.Levels())-1])
		succeed(t, "predict", "--model", path, data, "--keep", "y", "--score", "--out", out)
		table := readParquet(t, out)
		names := names(table)
		if !reflect.DeepEqual(names[:2], []string{"y", "prediction"}) || len(names) != 3+2*(c.classes-2) {
			t.Errorf("%s: columns %v", c.options, names)
		}
		text := succeed(t, "inspect", path)
		linear := !strings.Contains(c.options, "--kernel") && !strings.Contains(c.options, "voted")
		if strings.Contains(text, "support") == linear || strings.Contains(text, "The largest of") != linear ||
			!strings.Contains(text, "most often misclassified") {
			t.Errorf("%s: inspect says\n%s", c.options, text)
		}
		table.Release()
	}
}

// TestDualMessages: notes and refusals.
func TestDualMessages(t *testing.T) {
	data := rings(t, 2)
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"--algo dual", "", exitDone},
		{"--algo dual --memory 64000", "the Gram matrix needs 625 KiB, --memory is 62.5 KiB: using the row cache", exitDone},
		{"--algo dual --memory 20000", "the Gram matrix needs 625 KiB, --memory is 19.53 KiB: using the row cache", exitDone},
		{"--algo dual --degree 2", "--degree has no effect with --kernel linear", exitDone},
		{"--algo kernel-perceptron --kernel rbf --coef0 2", "--coef0 has no effect with --kernel rbf", exitDone},
		{"--kernel rbf", "--kernel has no effect with --algo perceptron", exitDone},
		{"--form voted", "--form has no effect with --algo perceptron", exitDone},
		{"--algo svm --gamma 2", "--gamma has no effect with --algo svm", exitDone},
		{"--algo averaged --coef0 2", "--coef0 has no effect with --algo averaged", exitDone},
		{"--degree 0", "--degree is 0", exitUsage},
		{"--gamma -1", "--gamma is -1", exitUsage},
		{"--coef0 NaN", "--coef0 is NaN", exitUsage},
		{"--algo dual --kernel spline", "use linear, poly or rbf", exitUsage},
		{"--algo kernel-perceptron --kernel poly --gamma 1e300", "don't fit float32", exitFailed},
	} {
		args := []string{"train", "--algo", "perceptron", data, "--label", "y", "--epochs", "2", "--out", filepath.Join(t.TempDir(), "m.json")}
		status, _, stderr := command(append(args, strings.Fields(c.args)...)...)
		if status != c.status || !strings.Contains(stderr, c.want) || c.want == "" && stderr != "" {
			t.Errorf("%s: status %d, %q; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
}

// TestDualUnused: options of other learners are noted, and have no say.
func TestDualUnused(t *testing.T) {
	data, path := rings(t, 2), filepath.Join(t.TempDir(), "m.json")
	args := []string{"train", data, "--label", "y", "--algo", "dual", "--epochs", "2", "--out", path}
	succeed(t, args...)
	want := read(t, path)
	for name, value := range map[string]string{"margin": "2", "early-stop": "3", "loss": "hinge", "l2": "2", "winnow": "winnow1", "pocket": "epoch"} {
		status, _, stderr := command(append(args, "--"+name, value)...)
		if note := "note: --" + name + " has no effect with --algo dual\n"; status != exitDone || stderr != note {
			t.Errorf("--%s: status %d, %q, want %q", name, status, stderr, note)
		}
		if read(t, path) != want {
			t.Errorf("--%s changes the model", name)
		}
	}
}

// TestDualOnline: the perceptron continues from weights, not from support rows or weights of several classes.
func TestDualOnline(t *testing.T) {
	for want, options := range map[string]string{"a model of support rows has no weights that can learn on": "--kernel rbf",
		"the model has 3 classes, and the perceptron takes two: use --algo passive-aggressive": "--kernel linear"} {
		classes := 2
		if strings.Contains(want, "3") {
			classes = 3
		}
		data, path := rings(t, classes), filepath.Join(t.TempDir(), "m.json")
		args := []string{"train", data, "--label", "y", "--algo", "dual", "--epochs", "2", "--out", path}
		succeed(t, append(args, strings.Fields(options)...)...)
		if status, _, stderr := command("online", data, "--model", path); status != exitFailed || !strings.Contains(stderr, path+": "+want) {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}

// TestDualFolds: what cross-validation takes is the rows and a copy of them, in its folds.
func TestDualFolds(t *testing.T) {
	data := filepath.Join(t.TempDir(), "x.parquet")
	succeed(t, "gen", "--rows", "20000", "--features", "4", "--noise", "0.1", "--out", data)
	train := []string{"train", data, "--label", "label", "--algo", "dual", "--max-updates", "12", "--memory", "1MiB"}
	succeed(t, train...)
	status, _, stderr := command(append(train, "--cv", "2")...)
	if want := "fold 1 of 2: --algo dual takes rows in memory: they need 1.717 MiB, --memory is 1 MiB: give more"; status != exitFailed || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q, want %q", status, stderr, want)
	}
}

// TestDualMillion: a million rows, of whose inner products 4 TB would be needed. A few updates show that it runs.
func TestDualMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	data, path := filepath.Join(t.TempDir(), "x.parquet"), filepath.Join(t.TempDir(), "m.json")
	succeed(t, "gen", "--rows", "1000000", "--features", "4", "--noise", "0.1", "--out", data)
	status, _, stderr := command("train", data, "--label", "label", "--algo", "kernel-perceptron", "--kernel", "rbf", "--max-updates", "12", "--memory",
		"256MiB", "--out", path)
	if status != exitDone || !strings.Contains(stderr, "the Gram matrix needs 3.638 TiB, --memory is 256 MiB: using the row cache") {
		t.Errorf("status %d, %q", status, stderr)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	status, _, stderr = command("train", data, "--label", "label", "--algo", "dual", "--memory", "30MB")
	if want := "--algo dual takes rows in memory: they need 42.92 MiB, --memory is 28.61 MiB: give more"; status != exitFailed || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q", status, stderr)
	}
}
