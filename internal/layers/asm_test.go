package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
		if err != nil {
			t.Fatal(err)
		}
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

// TestDispatch: each function of a dispatch file calls the kernel of its own name, in every package of assembly that it
// tests the level for, so that none falls back to pure Go unnoticed.
func TestDispatch(t *testing.T) {
	for file, pkgs := range map[string][]string{
		"dispatch_amd64.go": {"avx2", "ref"}, "dispatch_arm64.go": {"neon", "ref"},
		"dispatch_exp_amd64.go": {"avx2", "ref"}, "dispatch_exp_arm64.go": {"neon", "ref"},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../../kernel", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		functions := 0
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasSuffix(fn.Name.Name, "F32") && !strings.HasSuffix(fn.Name.Name, "F64") {
				continue
			}
			functions++
			name := strings.ToUpper(fn.Name.Name[:1]) + fn.Name.Name[1:]
			used := map[string]bool{}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					used[s.X.(*ast.Ident).Name] = true
					if s.Sel.Name != name && !strings.Contains(name, "Shape") {
						t.Errorf("%s: %s calls %s", file, fn.Name.Name, s.Sel.Name)
					}
				}
				return true
			})
			for _, pkg := range pkgs {
				if !used[pkg] && !(pkg == "ref" && strings.HasPrefix(name, "Dot")) { // kernel.Dot itself falls back
					t.Errorf("%s: %s never calls package %s", file, fn.Name.Name, pkg)
				}
			}
		}
		if functions < 4 {
			t.Errorf("%s: %d functions found", file, functions)
		}
	}
	// Where a package has a kernel, the dispatch uses it.
	for _, isa := range []string{"avx2", "avx512", "neon"} {
		dispatch := ""
		for _, file := range []string{
			"dispatch_amd64.go", "dispatch_exp_amd64.go", "limits_amd64.go",
			"dispatch_arm64.go", "dispatch_exp_arm64.go", "limits_arm64.go",
		} {
			text, err := os.ReadFile(filepath.Join("../../kernel", file))
			if err != nil {
				t.Fatal(err)
			}
			dispatch += string(text)
		}
		stubs, err := filepath.Glob("../../asm/" + isa + "/*_a*64.go")
		if err != nil || len(stubs) == 0 {
			t.Fatalf("package %s: %d stubs, error %v", isa, len(stubs), err)
		}
		for _, stub := range stubs {
			f, err := parser.ParseFile(token.NewFileSet(), stub, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range f.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && !strings.Contains(dispatch, isa+"."+fn.Name.Name+"(") {
					t.Errorf("no dispatch calls %s.%s", isa, fn.Name.Name)
				}
			}
		}
	}
}
