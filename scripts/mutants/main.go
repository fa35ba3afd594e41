// Program mutants breaks the code in one place after the other and expects the tests of make test to fail each time.
// The faults are in mutants.txt. go build's overlay puts each in place of its file, so that the tree stays as it is.
//
//	go run ./scripts/mutants [part of a name]
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed mutants.txt
var table string

// wanted is how many of the mutants the tests must find.
const wanted = 28

// A mutant is a fault in a file.
type mutant struct {
	name, path string
	packages   []string // whose tests are tried first
	old, made  string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	all, err := parse(table)
	if err != nil {
		return err
	}
	for _, m := range all {
		if _, err := m.broken(); err != nil {
			return err
		}
	}
	caught, tried := 0, 0
	for _, m := range all {
		if len(args) > 0 && !strings.Contains(m.name, args[0]) {
			continue
		}
		begin := time.Now()
		by, err := m.try()
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		tried++
		if by != "" {
			caught++
		} else {
			by = "NOT FOUND"
		}
		fmt.Printf("%-58s %-36s %4.0f s  %s\n", m.name, m.path, time.Since(begin).Seconds(), by)
	}
	fmt.Printf("%d of %d mutants found\n", caught, tried)
	if missed := tried - caught; missed > len(all)-wanted {
		return fmt.Errorf("%d mutants not found, and at most %d may be", missed, len(all)-wanted)
	}
	return nil
}

// parse reads mutants.txt.
func parse(text string) (all []mutant, err error) {
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
	source, err := os.ReadFile(m.path)
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
	whole, err := filepath.Abs(m.path)
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
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "./"+filepath.Dir(m.path)).CombinedOutput(); err != nil {
		return "", fmt.Errorf("it doesn't compile: %s", out)
	}
	for _, packages := range [][]string{m.packages, {"./..."}} {
		if by, err = test(filepath.Join(dir, "overlay.json"), packages); by != "" || err != nil {
			return by, err
		}
	}
	return "", nil
}

var (
	failedTest    = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	failedPackage = regexp.MustCompile(`(?m)^FAIL\s+(halfspace\S*)`)
)

// test runs the tests of packages as make unit does. It returns the first that failed.
func test(overlay string, names []string) (by string, err error) {
	args := append([]string{"test", "-overlay", overlay, "-failfast", "-timeout", "10m", "-skip", os.Getenv("UNIT_SKIP")}, names...)
	out, err := exec.Command("go", args...).CombinedOutput()
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
