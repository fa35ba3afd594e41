package kernel

import (
	"fmt"
	"os"
	"strings"
)

// A Level is an instruction set for which the kernels are written. Levels differ in speed alone: every function returns
// the same bits on each of them.
type Level uint8

// Generic is pure Go, on every architecture. Each other level exists only on the architecture that its comment names.
const (
	Generic Level = iota
	AVX2          // amd64 with AVX2, FMA3 and BMI1
	AVX512        // amd64 with AVX-512 F, DQ, BW and VL, and all that AVX2 needs
	NEON          // arm64 with ASIMD, which it always has
)

var levelNames = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}

// String returns the level's name in the environment and on the command line.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// level is set once at start; only Use changes it. levelErr is the error in the value of HALFSPACE_ISA, nil after Use.
var level, levelErr = initialLevel(os.Getenv("HALFSPACE_ISA"))

// initialLevel returns the level that the environment names. If the name is empty, it returns the preferred level of
// this machine. If the name is wrong, it returns the preferred level and an error.
func initialLevel(name string) (Level, error) {
	if name == "" {
		return preferred(Levels(), DetectedCPU()), nil
	}
	l, err := ParseLevel(name)
	if err != nil {
		return preferred(Levels(), DetectedCPU()), fmt.Errorf("HALFSPACE_ISA: %w", err)
	}
	return l, nil
}

// preferred returns the level of levels that is fastest on c, as far as is known: AVX2 on Xeon Gold 51xx (Skylake-SP),
// otherwise the last level. A core of these has a single 512-bit FMA unit, except the Gold 5122
// (community.intel.com, "Calculate the Max Flops on Skylake", 1160952). The unit does as many operations a cycle as two
// units of 256 bits, and AVX-512 lowers the clock. MKL's dgemm with AVX-512 is no faster there, or slower ("AVX512 slower
// than AVX2 with Intel MKL dgemm on Intel Gold 5118", topic 815069).
func preferred(levels []Level, c CPU) Level {
	best := levels[len(levels)-1]
	skylake := c.Vendor == "Intel" && c.Family == 6 && c.Model == 85
	if best == AVX512 && skylake && strings.Contains(c.Brand, "Gold 51") && !strings.Contains(c.Brand, "Gold 5122") {
		return AVX2
	}
	return best
}

// LevelError returns an error if the environment variable HALFSPACE_ISA named an unknown level at start, or a level
// that this machine lacks. After Use it returns nil.
func LevelError() error { return levelErr }

// Active returns the level that kernels run on.
func Active() Level { return level }

// Levels returns the levels that this machine and this build have, in ascending order of vector width; Generic is the
// first.
func Levels() []Level { return append([]Level{Generic}, detected()...) }

// ParseLevel returns the level of that name. It returns an error if the name is unknown or this machine lacks the
// level.
func ParseLevel(name string) (Level, error) {
	known := []string{}
	for _, l := range Levels() {
		if l.String() == name {
			return l, nil
		}
		known = append(known, l.String())
	}
	for _, n := range levelNames {
		if n == name {
			return Generic, fmt.Errorf("this machine or build has no %s kernels (it has %s)", name, strings.Join(known, ", "))
		}
	}
	return Generic, fmt.Errorf("unknown instruction set %q (this machine has %s)", name, strings.Join(known, ", "))
}

// Use makes kernels run on l, which must be one of Levels. Call it while no kernel runs.
func Use(l Level) {
	for _, have := range Levels() {
		if have == l {
			level, levelErr = l, nil
			return
		}
	}
	panic("kernel: level not available on this machine")
}
