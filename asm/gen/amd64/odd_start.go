package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// oddStart writes OddStart. It looks at a vector of bytes and at the three bytes behind each. The last vector overlaps the one before.
func (w *Writer) oddStart() {
	w.begin("OddStart")
	text, n := w.slice("text")
	o := oddStart{Writer: w, text: text, comma: w.YMM(), found: w.YMM(), bytes: map[byte]reg.VecVirtual{}}
	last := w.GP64()
	w.LEAQ(at(text, n, -vectorBytes-3), last)
	for _, b := range []byte{'\n', '.', '-', '0', 9} {
		o.bytes[b] = w.repeat(uint64(b) * eachByte)
	}
	w.VPBROADCASTB(w.address(w.Param("comma")), o.comma)
	w.VPXOR(o.found, o.found, o.found)

	loop, within, end := w.label("loop"), w.label("within"), w.label("end")
	w.Label(loop)
	w.CMPQ(text, last)
	w.JBE(ref(within))
	w.MOVQ(last, text)
	w.Label(within)
	o.vector()
	w.CMPQ(text, last)
	w.JEQ(ref(end))
	w.ADDQ(imm(vectorBytes), text)
	w.JMP(ref(loop))
	w.Label(end)

	odd, mask := w.GP64(), w.GP32()
	w.XORL(odd.As32(), odd.As32())
	w.VPMOVMSKB(o.found, mask)
	w.TESTL(mask, mask)
	w.SETNE(odd.As8())
	w.Store(odd, w.ReturnIndex(0))
	w.end()
}

// oddStart are the registers of OddStart.
type oddStart struct {
	*Writer
	text  reg.GPVirtual
	bytes map[byte]reg.VecVirtual // each in all bytes of a vector
	comma reg.VecVirtual
	found reg.VecVirtual // bytes that aren't 0 behind the delimiters before odd starts
}

// vector adds a vector of text to found.
func (o *oddStart) vector() {
	first, second, third, fourth := o.YMM(), o.YMM(), o.YMM(), o.YMM()
	for i, v := range []reg.VecVirtual{first, second, third, fourth} {
		o.VMOVDQU(mem(o.text, i), v)
	}
	negative := o.oddNumber(third, fourth)
	minus := o.equal(second, '-')
	o.VPAND(minus, negative, negative)
	odd := o.oddNumber(second, third)
	o.VPOR(negative, odd, odd)
	delimiter := o.equal(first, '\n')
	o.VPCMPEQB(o.comma, first, first)
	o.VPOR(first, delimiter, delimiter)
	o.VPAND(delimiter, odd, odd)
	o.VPOR(odd, o.found, o.found)
}

// oddNumber finds a point, and a zero with a digit behind it. It keeps its operands.
func (o *oddStart) oddNumber(first, second operand.Op) reg.VecVirtual {
	digit, value := o.YMM(), o.YMM()
	o.VPSUBB(o.bytes['0'], second, value)
	o.VPMINUB(o.bytes[9], value, digit)
	o.VPCMPEQB(value, digit, digit)
	zero, point := o.equal(first, '0'), o.equal(first, '.')
	o.VPAND(zero, digit, digit)
	o.VPOR(point, digit, digit)
	return digit
}

func (o *oddStart) equal(v operand.Op, b byte) reg.VecVirtual {
	found := o.YMM()
	o.VPCMPEQB(o.bytes[b], v, found)
	return found
}
