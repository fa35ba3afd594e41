package ref

import (
	"math"
	"unsafe"
)

// This file defines Exp, Sigmoid and Log1p, operation by operation. Each operation below rounds once to T, in the order
// written, and every instruction set does the same. A product that is a term of a sum is converted explicitly, so that
// no compiler fuses the two.
//
// The methods are well known. The argument is reduced to a small interval by a multiple of ln 2 in two parts (Cody and
// Waite, "Software Manual for the Elementary Functions", 1980). asm/gen/minimax finds minimax polynomials. Results are
// sums of a large and a small part, in which the last addition makes almost all of the rounding error (Muller,
// "Elementary Functions", 3rd ed. 2016).
//
// float32 functions compute in float32. Computing in vectors of float64 would have an error of 0.54 ULP, and would need
// no emulated fma here. But the kernels would be slower by half or more: with AVX2 on Zen 5, exp takes 0.30 ns for an
// element, and would take 0.45.

// A format holds the constants of an element type.
type format[T float] struct {
	mantissa        uint   // bits of a number's mantissa, without the hidden bit
	bias            uint64 // bias of a number's exponent
	integers        T      // its last bit is worth 1: adding a small number to it rounds the sum to an integer
	least, most     T      // exp returns 0 below least, and +Inf above most
	ln2High, ln2Low T
	exp             []T
}

var formatF32 = format[float32]{
	mantissa: 23, bias: 127, integers: 0x1.8p23,
	least: -104, most: 89,
	ln2High: ln2HighF32, ln2Low: ln2LowF32,
	exp: expF32[:],
}

var formatF64 = format[float64]{
	mantissa: 52, bias: 1023, integers: 0x1.8p52,
	least: -746, most: 710,
	ln2High: ln2HighF64, ln2Low: ln2LowF64,
	exp: expF64[:],
}

func formatOf[T float]() *format[T] {
	if is32[T]() {
		return (*format[T])(unsafe.Pointer(&formatF32))
	}
	return (*format[T])(unsafe.Pointer(&formatF64))
}

// bitsOf and fromBits convert a number to and from an integer. For float32, only the low 32 bits of the integer count.

func bitsOf[T float](x T) uint64 {
	if is32[T]() {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(float64(x))
}

func fromBits[T float](b uint64) T {
	if is32[T]() {
		return T(math.Float32frombits(uint32(b)))
	}
	return T(math.Float64frombits(b))
}

// polynomial returns c[0] + c[1]*x + c[2]*x*x + .... It sums terms of even and of odd order apart. len(c) is even; xx
// is x*x.
func polynomial[T float](c []T, x, xx T) T {
	even, odd := c[len(c)-2], c[len(c)-1]
	for i := len(c) - 4; i >= 0; i -= 2 {
		even = fma(even, xx, c[i])
		odd = fma(odd, xx, c[i+1])
	}
	return fma(odd, x, even)
}

// expOf returns exp(x) for x <= most. x may be NaN.
//
// x = k*ln2 + r with |r| <= ln2/2, and exp(x) = 2^k * (1 + r + r*r*p(r)). k is rounded by adding it to a number whose
// last bit has the value 1. That leaves k in the low bits as well. k*ln2High and x - k*ln2High are exact. So is the sum
// of high and low, 1 + (x - k*ln2High).
//
// 2^k is the product of two factors, since 2^k may lie beyond the normal numbers where exp(x) doesn't. Only the second
// product rounds, and only if exp(x) is subnormal.
func expOf[T float](f *format[T], x T) T {
	if x < f.least {
		x = f.least
	}
	whole := f.integers + T(2*f.bias)
	shifted := fma(x, log2E, whole)
	k := shifted - whole
	r1 := fma(-k, f.ln2High, x)
	r := fma(-k, f.ln2Low, r1)
	rr := r * r
	p := polynomial(f.exp, r, rr)

	high := 1 + r1
	low := r1 - (high - 1)
	low = fma(-k, f.ln2Low, low)
	low = fma(rr, p, low)

	half := fma(k, 0.5, f.integers+T(f.bias))
	scale1 := fromBits[T](bitsOf(half) << f.mantissa)
	scale2 := fromBits[T]((bitsOf(shifted) - bitsOf(half)) << f.mantissa)
	return T((high + low) * scale1 * scale2)
}

func exp[T float](y, x []T) {
	f := formatOf[T]()
	for i, v := range x {
		if v > f.most {
			v = f.most
		}
		y[i] = expOf(f, v)
	}
}

// SigmoidF64 is 1/(1 + exp(-x)) for x >= 0 and exp(x)/(1 + exp(x)) below, which keeps the small tail accurate.
func SigmoidF64(y, x []float64) {
	f := &formatF64
	for i, v := range x {
		e := expOf(f, -math.Abs(v))
		numerator := 1.0
		if v < 0 {
			numerator = e
		}
		y[i] = numerator / (1 + e)
	}
}

// log1pOf is log(1+x) for x > -1 except zero and infinity.
//
// Let 1+x = 2^k * (1+g) with -1/4 <= g <= 1/2. Then log(1+g) = 2*atanh(s) = g - g*g/2 + s*(g*g/2 + z*p(z)) with s =
// g/(2+g) and z = s*s (as in fdlibm by Sun Microsystems, 1993). k comes from the rounded sum 1+x, and g from x itself.
// g is exact, unless k is so large that its last bits don't matter. It is computed as 4*g so that no factor is
// subnormal. k*ln2High is exact, and so is the sum of high and low, k*ln2High + g.
func log1pOf(x float64) float64 {
	f := &formatF64
	hidden := uint64(1) << f.mantissa
	exponent := (math.Float64bits(1+x) + hidden/2) & ((2*f.bias + 1) * hidden)
	k := float64(int(exponent/hidden) - int(f.bias))
	scale := math.Float64frombits((2*f.bias+2)*hidden - exponent)
	g := float64(0.25 * fma(x, scale, scale-4))

	kLn2 := float64(k * f.ln2High)
	high := kLn2 + g
	low := (kLn2 - high) + g
	low = fma(k, f.ln2Low, low)

	s := g / (2 + g)
	z := s * s
	half := 0.5 * g
	low += float64(s * fma(z, polynomial(log1pF64[:], z, z*z), half*g))
	return high + fma(-half, g, low)
}

func Log1pF64(y, x []float64) {
	for i, v := range x {
		switch {
		case v < -1:
			y[i] = math.NaN()
		case v == -1:
			y[i] = math.Inf(-1)
		case v == v+v: // zero, which keeps its sign, or infinity
			y[i] = v
		default:
			y[i] = log1pOf(v)
		}
	}
}

func LogisticF64(z, factor, curvature, loss, y []float64) {
	f := &formatF64
	for i, label := range y {
		m := label * z[i]
		e := expOf(f, -math.Abs(m))
		r := 1 / (1 + e)
		t := e * r
		wrong := t
		if m < 0 {
			wrong = r
		}
		z[i], factor[i], curvature[i] = m, -float64(wrong*label), t*r
		loss[i] = log1pOf(e) + max(0, -m)
	}
}
