package limits

import (
	"cmp"

	"halfspace/kernel"
)

// Caches are the sizes, in bytes, of the caches that one core reads through. Several cores share L3.
type Caches struct{ L1, L2, L3 int }

// Detected returns the caches of this computer. A size that the processor doesn't report counts as 32 KiB (L1), 512 KiB
// (L2) or 8 MiB (L3).
func Detected() Caches {
	c := kernel.DetectedCPU()
	return Caches{cmp.Or(c.L1D, 32<<10), cmp.Or(c.L2, 512<<10), cmp.Or(c.L3, 8<<20)}
}

// Level returns the name of the smallest level of memory that holds a number of bytes: L1, L2, L3 or DRAM. Only half of
// the third-level cache counts, since other cores use it too.
func (c Caches) Level(bytes int) string {
	switch {
	case bytes <= c.L1:
		return "L1"
	case bytes <= c.L2:
		return "L2"
	case bytes <= c.L3/2:
		return "L3"
	}
	return "DRAM"
}

// Bandwidth returns the rate of the level of that name, in bytes per second.
func (l Limits) Bandwidth(level string) float64 {
	return map[string]float64{"L1": l.L1, "L2": l.L2, "L3": l.L3, "DRAM": l.DRAM}[level]
}

// arrays returns the sizes, in bytes, of the arrays that each core reads to measure L1, L2, L3 and DRAM. An array is
// larger than the caches below its level, and fits well into the cache of its level. The DRAM arrays of all cores
// together take at least twice the third-level cache, up to 1 GiB.
func (c Caches) arrays(cores int) [4]int {
	const kib, mib = 1 << 10, 1 << 20
	page := func(bytes int) int { return bytes &^ (4*kib - 1) }
	l2 := max(2*c.L1, c.L2/2)
	l3 := max(2*c.L2, min(max(4*mib, 4*c.L2), c.L3/2/cores))
	dram := max(l3, min(256*mib, 1<<30/cores), 2*min(c.L3, 1<<29)/cores)
	return [4]int{16 * kib, page(l2), page(l3), (dram + partBytes - 1) / partBytes * partBytes}
}
