package kernel

import "strings"

// A singleFMA is a kind of core on which AVX2 is at least as fast as AVX-512, according to a public source. The single
// 512-bit FMA unit of such a core does as many operations a cycle as two units of 256 bits, and AVX-512 lowers the
// clock.
type singleFMA struct {
	vendor        string
	family, model int
	brand, except string // the processor's brand contains brand and doesn't contain except
}

// singleFMAs lists these cores. No entry is guessed: all other cores take the widest level.
//
// Xeon Gold 51xx (Skylake-SP) have one unit, except the Gold 5122 (community.intel.com, "Calculate the Max Flops on
// Skylake", 1160952). MKL's dgemm with AVX-512 is no faster there, or slower ("AVX512 slower than AVX2 with Intel MKL
// dgemm on Intel Gold 5118", topic 815069).
var singleFMAs = []singleFMA{{"Intel", 6, 85, "Gold 51", "Gold 5122"}}

// preferred returns the level of levels that is fastest on c, as far as is known: AVX2 on a core in singleFMAs,
// otherwise the last level.
func preferred(levels []Level, c CPU) Level {
	best := levels[len(levels)-1]
	for _, n := range singleFMAs {
		if best == AVX512 && c.Vendor == n.vendor && c.Family == n.family && c.Model == n.model &&
			strings.Contains(c.Brand, n.brand) && !strings.Contains(c.Brand, n.except) {
			return AVX2
		}
	}
	return best
}
