package arm64

import "fmt"

// These are instructions that Go's assembler lacks. Each is a word beside its mnemonic in the GNU assembler's syntax. A
// test compares the mnemonic with a disassembler's.

func (w *Writer) word(code uint32, mnemonic string, operands ...any) {
	fmt.Fprintf(&w.asm, "\tWORD    $0x%08x // %s\n", code, fmt.Sprintf(mnemonic, operands...))
}

// double is the bit of elements of 64 bits; those of 32 bits don't have it.
const double = 1 << 22

// code returns an instruction's code with the element type and the registers.
func (w *Writer) code(code uint32, d, n, m vec) uint32 {
	if w.Size == 8 {
		code |= double
	}
	return code | uint32(d) | uint32(n)<<5 | uint32(m)<<16
}

// kind is an element's letter; full is the kind of a whole vector.
func (w *Writer) kind() string { return map[int]string{4: "s", 8: "d"}[w.Size] }
func (w *Writer) full() string { return fmt.Sprint(w.per(), w.kind()) }

// binary writes an instruction on whole vectors, x its first source.
func (w *Writer) binary(code uint32, name string, x, y, dst vec) {
	w.word(w.code(code, dst, x, y), name+" v%d.%[4]s, v%[2]d.%[4]s, v%[3]d.%[4]s", dst, x, y, w.full())
}

// add and mul have their operands in Go's order, as other instructions whose operands commute.
func (w *Writer) add(x, y, dst vec) { w.binary(0x4e20d400, "fadd", y, x, dst) }
func (w *Writer) mul(x, y, dst vec) { w.binary(0x6e20dc00, "fmul", y, x, dst) }

// sub is x-y, div x/y.
func (w *Writer) sub(x, y, dst vec) { w.binary(0x4ea0d400, "fsub", x, y, dst) }
func (w *Writer) div(x, y, dst vec) { w.binary(0x6e20fc00, "fdiv", x, y, dst) }

// lesser is the minimum of x and y, and greater the maximum. Both are NaN if x or y is.
func (w *Writer) lesser(x, y, dst vec)  { w.binary(0x4ea0f400, "fmin", x, y, dst) }
func (w *Writer) greater(x, y, dst vec) { w.binary(0x4e20f400, "fmax", x, y, dst) }

// greaterNumber is the maximum of x and y. If one is a quiet NaN, it is the other.
func (w *Writer) greaterNumber(x, y, dst vec) { w.binary(0x4e20c400, "fmaxnm", x, y, dst) }

// equal and less set all bits of the lanes where x == y or x < y, and none of the others; NaN is neither.
func (w *Writer) equal(x, y, dst vec) { w.binary(0x4e20e400, "fcmeq", x, y, dst) }
func (w *Writer) less(x, y, dst vec)  { w.binary(0x6ea0e400, "fcmgt", y, x, dst) }

// fmaLane adds x times lane i of y to acc. Bits 11 and 21 are the number of the lane, bit 11 alone for elements of 64
// bits.
func (w *Writer) fmaLane(x, y vec, i int, acc vec) {
	high, low := uint32(i>>1), uint32(i&1)
	if w.Size == 8 {
		high, low = uint32(i), 0
	}
	w.word(w.code(0x4f801000, acc, x, y)|high<<11|low<<21, "fmla v%d.%[5]s, v%[2]d.%[5]s, v%[3]d.%[4]s[%[6]d]",
		acc, x, y, w.kind(), w.full(), i)
}

// addPair adds lanes 0 and 1.
func (w *Writer) addPair(v, dst vec) {
	w.word(w.code(0x7e30d800, dst, v, 0), "faddp %[3]s%[1]d, v%[2]d.2%[3]s", dst, v, w.kind())
}

// sqrt is the square root.
func (w *Writer) sqrt(v, dst vec) {
	w.word(w.code(0x6ea1f800, dst, v, 0), "fsqrt v%d.%[3]s, v%[2]d.%[3]s", dst, v, w.full())
}

// negate flips the sign.
func (w *Writer) negate(v, dst vec) {
	w.word(w.code(0x6ea0f800, dst, v, 0), "fneg v%d.%[3]s, v%[2]d.%[3]s", dst, v, w.full())
}

// positives sets all bits of the lanes that are > 0, and none of the others. NaN is not > 0.
func (w *Writer) positives(v, dst vec) {
	w.word(w.code(0x4ea0c800, dst, v, 0), "fcmgt v%d.%[3]s, v%[2]d.%[3]s, #0", dst, v, w.full())
}

// notAbove sets all bits of the lanes that are <= 0, and none of the others. NaN is not <= 0.
func (w *Writer) notAbove(v, dst vec) {
	w.word(w.code(0x6ea0d800, dst, v, 0), "fcmle v%d.%[3]s, v%[2]d.%[3]s, #0", dst, v, w.full())
}

// zero clears registers by an instruction that processors carry out when they rename registers.
func (w *Writer) zero(regs ...vec) {
	for _, v := range regs {
		w.word(0x6f00e400|uint32(v), "movi v%d.2d, #0x0", v)
	}
}

// widen converts four float32 to two vectors of float64.
func (w *Writer) widen(v, lo, hi vec) {
	w.word(0x0e617800|uint32(lo)|uint32(v)<<5, "fcvtl v%d.2d, v%d.2s", lo, v)
	w.word(0x4e617800|uint32(hi)|uint32(v)<<5, "fcvtl2 v%d.2d, v%d.4s", hi, v)
}

// narrow converts two vectors of float64 to four float32.
func (w *Writer) narrow(lo, hi, dst vec) {
	w.word(0x0e616800|uint32(dst)|uint32(lo)<<5, "fcvtn v%d.2s, v%d.2d", dst, lo)
	w.word(0x4e616800|uint32(dst)|uint32(hi)<<5, "fcvtn2 v%d.4s, v%d.2d", dst, hi)
}

// abs clears the sign.
func (w *Writer) abs(v, dst vec) {
	w.word(w.code(0x4ea0f800, dst, v, 0), "fabs v%d.%[3]s, v%[2]d.%[3]s", dst, v, w.full())
}

// stnp stores two vectors with the hint that they aren't needed soon.
func (w *Writer) stnp(a, b vec, m mem) {
	at := fmt.Sprintf("[x%d,#%d]", m.base, m.off)
	if m.off == 0 {
		at = fmt.Sprintf("[x%d]", m.base)
	}
	w.word(0xac000000|uint32(m.off/vectorBytes)<<15|uint32(b)<<10|uint32(m.base)<<5|uint32(a), "stnp q%d, q%d, %s", a, b, at)
}
