// Package limits measures the machine's limits, with which a benchmark compares its own rates. The limits are the
// clock, the rate of fused multiply-adds, and the bandwidth of each level of memory.
//
// Each figure is the best of several short runs on the active instruction set. Measure limits in the same process run
// as the benchmark: machines are shared and change their clock.
package limits

import (
	"math/bits"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"halfspace/block"
	"halfspace/internal/microkernel"
)

// Limits are the highest rates of some cores together.
type Limits struct {
	Cores int // number of cores that worked together

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

// Measure measures the limits of a number of cores together, in about a second. Every figure but the clock is 0 if the
// active level has no loops to measure with.
func Measure(cores int) Limits {
	l := Limits{Cores: cores}
	big, sizes := make([][]float32, cores), Detected().arrays(cores)
	for i := range big {
		big[i] = block.Alloc[float32](sizes[3] / 4)
		microkernel.Stream(big[i])
	}
	l.FMAF32 = best(cores, func(int) float64 { return 2 * float64(microkernel.Peak(1000)) })
	l.FMAF64 = l.FMAF32 / 2 // a register has half as many float64
	for k, rate := range []*float64{&l.L1, &l.L2, &l.L3} {
		*rate = best(cores, func(core int) float64 { return sweep(big[core][:sizes[k]/4], microkernel.Load) })
	}
	l.DRAM = best(cores, inParts(big, microkernel.Load))
	l.Stream = best(cores, inParts(big, microkernel.Stream))
	l.Clock = Clock(cores)
	return l
}

// Clock measures the cycles per second of a number of cores together, in about 10 ms. It takes the fastest of many
// short runs on each core, which other programs hardly disturb.
func Clock(cores int) float64 {
	const rounds, runs = 4000, 500
	return total(cores, func(int) (rate float64) {
		x := uint64(1)
		for range runs {
			start := time.Now()
			chain(&x, rounds)
			rate = max(rate, 16*rounds/time.Since(start).Seconds())
		}
		return rate
	})
}

// total runs rate on every core at the same time, and returns the sum of the results.
func total(cores int, rate func(core int) float64) float64 {
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

// One measures the limits of one core once, for all benchmarks of a process.
var One = sync.OnceValue(func() Limits { return Measure(1) })

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

// inParts returns a work function for best: each call runs f over the next part of the core's array, and starts again
// after the last part.
func inParts(arrays [][]float32, f func([]float32) bool) func(core int) float64 {
	next := make([]int, len(arrays))
	return func(core int) float64 {
		lo := next[core]
		hi := lo + partBytes/4
		next[core] = hi % len(arrays[core])
		return sweep(arrays[core][lo:hi], f)
	}
}

// best runs work on every core at the same time, several times, and returns the highest total rate. work returns the
// amount of work that it did, such as bytes; if it returns 0, the core's rate is 0.
func best(cores int, work func(core int) float64) float64 {
	highest := 0.0
	for range tries {
		highest = max(highest, total(cores, func(core int) float64 {
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
