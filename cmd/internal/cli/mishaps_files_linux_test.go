package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"halfspace/internal/require"
)

// A flipper flips bits of files that the program wrote, and runs a command that reads them.
type flipper struct {
	dir    string            // of the files
	files  map[string][]byte // intact
	args   []string          // of the command
	out    string            // the file that the command writes; "": none
	result string            // of the command with intact files: what it writes, or prints if there is no out
}

// newFlipper returns a flipper of all files in dir.
func newFlipper(t *testing.T, dir, out string, args ...string) *flipper {
	t.Helper()
	f := &flipper{dir: dir, files: map[string][]byte{}, args: args, out: out}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") { // of the process that was killed
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		f.files[e.Name()] = text
	}
	status, result, stderr := f.run(t)
	if status != exitDone || result == "" {
		t.Fatalf("halfspace %s: status %d: %s", strings.Join(args, " "), status, stderr)
	}
	f.result = result
	return f
}

// run runs the command and returns its result.
func (f *flipper) run(t *testing.T) (status int, result, stderr string) {
	status, result, stderr = command(f.args...)
	if f.out != "" {
		text, err := os.ReadFile(f.out)
		if result = string(text); err == nil {
			require.NoError(t, os.Remove(f.out))
		}
	}
	return status, result, stderr
}

// try flips a bit of a file. The command must have its result, or end in an error that names the file and write nothing.
func (f *flipper) try(t *testing.T, rng *rand.Rand) (end, lost string) {
	require.NoError(t, os.RemoveAll(f.dir))
	require.NoError(t, os.Mkdir(f.dir, 0o755))
	var names []string
	for name, text := range f.files {
		if len(text) > 0 {
			names = append(names, name)
		}
		require.NoError(t, os.WriteFile(filepath.Join(f.dir, name), text, 0o600))
	}
	slices.Sort(names)
	name := names[rng.IntN(len(names))]
	path, flipped := filepath.Join(f.dir, name), slices.Clone(f.files[name])
	at := rng.IntN(len(flipped))
	flipped[at] ^= 1 << rng.IntN(8)
	require.NoError(t, os.WriteFile(path, flipped, 0o600))
	status, result, stderr := f.run(t)
	switch {
	case status == exitDone && result == f.result && strings.Contains(stderr, path):
		return "the same, with a note", ""
	case status == exitDone && result == f.result:
		return "the same", ""
	case status == exitFailed && result == "" && oneError(stderr) && strings.Contains(stderr, path):
		return "refused", ""
	}
	return "failed", fmt.Sprintf("byte %d of %s, %q in place of %q: status %d, result of %d bytes, %s", at, name, flipped[at],
		f.files[name][at], status, len(result), stderr)
}

// flippedCheckpoint flips bits of the checkpoints of a training that was killed.
func flippedCheckpoint(t *testing.T) func(*rand.Rand) (end, lost string) {
	dir, data := t.TempDir(), noisy(t, "9000")
	points, m := filepath.Join(dir, "points"), filepath.Join(dir, "m.json")
	args := []string{"train", data, "--label", "label", "--algo", "averaged", "--order", "shuffle", "--epochs", "300", "--out", m}
	succeed(t, args...)
	whole := read(t, m)
	require.NoError(t, os.Remove(m))
	args = append(args, "--checkpoint", points)
	cmd := program(t, append(slices.Clone(args), "--checkpoint-every", "1")...)
	require.NoError(t, cmd.Start())
	for newest := ""; newest < "checkpoint-000009"; time.Sleep(time.Millisecond) {
		if names, _ := filepath.Glob(filepath.Join(points, "checkpoint-*")); len(names) > 0 {
			newest = filepath.Base(names[len(names)-1])
		}
	}
	cmd.Process.Kill()
	if status := wait(cmd); status != -1 {
		t.Fatalf("the training ended with status %d before it was killed", status)
	}
	f := newFlipper(t, points, m, append(args, "--resume")...)
	if f.result != whole {
		t.Fatal("the resumed training has another model")
	}
	return func(rng *rand.Rand) (end, lost string) { return f.try(t, rng) }
}

// flippedCache flips bits of the cache of a training.
func flippedCache(t *testing.T) func(*rand.Rand) (end, lost string) {
	dir, data := t.TempDir(), noisy(t, "9000")
	caches, m := filepath.Join(dir, "caches"), filepath.Join(dir, "m.json")
	args := []string{"train", data, "--label", "label", "--algo", "averaged", "--order", "shuffle", "--epochs", "2", "--out", m,
		"--cache", filepath.Join(caches, "cache")}
	require.NoError(t, os.Mkdir(caches, 0o755))
	succeed(t, args...)
	f := newFlipper(t, caches, m, args...)
	return func(rng *rand.Rand) (end, lost string) { return f.try(t, rng) }
}

// flippedReceipt flips bits of a receipt.
func flippedReceipt(t *testing.T) func(*rand.Rand) (end, lost string) {
	dir, data := t.TempDir(), noisy(t, "9000")
	receipts, m := filepath.Join(dir, "receipts"), filepath.Join(dir, "m.json")
	receipt := filepath.Join(receipts, "r.json")
	require.NoError(t, os.Mkdir(receipts, 0o755))
	succeed(t, "train", data, "--label", "label", "--algo", "perceptron", "--epochs", "2", "--out", m, "--receipt", receipt)
	f := newFlipper(t, receipts, "", "verify", "--json", "--model", m, "--receipt", receipt, data)
	return func(rng *rand.Rand) (end, lost string) { return f.try(t, rng) }
}

// flippedModel flips bits of models: of two classes and a kernel, and of three classes and prepared columns.
func flippedModel(t *testing.T) func(*rand.Rand) (end, lost string) {
	dir, data := t.TempDir(), noisy(t, "600")
	colors := filepath.Join(dir, "colors.csv")
	var text strings.Builder
	text.WriteString("color,day,size,y\n")
	for i := range 300 {
		fmt.Fprintf(&text, "%s,2026-01-%02d,%d.5,%s\n", []string{"red", "green", "blue"}[i%3], 1+i%28, i*i%37, []string{"a", "b", "c"}[i*7%11%3])
	}
	require.NoError(t, os.WriteFile(colors, []byte(text.String()), 0o600))
	var flippers []*flipper
	for i, args := range [][]string{{data, "--label", "label", "--algo", "kernel-perceptron", "--kernel", "rbf"},
		{colors, "--label", "y", "--algo", "logistic", "--standardize"}} {
		models := filepath.Join(dir, fmt.Sprint("models", i))
		require.NoError(t, os.Mkdir(models, 0o755))
		m, out := filepath.Join(models, "m.json"), filepath.Join(dir, "p.csv")
		succeed(t, append([]string{"train", "--out", m}, args...)...)
		flippers = append(flippers, newFlipper(t, models, out, "predict", "--model", m, args[0], "--score", "--out", out))
	}
	return func(rng *rand.Rand) (end, lost string) { return flippers[rng.IntN(len(flippers))].try(t, rng) }
}
