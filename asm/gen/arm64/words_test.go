package arm64

import (
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// TestWords: a disassembler reads every encoded word as the mnemonic beside it.
func TestWords(t *testing.T) {
	line := regexp.MustCompile(`^\tWORD    \$0x([0-9a-f]{8}) // (([a-z0-9]+) .+)$`)
	seen := map[string]bool{}
	for _, k := range Kernels {
		asm, _ := k.Generate()
		for text := range strings.Lines(string(asm)) {
			if !strings.Contains(text, "WORD") {
				continue
			}
			m := line.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
			if m == nil {
				t.Fatalf("%s: a word without its mnemonic: %q", k.File, text)
			}
			code, err := strconv.ParseUint(m[1], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			inst, err := arm64asm.Decode(binary.LittleEndian.AppendUint32(nil, uint32(code)))
			if err != nil {
				t.Fatalf("%s: %s (%s): %v", k.File, m[1], m[2], err)
			}
			if got := arm64asm.GNUSyntax(inst); got != m[2] {
				t.Fatalf("%s: %s is %q, not %q", k.File, m[1], got, m[2])
			}
			seen[m[3]] = true
		}
	}
	for _, name := range []string{
		"fadd", "fsub", "fmul", "fdiv", "fmin", "fmax", "fmaxnm", "fmla", "faddp", "fneg", "fcmeq", "fcmgt", "fcvtl",
		"fcvtl2", "fcvtn", "fcvtn2", "fabs", "movi", "stnp",
	} {
		if !seen[name] {
			t.Errorf("no kernel has %s", name)
		}
	}
}

// TestRegisters: no kernel touches the registers that belong to the linker, the system, the assembler or Go.
func TestRegisters(t *testing.T) {
	reserved := regexp.MustCompile(`\bR(1[678]|2[789]|3[01])\b`)
	for _, k := range Kernels {
		asm, _ := k.Generate()
		for text := range strings.Lines(string(asm)) {
			if reserved.MatchString(text) {
				t.Errorf("%s: %s", k.File, text)
			}
		}
	}
}
