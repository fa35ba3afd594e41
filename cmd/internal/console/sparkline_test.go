package console

import (
	"math"
	"testing"
)

// TestSparkline: the greatest mean is the highest block, the least the lowest.
func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []float64
		most   int
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 80, "▁▂▃▄▅▆▇█"},
		{[]float64{100, 50, 25, 12, 6, 3, 0}, 80, "█▅▃▁▁▁▁"},
		{[]float64{9, 9, 1, 1, 5, 5}, 3, "█▁▅"},
		{[]float64{9, 8, 7, 1}, 3, "█▇▁"},
		{[]float64{-1e308, 1e308}, 9, ""},
		{[]float64{3, 3, 3}, 80, ""},
		{[]float64{3, math.NaN()}, 80, ""},
		{[]float64{3}, 80, ""},
		{[]float64{1, 2}, 1, ""},
		{nil, 80, ""},
	} {
		if got := sparkline(c.values, c.most); got != c.want {
			t.Errorf("%v in %d characters: %q, want %q", c.values, c.most, got, c.want)
		}
	}
}
