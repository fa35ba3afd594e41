package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
)

// command runs a command line and returns its exit status and what it printed.
func command(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, &out, &err)
	return status, out.String(), err.String()
}

// succeed runs a command line that must succeed and returns its standard output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := command(args...)
	if status != exitDone {
		t.Fatalf("halfspace %s: status %d: %s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// decode runs a command line that must print one JSON object, and returns it.
func decode(t *testing.T, args ...string) map[string]any {
	t.Helper()
	stdout := succeed(t, args...)
	d := json.NewDecoder(strings.NewReader(stdout))
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if d.More() {
		t.Fatalf("more than one JSON value in %s", stdout)
	}
	return object
}

// textbook writes the rows (3,3)+, (4,3)+, (1,1)-.
func textbook(t *testing.T) string {
	t.Helper()
	return filepath.Join(text(t, map[string]string{"textbook.csv": "x1,x2,y\n3,3,1\n4,3,1\n1,1,-1\n"}), "textbook.csv")
}

// noisy makes data that can't be separated.
func noisy(t *testing.T, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "noisy.parquet")
	succeed(t, "gen", "--rows", rows, "--features", "9", "--noise", "0.1", "--row-group-rows", "3000", "--out", path)
	return path
}

// ample writes a file with 28 features and the given number of rows, which fill several blocks, and returns its path.
func ample(t *testing.T, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ample.parquet")
	succeed(t, "gen", "--rows", rows, "--features", "28", "--noise", "0.1", "--row-group-rows", "7000", "--compression", "none", "--out", path)
	return path
}

// onlyFiles fails unless dir holds exactly the files of those names.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

// isOneLine tells whether an error is one line that starts as every error does.
func isOneLine(stderr string) bool {
	return strings.HasPrefix(stderr, "halfspace: ") && strings.Count(stderr, "\n") == 1 && strings.HasSuffix(stderr, "\n")
}

// trained writes the model of the text book's rows.
func trained(t *testing.T) (data, m string) {
	t.Helper()
	data, m = textbook(t), filepath.Join(t.TempDir(), "m.json")
	succeed(t, "train", "--algo", "perceptron", data, "--label", "y", "--out", m)
	return data, m
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func loadedModel(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := model.Load(path)
	require.NoError(t, err)
	return m
}

// text writes files of text to a new directory.
func text(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

const cancer = "../../../examples/breast-cancer.parquet"
