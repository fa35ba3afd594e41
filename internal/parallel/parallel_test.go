package parallel

import (
	"context"
	"math"
	"runtime"
	"testing"
)

// TestWorkers: a number of workers that nobody has the memory for is no more than the largest useful one.
func TestWorkers(t *testing.T) {
	most := max(256, runtime.NumCPU())
	for n, want := range map[int]int{-1: runtime.GOMAXPROCS(0), 0: runtime.GOMAXPROCS(0), 1: 1, 8: 8, most + 1: most, math.MaxInt: most} {
		if got := Workers(n); got != want {
			t.Errorf("%d for %d, want %d", got, n, want)
		}
	}
	sum := 0
	if err := Ordered(context.Background(), math.MaxInt, 1000, func(i int) int { return i }, func(i int) { sum += i }); err != nil || sum != 499_500 {
		t.Errorf("sum %d, error %v", sum, err)
	}
}
