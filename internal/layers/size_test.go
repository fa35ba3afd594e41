package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The bounds on what one reader must hold in mind.
const (
	mostLines    = 400 // of a file; tests too
	mostFunction = 60  // lines of a function; tests are exempt, whose tables of cases are long
)

// longFile begins the reason for a longer file, in its first comment.
const longFile = "Long because"

// TestSizes: no file has more than 400 lines without a reason in its first comment, no function more than 60.
// Generated code is exempt: its generator isn't.
func TestSizes(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && len(d.Name()) > 1 || d.Name() == "tmp") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		files++
		return checkSizes(t, path, strings.HasSuffix(path, "_test.go"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 200 {
		t.Errorf("%d files found", files)
	}
}

// checkSizes reports the file and its functions that are too long.
func checkSizes(t *testing.T, path string, test bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(f) {
		return nil
	}
	if n := strings.Count(string(text), "\n"); n > mostLines && (len(f.Comments) == 0 || !strings.Contains(f.Comments[0].Text(), longFile)) {
		t.Errorf("%s has %d lines, more than %d, and its first comment doesn't say %q", path, n, mostLines, longFile)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || test {
			continue
		}
		if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > mostFunction {
			t.Errorf("%s: function %s has %d lines, more than %d", fset.Position(fn.Pos()), fn.Name.Name, n, mostFunction)
		}
	}
	return nil
}
