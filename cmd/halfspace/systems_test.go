package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// A listed is a package as `go list -json` tells of it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // from the path in an import to the package that it means, where they differ
	Module          *struct {
		Main               bool
		Path, Version, Dir string
	}
}

// A system is what Go builds for.
type system struct{ os, arch, tags string }

func (s system) String() string { return strings.TrimSuffix(s.os+"-"+s.arch+"-"+s.tags, "-") }

// TestSystems: every package and every test type-checks on systems that `make test` builds no binary for. It reads the sources of
// all packages and compiles nothing: compiling Arrow alone takes minutes for each system.
func TestSystems(t *testing.T) {
	c := newChecker()
	for _, s := range []system{
		{"linux", "386", ""}, {"linux", "riscv64", "noasm"}, {"linux", "amd64", "noasm"}, {"linux", "arm64", "noasm"},
		{"darwin", "arm64", ""}, {"windows", "amd64", ""},
	} {
		t.Run(s.String(), func(t *testing.T) {
			if require.Small() && s.arch != "386" {
				t.Skip("each system takes seconds")
			}
			packages, err := list(s, "../..", "-test", "./...")
			require.NoError(t, err)
			own, errs := c.check(s, packages)
			for _, err := range errs {
				t.Error(err)
			}
			if own < 30 {
				t.Errorf("%d packages of the module found", own)
			}
		})
	}
}

// TestSystemsFinds: the check finds a constant that overflows where an int has 32 bits, and nothing where it has 64.
func TestSystemsFinds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module wrong\n\ngo 1.26\n",
		"a.go":   "package wrong\n\nimport \"strings\"\n\nvar Size int = 1 << 40\n\nvar _ = strings.Repeat(\"a\", 3)\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c := newChecker()
	for arch, wrong := range map[string]bool{"386": true, "amd64": false} {
		s := system{"linux", arch, ""}
		packages, err := list(s, dir, "-test", "./...")
		require.NoError(t, err)
		own, errs := c.check(s, packages)
		if own != 1 || len(errs) > 0 != wrong {
			t.Errorf("%s: %d packages, errors %v", s, own, errs)
		}
	}
}

// list returns the packages of a module, their tests and all that they import, each after what it imports.
func list(s system, dir string, patterns ...string) ([]listed, error) {
	args := []string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "-tags", s.tags}
	cmd := exec.Command("go", append(args, patterns...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+s.os, "GOARCH="+s.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", s, err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// A checker checks types. It keeps the syntax of files for further systems.
type checker struct {
	positions *token.FileSet
	syntax    map[string]*ast.File // by path
}

func newChecker() *checker {
	return &checker{token.NewFileSet(), map[string]*ast.File{}}
}

// parse returns the syntax of a file.
func (c *checker) parse(path string) (*ast.File, error) {
	if f := c.syntax[path]; f != nil {
		return f, nil
	}
	f, err := parser.ParseFile(c.positions, path, nil, parser.SkipObjectResolution)
	if err == nil {
		c.syntax[path] = f
	}
	return f, err
}

// check checks packages in their order. It returns how many are the main module's, and the errors in those.
func (c *checker) check(s system, packages []listed) (own int, errs []error) {
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range packages {
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the main package of a test, which is generated
			continue
		}
		main := p.Module != nil && p.Module.Main
		config := types.Config{
			Importer: importer{done, p.ImportMap}, Sizes: types.SizesFor("gc", s.arch), IgnoreFuncBodies: !main, FakeImportC: true,
			Error: func(err error) {
				if main {
					errs = append(errs, fmt.Errorf("%s: %w", s, err))
				}
			},
		}
		var syntax []*ast.File
		for _, name := range p.GoFiles {
			if !filepath.IsAbs(name) {
				name = filepath.Join(p.Dir, name)
			}
			f, err := c.parse(name)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			syntax = append(syntax, f)
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		done[p.ImportPath], _ = config.Check(path, c.positions, syntax, nil) // config.Error has the errors
		if main {
			own++
		}
	}
	return own, errs
}

// An importer finds the packages that are done.
type importer struct {
	done map[string]*types.Package
	by   map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if to, ok := i.by[path]; ok {
		path = to
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}
