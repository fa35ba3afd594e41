package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestTasks: CONTRIBUTING lists the files of a task, no more than a newcomer should open for it. Each file on the way of
// a row has a function that an earlier file calls, except the loop that a learner gets by an interface. A package of one
// format is imported by the listed file alone, and by the writer of its format.
func TestTasks(t *testing.T) {
	most := map[string]int{"follow a row": 9, "add a kind of column": 2, "add an option of tables": 2, "add a format": 2}
	found := 0
	for line := range strings.Lines(documents(t)["CONTRIBUTING.md"]) {
		for task, n := range most {
			if !strings.HasPrefix(line, "| "+task) {
				continue
			}
			found++
			files := paths(line)
			if len(files) == 0 || len(files) > n {
				t.Errorf("%s: %d files, want at most %d: %v", task, len(files), n, files)
			}
			if task == "follow a row" {
				checkWay(t, files)
			}
		}
	}
	if found != len(most) {
		t.Errorf("CONTRIBUTING has %d of %d tasks", found, len(most))
	}
	for _, s := range require.Value(sources())(t) {
		if strings.HasPrefix(s.name, "dataset/internal/npy/") || strings.HasSuffix(s.name, "_test.go") {
			continue
		}
		for _, spec := range s.file.Imports {
			if spec.Path.Value == `"halfspace/dataset/internal/npy"` && s.name != "dataset/format.go" && s.name != "dataset/internal/writer/numpy.go" {
				t.Errorf("%s imports a package of one format", s.name)
			}
		}
	}
}

// paths returns the files and folders between backticks in a line; see words.
func paths(line string) (all []string) {
	for _, word := range words(line) {
		if strings.Contains(word, "/") {
			all = append(all, word)
		}
	}
	return all
}

// checkWay checks that each file has a function that an earlier file calls.
func checkWay(t *testing.T, files []string) {
	called := map[string]bool{}
	for i, name := range files {
		file := require.Value(parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, 0))(t)
		declares := i == 0 || i == len(files)-1 // a learner is called by its interface
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				declares = declares || called[f.Name.Name]
			}
		}
		if !declares {
			t.Errorf("%s has no function that a file before it calls", name)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				switch f := call.Fun.(type) {
				case *ast.Ident:
					called[f.Name] = true
				case *ast.SelectorExpr:
					called[f.Sel.Name] = true
				}
			}
			return true
		})
	}
}
