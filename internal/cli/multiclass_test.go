package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/kernel"
	"halfspace/model"
)

const iris = "../../examples/iris.parquet"

// disjunctions returns a file of Boolean features with a class for each of the first three, none of them for a fourth.
func disjunctions(t *testing.T) string {
	var x [6][]float64
	var y []string
	for i := range 400 {
		class := "none"
		for c := range x {
			v := float64((i*(2*c+3)/(c+1) + i/7) % 3 / 2)
			if x[c] = append(x[c], v); v == 1 && c < 3 && class == "none" {
				class = fmt.Sprintf("x%d", c)
			}
		}
		y = append(y, class)
	}
	return write(t, "disjunctions.parquet", col{"x0", x[0]}, col{"x1", x[1]}, col{"x2", x[2]}, col{"x3", x[3]}, col{"x4", x[4]}, col{"x5", x[5]},
		col{"y", y})
}

// versusRest returns a copy of a file with whether rows are of a class in place of the column that tells the classes.
func versusRest(t *testing.T, path, label, class string) string {
	rows := readParquet(t, path)
	defer rows.Release()
	var columns []col
	for i, name := range names(rows) {
		var x []float64
		var y []bool
		for _, chunk := range rows.Column(i).Data().Chunks() {
			for k := range chunk.Len() {
				if name == label {
					y = append(y, chunk.ValueStr(k) == class)
				} else {
					x = append(x, chunk.(*array.Float64).Value(k))
				}
			}
		}
		if name == label {
			columns = append(columns, col{name, y})
		} else {
			columns = append(columns, col{name, x})
		}
	}
	return write(t, "versus.parquet", columns...)
}

// TestOneVersusRest: each class has the weights, or the voters, of a training of that class versus the rest. That holds for every learner
// that judges no weights on the way.
func TestOneVersusRest(t *testing.T) {
	other := disjunctions(t)
	for _, c := range []struct{ options, data, label string }{
		{"perceptron --order shuffle --epochs 20", iris, "species"},
		{"perceptron --order random --max-updates 50", iris, "species"},
		{"averaged --margin 0.5 --epochs 5", iris, "species"},
		{"voted --epochs 5", iris, "species"},
		{"winnow --winnow balanced --epochs 7", other, "y"},
		{"dual --epochs 7", iris, "species"},
		{"logistic --l2 0.5 --multiclass ovr", iris, "species"},
		{"lda --multiclass ovr", iris, "species"},
		{"svm --l2 2", iris, "species"},
		{"svm --loss hinge", other, "y"},
	} {
		path := filepath.Join(t.TempDir(), "m.json")
		train := func(data string) *model.Model {
			t.Helper()
			succeed(t, append([]string{"train", data, "--label", c.label, "--out", path, "--algo"}, strings.Fields(c.options)...)...)
			m, err := model.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		all := train(c.data)
		if all.Options.Multiclass != model.OneVersusRest {
			t.Errorf("%s: the model says %q", c.options, all.Options.Multiclass)
		}
		updates, voters, visits := int64(0), 0, int64(0)
		for i, class := range all.Classes {
			one := train(versusRest(t, c.data, c.label, class.Text))
			if !slices.Equal(all.Weights[i], one.Weights[0]) || all.Bias[i] != one.Bias[0] {
				t.Errorf("%s: class %s has weights %v, %v, alone %v, %v", c.options, class, all.Weights[i], all.Bias[i], one.Weights[0], one.Bias[0])
			}
			updates += one.Training.Updates
			visits = max(visits, one.Training.Visits)
			if one.Voters != nil {
				n := len(one.Voters.Counts)
				if all.Voters.Sizes[i] != n || !slices.Equal(all.Voters.Counts[voters:][:n], one.Voters.Counts) || !bytes.Contains(all.Voters.Weights, one.Voters.Weights) {
					t.Errorf("%s: class %s has other voters", c.options, class)
				}
				voters += n
			}
		}
		if all.Training.Updates != updates || all.Training.Visits != visits {
			t.Errorf("%s: %d updates in %d visits, want %d in %d", c.options, all.Training.Updates, all.Training.Visits, updates, visits)
		}
	}
}

// rareClass writes two classes of some 1,000 rows each that overlap, and a rare one of 20 among them.
func rareClass(t *testing.T) string {
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("x,z,y\n")
	for i := range 2020 {
		class, shift := []string{"b", "c"}[i%2], float64(i%2)*0.6
		if i%101 == 100 {
			class, shift = "a", 0.3
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", rng.NormFloat64()+shift, rng.NormFloat64()+shift, class)
	}
	return filepath.Join(text(t, map[string]string{"rare.csv": b.String()}), "rare.csv")
}

// TestRareClass: one versus the rest, judged by a pocket or a validation, no class keeps zeros, whose score 0 would beat all negative ones.
// The errors are fewer than those of the larger class everywhere, and no more than those of the weights that training ends with.
func TestRareClass(t *testing.T) {
	data := rareClass(t)
	for _, options := range []string{"pocket --epochs 3", "pocket --pocket epoch --epochs 20", "pocket --pocket ratchet --order shuffle --epochs 5",
		"pocket --pocket epoch --epochs 20 --early-stop 2", "pocket --epochs 2 --validation 0.2", "perceptron --epochs 20 --validation 0.2",
		"perceptron --validation 0.2 --early-stop 3", "averaged --epochs 20 --validation 0.2"} {
		path := filepath.Join(t.TempDir(), "m.json")
		r := decode(t, append([]string{"train", data, "--label", "y", "--json", "--out", path, "--algo"}, strings.Fields(options)...)...)
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for c, w := range m.Weights {
			if m.Bias[c] == 0 && !slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
				t.Errorf("%s: class %s has zeros", options, m.Classes[c])
			}
		}
		if accuracy := r["train_accuracy"].(float64); accuracy < 0.47 {
			t.Errorf("%s: accuracy %v, where half of the rows are of a class", options, accuracy)
		}
		if v, ok := r["validation"].(map[string]any); ok && v["errors"].(float64) > 0.55*v["rows"].(float64) {
			t.Errorf("%s: %v errors on %v rows of the validation", options, v["errors"], v["rows"])
		}
	}
}

// TestNeverPredicted: a class that no row that was learned from is predicted to be is named, in a note and in JSON.
func TestNeverPredicted(t *testing.T) {
	data := rareClass(t)
	path := filepath.Join(t.TempDir(), "m.json")
	status, stdout, stderr := command("train", data, "--label", "y", "--algo", "logistic", "--json", "--out", path)
	var r struct {
		Never []string `json:"never_predicted"`
	}
	if err := json.Unmarshal([]byte(stdout), &r); status != 0 || err != nil || !slices.Equal(r.Never, []string{"a"}) ||
		!strings.Contains(stderr, `note: class "a" is never predicted on the training rows`) {
		t.Errorf("status %d, error %v, never predicted %v\n%s", status, err, r.Never, stderr)
	}
	if _, stdout, stderr := command("train", iris, "--label", "species", "--algo", "lda", "--json"); strings.Contains(stdout+stderr, "never") {
		t.Errorf("all classes are predicted, and the report says\n%s%s", stdout, stderr)
	}
}

// TestMulticlassIdentity: the model of several classes doesn't depend on instruction set, workers, memory, streaming or cache. eval finds
// its errors again.
func TestMulticlassIdentity(t *testing.T) {
	dir := t.TempDir()
	data, path := filepath.Join(dir, "x.csv"), filepath.Join(dir, "m.json")
	write4(t, data, 60000)
	best := kernel.Levels()[len(kernel.Levels())-1].String()
	all := []string{"perceptron --order shuffle --epochs 3", "pocket --max-updates 10 --order shuffle", "averaged --epochs 3 --validation 0.2", "voted --max-updates 20",
		"logistic", "svm --loss hinge", "lda"}
	if testing.Short() {
		all = all[:2]
	}
	for k, options := range all {
		var want string
		for _, machine := range []string{"--workers 1", "--workers 3", "--workers 8 --isa generic", "--workers 2 --memory 2650000 --isa " + best} {
			if (strings.Contains(machine, "generic") || machine == "--workers 3") && k > 0 {
				continue // it takes long
			}
			args := []string{"train", data, "--label", "class", "--out", path, "--json", "--algo"}
			r := decode(t, append(args, strings.Fields(options+" "+machine)...)...)
			if streamed := strings.Contains(machine, "memory"); r["streamed"] != streamed {
				t.Errorf("%s %s: streamed %v", options, machine, r["streamed"])
			}
			got := read(t, path)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%s %s gives\n%s\nand other machines\n%s", options, machine, got, want)
			}
			if strings.Contains(options, "validation") {
				continue
			}
			if e := decode(t, "eval", "--model", path, data, "--json"); e["errors"] != r["train_errors"] || e["errors"].(float64) > 30000 {
				t.Errorf("%s: %v errors in training, %v in eval", options, r["train_errors"], e["errors"])
			}
		}
		kernel.Use(kernel.Levels()[len(kernel.Levels())-1])
	}
}

// write4 writes rows of four classes, each around its own corner of a square, as CSV.
func write4(t *testing.T, path string, rows int) {
	var b strings.Builder
	b.WriteString("x,z,class\n")
	for i := range rows {
		a, r := float64(i*i%101)/100*2*math.Pi, float64(i*7%89)/60
		fmt.Fprintf(&b, "%.4f,%.4f,%c\n", float64(i%2*2)-1+r*math.Cos(a), float64(i/2%2*2)-1+r*math.Sin(a), "abcd"[i%4])
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMulticlassProbabilities: of several classes each has a column, and they sum to 1.
func TestMulticlassProbabilities(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	for _, options := range []string{"logistic --l2 1 --multiclass ovr", "lda --multiclass ovr"} {
		succeed(t, append([]string{"train", iris, "--label", "species", "--out", path, "--algo"}, strings.Fields(options)...)...)
		succeed(t, "predict", "--model", path, iris, "--proba", "--out", path+".csv")
		lines := strings.Split(strings.TrimSpace(read(t, path+".csv")), "\n")
		if lines[0] != "prediction,probability_setosa,probability_versicolor,probability_virginica" || len(lines) != 151 {
			t.Fatalf("%d lines, the first %s", len(lines), lines[0])
		}
		for _, line := range lines[1:] {
			var class string
			var p [3]float64
			if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%s %g %g %g", &class, &p[0], &p[1], &p[2]); err != nil {
				t.Fatal(line, err)
			}
			most := slices.Index(p[:], slices.Max(p[:]))
			if math.Abs(p[0]+p[1]+p[2]-1) > 1e-6 || []string{"setosa", "versicolor", "virginica"}[most] != class {
				t.Errorf("%s: %s", options, line)
			}
		}
	}
}

// TestMulticlassSklearn has the weights, probabilities and errors of scikit-learn's OneVsRestClassifier of logistic regressions on iris;
// see testdata/sklearn_ovr.py.
func TestMulticlassSklearn(t *testing.T) {
	var fixture struct {
		Cases []struct {
			L2            float64
			Weights       [][]float64
			Bias          []float64
			Probabilities [][]float64
			Errors        float64
		}
	}
	if err := json.Unmarshal([]byte(read(t, "testdata/sklearn_ovr.json")), &fixture); err != nil || len(fixture.Cases) == 0 {
		t.Fatal("no cases", err)
	}
	path := filepath.Join(t.TempDir(), "m.json")
	for _, c := range fixture.Cases {
		r := decode(t, "train", iris, "--label", "species", "--algo", "logistic", "--multiclass", "ovr", "--l2", fmt.Sprint(c.L2), "--out",
			path, "--json")
		if r["train_errors"] != c.Errors {
			t.Errorf("l2 %v: %v errors, want %v", c.L2, r["train_errors"], c.Errors)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range c.Weights {
			for i, w := range append(want, c.Bias[k]) {
				if got := append(slices.Clone(m.Weights[k]), m.Bias[k])[i]; math.Abs(got-w) > 5e-6*math.Abs(w) { // scikit-learn has the rows in float64
					t.Errorf("l2 %v: class %d has %v at %d, want %v", c.L2, k, got, i, w)
				}
			}
		}
		succeed(t, "predict", "--model", path, iris, "--proba", "--out", path+".csv")
		lines := strings.Split(read(t, path+".csv"), "\n")
		for k, want := range c.Probabilities {
			fields := strings.Split(lines[1+10*k], ",")
			for class, w := range want {
				if got, err := strconv.ParseFloat(fields[1+class], 64); err != nil || math.Abs(got-w) > 1e-6 {
					t.Errorf("l2 %v: row %d has the probability %v of class %d, want %v", c.L2, 10*k, fields[1+class], class, w)
				}
			}
		}
	}
}

// TestMulticlassJoint: learners of all classes together say so, in the model and in reports, and get the same model with any number of
// workers. The probabilities of logistic regression are a softmax of its scores.
func TestMulticlassJoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	for _, options := range []string{"logistic --l2 1", "perceptron --multiclass joint --epochs 1000", "averaged --multiclass joint --order shuffle --validation 0.2"} {
		var want string
		for _, workers := range []string{"1", "3"} {
			args := append([]string{"train", iris, "--label", "species", "--out", path, "--json", "--workers", workers, "--algo"}, strings.Fields(options)...)
			r := decode(t, args...)
			if r["multiclass"] != model.Joint || r["train_errors"].(float64) > 15 {
				t.Errorf("%s: multiclass %v, %v errors", options, r["multiclass"], r["train_errors"])
			}
			if got := read(t, path); want != "" && got != want {
				t.Errorf("%s: another model on %s workers", options, workers)
			}
			want = read(t, path)
			if strings.Contains(options, "validation") {
				continue
			}
			if e := decode(t, "eval", "--model", path, iris, "--json"); e["errors"] != r["train_errors"] {
				t.Errorf("%s: %v errors in training, %v in eval", options, r["train_errors"], e["errors"])
			}
		}
		if text := succeed(t, "inspect", path); !strings.Contains(text, "3, learned together") {
			t.Errorf("%s: inspect says\n%s", options, text)
		}
		if !strings.Contains(options, "logistic") {
			continue
		}
		succeed(t, "predict", "--model", path, iris, "--proba", "--score", "--out", path+".csv")
		for _, line := range strings.Split(strings.TrimSpace(read(t, path+".csv")), "\n")[1:] {
			var v [6]float64 // scores, then probabilities
			for i, field := range strings.Split(line, ",")[1:] {
				v[i], _ = strconv.ParseFloat(field, 64)
			}
			sum := math.Exp(v[0]-v[1]) + 1 + math.Exp(v[2]-v[1])
			if math.Abs(v[4]-1/sum) > 1e-5 || math.Abs(v[3]+v[4]+v[5]-1) > 1e-6 {
				t.Errorf("%s", line)
			}
		}
	}
}

// TestMulticlassMessages: notes and refusals.
func TestMulticlassMessages(t *testing.T) {
	many := filepath.Join(t.TempDir(), "many.csv")
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d.5,%d\n", i, i)
	}
	if err := os.WriteFile(many, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	three := iris + " --label species --epochs 3 --out " + filepath.Join(t.TempDir(), "m.json")
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{three + " --algo svm --multiclass ovr", "", exitDone},
		{three + " --positive virginica", "note: --positive has no effect with 3 classes\n", exitDone},
		{textbook(t, signs) + " --label y --multiclass joint", "note: --multiclass has no effect with two classes\n", exitDone},
		{many + " --label y --epochs 1", "60 classes of numbers: if it is a quantity to predict, choose another column with --label", exitDone},
		{three + " --algo winnow --multiclass joint", "--multiclass joint with --algo winnow, which learns one class versus the rest: use ovr, or --algo perceptron", exitUsage},
		{three + " --multiclass all", "use auto, ovr or joint", exitUsage},
		{three + " --algo logistic --multiclass ovr --l2 0", "class \"setosa\" versus the rest: a plane separates the classes", exitFailed},
		{three + " --algo winnow", "versus the rest: column \"sepal_length\", row 0: 5.1 is neither 0 nor 1", exitFailed},
	} {
		status, _, stderr := command(append([]string{"train"}, strings.Fields(c.args)...)...)
		if status != c.status || !strings.Contains(stderr, c.want) || c.want == "" && stderr != "" {
			t.Errorf("%s: status %d, %q; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
}
