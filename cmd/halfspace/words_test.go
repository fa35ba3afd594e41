package main

import (
	"go/ast"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// riddle matches phrases in which a pronoun stands for a noun: "what the file says" for "the file's columns".
var riddle = regexp.MustCompile(`(?i)(^|[\s(])(what|those\s+of|that\s+of|so\s+many)\s`)

// quoted matches text that a comment quotes.
var quoted = regexp.MustCompile(`"[^"]*"|` + "`[^`]*`")

// TestWords: comments of the code name their subjects and objects. Tests, generated code and its generator are left out.
func TestWords(t *testing.T) {
	all, err := sources()
	require.NoError(t, err)
	comments := 0
	for _, s := range all {
		if ast.IsGenerated(s.file) || strings.HasPrefix(s.name, "asm/gen/") || strings.HasPrefix(s.name, "bench/peers/") || strings.Contains(s.name, "testdata/") {
			continue
		}
		for _, group := range s.file.Comments {
			comments++
			if at := riddle.FindString(quoted.ReplaceAllString(group.Text(), "")); at != "" {
				t.Errorf("%s: a comment says %q: name the thing, see CONTRIBUTING.md, Words", positions.Position(group.Pos()), strings.TrimSpace(at))
			}
		}
	}
	if comments < 1000 {
		t.Errorf("only %d comments were read", comments)
	}
	for text, want := range map[string]bool{"share returns so many percent": true, "(what it reads)": true, "the sum of\nthose of rows": true,
		"a message \"what is it\"": false, "somewhat slower": false} {
		if got := riddle.MatchString(quoted.ReplaceAllString(text, "")); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestPackageDocs: the first sentence of a package's doc names one subject, without "and".
func TestPackageDocs(t *testing.T) {
	list := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		path, doc, _ := strings.Cut(line, "\t")
		if strings.Contains(doc, " and ") && !strings.Contains(path, "/examples/") {
			t.Errorf("%s: %s", path, doc)
		}
	}
	if len(lines) < 50 {
		t.Errorf("%d packages found", len(lines))
	}
}
