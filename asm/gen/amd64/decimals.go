package amd64

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	blockBytes = 2 * vectorBytes // bytes of text whose delimiters are found at a time
	eachByte   = 0x0101010101010101
	mostDigits = 23 // bytes of a number behind its sign

	tens, hundreds, myriads = 0x010a010a010a010a, 0x0001006400010064, 0x0001271000012710 // factors of digits, and of pairs and fours of digits
)

// decimals writes Decimals. The delimiters of 64 bytes are found at a time. Four numbers of up to 8 bytes behind their signs are read at a
// time. A longer number is read from the vector that ends with its last byte. Where a number has a point, the bytes up to the point are moved
// by one byte, so that the digits lie side by side.
func (w *Writer) decimals() {
	w.begin("Decimals")
	d := decimals{Writer: w, vectors: map[uint64]operand.Mem{}, windows: w.windows(), divisors: w.divisors(), factors: w.factors(), long: w.GP64(), block: w.GP64(), number: w.GP64(), ends: w.GP64(), last: w.GP64(), line: w.GP64(), read: w.GP64()}
	text, n := w.slice("text")
	d.constants()

	w.Load(w.Param("at"), d.number)
	w.ADDQ(text, d.number)
	w.LEAQ(at(text, n, -blockBytes), d.last)
	w.XORL(d.read.As32(), d.read.As32())
	w.XORL(d.long.As32(), d.long.As32())

	find, four, few, one, stop := w.label("find"), w.label("four"), w.label("few"), w.label("one"), w.label("stop")
	w.Label(find)
	w.CMPQ(d.number, d.last)
	w.JA(ref(stop))
	w.MOVQ(d.number, d.block)
	d.findEnds()
	w.TESTQ(d.ends, d.ends)
	w.JEQ(ref(stop))

	w.Label(four)
	d.four(few, one)
	w.JMP(ref(four))

	w.Label(few) // fewer than four delimiters are left in the block, or fewer than four numbers may be read
	w.CMPQ(d.read, w.address(w.Param("values").Len()))
	w.JAE(ref(stop))
	w.TESTQ(d.line, d.line)
	w.JNZ(ref(one))
	w.CMPQ(d.number, d.block)
	w.JNE(ref(find))
	w.Label(one)
	w.TESTQ(d.ends, d.ends)
	none := w.label("none")
	w.JEQ(ref(none))
	d.parse(stop)
	w.CMPQ(d.read, w.address(w.Param("values").Len()))
	w.JB(ref(one))
	w.JMP(ref(stop))
	w.Label(none)
	w.TESTQ(d.line, d.line)
	w.JEQ(ref(find))

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
	factors           operand.Mem   // a little more than 1, and a little less
	block, last       reg.GPVirtual // the block of text whose delimiters are in ends, and the last block of the text
	number            reg.GPVirtual // the first byte of the next number
	ends              reg.GPVirtual // a bit for each delimiter of the block behind number, up to the line break
	line              reg.GPVirtual // not 0 if the block has a line break that stops
	read              reg.GPVirtual // count of numbers
	long              reg.GPVirtual // not 0 after digits of 2^53 or more

	vectors map[uint64]operand.Mem // see lanes

	far []func() // write instructions that are rarely reached, behind the others

	comma, zero reg.VecVirtual // in each byte
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

func (d *decimals) constants() {
	d.comma, d.zero = d.YMM(), d.YMM()
	d.VPBROADCASTB(d.address(d.Param("comma")), d.comma)
	d.VMOVDQU(d.lanes('0'*eachByte), d.zero)
}

// findEnds finds the delimiters of a block, and none behind the first byte of the last block. If stop has all bits, it finds those up to the
// first line break, and of a carriage return and a line feed, the former is the delimiter. If stop is 0, line feeds are delimiters.
func (d *decimals) findEnds() {
	returns, feeds := d.GP64(), d.GP64()
	text := d.ymms(2)
	for k, v := range text {
		d.VMOVDQU(vec(d.block, k), v)
	}
	d.find(d.ends, text, func(v, found reg.VecVirtual) { d.VPCMPEQB(v, d.comma, found) })
	d.find(d.line, text, func(v, found reg.VecVirtual) { d.VPCMPEQB(d.lanes('\n'*eachByte), v, found) })
	d.find(returns, text, func(v, found reg.VecVirtual) { d.VPCMPEQB(d.lanes('\r'*eachByte), v, found) })
	stop := d.address(d.Param("stop"))
	d.ORQ(d.line, d.ends)
	d.ANDQ(stop, d.line)
	d.MOVQ(d.line, feeds)
	d.SHRQ(imm(1), feeds)
	d.ANDQ(returns, feeds)
	d.ORQ(feeds, d.line)
	d.ORQ(feeds, d.ends)
	upTo := d.GP64()
	d.BLSMSKQ(d.line, upTo) // all bits where there is no line break
	d.ANDQ(upTo, d.ends)
	near, found := d.label("near"), d.label("found")
	d.MOVQ(d.last, reg.RCX)
	d.SUBQ(d.block, reg.RCX)
	d.CMPQ(reg.RCX, imm(blockBytes-1))
	d.JB(ref(near))
	d.Label(found)
	d.far = append(d.far, func() {
		d.Label(near)
		d.NOTQ(reg.RCX)
		d.SHLQ(reg.CL, d.ends) // by 63 minus the distance
		d.SHRQ(reg.CL, d.ends)
		d.JMP(ref(found))
	})
}

// find sets a bit of to for each byte of the two vectors of text that compare finds.
func (d *decimals) find(to reg.GPVirtual, text []reg.VecVirtual, compare func(v, found reg.VecVirtual)) {
	high := d.GP64()
	for k, half := range []reg.GPVirtual{to, high} {
		found := d.YMM()
		compare(text[k], found)
		d.VPMOVMSKB(found, half.As32())
	}
	d.SHLQ(imm(vectorBytes), high)
	d.ORQ(high, to)
}

// lanes returns the memory of a vector of a number in each lane of 64 bits.
func (d *decimals) lanes(v uint64) operand.Mem {
	m, ok := d.vectors[v]
	if !ok {
		m = d.StaticGlobal(fmt.Sprintf("lanes%x%s", v, d.Suffix))
		d.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range vectorBytes / 8 {
			d.AddDatum(8*i, operand.U64(v))
		}
		d.vectors[v] = m
	}
	return m
}

// powers returns 10^7, 10^6 and so on to 1 as float32, which hold them exactly.
func (d *decimals) powers() operand.Mem {
	m := d.StaticGlobal("powers" + d.Suffix)
	d.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		d.AddDatum(4*i, operand.U32(math.Float32bits(float32(math.Pow10(7-i)))))
	}
	return m
}

// evenHalves returns the numbers of the dwords that are the lower halves of lanes.
func (d *decimals) evenHalves() operand.Mem {
	m := d.StaticGlobal("evens" + d.Suffix)
	d.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		d.AddDatum(4*i, operand.U32(2*i%8))
	}
	return m
}

// result is the memory of the next element of a parameter.
func (d *decimals) result(name string, size uint8) operand.Mem {
	base := d.GP64()
	d.Load(d.Param(name).Base(), base)
	return operand.Mem{Base: base, Index: d.read, Scale: size}
}

// four reads four numbers. It jumps to few if there aren't as many, and to one if a number is longer than 8 bytes behind its sign or
// isn't plain.
func (d *decimals) four(few, one string) {
	ends, rest := d.fourEnds(few, one)
	f := d.load(ends, one)
	d.sign(&f)
	d.closeUp(&f)
	d.check(f, one)
	d.quotients(&f)
	d.fourForms(f)
	d.ADDQ(imm(4), d.read)
	d.BLSRQ(rest, d.ends)
	d.LEAQ(at(d.block, ends[3], 1), d.number)
}

// fours are four numbers, each in a lane of 64 bits.
type fours struct {
	x      reg.VecVirtual // first the 8 bytes before the end, without '0', then digits alone
	end    reg.VecVirtual // position in the block
	bits   reg.VecVirtual // 8 times the number of bytes with the delimiter
	shift  reg.VecVirtual // 8 times the number of bytes of the lane before the number
	minus  reg.VecVirtual // all bits of a lane with a minus
	whole  reg.VecVirtual // all bits of a lane without a point
	before reg.VecVirtual // all bits of the bytes before the point
	evens  reg.VecVirtual // the numbers of the lower halves of lanes
}

// fourEnds returns the positions of the next four delimiters in the block, and rest, whose first bit is the last of them.
func (d *decimals) fourEnds(few, one string) (ends [4]reg.GPVirtual, rest reg.GPVirtual) {
	rest = d.GP64()
	d.LEAQ(mem(d.read, 4), rest)
	d.CMPQ(rest, d.address(d.Param("values").Len()))
	d.JA(ref(few))
	d.MOVQ(d.ends, rest)
	for i := range ends {
		ends[i] = d.GP64()
		d.TZCNTQ(rest, ends[i])
		if i < 3 {
			d.BLSRQ(rest, rest)
		}
	}
	d.TESTQ(rest, rest)
	d.JEQ(ref(few))
	span := d.GP64()
	d.LEAQ(at(d.block, ends[3], 0), span)
	d.SUBQ(d.number, span)
	d.CMPQ(span, imm(4*9+3)) // four signs and four times 8 bytes, with three delimiters
	d.JA(ref(one))
	return ends, rest
}

// load loads the 8 bytes before each delimiter.
func (d *decimals) load(ends [4]reg.GPVirtual, one string) (f fours) {
	f = fours{x: d.YMM(), end: d.YMM(), bits: d.YMM(), shift: d.YMM()}
	texts, places := [2]reg.VecVirtual{d.XMM(), d.XMM()}, [2]reg.VecVirtual{d.XMM(), d.XMM()}
	for i := range texts {
		d.VMOVQ(at(d.block, ends[2*i], -8), texts[i])
		d.VPINSRQ(imm(1), at(d.block, ends[2*i+1], -8), texts[i], texts[i])
		d.VMOVQ(ends[2*i], places[i])
		high := d.XMM()
		d.VMOVQ(ends[2*i+1], high)
		d.VPUNPCKLQDQ(high, places[i], places[i])
	}
	d.VINSERTI128(imm(1), texts[1], texts[0].AsY(), f.x)
	d.VINSERTI128(imm(1), places[1], places[0].AsY(), f.end)
	before, former, first := d.GP64(), d.YMM(), d.YMM() // the delimiter before the first number, and before each
	d.LEAQ(mem(d.number, -1), before)
	d.SUBQ(d.block, before)
	d.VMOVQ(before, first.AsX())
	d.VPERMQ(operand.U8(0x90), f.end, former) // lanes 0, 0, 1, 2
	d.VPBLENDD(imm(3), first, former, former)
	d.VPSUBQ(former, f.end, f.bits)
	d.VPSLLQ(imm(3), f.bits, f.bits)
	d.VMOVDQU(d.lanes(72), f.shift)
	d.VPSUBQ(f.bits, f.shift, f.shift)
	long := d.GP64()
	d.VMOVMSKPD(f.shift, long.As32())
	d.TESTL(long.As32(), long.As32())
	d.JNZ(ref(one))
	d.VPXOR(d.zero, f.x, f.x)
	return f
}

// sign finds and clears the minuses, and clears the bytes before the numbers.
func (d *decimals) sign(f *fours) {
	lead := d.YMM()
	f.minus = d.YMM()
	d.VPSRLVQ(f.shift, f.x, f.x)
	d.VPAND(d.lanes(0xff), f.x, lead)
	d.VPCMPEQQ(d.lanes('-'^'0'), lead, f.minus)
	d.VPAND(f.minus, lead, lead)
	d.VPXOR(lead, f.x, f.x)
	d.VPSLLVQ(f.shift, f.x, f.x)
}

// closeUp moves the bytes before the first point into its place.
func (d *decimals) closeUp(f *fours) {
	none, low, move, behind := d.YMM(), d.YMM(), d.YMM(), d.YMM() // low is the lowest bit of the point
	f.whole, f.before = d.YMM(), d.YMM()
	d.VPXOR(none, none, none)
	d.VPCMPEQB(d.lanes(eachByte*('.'^'0')), f.x, low)
	d.VPAND(d.lanes(eachByte), low, low)
	d.VPCMPEQQ(none, low, f.whole)
	d.VPSUBQ(low, none, move)
	d.VPAND(move, low, low)
	d.VPCMPEQQ(f.before, f.before, f.before)
	d.VPSLLQ(imm(8), low, behind)
	d.VPADDQ(f.before, behind, behind)
	d.VPADDQ(f.before, low, f.before)
	d.VPANDN(d.lanes(8), f.whole, move)
	d.VPANDN(f.x, behind, behind)
	d.VPAND(f.before, f.x, f.x)
	d.VPSLLVQ(move, f.x, f.x)
	d.VPOR(behind, f.x, f.x)
}

// check jumps to one if a byte is no digit, or if a number has no digit.
func (d *decimals) check(f fours, one string) {
	odd, count, least := d.YMM(), d.YMM(), d.YMM() // count is 8 times the number of digits, and 16 more
	d.VPSUBUSB(d.lanes(9*eachByte), f.x, odd)
	d.VPSUBQ(f.whole, f.minus, count)
	d.VPSLLQ(imm(3), count, count)
	d.VPADDQ(f.bits, count, count)
	d.VMOVDQU(d.lanes(24), least)
	d.VPCMPGTQ(count, least, count)
	d.VPOR(count, odd, odd)
	d.VPTEST(odd, odd)
	d.JNZ(ref(one))
}

// quotients stores the values. It sets before to the place of the point, or 8 without a point.
func (d *decimals) quotients(f *fours) {
	none, lower, divisor := d.YMM(), d.YMM(), d.YMM()
	f.evens = d.YMM()
	d.VPXOR(none, none, none)
	d.VPAND(d.lanes(eachByte), f.before, f.before)
	d.VPSADBW(none, f.before, f.before)
	d.VPMADDUBSW(d.lanes(tens), f.x, f.x)
	d.VPMADDWD(d.lanes(hundreds), f.x, f.x)
	d.VPMULUDQ(d.lanes(10_000), f.x, lower)
	d.VPSRLQ(imm(32), f.x, f.x)
	d.VPADDQ(lower, f.x, f.x)
	d.VPOR(d.lanes(math.Float64bits(1<<52)), f.x, f.x)
	d.VSUBPD(d.lanes(math.Float64bits(1<<52)), f.x, f.x)
	d.VPERMPS(d.powers(), f.before, divisor)
	d.VBLENDVPS(f.whole, d.lanes(uint64(math.Float32bits(1))), divisor, divisor)
	d.VMOVDQU(d.evenHalves(), f.evens)
	d.VPERMPS(divisor, f.evens, divisor)
	d.VCVTPS2PD(divisor.AsX(), divisor)
	d.VDIVPD(divisor, f.x, f.x)
	d.VPSLLQ(imm(63), f.minus, lower)
	d.VXORPD(lower, f.x, f.x)
	d.VMOVUPD(f.x, d.result("values", 8))
}

// fourForms stores the forms.
func (d *decimals) fourForms(f fours) {
	places, from, offset := d.YMM(), d.YMM(), d.GP64()
	d.VMOVDQU(d.lanes(7), places)
	d.VPSUBQ(f.before, places, places)
	d.VPBLENDVB(f.whole, d.lanes(vectorBytes), places, places)
	d.VPAND(d.lanes(1<<6), f.minus, f.minus)
	d.VPOR(f.minus, places, places)
	d.MOVQ(d.block, offset)
	d.SUBQ(d.address(d.Param("text").Base()), offset)
	d.VMOVQ(offset, from.AsX())
	d.VPBROADCASTQ(from.AsX(), from)
	d.VPADDQ(from, f.end, f.end)
	d.VPSLLQ(imm(8), f.end, f.end)
	d.VPOR(f.end, places, places)
	d.VPERMD(places, f.evens, places)
	d.VMOVDQU(places.AsX(), d.result("forms", 4))
}

// parse reads a number, or jumps to stop at one that isn't plain.
func (d *decimals) parse(stop string) {
	end, length, negative := d.bounds(stop)
	// places is the number of digits behind the point, or 32 without a point.
	window, places, digits := d.GP64(), d.GP64(), d.GP64()
	d.LEAQ(d.windows, window)
	v, points := d.YMM(), d.YMM()
	d.VMOVDQU(mem(end, -vectorBytes), v)
	d.VPCMPEQB(d.lanes('.'*eachByte), v, points)
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
	d.SHLL(imm(6), negative.As32())
	d.ORL(places.As32(), negative.As32())
	d.store(digits, end, negative)

	d.BLSRQ(d.ends, d.ends)
	d.LEAQ(mem(end, 1), d.number)
}

// bounds returns the end of the next number, the length behind its sign, and 1 if it has a minus. It jumps to stop if the number is too long.
func (d *decimals) bounds(stop string) (end, length, negative reg.GPVirtual) {
	end, length, negative = d.GP64(), d.GP64(), d.GP64()
	d.TZCNTQ(d.ends, end)
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
	d.VMOVSD(q.value, d.result("values", 8))
	d.Label(q.stored)
	d.MOVL(q.form.As32(), d.result("forms", 4))
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
	d.Label(q.long)
	value := d.result("values", 8)
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

// join sets low to the number that the 32 digits of v make. It jumps to stop if one of them is above 9, or if the number is 922 * 10^16 or
// more.
func (d *decimals) join(low reg.GPVirtual, v reg.VecVirtual, stop string) {
	odd := d.YMM()
	d.VPSUBUSB(d.lanes(9*eachByte), v, odd)
	d.VPTEST(odd, odd)
	d.JNZ(ref(stop))
	d.VPMADDUBSW(d.lanes(tens), v, v)
	d.VPMADDWD(d.lanes(hundreds), v, v)
	d.VPACKUSDW(v, v, v)
	d.VPMADDWD(d.lanes(myriads), v, v)
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
