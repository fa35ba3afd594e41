package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockCols is the number of columns of a row that ScaleRows writes and RankKUpdate reads, and of a block of sums.
const (
	blockCols = 32
	blockRow  = blockCols * 8 // bytes
)

// scaleRows writes a row at a time, four columns at a time. Stores are the limit. It prefetches the next panel, which
// comes after many operations on this one.
func (w *Writer) scaleRows() {
	w.begin("ScaleRows")
	dst, x := w.GP64(), w.GP64()
	w.Load(w.Param("dst").Base(), dst)
	w.Load(w.Param("x").Base(), x)
	s, n := w.slice("s")
	stride, cols := w.GP64(), w.GP64()
	w.Load(w.Param("stride"), stride)
	w.SHLQ(imm(w.log2()), stride)
	w.Load(w.Param("cols"), cols)

	ahead := w.GP64()
	w.MOVQ(stride, ahead)
	w.SHLQ(imm(5), ahead)

	row, done := w.label("row"), w.label("done")
	w.TESTQ(n, n)
	w.JZ(ref(done))
	w.Label(row)
	for j := 0; j < blockCols*w.Size; j += cacheLine {
		w.PREFETCHT0(at(x, ahead, j))
	}
	weight, c, left := w.YMM(), w.GP64(), w.GP64()
	w.VMOVSD(mem(s, 0), weight.AsX())
	w.VSQRTSD(weight.AsX(), weight.AsX(), weight.AsX())
	w.VBROADCASTSD(weight.AsX(), weight)
	w.XORQ(c, c)
	w.MOVQ(cols, left)
	for _, vectors := range []int{2, 1} {
		loop, next := w.label("loop"), w.label("next")
		w.SUBQ(imm(4*vectors), left)
		w.JB(ref(next))
		w.Label(loop)
		for j := range vectors {
			v := w.YMM()
			w.wideMove(operand.Mem{Base: x, Index: c, Scale: uint8(w.Size), Disp: j * 4 * w.Size}, v)
			w.VMULPD(v, weight, v)
			w.VMOVUPD(v, operand.Mem{Base: dst, Index: c, Scale: 8, Disp: j * vectorBytes})
		}
		w.ADDQ(imm(4*vectors), c)
		w.SUBQ(imm(4*vectors), left)
		w.JAE(ref(loop))
		w.Label(next)
		w.ADDQ(imm(4*vectors), left)
	}
	w.ADDQ(stride, x)
	w.ADDQ(imm(blockRow), dst)
	w.ADDQ(imm(8), s)
	w.DECQ(n)
	w.JNZ(ref(row))
	w.Label(done)
	w.end()
}

// wideMove loads four elements as float64.
func (w *Writer) wideMove(src operand.Mem, dst reg.VecVirtual) {
	w.VCVTPS2PD(src, dst)
}

// A rankK is the state of RankKUpdate's loops. Its tiles lie anywhere in a row, so that few sums above the diagonal are
// computed. With AVX2, a tile has 4 rows by 3 or 2 vectors: 28 columns then take 29 vectors of 4 rows. The least is
// 25.4, and tiles of 6 x 8 on a grid take 39. AVX-512 has 8 rows by 2 vectors or 1.
type rankK struct {
	*Writer
	tileRows int
	a, b, c  reg.GPVirtual // of the tile
	n        reg.GPVirtual // rows of the panels
}

func (w *Writer) rankKUpdate() {
	w.begin("RankKUpdate")
	o := rankK{Writer: w, tileRows: 4, a: w.GP64()}
	if w.ISA.Bytes > vectorBytes {
		o.tileRows = 8
	}
	w.Load(w.Param("a").Base(), o.a)
	base, n := w.slice("b")
	w.SHRQ(imm(5), n)
	o.n = n
	c, rows, left := w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("c").Base(), c)
	w.Load(w.Param("rows"), rows)
	several, done := w.label("several"), w.label("done")
	w.CMPQ(rows, imm(1))
	w.JNE(ref(several))
	o.b, o.c = base, c
	o.row()
	w.JMP(ref(done))
	w.Label(several)
	o.b, o.c = w.GP64(), w.GP64()

	// width is the number of bytes to compute in c's row.
	width, step, group := w.GP64(), w.GP64(), w.label("group")
	wide := w.label("wide")
	w.MOVQ(operand.U32(o.tileRows*8), width)
	w.MOVQ(width, step)
	square := w.GP8()
	w.Load(w.Param("square"), square)
	w.TESTB(square, square)
	w.JZ(ref(wide))
	w.MOVQ(operand.U32(blockRow), width)
	w.XORQ(step, step)
	w.Label(wide)

	w.Label(group)
	w.MOVQ(base, o.b)
	w.MOVQ(c, o.c)
	w.MOVQ(width, left)
	if w.ISA.Bytes > vectorBytes {
		o.split(left, 2, 1)
	} else {
		o.split(left, 3, 2)
	}
	w.ADDQ(imm(o.tileRows*8), o.a)
	w.ADDQ(imm(o.tileRows*blockRow), c)
	w.ADDQ(step, width)
	w.SUBQ(imm(o.tileRows), rows)
	w.JG(ref(group))
	w.Label(done)
	w.end()
}

// row adds the products of one column of a and all of b to the first row of c.
func (o rankK) row() {
	acc := o.full(blockRow / o.ISA.Bytes)
	o.zero(acc...)
	loop := o.label("k")
	o.Label(loop)
	s := o.full(1)[0]
	o.broadcast(mem(o.a, 0), s)
	for j, r := range acc {
		o.fmap(mem(o.b, j*o.ISA.Bytes), s, r)
	}
	o.ADDQ(imm(blockRow), o.a)
	o.ADDQ(imm(blockRow), o.b)
	o.DECQ(o.n)
	o.JNZ(ref(loop))
	for j, r := range acc {
		o.addp(mem(o.c, j*o.ISA.Bytes), r, r)
		o.movp(r, mem(o.c, j*o.ISA.Bytes))
	}
}

// split computes left bytes of each row by tiles of many vectors and of few. It takes tiles of many as long as they
// leave nothing, or few vectors or more. It may compute more than left if that is less than few.
func (o rankK) split(left reg.GPVirtual, many, few int) {
	size := o.ISA.Bytes
	next, small, done := o.label("next"), o.label("small"), o.label("done")
	o.Label(next)
	o.CMPQ(left, imm(many*size))
	o.JB(ref(small))
	if few > 1 {
		large := o.label("large")
		o.JE(ref(large))
		o.CMPQ(left, imm((many+few)*size))
		o.JB(ref(small))
		o.Label(large)
	}
	o.tile(many)
	o.SUBQ(imm(many*size), left)
	o.JNZ(ref(next))
	o.JMP(ref(done))
	o.Label(small)
	o.tile(few)
	o.SUBQ(imm(few*size), left)
	o.JG(ref(next))
	o.Label(done)
}

// tile adds the products of the columns at a and as many vectors of columns at b to c, and advances b and c.
func (o rankK) tile(vectors int) {
	acc := make([][]reg.VecVirtual, o.tileRows)
	for i := range acc {
		acc[i] = o.full(vectors)
		o.zero(acc[i]...)
	}
	a, b, n, loop := o.GP64(), o.GP64(), o.GP64(), o.label("k")
	o.MOVQ(o.a, a)
	o.MOVQ(o.b, b)
	o.MOVQ(o.n, n)
	o.Label(loop)
	v := o.full(vectors)
	for j, r := range v {
		o.movp(mem(b, j*o.ISA.Bytes), r)
	}
	for i := range acc {
		s := o.full(1)[0]
		o.broadcast(mem(a, i*8), s)
		for j, r := range v {
			o.fmap(r, s, acc[i][j])
		}
	}
	o.ADDQ(imm(blockRow), a)
	o.ADDQ(imm(blockRow), b)
	o.DECQ(n)
	o.JNZ(ref(loop))
	for i := range acc {
		for j, r := range acc[i] {
			at := mem(o.c, i*blockRow+j*o.ISA.Bytes)
			o.addp(at, r, r)
			o.movp(r, at)
		}
	}
	o.ADDQ(imm(vectors*o.ISA.Bytes), o.b)
	o.ADDQ(imm(vectors*o.ISA.Bytes), o.c)
}
