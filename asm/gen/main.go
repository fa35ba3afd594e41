// Gen writes the assembly of the kernels and its Go stubs:
//
//	go run . ..
//
// The argument is the folder of package asm. Every generated file is committed; running gen again changes nothing.
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

func generate(root string) error {
	for _, isa := range amd64.ISAs {
		for _, k := range isa.Kernels {
			ctx := build.NewContext()
			ctx.ConstraintExpr("!noasm")
			for _, t := range amd64.Types {
				k.Write(&amd64.Writer{Context: ctx, Type: t, ISA: isa})
			}
			asm, stubs, err := compile(ctx, isa)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", isa.Name, k.File, err)
			}
			if err := write(filepath.Join(root, isa.Name), k.File+"_amd64", asm, stubs); err != nil {
				return err
			}
		}
	}
	for _, k := range arm64.Kernels {
		asm, stubs := k.Generate()
		if err := write(filepath.Join(root, "neon"), k.File+"_arm64", asm, stubs); err != nil {
			return err
		}
	}
	return nil
}

// write writes a kernel's assembly and its stubs.
func write(folder, name string, asm, stubs []byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, name+".s"), asm, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".go"), stubs, 0o644)
}

// compile returns the assembly and the stubs of what ctx holds, or an error if it holds what isa's gate doesn't allow.
func compile(ctx *build.Context, isa amd64.ISA) (asm, stubs []byte, err error) {
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
	cfg := printer.Config{Name: "halfspace/asm/gen", Argv: []string{"go", "run", ".", ".."}, Pkg: isa.Name}
	asm, err = printer.NewGoAsm(cfg).Print(f)
	if err != nil {
		return nil, nil, err
	}
	stubs, err = printer.NewStubs(cfg).Print(f)
	if err != nil {
		return nil, nil, err
	}
	return append(bytes.TrimRight(asm, "\n"), '\n'), stubs, nil
}
