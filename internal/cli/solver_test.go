package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/model"
)

// numbersFile writes a CSV file of rows of numbers with the label last.
func numbersFile(t *testing.T, rows int) string {
	t.Helper()
	var s strings.Builder
	s.WriteString("a,b,y\n")
	for i := range rows {
		a, b := math.Sin(float64(i)*1.7)*2, math.Cos(float64(i)*2.9)
		y := 0
		if a+b+math.Sin(float64(i)*11) > 0 {
			y = 1
		}
		fmt.Fprintf(&s, "%v,%v,%d\n", a, b, y)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLogisticSolvers: each solver of logistic regression comes near the same weights, and the model and the report say which it was.
func TestLogisticSolvers(t *testing.T) {
	data := numbersFile(t, 400)
	var want *model.Model
	for _, c := range []struct{ options, solver, text string }{
		{"--solver auto", "", "steps of Newton's"},
		{"--solver newton", "", "l2 1, at most 100 passes"},
		{"--solver lbfgs", "lbfgs", "l2 1, at most 1,000 passes"},
		{"--solver lbfgs --epochs 40", "lbfgs", "steps of L-BFGS"},
		{"--solver sgd --eta 0.5", "sgd", "steps of stochastic gradient descent"},
	} {
		path := filepath.Join(t.TempDir(), "m.json")
		args := append([]string{"train", data, "--label", "y", "--algo", "logistic", "--l2", "1", "--out", path}, strings.Fields(c.options)...)
		if text := succeed(t, args...); !strings.Contains(text, c.text) {
			t.Errorf("%s: no %q in\n%s", c.options, c.text, text)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = m
		}
		tol := 1e-6
		if c.solver == "sgd" {
			tol = 0.1
		}
		for i, w := range want.Weights[0] {
			if math.Abs(m.Weights[0][i]-w) > tol*math.Abs(w) {
				t.Errorf("%s: weights %v, want %v", c.options, m.Weights, want.Weights)
			}
		}
		if m.Options.Solver != c.solver || (m.StdErrors == nil) != (c.solver != "") || (m.Options.Eta == 0.5) != (c.solver == "sgd") {
			t.Errorf("%s: solver %q, standard errors %v, eta %v", c.options, m.Options.Solver, m.StdErrors, m.Options.Eta)
		}
	}
}

// TestProject: the columns of the projection are the products of the features with the directions of the model.
func TestProject(t *testing.T) {
	data := numbersFile(t, 200)
	dir := t.TempDir()
	path, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "p.csv")
	text := succeed(t, "train", data, "--label", "y", "--algo", "lda", "--solver", "eigen", "--shrinkage", "0.50", "--out", path)
	if !strings.Contains(text, "shrinkage 0.5\n") || !strings.Contains(text, "1 direction, which explain") {
		t.Errorf("report\n%s", text)
	}
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if m.Options.Solver != "eigen" || m.Options.Shrinkage != "0.5" || len(m.Projection.Directions) != 1 {
		t.Fatalf("options %+v, projection %+v", m.Options, m.Projection)
	}
	succeed(t, "predict", "--model", path, data, "--project", "--keep", "a,b", "--out", out)
	file, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if lines[0] != "a,b,prediction,projection_1" || len(lines) != 201 {
		t.Fatalf("%d lines, the first is %q", len(lines), lines[0])
	}
	for _, line := range lines[1:] {
		var a, b, prediction, got float64
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%g %g %g %g", &a, &b, &prediction, &got); err != nil {
			t.Fatal(err)
		}
		if want := a*m.Projection.Directions[0][0] + b*m.Projection.Directions[0][1]; math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
			t.Fatalf("%s: the coordinate is not %v", line, want)
		}
	}
	plain := filepath.Join(dir, "plain.json")
	succeed(t, "train", data, "--label", "y", "--algo", "lda", "--shrinkage", "auto", "--out", plain)
	if m, err = model.Load(plain); err != nil || m.Options.Shrinkage != "auto" || m.Projection != nil {
		t.Errorf("%v, %+v", err, m)
	}
	if code, _, stderr := command("predict", "--model", plain, data, "--project", "--out", out); code != 1 || !strings.Contains(stderr, "has no projection") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	damaged := *mustLoad(t, path)
	damaged.Projection.Directions[0] = []float64{1}
	if err := damaged.Check(); err == nil || !strings.Contains(err.Error(), "1 numbers for 2 features") {
		t.Errorf("error %v", err)
	}
}

func mustLoad(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSolverUsage: solvers that the learner hasn't, and shares out of range, are wrong usage.
func TestSolverUsage(t *testing.T) {
	data := numbersFile(t, 20)
	for options, want := range map[string]string{
		"--algo lda --solver newton":      "--solver newton with --algo lda: use auto, cholesky, eigen",
		"--algo logistic --solver eigen":  "use auto, newton, truncated, lbfgs, sgd",
		"--algo svm --solver newton":      "which doesn't take it: leave it out",
		"--algo lda --shrinkage 2":        `--shrinkage is "2"`,
		"--algo lda --shrinkage NaN":      `--shrinkage is "NaN"`,
		"--algo lda --shrinkage much":     `--shrinkage is "much"`,
		"--algo logistic --solver newtno": "newton",
	} {
		code, _, stderr := command(append([]string{"train", "--algo", "perceptron", data, "--label", "y"}, strings.Fields(options)...)...)
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", options, code, stderr)
		}
	}
	_, _, stderr := command("train", data, "--label", "y", "--algo", "logistic", "--l2", "1", "--shrinkage", "0.1", "--eta", "0.5")
	for _, option := range []string{"--shrinkage", "--eta"} {
		if !strings.Contains(stderr, option+" has no effect with --algo logistic") {
			t.Errorf("no note on %s in %s", option, stderr)
		}
	}
	out := succeed(t, "train", data, "--label", "y", "--algo", "logistic", "--l2", "1", "--solver", "lbfgs", "--json")
	var r struct{ Converged bool }
	if err := json.Unmarshal([]byte(out), &r); err != nil || !r.Converged {
		t.Errorf("%v: %s", err, out)
	}
}

// TestJoint: logistic and lda learn three classes together. The probabilities sum to 1, and the greatest is the prediction's. They also
// learn one versus the rest, and the model names the solver.
func TestJoint(t *testing.T) {
	const data = "../../examples/iris.parquet"
	dir := t.TempDir()
	path, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "p.csv")
	for options, most := range map[string]int64{"logistic --l2 1": 5, "lda --solver eigen": 3} {
		succeed(t, append([]string{"train", data, "--label", "species", "--out", path, "--algo"}, strings.Fields(options)...)...)
		m := mustLoad(t, path)
		if m.Options.Multiclass != model.Joint || *m.Training.Errors > most || !m.Training.Converged {
			t.Errorf("%s: %+v, %+v", options, m.Options, m.Training)
		}
		args := []string{"predict", "--model", path, data, "--proba", "--out", out}
		if m.Projection != nil {
			args = append(args, "--project")
		}
		succeed(t, args...)
		file, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(file)), "\n")
		want := "prediction,probability_setosa,probability_versicolor,probability_virginica"
		if m.Projection != nil {
			want += ",projection_1,projection_2"
		}
		if lines[0] != want || len(lines) != 151 {
			t.Fatalf("%d lines, the first is %q", len(lines), lines[0])
		}
		for _, line := range lines[1:] {
			fields, sum, best := strings.Split(line, ","), 0.0, 0
			var p [3]float64
			for k := range p {
				if _, err := fmt.Sscan(fields[1+k], &p[k]); err != nil {
					t.Fatal(err)
				}
				if sum += p[k]; p[k] > p[best] {
					best = k
				}
			}
			if math.Abs(sum-1) > 1e-6 || fields[0] != m.Classes[best].Text {
				t.Errorf("%s: %s", options, line)
			}
		}
	}
	succeed(t, "train", data, "--label", "species", "--algo", "logistic", "--l2", "1", "--multiclass", "ovr", "--solver", "lbfgs", "--out", path)
	if m := mustLoad(t, path); m.Options.Multiclass != model.OneVersusRest || m.Options.Solver != "lbfgs" || m.Options.Epochs != 1000 {
		t.Errorf("%+v", m.Options)
	}
	if code, _, stderr := command("train", data, "--label", "species", "--algo", "logistic", "--solver", "newton"); code != 1 || !strings.Contains(stderr, "use --solver lbfgs") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestAdviceUnproved: of many weights without a penalty, L-BFGS reaches the optimum and nothing proves it. The advice is what gives a proof,
// not more epochs.
func TestAdviceUnproved(t *testing.T) {
	data := filepath.Join(t.TempDir(), "wide.parquet")
	succeed(t, "gen", "--rows", "4000", "--features", "1030", "--noise", "0.3", "--out", data)
	const want = "Not converged: without a penalty, nothing proved that these weights are the optimum. Use --l2, or --solver newton.\n"
	if text := succeed(t, "train", data, "--label", "label", "--algo", "logistic", "--l2", "0"); !strings.HasSuffix(text, want) {
		t.Errorf("no %q at the end of\n%s", want, text)
	}
}

// TestAdviceSGD: where stochastic gradient descent ends far from the optimum, the advice is another solver. One row of a thousand is positive.
func TestAdviceSGD(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("x,y\n6,1\n")
	for i := range 999 {
		fmt.Fprintf(&lines, "%d,0\n", i%8-i%3)
	}
	data := filepath.Join(text(t, map[string]string{"x.csv": lines.String()}), "x.csv")
	args := []string{"train", data, "--label", "y", "--algo", "logistic", "--solver"}
	if out := succeed(t, append(args, "sgd")...); !strings.HasSuffix(out, "rare. Use --solver lbfgs.\n") {
		t.Errorf("no other solver is advised in\n%s", out)
	}
	if out := succeed(t, append(args, "lbfgs")...); strings.Contains(out, "Not converged") {
		t.Errorf("the advice doesn't help:\n%s", out)
	}
}
