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

// flippedData flips one bit of a file of data. verify must tell it from the one that the model was learned from, and locate rows that
// differ.
func flippedData(t *testing.T) func(*rand.Rand) (end, lost string) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	m := in("m.json")
	succeed(t, "gen", "--rows", "9000", "--features", "2", "--noise", "0.1", "--out", in("d.csv"))
	succeed(t, "convert", in("d.csv"), "--out", in("d.arrow"))
	whole := [2][]byte{}
	for i, name := range []string{"d.csv", "d.arrow"} {
		succeed(t, "train", in(name), "--label", "label", "--algo", "perceptron", "--epochs", "2", "--out", m, "--receipt", in(name)+".json")
		text, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		whole[i] = text
	}
	lines := strings.Split(string(whole[0]), "\n")
	i := 0
	return func(rng *rand.Rand) (end, lost string) {
		data, whole := in([]string{"d.csv", "d.arrow"}[i%2]), whole[i%2]
		i++
		at := rng.IntN(len(whole))
		row := int64(strings.Count(string(whole[:at]), "\n")) - 1 // -1 in the header
		flipped := slices.Clone(whole)
		flipped[at] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(data, flipped, 0o666); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(data, ".arrow") { // find the row by the text of the rows
			row = -1
			if status, _, _ := command("convert", data, "--out", in("other.csv")); status == exitDone {
				other, err := os.ReadFile(in("other.csv"))
				if err != nil {
					t.Fatal(err)
				}
				for n, line := range strings.Split(string(other), "\n") {
					if n < len(lines) && line != lines[n] {
						row = int64(n) - 1
						break
					}
				}
			}
		}
		status, stdout, stderr := command("verify", "--json", "--model", m, "--receipt", data+".json", data)
		var v training.Verdict
		wrong := false
		switch {
		case stdout == "": // the file can't be read
			end, wrong = "unreadable", status != exitFailed || !isOneLine(stderr) || !strings.Contains(stderr, data)
		case json.Unmarshal([]byte(stdout), &v) != nil || len(v.Files) != 1:
			end, wrong = "failed", true
		case v.Unread != "": // with the features of the model
			end, wrong = "unreadable", v.Verified || !strings.Contains(v.Unread, data)
		case len(v.Runs) > 0:
			end, wrong = "located", row >= 0 && (row < v.Runs[0].First || row > v.Runs[0].Last)
		default: // the text of a number that stays the same, or of the label's name
			end, wrong = "same rows", !v.Verified
		}
		if wrong {
			lost = fmt.Sprintf("byte %d, row %d: status %d, %s%s", at, row, status, stdout, stderr)
		}
		return end, lost
	}
}

// flippedFiles flips one bit of a model, a receipt or a cache. The first two must be refused. The cache must be refused, or made anew for
// the same model.
func flippedFiles(t *testing.T) func(*rand.Rand) (end, lost string) {
	w := place(t, noisy(t, "3000"), "--algo", "perceptron", "--epochs", "1", "--receipt", "DIR/r.json", "--cache", "DIR/cache")
	names := []string{"m.json", "r.json", "cache"}
	whole := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(w.in(name))
		if err != nil {
			t.Fatal(err)
		}
		whole[name] = text
	}
	i := 0
	return func(rng *rand.Rand) (end, lost string) {
		name := names[i%len(names)]
		i++
		flipped := slices.Clone(whole[name])
		at := rng.IntN(8 * len(flipped))
		flipped[at/8] ^= 1 << (at % 8)
		if err := os.WriteFile(w.in(name), flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		switch name {
		case "m.json":
			_, err = model.Load(w.in(name))
		case "r.json":
			_, err = model.LoadReceipt(w.in(name))
		default:
			status, _, stderr := command(w.args...)
			switch {
			case status == exitFailed && isOneLine(stderr) && strings.Contains(stderr, "it is no cache of halfspace"):
				return "refused", ""
			case status != exitDone || w.finished(t, names...) != "":
				return "failed", fmt.Sprintf("bit %d of the cache: status %d, %s, %s", at, status, stderr, w.finished(t, names...))
			case strings.Contains(stderr, "the cache is made anew"):
				return "made anew", ""
			}
			return "same rows", "" // padding between blocks, which nobody reads
		}
		if err == nil {
			return "failed", fmt.Sprintf("bit %d of %s isn't seen", at, name)
		}
		return "refused", ""
	}
}
