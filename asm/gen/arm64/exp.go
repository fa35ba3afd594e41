package arm64

import (
	"math"

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
	expTerms: widened(elementary.ExpF32[:]),
}

var formatF64 = format{
	mantissa: 52, bias: 1023, integers: 0x1.8p52,
	least: -746, most: 710,
	ln2High: elementary.Ln2HighF64, ln2Low: elementary.Ln2LowF64,
	expTerms: elementary.ExpF64[:], log1pTerms: elementary.Log1pF64[:],
}

func widened(c []float32) (wide []float64) {
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
		x := e.load()
		e.do(e.lesser, x, e.c(f.most), x)
		return e.exp(f, x)
	})
}

func (w *Writer) sigmoid() {
	w.elementwise("Sigmoid", func(e *elements) lanes { return e.sigmoidOf(e.load) })
}

// sigmoidOf loads x twice, since exp needs all registers. The numerator of a zero is its exp, which is 1.
func (e *elements) sigmoidOf(load func() lanes) lanes {
	x := load()
	e.do(e.or, x, e.bits(1<<(8*e.Size-1)), x)
	x = e.exp(e.formatOf(), x)
	numerator := load()
	for _, v := range numerator {
		e.positives(v, v)
	}
	e.do(e.choose, x, e.c(1), numerator)
	e.do(e.add, x, e.c(1), x)
	e.do(e.div, numerator, x, x)
	return x
}

func (w *Writer) log1p() {
	f := w.formatOf()
	w.elementwise("Log1p", func(e *elements) lanes {
		y := e.log1p(f, e.load())
		return e.log1pSpecials(y, e.load())
	})
}

// logistic stores intermediate values and loads them again, since exp and log1p need all registers.
func (w *Writer) logistic() {
	f := w.formatOf()
	w.begin("Logistic", 5*groupBytes+aboveSP-8)
	y, n := w.slice("y")
	bases := []gp{y}
	for _, name := range []string{"z", "factor", "curvature", "loss"} {
		bases = append(bases, w.load(w.param(name).Base()))
	}
	w.each(bases, 2, 4, n, func(e *elements, bases []gp) {
		sign := e.bits(1 << 63)
		y, z, factor, curvature, loss := bases[0], bases[1], bases[2], bases[3], bases[4]
		store := func(v lanes, base gp) {
			e.st(mem{base, 0}, v...)
			e.drop(v)
		}
		m, labels := e.loadFrom(z), e.loadFrom(y)
		e.do(e.mul, labels, m, m)
		e.drop(labels)
		e.st(mem{z, 0}, m...)
		e.do(e.or, m, sign, m)
		x := e.exp(f, m)
		r := e.get(e.add, x, e.c(1))
		one := e.all(e.c(1))
		e.do(e.div, one, r, r)
		e.drop(one)
		t := e.get(e.mul, x, r)
		store(e.get(e.mul, t, r), curvature)
		wrong := e.loadFrom(z)
		e.do(e.less, wrong, e.c(0), wrong)
		e.do(e.choose, t, r, wrong)
		e.drop(t, r)
		labels = e.loadFrom(y)
		e.do(e.mul, wrong, labels, labels)
		e.drop(wrong)
		e.do(e.exclusive, labels, sign, labels)
		store(labels, factor)
		l := e.log1p(f, x)
		away := e.loadFrom(z)
		e.do(e.exclusive, away, sign, away)
		e.do(e.greater, away, e.c(0), away)
		e.do(e.add, l, away, l)
		e.drop(away)
		store(l, loss)
	})
}

// exp computes exp as asm/ref does. It overwrites x.
func (e *elements) exp(f format, x lanes) lanes {
	e.do(e.greater, x, e.c(f.least), x)
	whole := e.c(f.integers + 2*float64(f.bias))
	shifted := e.all(whole)
	e.do(e.fma, x, e.c(elementary.Log2E), shifted)
	k := e.get(e.sub, shifted, whole)
	e.do(e.fnma, k, e.c(f.ln2High), x)
	r := e.copyOf(x)
	e.do(e.fnma, k, e.c(f.ln2Low), r)
	rr := e.get(e.mul, r, r)
	p := e.polynomial(f.expTerms, r, rr)
	e.drop(r)

	high := e.get(e.add, x, e.c(1))
	low := e.get(e.sub, high, e.c(1))
	e.do(e.sub, x, low, low)
	e.do(e.fnma, k, e.c(f.ln2Low), low)
	e.do(e.fma, rr, p, low)
	sum := e.get(e.add, high, low)
	e.drop(x, rr, p, high, low)

	half := e.all(e.c(f.integers + float64(f.bias)))
	e.do(e.fma, k, e.c(0.5), half)
	e.do(e.subInts, shifted, half, shifted)
	for _, scale := range []lanes{half, shifted} {
		e.shift("VSHL", f.mantissa, scale, scale)
		e.do(e.mul, sum, scale, sum)
	}
	e.drop(k, half, shifted)
	return sum
}

// log1p computes log1p as asm/ref does. To make a number of the exponent, it replaces the last bits of 2^mantissa by it.
func (e *elements) log1p(f format, x lanes) lanes {
	hidden := uint64(1) << f.mantissa
	exponent := e.get(e.add, x, e.c(1))
	e.do(e.addInts, exponent, e.bits(hidden/2), exponent)
	e.do(e.and, exponent, e.bits((2*f.bias+1)*hidden), exponent)
	k := e.newLanes()
	e.shift("VUSHR", f.mantissa, exponent, k)
	e.do(e.or, k, e.c(float64(hidden)), k)
	e.do(e.sub, k, e.c(float64(hidden+f.bias)), k)
	scale := e.all(e.bits((2*f.bias + 2) * hidden))
	e.do(e.subInts, scale, exponent, scale)
	g := e.get(e.sub, scale, e.c(4))
	e.do(e.fma, x, scale, g)
	e.do(e.mul, g, e.c(0.25), g)
	e.drop(x, exponent, scale)

	s := e.get(e.add, g, e.c(2))
	e.do(e.div, g, s, s)
	z := e.get(e.mul, s, s)
	zz := e.get(e.mul, z, z)
	p := e.polynomial(f.log1pTerms, z, zz)
	e.drop(zz)
	half := e.get(e.mul, g, e.c(0.5))
	t := e.get(e.mul, g, half)
	e.do(e.fma, z, p, t)
	e.do(e.mul, s, t, t)
	e.drop(s, z, p)

	kLn2 := e.get(e.mul, k, e.c(f.ln2High))
	high := e.get(e.add, kLn2, g)
	low := e.get(e.sub, kLn2, high)
	e.do(e.add, low, g, low)
	e.do(e.fma, k, e.c(f.ln2Low), low)
	e.do(e.add, low, t, low)
	e.do(e.fnma, half, g, low)
	e.do(e.add, high, low, high)
	e.drop(k, g, half, t, kLn2, low)
	return high
}

// log1pSpecials returns y, but x where it is a zero or infinite, -Inf where it is -1, and NaN where it is less. It
// overwrites y.
func (e *elements) log1pSpecials(y, x lanes) lanes {
	twice := e.get(e.add, x, x)
	y = e.blend(e.get(e.equal, x, twice), x, y)
	y = e.blend(e.get(e.equal, x, e.c(-1)), e.c(math.Inf(-1)), y)
	y = e.blend(e.get(e.less, x, e.c(-1)), e.c(math.NaN()), y)
	e.drop(x, twice)
	return y
}
