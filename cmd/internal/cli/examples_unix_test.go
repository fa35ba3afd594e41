//go:build linux || darwin

package cli

import (
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestHelpExamples runs every example of every verb's help on small files of the names that they use.
func TestHelpExamples(t *testing.T) {
	inParallel(t)
	dir := shell(t)
	standIns(t, dir)
	root := (&call{}).root()
	for _, cmd := range append(root.Commands(), root) {
		t.Run(cmd.Name(), func(t *testing.T) {
			var lines []string
			for line := range strings.Lines(cmd.Example) {
				lines = append(lines, strings.TrimSpace(line))
			}
			if lines == nil && cmd.RunE != nil && !cmd.Hidden && cmd != root && cmd.Name() != "completion" && cmd.Name() != "help" {
				t.Error("there are no examples")
			}
			runAll(t, dir, lines)
		})
	}
}

// shell makes a folder with the examples and this test as the command halfspace.
func shell(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	examples, err := filepath.Abs(filepath.Join("..", "..", "..", "examples"))
	require.NoError(t, err)
	script := fmt.Sprintf("#!/bin/sh\n%s=yes exec '%s' \"$@\"\n", asProgram, self)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	if err := os.WriteFile(filepath.Join(dir, "bin", "halfspace"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, os.Symlink(examples, filepath.Join(dir, "examples")))
	return dir
}

// runAll runs lines of a shell, all of which must succeed.
func runAll(t *testing.T, dir string, lines []string) {
	t.Helper()
	for _, line := range lines {
		if require.Small() { // a million rows show nothing that fewer don't
			line = strings.ReplaceAll(line, "--rows 1000000 ", "--rows 20000 ")
		}
		// One kernel and one training show what all do.
		line = strings.ReplaceAll(line, "halfspace bench", "halfspace bench --rounds 1 --time 1ms --isa generic --only RankK,learner=voted")
		cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		if strings.Contains(line, "| head") { // which may end first
			cmd.Args = []string{"bash", "-e", "-c", line}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}

// standIns writes the files that the examples of help texts name.
func standIns(t *testing.T, dir string) {
	t.Helper()
	var csv strings.Builder
	csv.WriteString("id,name,x1,x2,y,label,survived,truth\n")
	for i := range 240 {
		y := i / 3 % 2
		fmt.Fprintf(&csv, "%d,n%d,%d.5,%d.25,%d,%d,%d,%d\n", i, i, i%17+3*y, i*i%23, y, y, y, y)
	}
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("train.csv", csv.String())
	write("new.csv", csv.String())
	write("a9a.model", "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n0.5\n")
	var zipped strings.Builder
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(csv.String())); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, z.Close())
	write("train.csv.gz", zipped.String())
	write("a9a.svm", "+1 1:1 3:1\n-1 2:1\n+1 1:1\n-1 2:1 3:1\n")
	runAll(t, dir, []string{"mkdir data new test", "cp examples/iris.parquet .", "halfspace convert train.csv --out train.parquet",
		"halfspace convert train.csv --out train.arrow", "cp train.parquet new.parquet", "cp train.parquet test.parquet", "cp train.parquet new",
		"cp train.parquet test", "cp train.parquet data",
		"halfspace train train.parquet --label y --features x1,x2 --out m.json", "cp m.json n.json"})
}
