package ref

import "math"

// fma32 returns x*y + z rounded once to float32, as a fused multiply-add of the hardware does.
//
// The product of two float32 is exact in float64 (24+24 bits fit in 53). So s below is the exact sum rounded once to
// float64. Narrowing s rounds a second time. That differs from one rounding only if s is exactly half-way between two
// float32, or if the result is subnormal (there the half-way points are at other bits). fma32Slow handles these rare
// cases. A compiler may fuse the line of s, since the product is exact.
func fma32(x, y, z float32) float32 {
	s := float64(x)*float64(y) + float64(z)
	b := math.Float64bits(s)
	if b&(1<<29-1) != 1<<28 && b<<1 >= minNormal32<<1 {
		return float32(s)
	}
	return fma32Slow(x, y, z)
}

// minNormal32 is the smallest normal float32, 2^-126, as the bits of a float64.
const minNormal32 = (1023 - 126) << 52

// fma32Slow rounds the sum to odd before it narrows: if the float64 sum is inexact and its last bit is even, its
// neighbour towards the exact sum replaces it. A value rounded to odd with at least two more bits than the target
// narrows correctly (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
// rounding to odd", 2008). float64 has 29 bits more than a normal float32 and more than that below.
func fma32Slow(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := float64(p) + c
	if s == 0 || math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	// Knuth's two-sum: s + e is exactly p + c.
	t := s - p
	e := (p - (s - t)) + (c - t)
	if e != 0 {
		b := math.Float64bits(s)
		if b&1 == 0 {
			if (e > 0) == (s > 0) {
				b++
			} else {
				b--
			}
			s = math.Float64frombits(b)
		}
	}
	return float32(s)
}
