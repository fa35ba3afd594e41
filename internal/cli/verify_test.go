package cli

import (
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

// TestVerifyRecorded: recorded trainings give the same bytes again with one worker, by the options of their receipts and by
// those in the models. A few of them run without assembly.
func TestVerifyRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some sixty trainings twice")
	}
	text, err := os.ReadFile("testdata/recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(recordedData(t))
	n, epochs, verified := 0, 0, 0
	for line := range strings.Lines(string(text)) {
		_, args, found := strings.Cut(strings.TrimSpace(line), "train ")
		if !found || strings.HasPrefix(line, "#") {
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
	if epochs < 200 || verified < n-10 {
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
	rng, epochs := rand.New(rand.NewPCG(1, 2)), 0
	for _, options := range [][]string{{"--algo", "averaged", "--standardize"}, {"--algo", "logistic"}, {"--algo", "perceptron", "--order", "shuffle", "--memory", "2MiB"}} {
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
			if epochs += len(v.Epochs); len(v.Runs) != 1 || v.Runs[0] != want || len(v.Files) != 1 {
				t.Errorf("%v: row %d was changed: %+v", options, row, v)
			}
		}
	}
	if epochs == 0 { // a row without an update changes no weights
		t.Error("no other weights were found")
	}
}

// TestVerifyFlippedBits: a file of data with one flipped bit is told from the one that the model was learned from, and
// other rows are located.
func TestVerifyFlippedBits(t *testing.T) {
	flips := 60
	if testing.Short() {
		flips = 10
	}
	dir := t.TempDir()
	data, m, receipt := filepath.Join(dir, "d.csv"), filepath.Join(dir, "m.json"), filepath.Join(dir, "r.json")
	succeed(t, "gen", "--rows", "9000", "--features", "2", "--noise", "0.1", "--out", data)
	succeed(t, "train", data, "--label", "label", "--algo", "perceptron", "--epochs", "2", "--out", m, "--receipt", receipt)
	whole, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	found := map[string]int{}
	for range flips {
		at := rng.IntN(len(whole))
		row := int64(strings.Count(string(whole[:at]), "\n")) - 1
		flipped := slices.Clone(whole)
		flipped[at] ^= 1 << rng.IntN(8)
		err := os.WriteFile(data, flipped, 0o666)
		how := fmt.Sprintf("byte %d, row %d", at, row)
		status, stdout, stderr := command("verify", "--json", "--model", m, "--receipt", receipt, data)
		var v training.Verdict
		switch {
		case err != nil:
			t.Fatal(err)
		case stdout == "": // the file can't be read
			found["unreadable"]++
			if status != exitFailed || !isOneLine(stderr) || !strings.Contains(stderr, data) {
				t.Errorf("%s: status %d: %s", how, status, stderr)
			}
		case json.Unmarshal([]byte(stdout), &v) != nil || len(v.Files) != 1:
			t.Errorf("%s: %s", how, stdout)
		case len(v.Runs) > 0:
			found["located"]++
			if r := v.Runs[0]; row < r.First || row > r.Last {
				t.Errorf("%s: %s", how, stdout)
			}
		default: // the text of a number that stays the same, or of the label's name
			found["same rows"]++
			if !v.Verified {
				t.Errorf("%s: %s", how, stdout)
			}
		}
	}
	if found["located"] == 0 {
		t.Errorf("no flip changed a row: %v", found)
	}
}
