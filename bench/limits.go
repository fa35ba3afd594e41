package bench

// The limits of this computer: the clock, the rate of fused multiply-adds, and the bandwidth of each level of memory. Each
// figure is the best of several short runs on the active instruction set. Measure limits in the same process run as the
// benchmark: machines are shared and change their clock.

import (
	"cmp"
	"math/bits"
	"time"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/block"
	"halfspace/internal/microkernel"
	"halfspace/kernel"
)

// Rates are the highest rates of some cores together.
type Rates struct {
	FMAF32, FMAF64   float64 // flop/s, two per fused multiply-add; FMAF64 is half of FMAF32: registers hold half as many float64
	L1, L2, L3, DRAM float64 // bytes loaded per second, by all cores together
	Stream           float64 // bytes written per second by non-temporal stores
	Clock            float64 // cycles per second, of all cores together
}

// partBytes is the size in bytes of one part of a DRAM array. The size of that array is a multiple of partBytes.
const partBytes = 32 << 20

// tries is the number of runs, of which the best counts. runTime is the approximate time of one run.
const (
	tries   = 7
	runTime = 5 * time.Millisecond
)

// MeasureRates measures the limits of a number of cores together, in about a second. Every figure but the clock is 0 if the
// active level has no loops to measure with.
func MeasureRates(cores int) Rates {
	var l Rates
	big, sizes := make([][]float32, cores), DetectedCaches().arrays(cores)
	for i := range big {
		big[i] = block.Alloc[float32](sizes[3] / 4)
		microkernel.Stream(big[i])
	}
	l.FMAF32 = bestRate(cores, func(int) float64 { return 2 * float64(microkernel.Peak(1000)) })
	l.FMAF64 = l.FMAF32 / 2 // a register has half as many float64
	for k, rate := range []*float64{&l.L1, &l.L2, &l.L3} {
		*rate = bestRate(cores, func(core int) float64 { return sweep(big[core][:sizes[k]/4], microkernel.Load) })
	}
	l.DRAM = bestRate(cores, nextPart(big, microkernel.Load))
	l.Stream = bestRate(cores, nextPart(big, microkernel.Stream))
	l.Clock = clock(cores)
	return l
}

// clock measures the cycles per second of a number of cores together, in about 10 ms. It takes the fastest of many
// short runs on each core, which other programs hardly disturb.
func clock(cores int) float64 {
	const rounds, runs = 4000, 500
	return totalRate(cores, func(int) (rate float64) {
		x := uint64(1)
		for range runs {
			start := time.Now()
			chain(&x, rounds)
			rate = max(rate, 16*rounds/time.Since(start).Seconds())
		}
		return rate
	})
}

// totalRate runs rate on every core at the same time, and returns the sum of the results.
func totalRate(cores int, rate func(core int) float64) float64 {
	rates := make([]float64, cores)
	var g errgroup.Group
	for core := range cores {
		g.Go(func() error {
			rates[core] = rate(core)
			return nil
		})
	}
	_ = g.Wait() // no worker fails
	sum := 0.0
	for _, r := range rates {
		sum += r
	}
	return sum
}

// chain takes 16 cycles a round: each of its 8 rotations and 8 additions takes one cycle, and waits for the operation
// before.
//
//go:noinline
func chain(to *uint64, rounds int) {
	x := *to
	for range rounds {
		x = bits.RotateLeft64(x, 7) + 1
		x = bits.RotateLeft64(x, 7) + 1
		x = bits.RotateLeft64(x, 7) + 1
		x = bits.RotateLeft64(x, 7) + 1
		x = bits.RotateLeft64(x, 7) + 1
		x = bits.RotateLeft64(x, 7) + 1
		x = bits.RotateLeft64(x, 7) + 1
		x = bits.RotateLeft64(x, 7) + 1
	}
	*to = x
}

// sweep runs f over x in panels, so that no call takes long. It repeats x until the overhead of calls is small. It
// returns the number of bytes read, or 0 if f returns false.
func sweep(x []float32, f func([]float32) bool) float64 {
	const panel, least = 1 << 18, 1 << 21
	times := max(1, least/len(x))
	for range times {
		for lo := 0; lo < len(x); lo += panel {
			if !f(x[lo:min(len(x), lo+panel)]) {
				return 0
			}
		}
	}
	return float64(times) * 4 * float64(len(x))
}

// nextPart returns a work function for best: each call runs f over the next part of the core's array, and starts again
// after the last part.
func nextPart(arrays [][]float32, f func([]float32) bool) func(core int) float64 {
	next := make([]int, len(arrays))
	return func(core int) float64 {
		lo := next[core]
		hi := lo + partBytes/4
		next[core] = hi % len(arrays[core])
		return sweep(arrays[core][lo:hi], f)
	}
}

// bestRate runs work on every core at the same time, several times, and returns the highest total rate. work returns
// the amount of work that it did, such as bytes; if it returns 0, the core's rate is 0.
func bestRate(cores int, work func(core int) float64) float64 {
	highest := 0.0
	for range tries {
		highest = max(highest, totalRate(cores, func(core int) float64 {
			work(core) // warms up
			done, start := 0.0, time.Now()
			for time.Since(start) < runTime {
				did := work(core)
				if did == 0 {
					return 0
				}
				done += did
			}
			return done / time.Since(start).Seconds()
		}))
	}
	return highest
}

// Caches are the sizes, in bytes, of the caches that one core reads through. Several cores share L3.
type Caches struct{ L1, L2, L3 int }

// DetectedCaches returns the caches of this computer. A size that the processor doesn't report counts as 32 KiB (L1), 512 KiB
// (L2) or 8 MiB (L3).
func DetectedCaches() Caches {
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
func (l Rates) Bandwidth(level string) float64 {
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
