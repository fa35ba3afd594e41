package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pack writes Pack. It transposes squares in registers, as transpose does, a vector of rows at a time.
func (w *Writer) pack() {
	_, nr := w.boundsShape()
	w.begin("Pack")
	dst, x := w.GP64(), w.GP64()
	w.Load(w.Param("dst").Base(), dst)
	w.Load(w.Param("x").Base(), x)
	y, n := w.slice("y")
	stride, cols := w.GP64(), w.GP64()
	w.Load(w.Param("stride"), stride)
	w.SHLQ(imm(w.log2()), stride)
	w.Load(w.Param("cols"), cols)
	best := w.YMM()
	w.zero(best)

	group, part, done := w.label("group"), w.label("part"), w.label("done")
	w.Label(group)
	w.CMPQ(n, imm(nr))
	w.JB(ref(done))
	w.SUBQ(imm(nr), n)
	parts, at := w.GP64(), w.GP64()
	w.MOVQ(operand.U32(nr/w.Per), parts)
	w.MOVQ(dst, at)
	w.Label(part)
	w.packPart(at, x, y, stride, cols, nr*w.Size, best)
	w.ADDQ(imm(vectorBytes), at)
	w.ADDQ(imm(vectorBytes), y)
	step := w.GP64()
	w.MOVQ(stride, step)
	w.SHLQ(imm(5-w.log2()), step) // times Per
	w.ADDQ(step, x)
	w.DECQ(parts)
	w.JNZ(ref(part))
	size := w.GP64()
	w.IMUL3Q(operand.I32(nr*w.Size), cols, size)
	w.ADDQ(size, dst)
	w.JMP(ref(group))

	w.Label(done)
	w.Store(w.largest(best), w.ReturnIndex(0))
	w.end()
}

// packPart packs one vector of rows: column c goes to dst + c*step. It raises best to their squared norms, and ignores
// NaN.
func (w *Writer) packPart(dst, x, y, stride, cols reg.GPVirtual, step int, best reg.VecVirtual) {
	from, to, left := w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(x, from)
	w.MOVQ(dst, to)
	w.MOVQ(cols, left)
	sign, squares := w.YMM(), w.YMM()
	w.signBits(sign)
	w.and(mem(y, 0), sign, sign)
	w.zero(squares)

	square, rest, packed := w.label("square"), w.label("rest"), w.label("packed")
	w.Label(square)
	w.CMPQ(left, imm(w.Per))
	w.JB(ref(rest))
	for side := range 2 {
		for k, r := range w.halfSquare(from, stride, side) {
			w.packColumn(r, sign, squares, mem(to, (side*w.Per/2+k)*step))
		}
	}
	w.ADDQ(imm(vectorBytes), from)
	w.ADDQ(imm(w.Per*step), to)
	w.SUBQ(imm(w.Per), left)
	w.JMP(ref(square))

	w.Label(rest)
	w.TESTQ(left, left)
	w.JZ(ref(packed))
	for side := range 2 {
		for k, r := range w.halfSquare(from, stride, side) {
			column := side*w.Per/2 + k
			if column == w.Per-1 {
				break // otherwise it would be a whole square
			}
			w.packColumn(r, sign, squares, mem(to, column*step))
			w.CMPQ(left, imm(column+1))
			w.JE(ref(packed))
		}
	}
	w.Label(packed)
	w.pick(w.VMAXPS, w.VMAXPD)(best, squares, best) // if one is NaN, VMAXPS returns its second source: best
}

// halfSquare returns half of the columns of the square of Per rows at src: the left ones for side 0. It loads rows half
// a square apart into the halves of one register. Then shuffles within halves are enough.
func (w *Writer) halfSquare(src, stride reg.GPVirtual, side int) []reg.VecVirtual {
	near, far, v := w.GP64(), w.GP64(), w.ymms(w.Per/2)
	w.MOVQ(src, near)
	w.LEAQ(operand.Mem{Base: src, Index: stride, Scale: uint8(w.Per / 2)}, far)
	for k, r := range v {
		w.VBROADCASTF128(mem(near, side*16), r)
		w.VINSERTF128(imm(1), mem(far, side*16), r, r)
		if k < len(v)-1 {
			w.ADDQ(stride, near)
			w.ADDQ(stride, far)
		}
	}
	return w.columns(v)
}

// columns transposes within the halves of v, which hold Per/2 rows each.
func (w *Writer) columns(v []reg.VecVirtual) []reg.VecVirtual {
	t, c := w.ymms(4), w.ymms(4)
	for k := 0; k < 4; k += 2 {
		w.VUNPCKLPS(v[k+1], v[k], t[k])
		w.VUNPCKHPS(v[k+1], v[k], t[k+1])
	}
	for k := range 2 {
		w.VSHUFPS(operand.U8(0x44), t[k+2], t[k], c[2*k])
		w.VSHUFPS(operand.U8(0xee), t[k+2], t[k], c[2*k+1])
	}
	return c
}

// packColumn gives a vector of rows their signs, adds its squares and stores it.
func (w *Writer) packColumn(v, sign, squares reg.VecVirtual, dst operand.Mem) {
	w.xor(sign, v, v)
	w.fmap(v, v, squares)
	w.movp(v, dst)
}

// largest returns the largest element of v, which has no NaN, in lane 0.
func (w *Writer) largest(v reg.VecVirtual) reg.VecVirtual {
	s, t := w.XMM(), w.XMM()
	w.VEXTRACTF128(imm(1), v, t)
	w.VMAXPS(t, v.AsX(), s)
	w.VMOVHLPS(s, s, t)
	w.VMAXPS(t, s, s)
	w.VMOVSHDUP(s, t)
	w.VMAXPS(t, s, s)
	return s
}
