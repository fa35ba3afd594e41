//go:build unix

package kerneltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/asm/ref"
)

// An axpy is a kernel whose every element is one fused multiply-add of the processor.
type axpy func(y []float32, a float32, x []float32)

// FuzzFMA32 compares the emulation of a float32 fused multiply-add with the processor's.
func FuzzFMA32(f *testing.F, processor axpy) {
	one := math.Float32bits(1)
	f.Add(one, one, one)
	f.Add(one+1, one+1, uint32(1))                                    // a sum just off a half-way point
	f.Add(uint32(1), uint32(1), uint32(1))                            // subnormals
	f.Add(uint32(0x00800001), uint32(0x3f000000), uint32(0x80000001)) // half-way between subnormals
	f.Add(uint32(0x7f7fffff), one+1, uint32(0xff7fffff))
	f.Fuzz(func(t *testing.T, a, x, y uint32) {
		processor.compare(t, math.Float32frombits(a), []float32{math.Float32frombits(x)}, []float32{math.Float32frombits(y)})
	})
}

// FMA32HalfWay draws operands with few significant bits and close exponents. Their sums often lie exactly half-way
// between two float32, or very close to that, where rounding twice goes wrong. Some results are subnormal.
func FMA32HalfWay(t *testing.T, processor axpy) {
	rng := rand.New(rand.NewPCG(3, 4))
	sparse := func(exponent int) float32 {
		bits := uint32(1) << 23
		for range rng.IntN(4) {
			bits |= 1 << rng.IntN(24)
		}
		v := math.Ldexp(float64(bits), exponent-23)
		if rng.IntN(2) == 0 {
			v = -v
		}
		return float32(v)
	}
	const n = 1024
	x, y := make([]float32, n), make([]float32, n)
	halfWay := 0
	for range 2000 {
		e := rng.IntN(250) - 140
		a := sparse(rng.IntN(60) - 30)
		for i := range x {
			x[i] = sparse(e)
			y[i] = sparse(e + rng.IntN(100) - 50)
		}
		for i, s := range processor.compare(t, a, x, y) {
			if float32(float64(a)*float64(x[i])+float64(y[i])) != s {
				halfWay++
			}
		}
	}
	if halfWay == 0 {
		t.Error("no operands were drawn on which rounding twice goes wrong")
	}
}

// compare returns the processor's a*x + y, and fails the test if the emulation differs.
func (processor axpy) compare(t *testing.T, a float32, x, y []float32) []float32 {
	got, want := append([]float32(nil), y...), append([]float32(nil), y...)
	ref.AxpyF32(got, a, x)
	processor(want, a, x)
	for i := range got {
		if !same(got[i], want[i]) {
			t.Fatalf("fma(%x, %x, %x) is %x, the processor says %x", a, x[i], y[i], got[i], want[i])
		}
	}
	return want
}
