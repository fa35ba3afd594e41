package kernel

import (
	"slices"
	"testing"
)

func TestDetectedCPU(t *testing.T) {
	c := DetectedCPU()
	for _, l := range Levels() {
		if l == AVX2 && !(slices.Contains(c.Features, "AVX2") && slices.Contains(c.Features, "FMA3") && slices.Contains(c.Features, "BMI1")) {
			t.Errorf("the level %s needs AVX2, FMA3 and BMI1, and the features are %q", l, c.Features)
		}
	}
	if c.Cores < 0 || c.Threads < c.Cores || c.L1D < 0 || c.L2 < 0 || c.L3 < 0 {
		t.Errorf("impossible figures: %+v", c)
	}
}
