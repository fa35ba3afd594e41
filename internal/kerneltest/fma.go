//go:build unix

package kerneltest

import (
	"math"
	"testing"

	"halfspace/asm/ref"
)

// FuzzFMA32 compares the emulation of a float32 fused multiply-add with the processor's, by a kernel whose every element is one.
func FuzzFMA32(f *testing.F, processor func(y []float32, a float32, x []float32)) {
	one := math.Float32bits(1)
	f.Add(one, one, one)
	f.Add(one+1, one+1, uint32(1))                                    // a sum just off a half-way point
	f.Add(uint32(1), uint32(1), uint32(1))                            // subnormals
	f.Add(uint32(0x00800001), uint32(0x3f000000), uint32(0x80000001)) // half-way between subnormals
	f.Add(uint32(0x7f7fffff), one+1, uint32(0xff7fffff))
	f.Fuzz(func(t *testing.T, a, x, y uint32) {
		got, want := []float32{math.Float32frombits(y)}, []float32{math.Float32frombits(y)}
		ref.AxpyF32(got, math.Float32frombits(a), []float32{math.Float32frombits(x)})
		processor(want, math.Float32frombits(a), []float32{math.Float32frombits(x)})
		if !sameNumber(got[0], want[0]) {
			t.Fatalf("fma(%x, %x, %x) is %x, the processor says %x", a, x, y, got[0], want[0])
		}
	})
}
