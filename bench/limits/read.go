package limits

import (
	"slices"

	"halfspace/internal/microkernel"
)

// Read measures the bytes per second that a number of cores together load from arrays. Small arrays lie in a cache,
// large arrays in memory. Each core loads its part of the arrays again and again, for about 40 ms. Read uses at most
// one core for each MiB. It returns 0 if the active level has no loop to measure with, or if the arrays are smaller
// than 16 KiB together.
func Read(arrays [][]float32, cores int) float64 {
	const panel, least = 1 << 20, 2 << 20 // bytes of one call of the loop, and of one unit of work
	var panels [][]float32
	total := 0
	for _, x := range arrays {
		total += 4 * len(x)
		panels = slices.AppendSeq(panels, slices.Chunk(x, panel/4))
	}
	if total < 16<<10 {
		return 0
	}
	cores = max(1, min(cores, total/panel))
	next := make([]int, cores)
	return best(cores, func(core int) (bytes float64) {
		part := panels[core*len(panels)/cores : (core+1)*len(panels)/cores]
		for bytes < least {
			x := part[next[core]%len(part)]
			if next[core]++; !microkernel.Load(x) {
				return 0
			}
			bytes += 4 * float64(len(x))
		}
		return bytes
	})
}
