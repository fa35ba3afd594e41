package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"halfspace/internal/require"
)

// wantedMutants is the number of mutants that the tests must find.
const wantedMutants = 28

// A mutant is a fault in a file.
type mutant struct {
	name, path string
	packages   []string // whose tests are tried first
	old, made  string
}

// TestMutants breaks the code in one place after the other and expects the tests of make test to fail each time.
// The faults are in testdata/mutants.txt. go build's overlay puts each in place of its file, so that the tree stays as it is.
// HALFSPACE_TEST_MUTANTS has a part of the names, or "all".
func TestMutants(t *testing.T) {
	all := require.Value(parseMutants(string(require.Value(os.ReadFile("testdata/mutants.txt"))(t))))(t)
	for _, m := range all {
		require.Value(m.broken())(t)
	}
	part := os.Getenv("HALFSPACE_TEST_MUTANTS")
	if part == "" {
		t.Skip("takes hours: make mutants")
	}
	missed := 0
	for _, m := range all {
		if part != "all" && !strings.Contains(m.name, part) {
			continue
		}
		begin := time.Now()
		by := require.Value(m.try())(t)
		if by == "" {
			by = "NOT FOUND"
			missed++
		}
		t.Logf("%-58s %-36s %4.0f s  %s", m.name, m.path, time.Since(begin).Seconds(), by)
	}
	if missed > len(all)-wantedMutants {
		t.Errorf("%d mutants not found, and at most %d may be", missed, len(all)-wantedMutants)
	}
}

// parseMutants reads mutants.txt.
func parseMutants(text string) (all []mutant, err error) {
	_, text, _ = strings.Cut(text, "\n\n") // the comment
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		name, rest, _ := strings.Cut(part, "\n")
		place, lines, _ := strings.Cut(rest, "\n")
		m := mutant{name: name}
		m.path, place, _ = strings.Cut(place, " ")
		m.packages = strings.Fields(place)
		for line := range strings.SplitSeq(lines, "\n") {
			switch to := &m.old; {
			case strings.HasPrefix(line, "+"):
				to = &m.made
				fallthrough
			case strings.HasPrefix(line, "-"):
				if *to != "" {
					*to += "\n"
				}
				*to += line[1:]
			default:
				return nil, fmt.Errorf("%s: the line %q begins with neither - nor +", name, line)
			}
		}
		if len(m.packages) == 0 || m.old == "" {
			return nil, fmt.Errorf("%s: no packages or no lines", name)
		}
		all = append(all, m)
	}
	return all, nil
}

// broken returns the file with the fault.
func (m mutant) broken() (string, error) {
	source, err := os.ReadFile(filepath.Join(root, m.path))
	if n := strings.Count(string(source), m.old); err == nil && n != 1 {
		err = fmt.Errorf("%s: %s has the lines %d times, not once: mend mutants.txt", m.name, m.path, n)
	}
	return strings.Replace(string(source), m.old, m.made, 1), err
}

// try returns the test that found the mutant, or "" if no test did.
func (m mutant) try() (by string, err error) {
	text, err := m.broken()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, filepath.Base(m.path))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return "", err
	}
	whole, err := filepath.Abs(filepath.Join(root, m.path))
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{whole: file}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "./"+filepath.Dir(m.path))
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it doesn't compile: %s", out)
	}
	for _, packages := range [][]string{m.packages, {"./..."}} {
		if by, err = firstFailure(filepath.Join(dir, "overlay.json"), packages); by != "" || err != nil {
			return by, err
		}
	}
	return "", nil
}

var (
	failedTest    = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	failedPackage = regexp.MustCompile(`(?m)^FAIL\s+(halfspace\S*)`)
)

// firstFailure runs the tests of packages as make unit does. It returns the first that failed.
func firstFailure(overlay string, names []string) (by string, err error) {
	args := append([]string{"test", "-overlay", overlay, "-failfast", "-timeout", "10m", "-skip", os.Getenv("UNIT_SKIP")}, names...)
	run := exec.Command("go", args...)
	run.Dir = root
	run.Env = append(os.Environ(), "HALFSPACE_TEST_MUTANTS=") // the tests of this package run no mutants
	out, err := run.CombinedOutput()
	if err == nil {
		return "", nil
	}
	if exit := new(exec.ExitError); !errors.As(err, &exit) {
		return "", err
	}
	of, name := failedPackage.FindSubmatch(out), failedTest.FindSubmatch(out)
	switch {
	case of == nil:
		return "", fmt.Errorf("go test failed without a failed test:\n%s", out)
	case name == nil:
		return string(of[1]), nil // it panicked, or ended otherwise
	}
	return fmt.Sprintf("%s in %s", name[1], of[1]), nil
}
