package metrics

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestBetween(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ low, high, want float64 }{
		{1, 3, 2}, {-2, -1, -1.5}, {-3, 5, 0}, {9.2, 10.5, 10}, {999, 1002, 1000}, {12, 13.9, 13}, {0.14, 0.2499, 0.2}, {3.27, inf, 5}, {-inf, -4.31, -6},
		{math.NaN(), 2, 1}, {-inf, inf, 0}, {-2.4557, -2.4553, -2.4555}, {1, math.Nextafter(1, 2), 1}, {float64(float32(0.1)), float64(math.Nextafter32(0.1, 1)), 0.100000005},
		{math.MaxFloat64, inf, math.MaxFloat64}, {0, 5e-324, 0}, {-5e-324, 0, -5e-324},
	} {
		if got := Between(c.low, c.high); got != c.want {
			t.Errorf("between %v and %v: %v, want %v", c.low, c.high, got, c.want)
		}
	}
	digits := func(v float64) int {
		text, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', -1, 64), "e")
		return len(strings.Replace(text, ".", "", 1))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		low := (rng.Float64() - 0.5) * math.Pow(10, float64(rng.IntN(40)-20))
		high := low + math.Abs(low)*math.Pow(2, -float64(rng.IntN(54))) + 5e-324
		got := Between(low, high)
		if inside := math.Nextafter(low, inf) < high; got < low || got >= high || inside && got == low {
			t.Fatalf("between %v and %v: %v", low, high, got)
		}
		// fewer digits, near either end
		for n := range min(14, digits(got)-1) { // the last digits are those of the rounding of float64
			for _, near := range []float64{low, high, low/2 + high/2} {
				if v, _ := strconv.ParseFloat(strconv.FormatFloat(near, 'e', n, 64), 64); v > low && v < high {
					t.Fatalf("between %v and %v: %v, and %v has fewer digits", low, high, got, v)
				}
			}
		}
	}
}
