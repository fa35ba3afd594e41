//go:build !noasm && unix

package avx2_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/asm/avx2"
	"halfspace/asm/ref"
	"halfspace/internal/kerneltest"
)

var (
	f32 = kerneltest.Set[float32]{
		Dot:            avx2.DotF32,
		Axpy:           avx2.AxpyF32,
		Scores:         avx2.ScoresF32,
		Epoch:          avx2.EpochF32,
		EpochIndexed:   avx2.EpochIndexedF32,
		Transpose:      avx2.TransposeF32,
		MaxSquaredNorm: avx2.MaxSquaredNormF32,
		Errors:         avx2.ErrorsF32,
		Tile:           avx2.TileF32,
		MR:             avx2.MRF32, NR: avx2.NRF32,
	}
	f64 = kerneltest.Set[float64]{
		Dot:            avx2.DotF64,
		Axpy:           avx2.AxpyF64,
		Scores:         avx2.ScoresF64,
		Epoch:          avx2.EpochF64,
		EpochIndexed:   avx2.EpochIndexedF64,
		Transpose:      avx2.TransposeF64,
		MaxSquaredNorm: avx2.MaxSquaredNormF64,
		Errors:         avx2.ErrorsF64,
		Tile:           avx2.TileF64,
		MR:             avx2.MRF64, NR: avx2.NRF64,
	}
)

func TestF32(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.Run(t, f32, kerneltest.F32)
}

func TestF64(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.Run(t, f64, kerneltest.F64)
}

// FuzzFMA32 holds the emulation of a float32 fused multiply-add against the processor's.
func FuzzFMA32(f *testing.F) {
	kerneltest.Need(f, "avx2")
	one := math.Float32bits(1)
	f.Add(one, one, one)
	f.Add(one+1, one+1, uint32(1))                                    // a sum just off a half-way point
	f.Add(uint32(1), uint32(1), uint32(1))                            // subnormals
	f.Add(uint32(0x00800001), uint32(0x3f000000), uint32(0x80000001)) // half-way between subnormals
	f.Add(uint32(0x7f7fffff), one+1, uint32(0xff7fffff))
	f.Fuzz(func(t *testing.T, a, x, y uint32) {
		got, want := []float32{math.Float32frombits(y)}, []float32{math.Float32frombits(y)}
		ax := math.Float32frombits(a)
		xs := []float32{math.Float32frombits(x)}
		ref.AxpyF32(ax, xs, got)
		avx2.AxpyF32(ax, xs, want)
		if g, w := got[0], want[0]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("fma(%x, %x, %x) is %x, the processor says %x", a, x, y, math.Float32bits(g), math.Float32bits(w))
		}
	})
}

// TestFMA32HalfWay draws operands with few significant bits and close exponents, whose sums often lie exactly half-way
// between two float32, or a hair beside it, where rounding twice goes wrong; subnormal results included.
func TestFMA32HalfWay(t *testing.T) {
	kerneltest.Need(t, "avx2")
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
		got, want := append([]float32(nil), y...), append([]float32(nil), y...)
		ref.AxpyF32(a, x, got)
		avx2.AxpyF32(a, x, want)
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("fma(%x, %x, %x) is %x, the processor says %x", a, x[i], y[i], got[i], want[i])
			}
			if float32(float64(a)*float64(x[i])+float64(y[i])) != want[i] {
				halfWay++
			}
		}
	}
	if halfWay == 0 {
		t.Error("no operands were drawn on which rounding twice goes wrong")
	}
}
