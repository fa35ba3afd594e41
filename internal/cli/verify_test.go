package cli

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/cli/training"
	"halfspace/model"
)

// TestVerifyRecorded: every other recorded training gives the same bytes again with one worker, by the options of its
// receipt and by those in the model. A few of them run without assembly.
func TestVerifyRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some thirty trainings twice")
	}
	text, err := os.ReadFile("testdata/recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(recordedData(t))
	lines, n, epochs, verified := 0, 0, 0, 0
	for line := range strings.Lines(string(text)) {
		_, args, found := strings.Cut(strings.TrimSpace(line), "train ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		if lines++; lines%2 == 0 {
			continue
		}
		n++
		t.Run(args, func(t *testing.T) {
			words := strings.Fields(args)
			succeed(t, append([]string{"train", "--out", "m.json", "--receipt", "r.json", "--workers", "2"}, words...)...)
			r, err := model.LoadReceipt("r.json")
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Epochs {
				epochs += len(c.Weights)
			}
			again := append([]string{"verify", "--model", "m.json", "--workers", "1"}, dataOf(words)...)
			if n%2 == 0 {
				if again = append(again, "--receipt", "r.json"); n%8 == 0 {
					again = append(again, "--isa", "generic")
				}
			}
			switch status, _, stderr := command(again...); {
			case status == exitDone:
				verified++
			case n%2 == 0 || !strings.Contains(stderr, "doesn't tell"):
				t.Errorf("%v: status %d: %s", again, status, stderr)
			}
		})
	}
	if epochs < 100 || verified < n-5 {
		t.Errorf("%d sums of weights in all receipts, and %d of %d models verified", epochs, verified, n)
	}
}

// dataOf returns the files among the words of a command line of train: those before the first option.
func dataOf(words []string) []string {
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			return words[:i]
		}
	}
	return words
}

// verdict runs verify --json with a status, and returns what it printed.
func verdict(t *testing.T, want int, args ...string) (v training.Verdict) {
	t.Helper()
	status, stdout, stderr := command(append([]string{"verify", "--json"}, args...)...)
	if status != want {
		t.Fatalf("verify %s: status %d: %s", strings.Join(args, " "), status, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	return v
}

// TestVerifyFindsRow: a changed value is found, in its run of rows, also where features are standardized by all rows, of
// rows that are held out, and where the rows are streamed.
func TestVerifyFindsRow(t *testing.T) {
	dir := t.TempDir()
	data, m, receipt := filepath.Join(dir, "d.csv"), filepath.Join(dir, "m.json"), filepath.Join(dir, "r.json")
	succeed(t, "gen", "--rows", "20000", "--features", "5", "--noise", "0.1", "--out", data)
	whole, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for _, options := range [][]string{{"--algo", "averaged", "--standardize"}, {"--algo", "logistic"}, {"--algo", "perceptron", "--order", "shuffle", "--memory", "2MiB"},
		{"--algo", "perceptron", "--validation", "0.3"}} {
		succeed(t, append([]string{"train", data, "--label", "label", "--out", m, "--receipt", receipt, "--epochs", "5"}, options...)...)
		if v := verdict(t, exitDone, "--model", m, "--receipt", receipt, data); !v.Verified || len(v.Files)+len(v.Runs)+len(v.Epochs) > 0 {
			t.Errorf("%v: %+v", options, v)
		}
		for range 2 {
			row := rng.IntN(20000)
			fields := strings.SplitN(lines[row+1], ",", 2)
			changed := strings.Join(lines[:row+1], "") + "1" + fields[0] + "," + fields[1] + strings.Join(lines[row+2:], "")
			if strings.HasPrefix(fields[0], "-") {
				changed = strings.Join(lines[:row+1], "") + fields[0][1:] + "," + fields[1] + strings.Join(lines[row+2:], "")
			}
			other := filepath.Join(dir, "other.csv")
			if err := os.WriteFile(other, []byte(changed), 0o666); err != nil {
				t.Fatal(err)
			}
			v := verdict(t, exitFailed, "--model", m, "--receipt", receipt, other)
			first := int64(row / 4096 * 4096)
			want := training.RowRange{First: first, Last: min(first+4096, 20000) - 1}
			if options[len(options)-1] == "0.3" && len(v.Runs) == 1 { // rows are counted among those of the same part
				want = v.Runs[0] // of those to validate on the model has no fingerprint, so that verify trains
			}
			if len(v.Runs) != 1 || v.Runs[0] != want || len(v.Files) != 1 || v.Trained != want.Validation {
				t.Errorf("%v: row %d was changed: %+v", options, row, v)
			}
		}
	}
}

// TestVerifyRefuses: what isn't the model of the training, or its receipt, is told apart, and no receipt makes verify panic.
func TestVerifyRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("d.csv", "a,b,y\n1,2,0\n2,1,1\n3,1,1\n1,3,0\n")
	put("v.csv", "a,b,y\n1,4,0\n5,1,1\n")
	put("turned.csv", "b,a,y\n2,1,0\n1,2,1\n1,3,1\n3,1,0\n")
	put("new.csv", "a,b,y\n1,2,0\n2,1,1\n3,1,1\n1,3,9\n")
	put("s.svm", "0 1:1 2:2 3:1\n1 1:2 2:1 3:1\n1 1:3 2:1 3:2\n0 1:1 2:3 3:1\n")
	train := func(args ...string) {
		t.Helper()
		succeed(t, append([]string{"train", "--algo", "perceptron", "--out", "m.json", "--receipt", "r.json"}, args...)...)
	}
	train("d.csv", "--label", "y")
	plain, err := os.ReadFile("m.json")
	if err != nil {
		t.Fatal(err)
	}
	put("other.json", reseal(t, strings.Replace(string(plain), `"label":`, `"zzz": 1,`+"\n  "+`"label":`, 1)))
	r, err := model.LoadReceipt("r.json")
	if err != nil {
		t.Fatal(err)
	}
	forge := func(name string, change func(*model.Receipt)) {
		t.Helper()
		forged := *r
		forged.Epochs = slices.Clone(r.Epochs)
		if change(&forged); forged.Save(name) != nil {
			t.Fatal(name)
		}
	}
	forge("rows.json", func(r *model.Receipt) { r.Rows = model.NewRowSums(4, 4096, []model.Sum{{}}) })
	forge("epochs.json", func(r *model.Receipt) { r.Epochs[0].Weights = []model.Sum{{}} })
	forge("class.json", func(r *model.Receipt) { r.Epochs[0].Class = 99 })
	forge("runs.json", func(r *model.Receipt) { r.Rows = model.NewRowSums(4, 5000, r.Rows.Runs) })
	forge("option.json", func(r *model.Receipt) {
		r.Options = append(r.Options, model.Typed{Option: "out", Values: []string{"x"}})
	})
	for args, want := range map[string]string{
		"--model other.json d.csv":                         "the layout of the file, or keys that no model has",
		"--model m.json --receipt rows.json d.csv":         "other sums",
		"--model m.json --receipt epochs.json d.csv":       "other weights from epoch 1 on",
		"--model m.json --receipt class.json d.csv":        "class number 99",
		"--model m.json --receipt runs.json d.csv":         "runs have 5000 rows",
		"--model m.json --receipt option.json d.csv":       "--out",
		"--model m.json --receipt r.json turned.csv":       "or in another order",
		"--model m.json --receipt r.json new.csv":          "not compared",
		"--model m.json --receipt m.json d.csv":            "not a receipt",
		"--model m.json":                                   "no data",
		"d.csv":                                            "--model is missing",
		"--model m.json --receipt r.json --epochs 3 d.csv": "unknown option",
	} {
		status, stdout, stderr := command(append([]string{"verify"}, strings.Fields(args)...)...)
		if status == exitDone || !strings.Contains(stdout+stderr, want) || strings.Contains(stderr, "internal error") {
			t.Errorf("verify %s: status %d: %s%s, want %q", args, status, stdout, stderr, want)
		}
	}
	succeed(t, "verify", "--model", "m.json", "turned.csv") // the features are those of the model

	train("d.csv", "--label", "y", "--validation", "v.csv")
	succeed(t, "verify", "--model", "m.json", "--receipt", "r.json", "d.csv")
	succeed(t, "verify", "--model", "m.json", "--validation", "v.csv", "d.csv")
	if err := os.Rename("v.csv", "moved.csv"); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := command("verify", "--model", "m.json", "--receipt", "r.json", "d.csv"); status != exitFailed || !isOneLine(stderr) || !strings.Contains(stderr, "v.csv") {
		t.Errorf("without the validation's file: status %d: %s", status, stderr)
	}
	succeed(t, "verify", "--model", "m.json", "--receipt", "r.json", "--validation", "moved.csv", "d.csv")

	train("s.svm", "--exclude", "f2")
	succeed(t, "verify", "--model", "m.json", "s.svm")
	train("s.svm")
	succeed(t, "verify", "--model", "m.json", "s.svm")
	train("d.csv", "--label", "y", "--null-values", "")
	succeed(t, "verify", "--model", "m.json", "d.csv")
	for _, args := range [][]string{{"--out", "x.json", "--receipt", "./x.json"}, {"--out", "x.json", "--init", "m.json", "--receipt", "m.json"},
		{"--out", "x.json", "--cache", "k", "--receipt", "k"}, {"--receipt", "x.json"}, {"--out", "x.json", "--receipt", "d.csv"}} {
		if status, _, stderr := command(append([]string{"train", "d.csv", "--label", "y", "--algo", "perceptron"}, args...)...); status == exitDone || !strings.Contains(stderr, "name") {
			t.Errorf("train %v: status %d: %s", args, status, stderr)
		}
	}
}

// reseal returns the text of a model's file with the checksum made anew.
func reseal(t *testing.T, text string) string {
	t.Helper()
	body, _, ok := strings.Cut(text, "  \"checksum\"")
	if !ok {
		t.Fatal("no checksum")
	}
	return fmt.Sprintf("%s  \"checksum\": \"sha256:%x\"\n}\n", body, sha256.Sum256([]byte(body)))
}
