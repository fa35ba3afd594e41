package amd64

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	blockBytes = 2 * vectorBytes // bytes of text whose delimiters are found at a time
	eachByte   = 0x0101010101010101
	mostDigits = 23 // bytes of a number behind its sign
)

// decimals writes Decimals. The delimiters of 64 bytes are found at a time. A number is read from the vector that ends with its last
// byte. Where the number has a point, the bytes up to the point come from the vector one byte before, so that the digits lie side by side.
func (w *Writer) decimals() {
	w.begin("Decimals")
	d := decimals{Writer: w, windows: w.windows(), divisors: w.divisors(), factors: w.factors(), words: w.words(), long: w.GP64(), pointed: w.GP64(), block: w.GP64(), number: w.GP64(), ends: w.GP64(), last: w.GP64(), read: w.GP64()}
	d.values, d.forms = w.GP64(), w.GP64()
	w.Load(w.Param("values").Base(), d.values)
	w.Load(w.Param("forms").Base(), d.forms)
	text, n := w.slice("text")
	d.constants()

	w.Load(w.Param("at"), d.number)
	w.ADDQ(text, d.number)
	w.MOVQ(d.number, d.block)
	w.LEAQ(at(text, n, -blockBytes), d.last)
	w.XORL(d.read.As32(), d.read.As32())
	w.XORL(d.long.As32(), d.long.As32())
	w.XORL(d.pointed.As32(), d.pointed.As32())

	find, next, numbers, stop := w.label("find"), w.label("next"), w.label("numbers"), w.label("stop")
	w.Label(find)
	w.CMPQ(d.block, d.last)
	w.JA(ref(stop))
	d.findEnds()
	w.JMP(ref(next))
	w.Label(numbers)
	d.parse(stop)
	w.CMPQ(d.read, w.address(w.Param("values").Len()))
	w.JAE(ref(stop))
	w.Label(next)
	w.TESTQ(d.ends, d.ends)
	w.JNZ(ref(numbers))
	w.ADDQ(imm(blockBytes), d.block)
	w.JMP(ref(find))

	w.Label(stop)
	w.SUBQ(w.address(w.Param("text").Base()), d.number)
	w.Store(d.read, w.ReturnIndex(0))
	w.Store(d.number, w.ReturnIndex(1))
	w.end()
	for _, write := range d.far {
		write()
	}
}

// decimals are the registers of Decimals.
type decimals struct {
	*Writer
	windows, divisors operand.Mem
	factors           operand.Mem // a little more than 1, and a little less
	words             operand.Mem // of whole
	values, forms     reg.GPVirtual
	block, last       reg.GPVirtual // the block of text whose delimiters are in ends, and the last block of the text
	number            reg.GPVirtual // the first byte of the next number
	ends              reg.GPVirtual // a bit for each delimiter of the block behind number
	read              reg.GPVirtual // count of numbers
	long              reg.GPVirtual // not 0 after digits of 2^53 or more
	pointed           reg.GPVirtual // not 0 if there are points in the block, or in the one before

	far []func() // write instructions that are rarely reached, behind the others

	comma, newline, point, zero, nine, tens, hundreds, myriads reg.VecVirtual
}

// windows returns 32 bytes with all bits, 32 without, and 32 with all bits.
func (w *Writer) windows() operand.Mem {
	m := w.StaticGlobal("windows" + w.Suffix)
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 3 * vectorBytes / 8 {
		ones := uint64(0)
		if i*8/vectorBytes != 1 {
			ones = ^ones
		}
		w.AddDatum(8*i, operand.U64(ones))
	}
	return m
}

// divisors returns the powers of ten up to 10^22 for numbers with as many digits behind the point, and 1 at place 32. Their negatives for
// numbers with a minus begin at place 64.
func (w *Writer) divisors() operand.Mem {
	m := w.StaticGlobal("divisors" + w.Suffix)
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 64 + 33 {
		v := 0.0
		if places := i % 64; places < mostDigits || places == 32 {
			v = math.Pow10(places % 32)
		}
		if i >= 64 {
			v = -v
		}
		w.AddDatum(8*i, operand.U64(math.Float64bits(v)))
	}
	return m
}

func (w *Writer) factors() operand.Mem {
	m := w.StaticGlobal("factors" + w.Suffix)
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	w.AddDatum(0, operand.U64(math.Float64bits(1+0x1p-48)))
	w.AddDatum(8, operand.U64(math.Float64bits(1-0x1p-48)))
	return m
}

func (w *Writer) words() operand.Mem {
	m := w.StaticGlobal("words" + w.Suffix)
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, v := range []uint64{'0' * eachByte, 0x76 * eachByte, 0x80 * eachByte, 0x000000ff000000ff, 1e6<<32 + 100, 1e4<<32 + 1} {
		w.AddDatum(8*i, operand.U64(v))
	}
	return m
}

func (d *decimals) constants() {
	load := func(v uint64) reg.VecVirtual {
		r, y := d.GP64(), d.YMM()
		d.MOVQ(operand.U64(v), r)
		d.VMOVQ(r, y.AsX())
		d.VPBROADCASTQ(y.AsX(), y)
		return y
	}
	comma := d.YMM()
	d.VPBROADCASTB(d.address(d.Param("comma")), comma)
	d.comma, d.newline, d.point = comma, load('\n'*eachByte), load('.'*eachByte)
	d.zero, d.nine = load('0'*eachByte), load(9*eachByte)
	d.tens, d.hundreds, d.myriads = load(0x010a010a010a010a), load(0x0001006400010064), load(0x0001271000012710)
}

// findEnds finds the delimiters and the points of a block.
func (d *decimals) findEnds() {
	high, points := d.GP64(), d.ymms(2)
	for k, to := range []reg.GPVirtual{d.ends, high} {
		a, b := d.YMM(), d.YMM()
		d.VMOVDQU(vec(d.block, k), a)
		d.VPCMPEQB(a, d.point, points[k])
		d.VPCMPEQB(a, d.comma, b)
		d.VPCMPEQB(a, d.newline, a)
		d.VPOR(a, b, a)
		d.VPMOVMSKB(a, to.As32())
	}
	d.SHLQ(imm(vectorBytes), high)
	d.ORQ(high, d.ends)
	d.VPOR(points[0], points[1], points[0])
	d.VPMOVMSKB(points[0], high.As32())
	d.SHLQ(imm(vectorBytes), d.pointed)
	d.ORQ(high, d.pointed)
}

// parse reads a number, or jumps to stop at one that isn't plain.
func (d *decimals) parse(stop string) {
	end, length, negative := d.bounds(stop)
	// places is the number of digits behind the point, or 32 without a point.
	window, places, digits := d.GP64(), d.GP64(), d.GP64()
	d.LEAQ(d.windows, window)
	whole, general, joined := d.label("whole"), d.label("general"), d.label("joined")
	d.TESTQ(d.pointed, d.pointed)
	d.JEQ(ref(whole))
	d.Label(general)
	d.far = append(d.far, func() {
		d.Label(whole)
		d.CMPQ(length, imm(8))
		d.JA(ref(general))
		d.whole(digits, end, window, length, general)
		d.MOVL(operand.U32(vectorBytes), places.As32())
		d.JMP(ref(joined))
	})
	v, points := d.YMM(), d.YMM()
	d.VMOVDQU(mem(end, -vectorBytes), v)
	d.VPCMPEQB(v, d.point, points)
	d.VPAND(operand.Mem{Base: window, Index: length, Scale: 1, Disp: vectorBytes}, points, points)
	d.VPMOVMSKB(points, places.As32())
	d.BTSQ(imm(2*vectorBytes-1), places)
	d.BSFQ(places, places)
	d.XORL(imm(vectorBytes-1), places.As32())
	pointless := d.GP64()
	d.MOVL(places.As32(), pointless.As32())
	d.SHRL(imm(5), pointless.As32())
	d.DECQ(length)
	d.ADDQ(pointless, length)
	d.JEQ(ref(stop)) // a point without digits

	before := d.YMM()
	d.VMOVDQU(at(window, places, 0), before)
	d.VPBLENDVB(before, mem(end, -vectorBytes-1), v, v)
	d.VPSUBB(d.zero, v, v)
	d.VPAND(operand.Mem{Base: window, Index: length, Scale: 1, Disp: vectorBytes}, v, v)
	d.join(digits, v, stop)
	d.Label(joined)
	d.SHLL(imm(6), negative.As32())
	d.ORL(places.As32(), negative.As32())
	d.store(digits, end, negative)

	rest := d.GP64()
	d.LEAQ(mem(d.ends, -1), rest)
	d.ANDQ(rest, d.ends)
	d.LEAQ(mem(end, 1), d.number)
	d.CMPB(mem(end, 0), operand.U8('\n'))
	d.JEQ(ref(stop))
}

// bounds returns the end of the next number, the length behind its sign, and 1 if it has a minus. It jumps to stop if the number is too long.
func (d *decimals) bounds(stop string) (end, length, negative reg.GPVirtual) {
	end, length, negative = d.GP64(), d.GP64(), d.GP64()
	d.BSFQ(d.ends, end)
	d.ADDQ(d.block, end)
	d.MOVQ(end, length)
	d.SUBQ(d.number, length)
	d.XORL(negative.As32(), negative.As32())
	d.CMPB(mem(d.number, 0), operand.U8('-'))
	d.SETEQ(negative.As8())
	d.SUBQ(negative, length)
	unit := d.GP64()
	d.LEAQ(mem(length, -1), unit)
	d.CMPQ(unit, imm(mostDigits-1))
	d.JA(ref(stop))
	return end, length, negative
}

// store stores a number and its form. Digits below 2^53 take one rounding, in the division. From the first longer number of a call on, every
// number is divided with a remainder, so that no branch depends on the length of each.
func (d *decimals) store(digits, end, form reg.GPVirtual) {
	q := quotient{digits: digits, form: d.GP64(), high: d.GP64(), divisor: d.XMM(), rounded: d.XMM(), value: d.XMM(), long: d.label("long"), stored: d.label("stored")}
	d.MOVQ(end, q.form)
	d.SUBQ(d.address(d.Param("text").Base()), q.form)
	d.SHLL(imm(8), q.form.As32())
	d.ORL(form.As32(), q.form.As32())
	divisors := d.GP64()
	d.LEAQ(d.divisors, divisors)
	d.VMOVSD(operand.Mem{Base: divisors, Index: form, Scale: 8}, q.divisor)
	d.VCVTSI2SDQ(digits, d.zero.AsX(), q.rounded)
	d.VDIVSD(q.divisor, q.rounded, q.value)
	d.MOVQ(digits, q.high)
	d.SHRQ(imm(53), q.high)
	d.ORQ(q.high, d.long)
	d.JNE(ref(q.long))
	d.VMOVSD(q.value, operand.Mem{Base: d.values, Index: d.read, Scale: 8})
	d.Label(q.stored)
	d.MOVL(q.form.As32(), operand.Mem{Base: d.forms, Index: d.read, Scale: 4})
	d.INCQ(d.read)
	d.far = append(d.far, func() { d.divide(q) })
}

// A quotient is a number of text.
type quotient struct {
	digits, form, high      reg.GPVirtual  // high is not 0 if the digits are 2^53 or more
	divisor, rounded, value reg.VecVirtual // value is the quotient of the digits, rounded to float64, and the divisor
	long, stored            string
}

// divide stores the quotient of all digits, if it is the same for a remainder that is a little smaller and a little larger, and if it
// isn't whole. Otherwise it stores the digits.
func (d *decimals) divide(q quotient) {
	rest, lost, r, up, down := d.GP64(), d.XMM(), d.XMM(), d.XMM(), d.XMM()
	fits, whole, hard := d.label("fits"), d.label("whole"), d.label("hard")
	value := operand.Mem{Base: d.values, Index: d.read, Scale: 8}
	d.Label(q.long)
	d.VCVTTSD2SIQ(q.rounded, rest)
	d.NEGQ(rest)
	d.ADDQ(q.digits, rest)
	d.VCVTSI2SDQ(rest, d.zero.AsX(), lost)
	d.VFNMADD231SD(q.divisor, q.value, q.rounded)
	d.VADDSD(lost, q.rounded, r)
	d.VDIVSD(q.divisor, r, r)
	d.VMULSD(d.factors.Offset(0), r, up)
	d.VMULSD(d.factors.Offset(8), r, down)
	d.VADDSD(q.value, up, up)
	d.VADDSD(q.value, down, down)
	d.VUCOMISD(up, down)
	d.JNE(ref(hard))
	d.VROUNDSD(imm(3), up, up, r)
	d.VUCOMISD(r, up)
	d.JEQ(ref(whole))
	d.Label(fits)
	d.VMOVSD(up, value)
	d.JMP(ref(q.stored))
	d.Label(whole)
	d.TESTQ(q.high, q.high)
	d.JEQ(ref(fits))
	d.Label(hard)
	d.ORL(operand.U32(1<<7), q.form.As32())
	d.MOVQ(q.digits, value)
	d.JMP(ref(q.stored))
}

// whole sets digits to an integer of up to 8 digits before end, or jumps to general if something else is there (Lemire, "Number parsing at a
// gigabyte per second", 2021).
func (d *decimals) whole(digits, end, window, length reg.GPVirtual, general string) {
	t := d.GP64()
	d.MOVQ(mem(end, -8), digits)
	d.XORQ(d.words.Offset(0), digits)
	d.ANDQ(operand.Mem{Base: window, Index: length, Scale: 1, Disp: 2*vectorBytes - 8}, digits)
	d.MOVQ(digits, t)
	d.ADDQ(d.words.Offset(8), t)
	d.ORQ(digits, t)
	d.TESTQ(t, d.words.Offset(16))
	d.JNE(ref(general))
	d.LEAQ(operand.Mem{Base: digits, Index: digits, Scale: 4}, t)
	d.SHRQ(imm(8), digits)
	d.LEAQ(operand.Mem{Base: digits, Index: t, Scale: 2}, digits)
	d.MOVQ(digits, t)
	d.ANDQ(d.words.Offset(24), t)
	d.IMULQ(d.words.Offset(32), t)
	d.SHRQ(imm(16), digits)
	d.ANDQ(d.words.Offset(24), digits)
	d.IMULQ(d.words.Offset(40), digits)
	d.ADDQ(t, digits)
	d.SHRQ(imm(32), digits)
}

// join sets low to the number that the 32 digits of v make. It jumps to stop if one of them is above 9, or if the number is 922 * 10^16 or
// more.
func (d *decimals) join(low reg.GPVirtual, v reg.VecVirtual, stop string) {
	odd := d.YMM()
	d.VPSUBUSB(d.nine, v, odd)
	d.VPTEST(odd, odd)
	d.JNZ(ref(stop))
	d.VPMADDUBSW(d.tens, v, v)
	d.VPMADDWD(d.hundreds, v, v)
	d.VPACKUSDW(v, v, v)
	d.VPMADDWD(d.myriads, v, v)
	top, middle, scale := d.GP64(), d.GP64(), d.GP64()
	d.VMOVQ(v.AsX(), top) // digits 0 to 7 below digits 8 to 15
	high := d.XMM()
	d.VEXTRACTI128(imm(1), v, high)
	d.VMOVQ(high, low)
	d.RORQ(imm(32), top)
	d.CMPQ(top, operand.U32(922))
	d.JAE(ref(stop))
	d.MOVL(low.As32(), middle.As32())
	d.SHRQ(imm(32), low)
	d.IMUL3Q(operand.I32(100_000_000), middle, middle)
	d.MOVQ(operand.U64(10_000_000_000_000_000), scale)
	d.IMULQ(scale, top)
	d.ADDQ(middle, low)
	d.ADDQ(top, low)
}
