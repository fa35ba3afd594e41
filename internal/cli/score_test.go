package cli

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestScoreOption: --score chooses the point with the best score, workers and streaming change nothing, and reports show
// the score with its standard error.
func TestScoreOption(t *testing.T) {
	data := noisy(t, "4000")
	out := filepath.Join(t.TempDir(), "m.json")
	base := []string{"train", data, "--label", "label", "--algo", "logistic", "--cv", "3", "--out", out}
	for _, c := range []struct{ score, column string }{{"errors", "std error"}, {"weighted", "std error"}, {"log_loss", "log loss"}, {"auc", "AUC"}, {"f1", "F1"}} {
		args := append(base[:len(base):len(base)], "--grid", "l2=0.1,10,100000", "--score", c.score)
		r := decode(t, append(args, "--json", "--workers", "1")...)["cross_validation"].(map[string]any)
		again := decode(t, append(args, "--json", "--workers", "3", "--memory", "64MiB")...)["cross_validation"]
		if r["score"] != c.score || !reflect.DeepEqual(any(r), again) {
			t.Errorf("%s: %v, with other workers %v", c.score, r, again)
		}
		best := 0.0
		for i, p := range r["points"].([]any) {
			score := p.(map[string]any)["score"].(float64)
			if c.score == "auc" || c.score == "f1" {
				score = -score
			}
			if i == 0 || score < best {
				best = score
			}
			if i == int(r["chosen"].(float64)) && score > best {
				t.Errorf("%s: point %d is chosen of %v", c.score, i, r["points"])
			}
		}
		if text := succeed(t, args...); !strings.Contains(text, c.column) || !strings.Contains(text, "std error") {
			t.Errorf("%s: no %s in\n%s", c.score, c.column, text)
		}
	}
	r := decode(t, append(base[:len(base):len(base)], "--grid", "l2=0.001,0.01,0.1", "--one-standard-error", "--json")...)["cross_validation"].(map[string]any)
	if r["chosen"] != 2.0 || r["best"] == nil { // such small penalties change next to nothing
		t.Errorf("with one standard error: %v", r)
	}
	text := succeed(t, append(base[:len(base):len(base)], "--path", "10", "--score", "auc", "--one-standard-error")...)
	if p := loadedModel(t, out).Training.Path; !strings.Contains(text, "  chosen by ") || p.Score != "auc" || !p.OneStandardError || loadedModel(t, out).Options.L1 != p.Points[p.Within].L1 {
		t.Errorf("the path is %+v in\n%s", p, text)
	}
}

func TestScoreUsage(t *testing.T) {
	data := noisy(t, "100")
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"--algo logistic --score auc", "add one of them", exitUsage},
		{"--algo svm --cv 2 --score log_loss", "which has no probabilities", exitUsage},
		{"--algo svm --cv 2 --score accuracy", "errors, weighted, log_loss, auc, average_precision, f1, ", exitUsage},
		{"--algo svm --cv 2 --one-standard-error", "a --grid of l1 or l2", exitUsage},
		{"--algo averaged --grid epochs=1,2 --one-standard-error", "a --grid of l1 or l2", exitUsage},
	} {
		status, _, stderr := command(append([]string{"train", data, "--label", "label"}, strings.Fields(c.args)...)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %s, want %q", c.args, status, stderr, c.want)
		}
	}
	if status, _, stderr := command("train", iris, "--label", "species", "--algo", "logistic", "--cv", "2", "--score", "average_precision"); status != exitFailed || !strings.Contains(stderr, "3 classes") {
		t.Errorf("average precision of three classes: status %d, %s", status, stderr)
	}
}
