package kernel_test

import (
	"math"
	"testing"

	"halfspace/kernel"
)

// TestExp calls Exp on every level, also in place and with no elements.
func TestExp(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		x, y := []float32{-0.5, 0, 1, 2, 3}, make([]float32, 5)
		kernel.Exp(y, x)
		kernel.Exp(nil, nil)
		for i, v := range x {
			want := math.Exp(float64(v))
			if math.Abs(float64(y[i])-want) > 0.8*0x1p-23*want { // a unit in the last place is 2^-23 of the result at most
				t.Errorf("%s: Exp(%v) is %v, want %v", l, v, y[i], want)
			}
		}
		kernel.Exp(x, x)
		for i := range x {
			if x[i] != y[i] {
				t.Errorf("%s: element %d is %v in place, else %v", l, i, x[i], y[i])
			}
		}
	}
}
