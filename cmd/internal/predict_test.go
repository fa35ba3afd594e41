package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestScoreLines: docs/score.py predicts what predict does, also of columns that are hashed: texts of every length that XXH3 treats in its
// own way.
func TestScoreLines(t *testing.T) {
	inParallel(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("missing: python3")
	}
	rng := rand.New(rand.NewPCG(8, 9))
	var lines strings.Builder
	lines.WriteString("word,city,x,y\n")
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 145, 240, 241, 1024, 1025, 2049, 3000} {
		for i, letter := range []rune("abcdefghijkö") {
			fmt.Fprintf(&lines, "%s,%s,%g,%s\n", strings.Repeat(string(letter), n), []string{"Rome", "Oslo"}[i%2], rng.NormFloat64(), []string{"no", "yes"}[rng.IntN(2)])
		}
	}
	data := filepath.Join(text(t, map[string]string{"x.csv": lines.String()}), "x.csv")
	saved, out := filepath.Join(t.TempDir(), "m.json"), filepath.Join(t.TempDir(), "p.csv")
	for _, options := range []string{"--algo logistic --categorical word=hash:7,city=onehot --standardize", "--algo averaged --categorical word=hash:18,city=onehot",
		"--algo averaged --cross word,city --cross city,word=hash:4 --exclude word",
		"--algo averaged --categorical word=hash:13,city=onehot"} {
		succeed(t, append([]string{"train", data, "--label", "y", "--out", saved}, strings.Fields(options)...)...)
		succeed(t, "predict", "--model", saved, data, "--out", out)
		want, err := os.ReadFile(out)
		require.NoError(t, err)
		cmd := exec.Command(python, "-B", filepath.Join("..", "..", "docs", "score.py"), saved, data)
		got, err := cmd.Output()
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v: predictions are\n%s\nwant\n%s", options, err, got, want)
		}
		if yes := strings.Count(string(want), "yes"); yes < 50 || yes > 238 {
			t.Errorf("%s: %d of 288 predictions are yes: too few differ", options, yes)
		}
	}
}
