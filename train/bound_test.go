package train_test

import (
	"math"
	"testing"

	"halfspace/train"
)

// TestUpdateBound: bounds are whole numbers, and never below the text book's. There is none if the margin may be only
// rounding.
func TestUpdateBound(t *testing.T) {
	r := train.Result[float32]{Weights: []float32{1, 1, -3}, Radius: math.Sqrt(26), Margin: 1 / math.Sqrt(11)}
	for _, c := range []struct{ margin, eta, want float64 }{{0, 1, 286}, {0, 0.25, 286}, {2, 1, 330}, {2, 0.5, 374}} {
		if got := r.UpdateBound(c.margin, c.eta); got != c.want {
			t.Errorf("margin %v, eta %v: %v, want %v", c.margin, c.eta, got, c.want)
		}
	}
	if r.MistakeBound() != 286 || train.MostUpdates(r.Radius, r.Margin, 3) != 286 {
		t.Errorf("bounds %v and %v, want 286", r.MistakeBound(), train.MostUpdates(r.Radius, r.Margin, 3))
	}
	for margin := 0x1p-1; margin > 0x1p-40; margin /= 2 {
		r := train.Result[float32]{Weights: []float32{1}, Radius: 1, Margin: margin}
		if got := r.MistakeBound(); got < 1/margin/margin || got < math.Inf(1) && margin < 0x1p-24 {
			t.Errorf("margin %v: bound %v", margin, got)
		}
	}
	if none := (&train.Result[float32]{Radius: 1, Margin: 1}); !math.IsInf(none.MistakeBound(), 1) {
		t.Errorf("bound %v without weights", none.MistakeBound())
	}
}
