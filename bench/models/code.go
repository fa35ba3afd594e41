package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// An instruction is one of a disassembled function.
type instruction struct {
	address uint64
	text    string // without a comment, in the syntax that llvm-mca reads
	target  uint64 // of a jump; 0 if it isn't one
	always  bool   // the jump has no condition
}

// A code holds the functions of a package by name.
type code map[string][]instruction

// objdump and mca are the programs of LLVM: those of the package llvm-22, or of the newest llvm.
var objdump, mca = tool("llvm-objdump"), tool("llvm-mca")

func tool(name string) string {
	if _, err := exec.LookPath(name + "-22"); err == nil {
		return name + "-22"
	}
	return name
}

// disassemble builds this program for an architecture, and returns the functions of the packages of kernels by package.
func disassemble(dir, arch string) (map[string]code, error) {
	binary := filepath.Join(dir, arch)
	build := exec.Command("go", "build", "-o", binary, "halfspace/bench/models")
	build.Env = append(build.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	out, err := exec.Command(objdump, "-d", "--no-show-raw-insn", binary).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w (install the package llvm-22)", objdump, err)
	}
	all := map[string]code{}
	for _, c := range cpus {
		for _, level := range c.levels {
			if c.arch == arch {
				all[level] = parse(string(out), "halfspace/asm/"+level+".")
			}
		}
	}
	return all, nil
}

var (
	header  = regexp.MustCompile(`^[0-9a-f]+ <(.*)>:$`)
	comment = regexp.MustCompile(`\s+(# |// ).*$`)
	jump    = regexp.MustCompile(`^(?:j(\w+)|b(\.\w+)?|cbn?z|tbn?z)\s+(?:.*, )?0x([0-9a-f]+) <.*>$`)
)

// parse reads objdump's text. It returns the functions whose names have a prefix.
func parse(text, prefix string) code {
	all, name := code{}, ""
	for _, line := range strings.Split(text, "\n") {
		if m := header.FindStringSubmatch(line); m != nil {
			name = ""
			if rest, ok := strings.CutPrefix(m[1], prefix); ok {
				name, _ = strings.CutSuffix(rest, ".abi0")
				if len(name) == len(rest) { // the wrapper that Go calls
					name = ""
				}
			}
			continue
		}
		address, text, ok := strings.Cut(line, ":")
		at, err := strconv.ParseUint(strings.TrimSpace(address), 16, 64)
		if name == "" || !ok || err != nil {
			continue
		}
		all[name] = append(all[name], read(at, text))
	}
	return all
}

func read(at uint64, text string) instruction {
	text = comment.ReplaceAllString(strings.TrimSpace(strings.ReplaceAll(text, "\t", " ")), "")
	i := instruction{address: at, text: text}
	if m := jump.FindStringSubmatch(text); m != nil {
		i.target, _ = strconv.ParseUint(m[3], 16, 64)
		i.always = strings.HasPrefix(text, "jmp ") || strings.HasPrefix(text, "b ")
		text, _, _ = strings.Cut(text, " <")
		i.text = text[:strings.LastIndex(text, "0x")] + "there" // llvm-mca doesn't follow jumps
	}
	return i
}

var (
	product = regexp.MustCompile(`^(?:vfn?m(?:add|sub)\d+p|vmulp|fml[as]|fmul)`)
	fused   = regexp.MustCompile(`^(?:vfmadd\d+s[sd]|fmadd) `)
	store   = regexp.MustCompile(`^(?:vmov[ua]p[sd] +%[xyz]mm\d+, |st[rp] +q)`)
	width   = regexp.MustCompile(`%([xyz])mm|v\d+\.(4s|2d)`)
	widths  = map[string]int{"x": 16, "y": 32, "z": 64}
)

// multiplied returns the bytes of the vectors that an instruction multiplies, 0 if it multiplies none.
func (i instruction) multiplied() int {
	if !product.MatchString(i.text) {
		return 0
	}
	m := width.FindStringSubmatch(i.text)
	switch {
	case m == nil:
		return 0
	case m[1] != "":
		return widths[m[1]]
	}
	return 16
}

// fused returns 1 for a fused multiply-add of two numbers, and 0 for any other instruction.
func (i instruction) fused() int {
	if fused.MatchString(i.text) {
		return 1
	}
	return 0
}

// stored returns the bytes of the vectors that an instruction stores to memory.
func (i instruction) stored() int {
	if !store.MatchString(i.text) || !strings.ContainsAny(i.text, "([") {
		return 0
	}
	switch {
	case strings.HasPrefix(i.text, "stp"):
		return 32
	case strings.HasPrefix(i.text, "str"):
		return 16
	}
	return widths[width.FindStringSubmatch(i.text)[1]]
}
