package limits

import (
	"slices"

	"halfspace/internal/microkernel"
)

// Read measures the bytes per second that some cores together load from arrays, wherever these are: small ones in a cache,
// large ones in memory. Each core loads a part of them, again and again, for some 40 ms. Read uses at most one core for each
// MiB. It returns 0 if the active level has no loop to measure with, or if the arrays are smaller than 16 KiB together.
func Read(arrays [][]float32, cores int) float64 {
	const panel, least = 1 << 20, 2 << 20 // bytes of a call of the loop, and of a piece of work
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
