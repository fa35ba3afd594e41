package ref

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"halfspace/internal/require"
)

// TestFMA32Exact compares the emulation with exact arithmetic, rounded once by math/big. Many sums lie half-way between two float32,
// or so close that rounding twice goes wrong.
func TestFMA32Exact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func() float32 {
		for {
			v := math.Float32frombits(rng.Uint32())
			if rng.IntN(2) == 0 { // few significant bits: half-way cases
				v = float32(math.Ldexp(float64(rng.IntN(64)-32), rng.IntN(240)-150))
			}
			if v-v == 0 {
				return v
			}
		}
	}
	rounds, twice := 2_000_000, 0
	if require.Small() {
		rounds /= 10
	}
	for range rounds {
		x, y := draw(), draw()
		z := draw()
		if rng.IntN(2) == 0 { // near the product, so that they interact
			z = float32(math.Ldexp(float64(x)*float64(y), rng.IntN(60)-30))
			if z-z != 0 {
				continue
			}
		}
		sum := new(big.Float).SetPrec(1200).SetFloat64(float64(x))
		sum.Mul(sum, big.NewFloat(float64(y)))
		sum.Add(sum, big.NewFloat(float64(z)))
		want, _ := sum.Float32()
		if got := fma32(x, y, z); got != want {
			t.Fatalf("fma(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
		if float32(float64(x)*float64(y)+float64(z)) != want {
			twice++
		}
	}
	if twice < rounds/1000 {
		t.Errorf("rounding twice goes wrong in %d of %d cases", twice, rounds)
	}
}

// TestDotOrder computes the contract's order for two short vectors that reveal any other order.
func TestDotOrder(t *testing.T) {
	const big = 1 << 25 // big + 1 isn't a float32
	x := make([]float32, 40)
	for i := range x {
		x[i] = 1
	}
	y := make([]float32, 40)
	y[0], y[32], y[16] = big, 1, -big // lane 0 takes big, then 1 is lost; lane 16 is folded last but one
	y[1], y[17] = 1, 1
	// Lane 0: fma(1, 1, big) = big; folded at h = 16: big - big = 0, and lane 1: 1 + 1 = 2. The sum is 2; in plain
	// order it would be (big + 1) + ... + (-big) + ... = 2 only by another rounding, and 3 exactly.
	if got := DotF32(x, y); got != 2 {
		t.Errorf("Dot = %v, want 2", got)
	}
	if got := DotF32(nil, nil); got != 0 || math.Signbit(float64(got)) {
		t.Errorf("Dot of nothing = %v, want +0", got)
	}
}

// TestPaddedTail: lanes that underflowed to -0 become +0 when the tail is padded, as adding 0*0 makes them.
func TestPaddedTail(t *testing.T) {
	x, y := make([]float64, 17), make([]float64, 17)
	for i := range 16 {
		x[i], y[i] = -0x1p-600, 0x1p-600
	}
	if got := DotF64(x[:16], y[:16]); got != 0 || !math.Signbit(got) {
		t.Errorf("a full round of underflows gives %v, want -0", got)
	}
	if got := DotF64(x, y); got != 0 || math.Signbit(got) {
		t.Errorf("a padded round after it gives %v, want +0", got)
	}
}
