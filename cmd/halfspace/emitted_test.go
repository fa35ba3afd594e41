package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/require"
)

const (
	mostForeign = 64 << 10 // bytes of machine code that a package may compile of generics of other packages of this module
	mostEmitted = 8 << 20  // bytes of machine code that the compiler emits for the packages of the command
)

// origin matches the package of a symbol: all up to the first dot after the last slash before a bracket.
var origin = regexp.MustCompile(`^((?:[\w.-]+/)*[\w-]+)\.`)

// TestEmitted: each package that imports a generic type or function compiles the instances that it uses once more. So types
// that packages share aren't generic over numbers, and few bytes are compiled twice.
func TestEmitted(t *testing.T) {
	if require.Small() {
		t.Skip("compiles the command and its tools")
	}
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{.Export}}{{end}}", module+"cmd/halfspace")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	emitted, packages := 0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		path, archive, ok := strings.Cut(line, " ")
		if !ok || !strings.HasPrefix(path, module) {
			continue
		}
		packages++
		own, foreign := sizes(t, path, archive)
		emitted += own + foreign
		if foreign > mostForeign {
			t.Errorf("%s compiles %d bytes of other packages' generics, more than %d", path, foreign, mostForeign)
		}
	}
	t.Logf("%d packages, %d bytes of machine code", packages, emitted)
	if packages < 30 {
		t.Errorf("the command has %d packages: the list is cut short", packages)
	}
	if emitted > mostEmitted {
		t.Errorf("the compiler emits %d bytes of machine code for the command's packages, more than %d", emitted, mostEmitted)
	}
}

// sizes returns the bytes of machine code in the archive of a package: its own, and instances of generics of other packages of
// this module.
func sizes(t *testing.T, path, archive string) (own, foreign int) {
	t.Helper()
	out, err := exec.Command("go", "tool", "nm", "-size", "-type", archive).Output()
	if err != nil {
		t.Fatalf("go tool nm %s: %v", path, err)
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		f := strings.Fields(s.Text()) // address, size, type, name
		if len(f) < 4 || f[2] != "T" && f[2] != "t" {
			continue
		}
		size, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatalf("%s: %q: %v", path, s.Text(), err)
		}
		name := strings.Join(f[3:], " ")
		if m := origin.FindStringSubmatch(name); strings.Contains(name, "[") && m != nil && m[1] != path && strings.HasPrefix(m[1], module) {
			foreign += size
		} else {
			own += size
		}
	}
	return own, foreign
}
