// Gen writes the assembly of the kernels, its Go stubs, and the dispatch of the packages that call it:
//
//	go run . ..
//
// The argument is the folder asm, beside which the callers lie. Every generated file is committed. Running
// gen again changes nothing.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"

	"halfspace/asm/gen/amd64"
	"halfspace/asm/gen/arm64"
	"halfspace/asm/gen/table"
)

func main() {
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen FOLDER-OF-PACKAGE-ASM")
		os.Exit(2)
	}
	if err := generate(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// A pkg is a package of kernels.
type pkg struct {
	name, arch string
	functions  []string // with the suffixes of their element types
}

// generate writes all files. root is the folder asm.
func generate(root string) error {
	var pkgs []pkg
	for _, isa := range amd64.ISAs {
		p, err := generateAMD64(root, isa)
		if err != nil {
			return fmt.Errorf("%s: %w", isa.Name, err)
		}
		pkgs = append(pkgs, p)
	}
	p, err := generateARM64(root)
	if err != nil {
		return err
	}
	pkgs = append(pkgs, p)
	if err := checkTable(pkgs); err != nil {
		return err
	}
	for _, p := range pkgs {
		if err := writeGo(filepath.Join(root, p.name, "stubs_"+p.arch+".go"), stubs(p)); err != nil {
			return err
		}
	}
	return writeDispatch(filepath.Dir(filepath.Clean(absolute(root))), pkgs)
}

// absolute returns the absolute path of a folder, so that the folder above it has a name too.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// generateAMD64 writes the assembly of an instruction set.
func generateAMD64(root string, isa amd64.ISA) (pkg, error) {
	p := pkg{name: isa.Name, arch: "amd64"}
	for _, k := range isa.Kernels {
		ctx := build.NewContext()
		ctx.ConstraintExpr("!noasm")
		for _, t := range amd64.Types {
			if table.Find(table.Name(k.File)).For(t.Suffix) {
				k.Write(&amd64.Writer{Context: ctx, Type: t, ISA: isa})
			}
		}
		asm, functions, err := compile(ctx, isa)
		if err != nil {
			return p, fmt.Errorf("%s: %w", k.File, err)
		}
		if err := write(filepath.Join(root, p.name, k.File+"_amd64.s"), asm); err != nil {
			return p, err
		}
		p.functions = append(p.functions, functions...)
	}
	return p, nil
}

// generateARM64 writes the assembly of NEON.
func generateARM64(root string) (pkg, error) {
	p := pkg{name: "neon", arch: "arm64"}
	for _, k := range arm64.Kernels {
		asm, functions := k.Generate()
		if err := write(filepath.Join(root, p.name, k.File+"_arm64.s"), asm); err != nil {
			return p, err
		}
		p.functions = append(p.functions, functions...)
	}
	return p, nil
}

// write writes a file, and makes its folder.
func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// compile returns the assembly of what ctx holds, and the names of its functions. It is an error if an instruction needs
// more than isa's gate allows.
func compile(ctx *build.Context, isa amd64.ISA) (asm []byte, functions []string, err error) {
	f, err := ctx.Result()
	if err != nil {
		return nil, nil, err
	}
	if err := pass.Compile.Execute(f); err != nil {
		return nil, nil, err
	}
	if err := isa.Check(f); err != nil {
		return nil, nil, err
	}
	for _, fn := range f.Functions() {
		functions = append(functions, fn.Name)
	}
	cfg := printer.Config{Name: "halfspace/asm/gen", Argv: []string{"go", "run", ".", ".."}, Pkg: isa.Name}
	asm, err = printer.NewGoAsm(cfg).Print(f)
	if err != nil {
		return nil, nil, err
	}
	return append(bytes.TrimRight(asm, "\n"), '\n'), functions, nil
}
