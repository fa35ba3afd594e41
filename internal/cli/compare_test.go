package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompare: every learner has the errors that train --cv finds with the same options. The best stands first, the baseline last. The
// command to copy makes a model.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		data, label string
		options     string
		learners    []string // that must be there
	}{
		{cancer, "diagnosis", "", []string{"averaged", "perceptron", "pocket", "voted", "kernel-perceptron", "logistic", "lda", "svm"}},
		{cancer, "diagnosis", "--standardize=false --features mean_* --cv 3 --seed 5", []string{"averaged", "logistic", "lda", "svm"}},
		{iris, "species", "--dtype float64", []string{"averaged", "perceptron", "pocket", "voted", "kernel-perceptron", "logistic", "lda", "svm"}},
	} {
		given := strings.Fields(c.options)
		r := decode(t, append([]string{"compare", c.data, "--label", c.label, "--json"}, given...)...)
		standardize := !strings.Contains(c.options, "standardize=false")
		if r["standardize"] != standardize {
			t.Errorf("%s: standardize is %v", c.options, r["standardize"])
		}
		var names []string
		last := 0.0
		for _, l := range r["learners"].([]any) {
			l := l.(map[string]any)
			names = append(names, strings.Fields(l["options"].(string))[1])
			args := slices.Concat([]string{"train", c.data, "--label", c.label, "--json"}, strings.Fields(l["options"].(string)), given)
			if !strings.Contains(c.options, "--cv") {
				args = append(args, "--cv", "5")
			}
			if standardize {
				args = append(args, "--standardize")
			}
			cv := decode(t, args...)["cross_validation"].(map[string]any)["points"].([]any)[0].(map[string]any)
			if l["errors"] != cv["errors"] || l["accuracy"] != cv["accuracy"] {
				t.Errorf("%v: %v errors, train --cv has %v", l["options"], l["errors"], cv["errors"])
			}
			if errors := l["errors"].(float64); errors < last {
				t.Errorf("%v with %v errors stands behind one with %v", l["options"], errors, last)
			} else {
				last = errors
			}
			probabilities := slices.Contains([]string{"logistic", "lda", "ftrl", "adagrad"}, names[len(names)-1])
			if loss, ok := l["log_loss"].(float64); ok != probabilities || ok && !(loss > 0 && loss < 1) {
				t.Errorf("%v: log loss %v", l["options"], l["log_loss"])
			}
			if auc, ok := l["auc"].(float64); ok != (c.data == cancer) || ok && !(auc > 0.8 && auc <= 1) {
				t.Errorf("%v: AUC %v", l["options"], l["auc"])
			}
		}
		for _, name := range c.learners {
			if !slices.Contains(names, name) {
				t.Errorf("%s %s: %s isn't among %q", c.data, c.options, name, names)
			}
		}
		best := r["best"].(string)
		out := filepath.Join(t.TempDir(), "model.json")
		args := strings.Fields(strings.Replace(strings.ReplaceAll(best, "'", ""), "model.json", out, 1))
		succeed(t, args[1:]...)
		if first := r["learners"].([]any)[0].(map[string]any)["options"].(string); args[0] != "halfspace" || !strings.Contains(best, first) {
			t.Errorf("the best is %q, the command %q", first, best)
		}
		if _, err := os.Stat(out); err != nil {
			t.Errorf("%s: %v", best, err)
		}
	}
}

// TestCompareTable: the table ends with the baseline, and the command stands below it.
func TestCompareTable(t *testing.T) {
	text := succeed(t, "compare", cancer, "--label", "diagnosis")
	for _, want := range []string{"569 rows of 30 features, standardized, in 5 folds", "  learner ", "\n  logistic ", "\n  always \"benign\" ",
		"Left out: winnow", "\n  halfspace train " + cancer + " --standardize --label diagnosis --algo "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if table := text[:strings.Index(text, "\nLeft out")]; strings.LastIndex(table, "\n  always") < strings.LastIndex(table, "\n  svm") {
		t.Errorf("the baseline isn't the last line of\n%s", table)
	}
}

// TestCompareFits: learners for few rows, or for Boolean features, are tried on those alone, and one that fails is left out with its reason.
func TestCompareFits(t *testing.T) {
	reasons := func(args ...string) (learners []string, left map[string]string) {
		t.Helper()
		r := decode(t, append([]string{"compare", "--json", "--label", "label", "--cv", "2"}, args...)...)
		left = map[string]string{}
		for _, l := range r["left_out"].([]any) {
			l := l.(map[string]any)
			left[strings.Fields(l["options"].(string))[1]] = l["reason"].(string)
		}
		for _, l := range r["learners"].([]any) {
			learners = append(learners, strings.Fields(l.(map[string]any)["options"].(string))[1])
		}
		return learners, left
	}
	learners, left := reasons(noisy(t, "12000"))
	for _, name := range []string{"voted", "kernel-perceptron", "winnow"} {
		if slices.Contains(learners, name) || left[name] == "" {
			t.Errorf("12,000 rows: learners %q, left out %q", learners, left)
		}
	}
	if learners, left = reasons(noisy(t, "400"), "--standardize=false"); slices.Contains(learners, "winnow") || !strings.Contains(left["winnow"], "neither 0 nor 1") {
		t.Errorf("real features: learners %q, left out %q", learners, left)
	}
	lines := "a,b,c,label\n"
	for i := range 400 {
		a, b, c := i%2, i/2%2, i/4%3%2
		lines += fmt.Sprintf("%d,%d,%d,%d\n", a, b, c, a&b)
	}
	boolean := filepath.Join(text(t, map[string]string{"and.csv": lines}), "and.csv")
	if learners, left = reasons(boolean, "--standardize=false"); !slices.Contains(learners, "winnow") {
		t.Errorf("Boolean features: learners %q, left out %q", learners, left)
	}
}

// TestCompareStreamed: rows that don't fit in memory have the same figures.
func TestCompareStreamed(t *testing.T) {
	data := filepath.Join(t.TempDir(), "x.parquet")
	succeed(t, "gen", "--rows", "30000", "--features", "40", "--noise", "0.1", "--seed", "3", "--out", data)
	var want []any
	for _, memory := range []string{"1GiB", "12MiB"} {
		r := decode(t, "compare", data, "--label", "label", "--cv", "2", "--memory", memory, "--json")
		learners := r["learners"].([]any)
		for _, l := range learners {
			delete(l.(map[string]any), "seconds")
		}
		if want == nil {
			want = learners
			continue
		}
		for i, l := range learners {
			got, want := l.(map[string]any), want[i].(map[string]any)
			for _, key := range []string{"errors", "auc"} {
				if g, w := got[key], want[key]; got["options"] != want["options"] || g != w && math.Abs(g.(float64)-w.(float64)) > 0 {
					t.Errorf("streamed, %v has %s %v; in memory, %v has %v", got["options"], key, g, want["options"], w)
				}
			}
		}
	}
}

// TestCompareMessages: wrong usage is told.
func TestCompareMessages(t *testing.T) {
	for args, want := range map[string]string{
		"compare":           "no data",
		"compare " + cancer: "--label is missing",
		"compare --label diagnosis --cv 1 " + cancer:     "--cv is 1: use 2 or more folds",
		"compare --label diagnosis --algo svm " + cancer: "unknown option --algo",
	} {
		if status, _, stderr := command(strings.Fields(args)...); status != exitUsage || !strings.Contains(stderr, want) || !isOneLine(stderr) {
			t.Errorf("%s: status %d, %q", args, status, stderr)
		}
	}
	one := write(t, "one.parquet", col{"x", []float64{1, 2, 3}}, col{"y", []int64{1, 1, 1}})
	if status, _, stderr := command("compare", one, "--label", "y"); status != exitFailed || !strings.Contains(stderr, "is the only class") {
		t.Errorf("one class: status %d, %q", status, stderr)
	}
}
