// Package kerneltest tests the kernels of one instruction set against their pure-Go twins, bit for bit.
//
// Every slice of a kernel lies against a page that can't be touched, before or after it. So a read or write beyond the
// slice faults. The test also checks canaries between the slice and the far page.
package kerneltest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// OnLevels runs a test on every level of this machine. With the race detector it takes the best one alone: the kernels of every level
// read and write the same memory.
func OnLevels(t *testing.T, test func(t *testing.T)) {
	defer kernel.Use(kernel.Active())
	levels := kernel.Levels()
	if parallel.RaceEnabled {
		levels = levels[len(levels)-1:]
	}
	for _, l := range levels {
		kernel.Use(l)
		t.Run(l.String(), test)
	}
}

// A Misuse is a call that must panic with a message before it writes to dst.
type Misuse[T Float] = struct {
	Want string
	Call func(dst []T)
}

// CheckMisuses makes wrong calls with n elements to write to.
func CheckMisuses[T Float](t *testing.T, n int, calls []Misuse[T]) {
	for _, c := range calls {
		dst := slices.Repeat([]T{-7}, n)
		if got := PanicOf(func() { c.Call(dst) }); got != c.Want {
			t.Errorf("panic %q, want %q", got, c.Want)
		}
		if slices.ContainsFunc(dst, func(v T) bool { return v != -7 }) {
			t.Errorf("%s: the destination was written before the panic", c.Want)
		}
	}
}

// PanicOf returns the value with which a function panics, "<nil>" if it doesn't.
func PanicOf(f func()) (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	f()
	return ""
}

// DotAccuracy compares a Dot of some lanes with exact arithmetic, on every level. Its error stays below
// (n/lanes + log2 lanes + 1) u sum|x y| to first order. u is half a unit in the last place (Higham, "Accuracy and stability of
// numerical algorithms", 2002, section 3.1).
func DotAccuracy[T Float](t *testing.T, lanes, u float64, dot func(x, y []T) T) {
	OnLevels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for n := 1; n < 3000; n = n*5/4 + 1 {
			x, y := make([]T, n), make([]T, n)
			exact, size := new(big.Float).SetPrec(2000), 0.0
			for i := range x {
				x[i], y[i] = T(math.Ldexp(rng.NormFloat64(), rng.IntN(20))), T(rng.NormFloat64())
				exact.Add(exact, new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x[i])), big.NewFloat(float64(y[i]))))
				size += math.Abs(float64(x[i]) * float64(y[i]))
			}
			diff, _ := exact.Sub(exact, big.NewFloat(float64(dot(x, y)))).Float64()
			if bound := (float64(n)/lanes + math.Log2(lanes) + 1) * u * size * 1.01; math.Abs(diff) > bound {
				t.Errorf("n=%d: error %g is above the bound %g", n, diff, bound)
			}
		}
	})
}

// Float is the element type of kernels.
type Float interface{ float32 | float64 }
