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
