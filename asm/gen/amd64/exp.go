package amd64

import (
	"math"

	"github.com/mmcloughlin/avo/reg"

	"halfspace/asm/gen/elementary"
)

// The functions below are asm/ref/exp.go, operation by operation. That file says what the variables mean.

// A format holds the constants of an element type.
type format struct {
	mantissa             int
	bias                 uint64
	integers             float64
	least, most          float64
	ln2High, ln2Low      float64
	expTerms, log1pTerms []float64
}

var formatF32 = format{
	mantissa: 23, bias: 127, integers: 0x1.8p23,
	least: -104, most: 89,
	ln2High: elementary.Ln2HighF32, ln2Low: elementary.Ln2LowF32,
	expTerms: widen(elementary.ExpF32[:]),
}

var formatF64 = format{
	mantissa: 52, bias: 1023, integers: 0x1.8p52,
	least: -746, most: 710,
	ln2High: elementary.Ln2HighF64, ln2Low: elementary.Ln2LowF64,
	expTerms: elementary.ExpF64[:], log1pTerms: elementary.Log1pF64[:],
}

func widen(c []float32) (wide []float64) {
	for _, v := range c {
		wide = append(wide, float64(v))
	}
	return wide
}

// formatOf returns the constants of the element type.
func (w *Writer) formatOf() format {
	if w.Size == 4 {
		return formatF32
	}
	return formatF64
}

func (w *Writer) exp() {
	f := w.formatOf()
	w.elementwise("Exp", func(e *elements) lanes {
		return e.exp(f, e.below(e.load(), f.most))
	})
}

func (w *Writer) sigmoid() {
	w.elementwise("Sigmoid", func(e *elements) lanes { return e.sigmoidOf(e.load) })
}

// sigmoidOf loads x twice, since exp needs all registers. The sign bit selects.
func (e *elements) sigmoidOf(load func() lanes) lanes {
	minus := e.get(e.pick(e.VORPS, e.VORPD), e.bits(1<<(8*e.Size-1)), load())
	x := e.exp(e.formatOf(), minus)
	numerator := e.blend(e.negative(load()), x, e.copyOf(e.c(1)))
	return e.div(numerator, e.add(x, e.c(1)))
}

func (w *Writer) log1p() {
	f := w.formatOf()
	w.elementwise("Log1p", func(e *elements) lanes {
		return e.log1pSpecials(e.log1p(f, e.load()), e.load())
	})
}

// logistic stores intermediate values and loads them again, since exp and log1p need all registers.
func (w *Writer) logistic() {
	f, e := w.formatOf(), w.elements()
	w.begin("Logistic")
	var z reg.GPVirtual
	z, e.n = w.slice("z")
	bases := []reg.GPVirtual{z}
	for _, name := range []string{"y", "factor", "curvature", "loss"} {
		base := w.GP64()
		w.Load(w.Param(name).Base(), base)
		bases = append(bases, base)
	}
	y, factor, curvature, loss := bases[1], bases[2], bases[3], bases[4]
	sign := e.bits(1 << 63)
	e.each(bases, func() {
		m := e.mul(e.loadFrom(z), e.loadFrom(y))
		e.store(m, z)
		x := e.exp(f, e.get(e.VORPD, sign, m))
		r := e.div(e.copyOf(e.c(1)), e.add(x, e.c(1)))
		t := e.mul(x, r)
		e.store(e.mul(t, r), curvature)
		wrong := e.blend(e.negative(e.loadFrom(z)), r, t)
		e.store(e.get(e.VXORPD, sign, e.mul(wrong, e.loadFrom(y))), factor)
		l := e.log1p(f, x)
		away := e.above(e.get(e.VXORPD, sign, e.loadFrom(z)), 0)
		e.store(e.add(l, away), loss)
	})
	w.end()
}

// exp computes exp as asm/ref does.
func (e *elements) exp(f format, x lanes) lanes {
	x = e.above(x, f.least)
	whole := e.c(f.integers + 2*float64(f.bias))
	shifted := e.copyOf(e.c(elementary.Log2E))
	e.fmaBy(shifted, x, whole)
	k := e.sub(shifted, whole)
	e.fnma(k, e.c(f.ln2High), x)
	r := e.copyOf(x)
	e.fnma(k, e.c(f.ln2Low), r)
	rr := e.mul(r, r)
	p := e.polynomial(f.expTerms, r, rr)

	high := e.add(x, e.c(1))
	low := e.sub(x, e.sub(high, e.c(1)))
	e.fnma(k, e.c(f.ln2Low), low)
	e.fma(p, rr, low)
	sum := e.add(high, low)

	if e.wide() { // AVX-512 scales by any power in one instruction, rounding once
		return e.get(e.pick(e.VSCALEFPS, e.VSCALEFPD), k, sum)
	}
	half := e.copyOf(e.c(0.5))
	e.fmaBy(half, k, e.c(f.integers+float64(f.bias)))
	rest := e.get(e.pick(e.VPSUBD, e.VPSUBQ), half, shifted)
	shift := e.pick(e.VPSLLD, e.VPSLLQ)
	scale1 := e.get(shift, imm(f.mantissa), half)
	scale2 := e.get(shift, imm(f.mantissa), rest)
	return e.mul(e.mul(sum, scale1), scale2)
}

// log1p computes log1p as asm/ref does. To make a number of the exponent, it replaces the last bits of 2^mantissa by it.
func (e *elements) log1p(f format, x lanes) lanes {
	hidden := uint64(1) << f.mantissa
	exponent := e.get(e.pick(e.VPADDD, e.VPADDQ), e.bits(hidden/2), e.add(x, e.c(1)))
	e.do(e.pick(e.VANDPS, e.VANDPD), e.bits((2*f.bias+1)*hidden), exponent, exponent)
	k := e.get(e.pick(e.VPSRLD, e.VPSRLQ), imm(f.mantissa), exponent)
	e.do(e.pick(e.VORPS, e.VORPD), e.c(float64(hidden)), k, k)
	e.do(e.pick(e.VSUBPS, e.VSUBPD), e.c(float64(hidden+f.bias)), k, k)
	scale := e.copyOf(e.bits((2*f.bias + 2) * hidden))
	e.do(e.pick(e.VPSUBD, e.VPSUBQ), exponent, scale, scale)
	g := e.sub(scale, e.c(4))
	e.fma(x, scale, g)
	g = e.mul(g, e.c(0.25))

	s := e.div(g, e.add(g, e.c(2)))
	z := e.mul(s, s)
	p := e.polynomial(f.log1pTerms, z, e.mul(z, z))
	half := e.mul(g, e.c(0.5))
	t := e.mul(g, half)
	e.fma(z, p, t)

	kLn2 := e.mul(k, e.c(f.ln2High))
	high := e.add(kLn2, g)
	low := e.add(g, e.sub(kLn2, high))
	e.fma(k, e.c(f.ln2Low), low)
	low = e.add(low, e.mul(s, t))
	e.fnma(half, g, low)
	return e.add(high, low)
}

// log1pSpecials returns y, but x where it is a zero or infinite, -Inf where it is -1, and NaN where it is less.
func (e *elements) log1pSpecials(y, x lanes) lanes {
	y = e.blend(e.compare(equal, x, e.add(x, x)), x, y)
	y = e.blend(e.compare(equal, x, e.c(-1)), e.c(math.Inf(-1)), y)
	return e.blend(e.compare(less, x, e.c(-1)), e.c(math.NaN()), y)
}
