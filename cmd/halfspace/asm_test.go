package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestVZeroUpper: a function that touches a Y or a Z register clears the upper halves before each return. Dirty ones
// slow down every SSE instruction that follows on some processors.
func TestVZeroUpper(t *testing.T) {
	files, err := filepath.Glob("../../asm/*/*_amd64.s")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files of assembly, error %v", len(files), err)
	}
	wide := regexp.MustCompile(`\b[YZ][0-9]+\b`)
	returns := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, function := range strings.Split(string(text), "\nTEXT ")[1:] {
			if !wide.MatchString(function) {
				continue
			}
			lines := strings.Split(function, "\n")
			for i, line := range lines {
				if strings.TrimSpace(line) != "RET" {
					continue
				}
				returns++
				if strings.TrimSpace(lines[i-1]) != "VZEROUPPER" {
					t.Errorf("%s: %s returns without VZEROUPPER", file, strings.Fields(function)[0])
				}
			}
		}
	}
	if returns < 20 {
		t.Errorf("%d returns found", returns)
	}
}

// TestDispatch: each function of a dispatch file calls the function of its own name, in every package that has it, so that
// none falls back to pure Go unnoticed. Every function of a package of assembly is called.
func TestDispatch(t *testing.T) {
	twins := map[string]*ast.FuncDecl{}
	for _, file := range []string{"decimals", "exported", "exp", "ref", "sparse"} {
		maps.Copy(twins, functions(t, "../../asm/ref/"+file+".go"))
	}
	for arch, isas := range map[string][]string{"amd64": {"avx2", "avx512"}, "arm64": {"neon"}} {
		has := map[string][]string{} // the packages of each function
		for _, isa := range isas {
			for name := range functions(t, fmt.Sprintf("../../asm/%s/stubs_%s.go", isa, arch)) {
				has[name] = append(has[name], isa)
			}
		}
		if len(has) < 30 {
			t.Errorf("%s: %d functions of assembly found", arch, len(has))
		}
		for _, caller := range []string{"kernel", "kernel/f64", "internal/microkernel"} {
			file := fmt.Sprintf("../../%s/dispatch_%s.go", caller, arch)
			for name, fn := range functions(t, file) {
				if name = strings.ToUpper(name[:1]) + name[1:]; strings.Contains(name, "Shape") {
					continue
				}
				called := calls(t, file, fn)
				for pkg, callee := range called {
					if callee != name {
						t.Errorf("%s: %s calls %s.%s", file, fn.Name.Name, pkg, callee)
					}
				}
				pkgs := has[name]
				if twins[name] != nil && !strings.HasPrefix(name, "Dot") { // kernel.Dot itself falls back
					pkgs = append(pkgs, "ref")
				}
				for _, pkg := range pkgs {
					if called[pkg] == "" {
						t.Errorf("%s: %s never calls package %s", file, fn.Name.Name, pkg)
					}
				}
				delete(has, name)
			}
		}
		for name, pkgs := range has {
			t.Errorf("no dispatch calls %s of %v", name, pkgs)
		}
	}
}

// functions returns the functions that a file declares.
func functions(t *testing.T, file string) map[string]*ast.FuncDecl {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	all := map[string]*ast.FuncDecl{}
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			all[fn.Name.Name] = fn
		}
	}
	return all
}

// calls returns what a function calls in each package of kernels, one function of each.
func calls(t *testing.T, file string, fn *ast.FuncDecl) map[string]string {
	t.Helper()
	called := map[string]string{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg := s.X.(*ast.Ident).Name; pkg != "kernel" {
			if called[pkg] != "" {
				t.Errorf("%s: %s calls package %s twice", file, fn.Name.Name, pkg)
			}
			called[pkg] = s.Sel.Name
		}
		return true
	})
	return called
}
