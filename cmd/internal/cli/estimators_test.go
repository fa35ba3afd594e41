package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// estimators are all learners, with options for small data. What is checked of each of them is what scikit-learn checks of every
// estimator (sklearn.utils.estimator_checks), where it applies: its names stand beside the checks.
var estimators = []string{
	"perceptron --epochs 5", "perceptron --order random --max-updates 80",
	"pocket --max-updates 60", "averaged --order shuffle --epochs 3", "voted --max-updates 100 --epochs 2",
	"winnow --winnow winnow2 --epochs 2", "winnow --winnow balanced --epochs 2",
	"dual --epochs 3", "kernel-perceptron --kernel rbf --gamma 0.5 --form averaged --epochs 3", "kernel-perceptron --kernel poly --form voted --epochs 3",
	"logistic --l2 1", "lda", "svm", "svm --loss hinge",
	"perceptron --multiclass joint --order shuffle --epochs 5", "logistic --l2 1 --multiclass ovr", "lda --multiclass ovr",
}

// estimatorRows returns a header and rows of CSV of so many classes. The features are numbers around the corners of a square, one corner
// for each class, or numbers 0 and 1 of which the first two give the class.
func estimatorRows(classes int, boolean bool) (header string, lines []string) {
	rng := rand.New(rand.NewPCG(uint64(classes), 1))
	for i := range 600 {
		class := i * 7 % classes
		if boolean {
			x := [4]int{rng.IntN(2), rng.IntN(2), rng.IntN(2), rng.IntN(2)}
			if class = 0; x[0] == 1 {
				class = 1
			} else if x[1] == 1 {
				class = classes - 1
			}
			lines = append(lines, fmt.Sprintf("%d,%d,%d,%d,%c\n", x[0], x[1], x[2], x[3], 'a'+class))
			continue
		}
		noise := func() float64 { return math.Round(64*rng.NormFloat64()) / 64 } // float32 holds it
		a, b := float64(class%2*4)-2+noise(), float64(class/2*4)-2+noise()
		lines = append(lines, fmt.Sprintf("%v,%v,%v,%v,%c\n", a, b, a-b+noise(), noise(), 'a'+class))
	}
	return "v,w,x,z,class\n", lines
}

// eachEstimator runs a check for each learner on rows of two classes and of three.
func eachEstimator(t *testing.T, check func(t *testing.T, e *estimator)) {
	for i, options := range estimators {
		if require.Small() && i%3 != 0 {
			continue
		}
		for classes := 2; classes <= 3; classes++ {
			if classes == 3 && strings.Contains(options, "winnow2") || classes == 2 && strings.Contains(options, "multiclass") {
				continue // winnow2 has no weights below zero
			}
			t.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(options, " ", "_"), classes), func(t *testing.T) {
				dir := t.TempDir()
				e := &estimator{t: t, dir: dir, data: filepath.Join(dir, "x.csv"), boolean: strings.HasPrefix(options, "winnow"),
					options: append([]string{"--label", "class", "--algo"}, strings.Fields(options)...)}
				e.header, e.lines = estimatorRows(classes, e.boolean)
				check(t, e)
			})
		}
	}
}

// An estimator is a learner and rows for it.
type estimator struct {
	t         *testing.T
	dir, data string
	boolean   bool
	options   []string
	header    string
	lines     []string
}

// train learns from rows and returns the model's path and what the command said.
func (e *estimator) train(lines []string, more ...string) (path string, status int, stderr string) {
	e.t.Helper()
	e.write(lines)
	path = filepath.Join(e.dir, "m.json")
	status, _, stderr = command(slices.Concat([]string{"train", "--algo", "perceptron", e.data, "--out", path, "--json"}, e.options, more)...)
	return path, status, stderr
}

// fit is train, which must succeed.
func (e *estimator) fit(lines []string, more ...string) string {
	e.t.Helper()
	path, status, stderr := e.train(lines, more...)
	if status != exitDone {
		e.t.Fatalf("status %d: %s", status, stderr)
	}
	return path
}

func (e *estimator) write(lines []string) {
	e.t.Helper()
	if err := os.WriteFile(e.data, []byte(e.header+strings.Join(lines, "")), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// predict returns predictions and scores of rows, a line for each.
func (e *estimator) predict(m string, lines []string, more ...string) []string {
	e.t.Helper()
	e.write(lines)
	out := filepath.Join(e.dir, "p.csv")
	succeed(e.t, slices.Concat([]string{"predict", "--model", m, e.data, "--score", "--out", out, "--header", "yes"}, more)...)
	return strings.SplitAfter(strings.TrimSuffix(read(e.t, out), "\n"), "\n")[1:]
}

// TestEstimators: check_classifiers_train (an accuracy above 0.83), check_classifiers_one_label, check_fit2d_1sample, check_fit2d_1feature,
// and constant features.
func TestEstimators(t *testing.T) {
	inParallel(t)
	eachEstimator(t, func(t *testing.T, e *estimator) {
		path := e.fit(e.lines)
		m := loadedModel(t, path)
		if r := decode(t, "eval", "--model", path, e.data, "--json"); r["errors"] != float64(*m.Training.Errors) || r["accuracy"].(float64) < 0.83 {
			t.Errorf("%v errors (accuracy %v), in training %d", r["errors"], r["accuracy"], *m.Training.Errors)
		}
		require.NoError(t, os.Remove(path))
		same := slices.DeleteFunc(slices.Clone(e.lines), func(line string) bool { return !strings.HasSuffix(line, "a\n") })
		for rows, lines := range map[string][]string{"one class": same, "one row": same[:1], "no rows": nil} {
			path, status, stderr := e.train(lines)
			_, err := os.Stat(path)
			if status != exitFailed || !isOneLine(regexp.MustCompile(`(?m)^note: left out .*\n`).ReplaceAllString(stderr, "")) || !strings.Contains(stderr, e.data) || rows != "no rows" && !strings.Contains(stderr, `"class"`) || err == nil {
				t.Errorf("%s: status %d, %q", rows, status, stderr)
			}
		}
		e.sane("a row of each of two classes", []string{same[0], e.lines[slices.IndexFunc(e.lines, func(line string) bool { return strings.HasSuffix(line, "b\n") })]})
		e.sane("constant features", e.cells(func(c []string) []string { return []string{"1", "1", "0", "1", c[4]} }))
		e.fit(e.cells(func(c []string) []string { return []string{c[0], c[1], "0", "1", c[4]} }))
		if r := decode(t, "eval", "--model", path, e.data, "--json"); r["accuracy"].(float64) < 0.83 {
			t.Errorf("beside constant features the accuracy is %v", r["accuracy"])
		}
		e.header = "v,class\n"
		e.sane("one feature", e.cells(func(c []string) []string { return []string{c[0], c[4]} }))
	})
}

// cells returns the rows with other cells.
func (e *estimator) cells(change func(cell []string) []string) (changed []string) {
	for _, line := range e.lines {
		changed = append(changed, strings.Join(change(strings.Split(line, ",")), ","))
	}
	return changed
}

// sane trains on rows; it must give a model whose predictions are numbers, or say in one line why not.
func (e *estimator) sane(what string, lines []string) {
	e.t.Helper()
	path, status, stderr := e.train(lines)
	if status != exitDone {
		for strings.HasPrefix(stderr, "note: ") { // --multiclass has no effect with two classes
			_, stderr, _ = strings.Cut(stderr, "\n")
		}
		if status != exitFailed || !isOneLine(stderr) {
			e.t.Errorf("%s: status %d, %q", what, status, stderr)
		}
		return
	}
	for _, line := range e.predict(path, lines) {
		if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
			e.t.Errorf("%s: the prediction %q", what, line)
		}
	}
	if r := decode(e.t, "eval", "--model", path, e.data, "--json"); r["errors"] != float64(*loadedModel(e.t, path).Training.Errors) {
		e.t.Errorf("%s: %v errors, in training %v", what, r["errors"], *loadedModel(e.t, path).Training.Errors)
	}
}
