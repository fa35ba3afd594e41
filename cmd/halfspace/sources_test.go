package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"halfspace/internal/require"
)

// A source is a file of Go code.
type source struct {
	name, text string // the path from the root
	file       *ast.File
}

var positions = token.NewFileSet()

// allSources returns the sources and the tests of the module and of those nested in it.
var allSources = sync.OnceValues(func() (all []source, err error) {
	for name, err := range files() {
		if err != nil {
			return nil, err
		}
		if path.Ext(name) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(positions, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		all = append(all, source{name, string(text), f})
	}
	return all, nil
})

// sources returns allSources without the tests.
func sources() ([]source, error) {
	all, err := allSources()
	return slices.DeleteFunc(slices.Clone(all), func(s source) bool { return strings.HasSuffix(s.name, "_test.go") }), err
}

// files yields the paths of the repository's files, from the root, in lexical order.
func files() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || name == "tmp" || name == "bin" || name == "dist") {
				return fs.SkipDir
			}
			if !d.IsDir() && !yield(name, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield("", err)
		}
	}
}

// wallClock are uses of times that a change of the system's clock shows in. Differences of two readings of time.Now are not among them.
var wallClock = regexp.MustCompile(`time\.Now\(\)\.(UTC|Unix|Format|Truncate|Round|Local|In|Date|Year|Add\(0)|\.Unix(Nano|Milli|Micro)?\(\)|\.Nano\(\)|\.Round\(0\)`)

// dated are the files that say for people when something was, or compare times of files.
var dated = map[string]string{
	"internal/cache/format.go":       "the time of a file of data",
	"internal/cache/state_linux.go":  "the time of a file of data",
	"internal/cache/state_darwin.go": "the time of a file of data",
	"internal/checkpoint/run.go":     "when a checkpoint was saved",
	"internal/files/lock.go":         "since when a run has a file",
	"schema/derive.go":               "the day of a date in the data",
	"cmd/internal/report/report.go":  "the day in the title of a report",
}

// TestClock: nothing but what dated lists reads the system's clock, so no result or rate depends on it when it jumps.
func TestClock(t *testing.T) {
	all, err := sources()
	require.NoError(t, err)
	found := map[string]bool{}
	for _, s := range all {
		if at := wallClock.FindString(s.text); at != "" {
			if found[s.name] = true; dated[s.name] == "" {
				t.Errorf("%s reads the system's clock: %s", s.name, at)
			}
		}
	}
	for name := range dated {
		if !found[name] {
			t.Errorf("%s isn't found to read the clock", name)
		}
	}
}

// mostFunction is the most lines of a function.
const mostFunction = 60

// TestFunctions: a function has at most 60 lines. Tests and generated code are exempt.
func TestFunctions(t *testing.T) {
	all, err := sources()
	require.NoError(t, err)
	if len(all) < 200 {
		t.Errorf("%d files found", len(all))
	}
	for _, s := range all {
		for _, d := range s.file.Decls {
			lines := positions.Position(d.End()).Line - positions.Position(d.Pos()).Line + 1
			if fn, ok := d.(*ast.FuncDecl); ok && lines > mostFunction && !ast.IsGenerated(s.file) {
				t.Errorf("%s: function %s has %d lines, more than %d", positions.Position(d.Pos()), fn.Name.Name, lines, mostFunction)
			}
		}
	}
}

// mostColumns is the most characters of a line, where a tab counts as 4. New lines have at most 120.
const mostColumns = 140

// TestLines: a line has at most 140 characters. Tests, generated code and its generator are exempt.
func TestLines(t *testing.T) {
	all, err := sources()
	require.NoError(t, err)
	for _, s := range all {
		if ast.IsGenerated(s.file) || strings.HasPrefix(s.name, "asm/gen/") {
			continue
		}
		number := 0
		for text := range strings.Lines(s.text) {
			number++
			if n := columns(text); n > mostColumns {
				t.Errorf("%s:%d: the line has %d characters, more than %d", s.name, number, n, mostColumns)
			}
		}
	}
	if got := columns("\t\té = 1\n"); got != 13 {
		t.Errorf("a line of 13 characters has %d", got)
	}
}

// columns returns the number of characters of a line without its end.
func columns(line string) int {
	return utf8.RuneCountInString(strings.TrimRight(line, "\r\n")) + 3*strings.Count(line, "\t")
}

// TestNoBareGo: goroutines start through errgroup, so that their errors and their end reach the caller. The command and nested modules
// are exempt.
func TestNoBareGo(t *testing.T) {
	all, err := sources()
	require.NoError(t, err)
	for _, s := range all {
		if matches(s.name, []string{"cmd/internal/", "cmd/", "asm/gen/", "bench/peers/"}) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: a bare go statement", positions.Position(g.Pos()))
			}
			return true
		})
	}
}
