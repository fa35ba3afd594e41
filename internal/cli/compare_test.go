package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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
		{iris, "species", "", []string{"averaged", "perceptron", "pocket", "voted", "kernel-perceptron", "logistic", "lda", "svm"}},
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
			if l["score"] != cv["score"] || l["total_seconds"].(float64) < l["seconds"].(float64) {
				t.Errorf("%v: score %v, train --cv has %v; %v seconds of %v", l["options"], l["score"], cv["score"], l["seconds"], l["total_seconds"])
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
			if auc, ok := l["auc"].(float64); !ok || !(auc > 0.8 && auc <= 1) {
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

// TestCompareStreamed: rows that don't fit in memory have the same figures, on any number of workers.
func TestCompareStreamed(t *testing.T) {
	data := filepath.Join(t.TempDir(), "x.parquet")
	succeed(t, "gen", "--rows", "30000", "--features", "40", "--noise", "0.1", "--seed", "3", "--out", data)
	var want []any
	for _, how := range []string{"--memory 1GiB --workers 1", "--memory 1GiB --workers 3", "--memory 12MiB --workers 2"} {
		r := decode(t, append([]string{"compare", data, "--label", "label", "--cv", "2", "--score", "auc", "--skip", "svm,pocket", "--json"}, strings.Fields(how)...)...)
		learners := r["learners"].([]any)
		for _, l := range learners {
			delete(l.(map[string]any), "seconds")
			delete(l.(map[string]any), "total_seconds")
		}
		if want == nil {
			want = learners
		} else if !reflect.DeepEqual(learners, want) {
			t.Errorf("%s: %v, want %v", how, learners, want)
		}
	}
}

// TestCompareScore: the learners are ranked by the score, equal ones by the log loss. Those that lack it come last with the reason.
func TestCompareScore(t *testing.T) {
	for score, greatest := range map[string]bool{"log_loss": false, "auc": true, "f1": true, "balanced_accuracy": true, "average_precision": true, "weighted": false} {
		r := decode(t, "compare", cancer, "--label", "diagnosis", "--score", score, "--class-weight", "malignant=3", "--skip", "pocket,voted", "--cv", "3", "--json")
		var last, loss *float64
		names, lacking := "", 0
		for _, item := range r["learners"].([]any) {
			l := item.(map[string]any)
			name := strings.Fields(l["options"].(string))[1]
			names += name + " "
			v, ok := l["score"].(float64)
			if !ok {
				if lacking++; score != "log_loss" || l["unranked"] != "has no probabilities" {
					t.Errorf("%s: %v is not ranked: %v", score, l["options"], l["unranked"])
				}
				continue
			}
			if lacking > 0 || last != nil && (greatest && v > *last || !greatest && v < *last) {
				t.Errorf("%s: %v with %v comes too late", score, l["options"], v)
			}
			own, has := l["log_loss"].(float64)
			if last != nil && v == *last && has && (loss == nil || own < *loss) {
				t.Errorf("%s: %v with the log loss %v comes too late", score, l["options"], own)
			}
			if last, loss = &v, nil; has {
				loss = &own
			}
			if name == "logistic" {
				cv := decode(t, "train", cancer, "--label", "diagnosis", "--algo", "logistic", "--standardize", "--score", score, "--class-weight", "malignant=3", "--cv", "3", "--json")["cross_validation"].(map[string]any)
				if p := cv["points"].([]any)[0].(map[string]any); p["score"] != v || p["error_weight"] != l["error_weight"] {
					t.Errorf("%s of logistic is %v, of train --cv %v", score, l, p)
				}
			}
		}
		if score == "log_loss" && lacking < 4 || strings.Contains(names, "pocket") || strings.Contains(names, "voted") || r["score"] != score {
			t.Errorf("%s: %v, learners %s", score, r["score"], names)
		}
		if !strings.Contains(r["best"].(string), " --class-weight malignant=3 ") || strings.Contains(r["best"].(string), "--score") || strings.Contains(r["best"].(string), "--skip") {
			t.Errorf("best is %v", r["best"])
		}
	}
	text := succeed(t, "compare", iris, "--label", "species", "--score", "log_loss", "--algo", "svm,lda")
	if !strings.Contains(text, "Not ranked by log_loss: svm, svm --loss hinge: each has no probabilities\n") || strings.Index(text, "  lda ") > strings.Index(text, "  svm ") {
		t.Error(text)
	}
	if text = succeed(t, "compare", iris, "--label", "species", "--score", "log_loss", "--algo", "svm"); !strings.Contains(text, "No learner has the score log_loss") || strings.Contains(text, "halfspace train") {
		t.Error(text)
	}
	page := filepath.Join(t.TempDir(), "c.html")
	succeed(t, "compare", iris, "--label", "species", "--score", "f1_macro", "--algo", "svm,lda", "--report", page)
	if text = read(t, page); strings.Count(text, "<svg") != 1 || !strings.Contains(text, "--algo lda --out model.json") || !strings.Contains(text, "macro F1") {
		t.Error(text)
	}
}

// TestCompareSlow: a learner whose model takes long to predict is left out, and judged if it is named.
func TestCompareSlow(t *testing.T) {
	data := filepath.Join(t.TempDir(), "x.parquet")
	succeed(t, "gen", "--rows", "5000", "--features", "300", "--noise", "0.4", "--seed", "3", "--out", data)
	text := succeed(t, "compare", data, "--label", "label", "--cv", "2", "--skip", "pocket,svm,logistic,ftrl,adagrad,kernel-perceptron")
	if !strings.Contains(text, "Left out: voted --order shuffle --epochs 10: its model takes ") || !strings.Contains(text, "name it with --algo voted to judge it anyway") {
		t.Error(text)
	}
	if text = succeed(t, "compare", data, "--label", "label", "--cv", "2", "--algo", "voted"); !strings.Contains(text, "\n  voted ") || strings.Contains(text, "Left out") {
		t.Error(text)
	}
}

// TestCompareMessages: wrong usage is told.
func TestCompareMessages(t *testing.T) {
	for args, want := range map[string]string{
		"compare":           "no data",
		"compare " + cancer: "--label is missing",
		"compare --label diagnosis --cv 1 " + cancer:                "--cv is 1: use 2 or more folds",
		"compare --label diagnosis --algo svn " + cancer:            "compare has no such learner: use averaged, ",
		"compare --label diagnosis --skip dual " + cancer:           "--skip dual: compare has no such learner",
		"compare --label diagnosis --algo svm --skip svm " + cancer: "--skip leaves no learner",
		"compare --label diagnosis --score accuracy " + cancer:      "or balanced_accuracy",
		"compare --label diagnosis --class-weight x " + cancer:      "--class-weight x: use balanced",
		"compare --label diagnosis --report c.txt " + cancer:        "ends in .html",
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
