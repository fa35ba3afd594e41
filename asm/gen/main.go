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
			folder := filepath.Join(root, isa.Name)
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			base := filepath.Join(folder, k.File+"_amd64")
			if err := print(ctx, isa.Name, base); err != nil {
				return fmt.Errorf("%s: %w", base, err)
			}
		}
	}
	return nil
}

// print compiles what ctx holds, and writes it to base.s and its stubs to base.go.
func print(ctx *build.Context, pkg, base string) error {
	f, err := ctx.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(f); err != nil {
		return err
	}
	cfg := printer.Config{Name: "halfspace/asm/gen", Argv: []string{"go", "run", ".", ".."}, Pkg: pkg}
	asm, err := printer.NewGoAsm(cfg).Print(f)
	if err != nil {
		return err
	}
	stubs, err := printer.NewStubs(cfg).Print(f)
	if err != nil {
		return err
	}
	asm = append(bytes.TrimRight(asm, "\n"), '\n')
	if err := os.WriteFile(base+".s", asm, 0o644); err != nil {
		return err
	}
	return os.WriteFile(base+".go", stubs, 0o644)
}
