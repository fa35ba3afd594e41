package bench

import (
	"testing"

	"halfspace/kernel"
)

// TestMeasure: either every figure is there, or none if the level has no loop to measure with. The clock is measured on every level. The
// fused multiply-adds that it allows are no more than 64 a cycle.
func TestMeasure(t *testing.T) {
	l := MeasureRates(1)
	for what, rate := range map[string]float64{"FMA float32": l.FMAF32, "FMA float64": l.FMAF64, "L1": l.L1, "L2": l.L2,
		"L3": l.L3, "DRAM": l.DRAM, "streaming": l.Stream} {
		if measured := rate > 0; measured != (kernel.Active() != kernel.Generic) {
			t.Errorf("%s: %g a second at level %s", what, rate, kernel.Active())
		}
	}
	if l.Clock <= 0 || l.FMAF32 > 128*l.Clock {
		t.Errorf("%g cycles and %g flop in a second", l.Clock, l.FMAF32)
	}
}

// TestRead: a rate is there if the level has a loop and the arrays are large enough, for any split into arrays and any number
// of cores.
func TestRead(t *testing.T) {
	loops := kernel.Active() != kernel.Generic
	for _, cores := range []int{1, 3} {
		for _, sizes := range [][]int{nil, {0, 100}, {4096}, {100, 3 << 19, 0, 5}} {
			var arrays [][]float32
			bytes := 0
			for _, n := range sizes {
				arrays, bytes = append(arrays, make([]float32, n)), bytes+4*n
			}
			if rate := ReadRate(arrays, cores); (rate > 0) != (loops && bytes >= 16<<10) {
				t.Errorf("%d bytes in %d arrays by %d cores: %g a second", bytes, len(sizes), cores, rate)
			}
		}
	}
	if rate := ReadRate([][]float32{make([]float32, 4096)}, 1); (rate > 0) != loops {
		t.Errorf("%g a second at level %s", rate, kernel.Active())
	}
}
