package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// exact are the folders whose sums and products decide what is learned: each rounds the same on every CPU.
var exact = regexp.MustCompile(`/(train|separability|gram|block|pocket|internal/linalg|internal/stats)/[^:]*$`)

// TestNothingFuses: arm64's compiler makes no fused multiply-add of a product and a sum in code that learns, unless it says math.FMA.
// amd64 has none by default, so that the two would learn different weights.
func TestNothingFuses(t *testing.T) {
	if require.Small() {
		t.Skip("compiles the learners for arm64")
	}
	lines, err := fused("../..", "halfspace", "./cmd/halfspace/testdata/learners")
	require.NoError(t, err)
	others := 0
	for _, l := range lines {
		if exact.MatchString(l.file) {
			t.Errorf("%s:%d: %s: convert the product by float64(...)", l.file, l.number, strings.TrimSpace(l.text))
		} else {
			others++
		}
	}
	if others < 5 {
		t.Errorf("%d fused lines found in other folders, such as asm/ref: what learners call wasn't compiled", others)
	}
}

// TestNothingFusesFinds: the check finds a product that is fused with a sum, and none that is converted.
func TestNothingFusesFinds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module wrong\n\ngo 1.26\n",
		"a.go":   "package wrong\n\nfunc Fused(x, y, z float64) float64 {\n\treturn x*y + z\n}\n\nfunc Not(x, y, z float64) float64 {\n\treturn float64(x*y) + z\n}\n",
	} {
		require.NoError(t, os.WriteFile(dir+"/"+name, []byte(text), 0o600))
	}
	lines, err := fused(dir, "wrong", ".")
	require.NoError(t, err)
	if len(lines) != 1 || lines[0].number != 4 {
		t.Errorf("fused lines: %v, want line 4 alone", lines)
	}
}

// A line is one of a source file.
type line struct {
	file   string
	number int
	text   string
}

// fusedAt matches what the compiler says of a product that it fuses with a sum: the calls that it inlined, the place, a hash. It says
// nothing of math.FMA.
var fusedAt = regexp.MustCompile(`(?m)^fmahash\d? triggered (?:.* )?(\S+\.go):(\d+):\d+ [01]+$`)

// fused returns the lines of a module of which arm64's compiler makes a fused multiply-add, when it builds a package in its folder.
// A hash that ends in 0 or 1 is every hash: the compiler says each place that it fuses.
func fused(dir, module, pattern string) ([]line, error) {
	c := exec.Command("go", "build", "-trimpath", "-gcflags="+module+"/...=-d=fmahash=0/1", "-o", os.DevNull, pattern)
	c.Dir, c.Env = dir, append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GSHS_LOGFILE=")
	out, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out[max(0, len(out)-1000):])
	}
	var lines []line
	for _, m := range fusedAt.FindAllStringSubmatch(string(out), -1) {
		l := line{file: m[1]}
		fmt.Sscan(m[2], &l.number)
		if slices.ContainsFunc(lines, func(other line) bool { return other.file == l.file && other.number == l.number }) {
			continue
		}
		path := l.file
		if rest, short := strings.CutPrefix(path, module+"/"); short { // as -trimpath has it
			path = filepath.Join(dir, rest)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		l.text = strings.Split(string(text), "\n")[l.number-1]
		lines = append(lines, l)
	}
	return lines, nil
}
