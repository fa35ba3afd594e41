package optimize

import (
	"math"
	"testing"
)

// TestHistory: the history has the last ten steps. Its direction is Newton's if they span all variables of a quadratic
// objective. It leaves out a step along which the gradient falls.
func TestHistory(t *testing.T) {
	curvature := []float64{1, 10, 100}
	var h LBFGS
	for i := range 12 {
		step, change := make([]float64, 3), make([]float64, 3)
		step[i%3] = float64(i + 1)
		change[i%3] = step[i%3] * curvature[i%3]
		h.remember(step, change)
	}
	if len(h.Pairs) != historySteps || h.Pairs[0].SY != 9*100 || h.Pairs[9].SY != 12*12*100 {
		t.Errorf("%d pairs, %+v to %+v", len(h.Pairs), h.Pairs[0], h.Pairs[len(h.Pairs)-1])
	}
	for i, v := range h.direction([]float64{1, 1, 1}) {
		if math.Abs(v*curvature[i]+1) > 1e-12 {
			t.Errorf("element %d of the direction is %v, want %v", i, v, -1/curvature[i])
		}
	}
	h.remember([]float64{1, 0, 0}, []float64{-1, 0, 0})
	if h.Pairs[9].SY != 12*12*100 {
		t.Error("a step of negative curvature is remembered")
	}
}
