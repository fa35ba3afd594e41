package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

const cancer = "../../examples/breast-cancer.parquet"

// TestTrainWithoutAlgo: without --algo, train makes the model of "--algo averaged --standardize --order shuffle", and says so. An option
// that is given wins.
func TestTrainWithoutAlgo(t *testing.T) {
	for options, same := range map[string]string{
		"":                                   "--standardize --order shuffle",
		"--standardize=false":                "--order shuffle",
		"--order cyclic":                     "--standardize --order cyclic",
		"--order random --standardize=false": "--order random",
		"--grid epochs=2,3":                  "--standardize --order shuffle --grid epochs=2,3",
	} {
		m := func(options string) (text, file string) {
			t.Helper()
			path := filepath.Join(t.TempDir(), "m.json")
			text = succeed(t, append([]string{"train", cancer, "--label", "diagnosis", "--out", path}, strings.Fields(options)...)...)
			return text, read(t, path)
		}
		text, got := m(options)
		if _, want := m("--algo averaged " + same); got != want {
			t.Errorf("%q: the model isn't that of --algo averaged %s", options, same)
		}
		line := "--algo averaged"
		for _, option := range []string{"--standardize", "--order shuffle", "--order cyclic", "--order random"} {
			if strings.Contains(same, option) {
				line += " " + option
			}
		}
		if want := " options " + line + ", chosen because no --algo was given "; !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q: no %q in\n%s", options, want, text)
		}
	}
}

// TestTrainWide: without options, rows of too many features to standardize are learned as they are. The report says so, and so
// does the command that compare prints. --standardize is an error.
func TestTrainWide(t *testing.T) {
	path := filepath.Join(text(t, map[string]string{"wide.svm": wordy(400, 17000)}), "wide.svm")
	for _, options := range []string{"", "--memory 30MiB --workers 1"} {
		status, stdout, stderr := command(append([]string{"train", path, "--epochs", "2", "--json"}, strings.Fields(options)...)...)
		if status != exitDone || !strings.Contains(stdout, `"standardize": false`) || !strings.Contains(stdout, `"order": "shuffle"`) ||
			!strings.Contains(stderr, "features are not standardized") {
			t.Errorf("%s: status %d\n%s%s", options, status, stdout, stderr)
		}
	}
	if status, _, stderr := command("train", path, "--standardize"); status == exitDone || !strings.Contains(stderr, "standardized rows are dense") {
		t.Errorf("--standardize: status %d, %s", status, stderr)
	}
	if best := decode(t, "compare", path, "--cv", "2", "--json")["best"].(string); strings.Contains(best, "--standardize") {
		t.Errorf("the best command is %s", best)
	}
}

// TestLogisticPenalty: the penalty of --algo logistic is 1 where none is given.
func TestLogisticPenalty(t *testing.T) {
	models := map[string]string{}
	for _, l2 := range []string{"", "--l2 1", "--l2 0"} {
		path := filepath.Join(t.TempDir(), "m.json")
		succeed(t, append([]string{"train", noisy(t, "500"), "--label", "label", "--algo", "logistic", "--out", path}, strings.Fields(l2)...)...)
		models[l2] = read(t, path)
	}
	if models[""] != models["--l2 1"] {
		t.Error("without --l2 the model isn't that of --l2 1")
	}
	if models[""] == models["--l2 0"] {
		t.Error("without --l2 the model is that of --l2 0")
	}
}

// TestDefaultAccuracy: the model without any option is right more often than the greatest class is.
func TestDefaultAccuracy(t *testing.T) {
	t.Run("breast cancer", func(t *testing.T) { atLeast(t, cancer, "diagnosis", 0.97) })
	t.Run("credit default", func(t *testing.T) { atLeast(t, shared(t, "credit-default.csv.gz"), "Y", 0.79) })
}

func atLeast(t *testing.T, data, label string, want float64) {
	t.Helper()
	r := decode(t, "train", data, "--label", label, "--json")
	if got := r["train_accuracy"].(float64); !(got >= want) {
		t.Errorf("%s: accuracy %v, want %v or more", data, got, want)
	}
}
