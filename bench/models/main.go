// Command models predicts the cycles of the hot kernels on CPUs that may not be at hand:
//
//	go run ./bench/models internal/forecast/table.json
//
// It finds the loops of the kernels in the object code, lets llvm-mca predict their cycles, and writes the table. Then
// it times the kernels on the CPU at hand, and prints measured cycles beside those predicted. It needs Debian's package
// llvm-22. Without a file it compares with the committed table, and needs no package.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"halfspace/internal/forecast"
)

// A cpu is one of llvm-mca's, with the instruction sets that kernels run on there: the names of levels, which are those
// of packages too. A level falls back to the ones before it.
type cpu struct {
	name, arch, triple string
	levels             []string
}

var (
	x86 = func(name string, levels ...string) cpu { return cpu{name, "amd64", "x86_64", levels} }
	arm = func(name string) cpu { return cpu{name, "arm64", "aarch64", []string{"neon"}} }

	cpus = []cpu{
		x86("skylake-avx512", "avx2", "avx512"), x86("icelake-server", "avx2", "avx512"), x86("sapphirerapids", "avx2", "avx512"),
		x86("znver2", "avx2"), x86("znver3", "avx2"), x86("znver4", "avx2", "avx512"), x86("znver5", "avx2", "avx512"),
		arm("neoverse-n1"), arm("neoverse-v1"), arm("neoverse-v2"), arm("apple-m1"),
	}
)

func main() {
	if len(os.Args) > 2 {
		fmt.Fprintln(os.Stderr, "usage: models [TABLE.json]")
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	t := forecast.Models()
	if len(args) == 1 {
		if t, err = write(args[0]); err != nil {
			return err
		}
	}
	printTable(os.Stdout, t)
	return compare(os.Stdout, t)
}

// write predicts the table and writes it to a file.
func write(path string) (*forecast.Table, error) {
	t, err := predict()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(t, "", "\t")
	if err != nil {
		return nil, err
	}
	return t, os.WriteFile(path, append(text, '\n'), 0o644)
}

// predict makes the table.
func predict() (*forecast.Table, error) {
	version, err := mcaVersion()
	if err != nil {
		return nil, err
	}
	t := &forecast.Table{Tool: version, Cycles: map[string]map[string]map[string]float64{}}
	all := models()
	slices.SortFunc(all, func(a, b model) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range all {
		t.Kernels = append(t.Kernels, m.Kernel)
	}
	dir, err := os.MkdirTemp("", "models")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	functions := map[string]map[string]code{} // by architecture and level
	for _, c := range cpus {
		if functions[c.arch] == nil {
			if functions[c.arch], err = disassemble(dir, c.arch); err != nil {
				return nil, err
			}
		}
		t.Cycles[c.name] = map[string]map[string]float64{}
		for n, level := range c.levels {
			turns := map[string]turn{}
			for _, m := range all {
				if turns[m.Name], err = m.find(functions[c.arch], c.levels[:n+1]); err != nil {
					return nil, fmt.Errorf("%s, %s: %w", level, m.Name, err)
				}
			}
			if t.Cycles[c.name][level], err = cycles(c, turns); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return t, nil
}

// A turn is a turn of a kernel's loop.
type turn struct {
	instructions []instruction
	units        float64
}

// find returns the turn of a kernel in the last of the levels that has it.
func (m model) find(functions map[string]code, levels []string) (turn, error) {
	for n := len(levels) - 1; n >= 0; n-- {
		if f, ok := functions[levels[n]][m.function]; ok {
			found, err := m.turn(f)
			if err != nil {
				return turn{}, err
			}
			units := m.units(found)
			if units <= 0 {
				return turn{}, fmt.Errorf("a turn does no work")
			}
			return turn{found, units}, nil
		}
	}
	return turn{}, fmt.Errorf("no level has the function")
}
