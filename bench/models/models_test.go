package main

import (
	"slices"
	"strings"
	"testing"
)

// sample is a function in the way of objdump: a loop over rows, which holds a loop over a row and a rest that whole rows
// don't have, and a loop over a row in one register.
const sample = `
0000000000001000 <halfspace/asm/avx2.RowsF32.abi0>:
    1000:      	cmpq	$0x20, %rsi
    1004:      	jne	0x1030 <halfspace/asm/avx2.RowsF32.abi0+0x30>
    1010:      	vfmadd231ps	(%rax), %ymm1, %ymm0 # ymm0 = (ymm1 * mem) + ymm0
                                                # comment
    1014:      	vmovups	%ymm0, (%rcx)
    1018:      	jae	0x1020 <halfspace/asm/avx2.RowsF32.abi0+0x20>
    101c:      	jne	0x1010 <halfspace/asm/avx2.RowsF32.abi0+0x10>
    1020:      	jmp	0x1018 <halfspace/asm/avx2.RowsF32.abi0+0x18>
    1030:      	vxorps	%ymm0, %ymm0, %ymm0
    1034:      	vfmadd231ps	(%rax,%rdi), %ymm1, %ymm0
    1038:      	vfmadd231ps	0x20(%rax,%rdi), %ymm1, %ymm2
    103c:      	jae	0x1034 <halfspace/asm/avx2.RowsF32.abi0+0x34>
    1040:      	testq	%r8, %r8
    1044:      	je	0x104c <halfspace/asm/avx2.RowsF32.abi0+0x4c>
    1048:      	vmulps	%ymm0, %ymm0, %ymm0
    104c:      	vaddps	%ymm2, %ymm0, %ymm0
    1050:      	jne	0x1030 <halfspace/asm/avx2.RowsF32.abi0+0x30>
    1054:      	retq

0000000000002000 <halfspace/asm/avx2.RowsF32>:
    2000:      	retq
`

func opcodes(turn []instruction) string {
	var all []string
	for _, i := range turn {
		all = append(all, strings.Fields(i.text)[0])
	}
	return strings.Join(all, " ")
}

// TestTurns: the loops that a row of 32 bytes and one of 192 bytes run through are found.
func TestTurns(t *testing.T) {
	f := parse(sample, "halfspace/asm/avx2.")["RowsF32"]
	if len(f) != 17 {
		t.Fatalf("%d instructions", len(f))
	}
	if f[2].text != "vfmadd231ps (%rax), %ymm1, %ymm0" || f[5].text != "jne there" || f[5].target != 0x1010 || f[5].always || !f[6].always {
		t.Errorf("read %+v", f[:7])
	}
	for bytes, want := range map[int]string{
		32:  "vfmadd231ps vmovups jae jne",
		192: "vxorps" + strings.Repeat(" vfmadd231ps vfmadd231ps jae", 3) + " testq je vaddps jne",
	} {
		turn, err := row(f, bytes)
		if got := opcodes(turn); err != nil || got != want {
			t.Errorf("%d bytes: %s, error %v; want %s", bytes, got, err, want)
		}
	}
	if s, work := busiest(f, loops(f), instruction.stored); work != 32 || opcodes(path(f, s)) != "vfmadd231ps vmovups jae jne" {
		t.Errorf("the loop that stores is %v, with %d bytes", s, work)
	}
}

// TestArm: the instructions of arm64 are read as well.
func TestArm(t *testing.T) {
	f := parse(`
0000000000001000 <halfspace/asm/neon.DotF64.abi0>:
    1000:      	ldp	q3, q4, [x0, #0x20]
    1004:      	fmla	v0.2d, v11.2d, v3.2d
    1008:      	stp	q3, q4, [x2]
    100c:      	b	0x1014 <halfspace/asm/neon.DotF64.abi0+0x14>
    1010:      	fmul	v0.2d, v0.2d, v0.2d
    1014:      	tbz	w1, #0x1, 0x1000 <halfspace/asm/neon.DotF64.abi0>
`, "halfspace/asm/neon.")["DotF64"]
	turn, err := most(f, instruction.multiplied)
	if err != nil || opcodes(turn) != "ldp fmla stp b tbz" || f[0].text != "ldp q3, q4, [x0, #0x20]" || f[5].text != "tbz w1, #0x1, there" {
		t.Errorf("%s, error %v, of %+v", opcodes(turn), err, f)
	}
	if sum(turn, instruction.multiplied) != 16 || sum(turn, instruction.stored) != 32 {
		t.Errorf("%d bytes multiplied, %d stored", sum(turn, instruction.multiplied), sum(turn, instruction.stored))
	}
}

// TestSparse: the loop over the elements of a sparse row is the one with most products of two numbers, also on arm64. A
// vector's products count as bytes and not as such.
func TestSparse(t *testing.T) {
	for text, want := range map[string]string{`
0000000000001000 <halfspace/asm/avx2.SparseF32.abi0>:
    1000:      	movl	(%rdx,%r9,4), %r11d
    1004:      	cmpq	%rcx, %r11
    1008:      	jae	0x1030 <halfspace/asm/avx2.SparseF32.abi0+0x30>
    100c:      	vfmadd231ss	(%rax,%r11,4), %xmm0, %xmm1
    1010:      	vfmadd231ss	(%rax,%r11,4), %xmm0, %xmm1
    1014:      	jae	0x1000 <halfspace/asm/avx2.SparseF32.abi0>
    1018:      	vfmadd231ss	(%rax,%r11,4), %xmm0, %xmm1
    101c:      	vfmadd231ps	(%rax,%r11,4), %ymm0, %ymm1
    1020:      	jne	0x1018 <halfspace/asm/avx2.SparseF32.abi0+0x18>
    1030:      	retq
`: "movl cmpq jae vfmadd231ss vfmadd231ss jae", `
0000000000001000 <halfspace/asm/avx2.SparseF32.abi0>:
    1000:      	fmadd	s10, s8, s9, s10
    1004:      	b.hs	0x1000 <halfspace/asm/avx2.SparseF32.abi0>
    1008:      	fmla	v0.2d, v11.2d, v3.2d
    100c:      	b.ne	0x1008 <halfspace/asm/avx2.SparseF32.abi0+0x8>
`: "fmadd b.hs"} {
		turn, err := fusing(parse(text, "halfspace/asm/avx2.")["SparseF32"])
		if got := opcodes(turn); err != nil || got != want || per(instruction.fused, 1)(turn) != float64(strings.Count(want, "fmadd")) {
			t.Errorf("%s, error %v; want %s", got, err, want)
		}
	}
}

// TestModels: each level of each CPU has its models, and no kernel has two.
func TestModels(t *testing.T) {
	var names []string
	for _, m := range models() {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("a kernel has two models: %v", names)
	}
	for _, c := range cpus {
		if c.name == "" || c.arch == "" || c.triple == "" || len(c.levels) == 0 {
			t.Errorf("incomplete CPU %+v", c)
		}
	}
}
