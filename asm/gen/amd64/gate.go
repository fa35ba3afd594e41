package amd64

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/reg"
)

// implied are the features, in avo's names, that need no test beside those of a gate. Every amd64 processor has some of
// them (avo's MMX+ is SSE's prefetches and fences). AVX2 implies the others.
var implied = []string{"CMOV", "MMX+", "SSE", "SSE2", "SSE3", "SSSE3", "SSE4.1", "SSE4.2", "AVX"}

// Check returns an error if a compiled file holds an instruction that needs a feature beyond the package's gate. A
// processor that passes the gate might lack it, and the first call would kill the program.
func (isa ISA) Check(f *ir.File) error {
	for _, fn := range f.Functions() {
		for _, i := range fn.Instructions() {
			for _, feature := range needs(i) {
				if !slices.Contains(isa.Gate, feature) && !slices.Contains(implied, feature) {
					return fmt.Errorf("%s: %s needs %s, which the gate of package %s doesn't test for", fn.Name, i.OpcodeWithSuffixes(), feature, isa.Name)
				}
			}
		}
	}
	return nil
}

// needs lists the features that an instruction needs. Only AVX-512 has the upper half of the vector registers. avo
// allocates it to any instruction once the lower half is full. Go's assembler then picks the AVX-512 form.
func needs(i *ir.Instruction) []string {
	for _, r := range i.Registers() {
		if p := reg.ToPhysical(r); p != nil && r.Kind() == reg.KindVector && p.PhysicalIndex() >= 16 && r.Size() < 64 {
			return append(slices.Clone(i.ISA), "AVX512VL")
		}
	}
	return i.ISA
}
