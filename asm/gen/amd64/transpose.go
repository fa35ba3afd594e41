package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A band is the rows that squares of Per columns by Per rows are being written to.
type band struct {
	cols, ncols reg.GPVirtual // the columns' slice headers, and how many
	dst, stride reg.GPVirtual // the first row's address, and the bytes from one to the next
	offset      reg.GPVirtual // bytes from a column's start to the rows' first element
	mask        reg.VecVirtual
	rows        reg.GPVirtual // how many rows there are, if mask selects fewer than Per
}

// transpose: squares in registers. Rows are walked in the outer loop, so that each is written once from left to right
// while every column is read forwards.
func (w *Writer) transpose() {
	masks := w.masks()
	w.begin("Transpose", "func(dst []T, stride int, cols [][]T)", "writes columns as rows, zeros beyond them.")
	var b band
	b.dst, b.stride = w.GP64(), w.GP64()
	w.Load(w.Param("dst").Base(), b.dst)
	w.Load(w.Param("stride"), b.stride)
	w.SHLQ(imm(w.log2()), b.stride)
	b.cols, b.ncols = w.slice("cols")
	n := w.GP64()
	w.MOVQ(mem(b.cols, 8), n)
	b.offset = w.GP64()
	w.XORQ(b.offset, b.offset)

	loop, tail, done := w.label("rows"), w.label("tail"), w.label("done")
	w.Label(loop)
	w.CMPQ(n, imm(w.Per))
	w.JB(ref(tail))
	w.band(b)
	step := w.GP64()
	w.MOVQ(b.stride, step)
	w.SHLQ(imm(5-w.log2()), step) // times Per
	w.ADDQ(step, b.dst)
	w.ADDQ(imm(vectorBytes), b.offset)
	w.SUBQ(imm(w.Per), n)
	w.JMP(ref(loop))

	w.Label(tail)
	w.TESTQ(n, n)
	w.JZ(ref(done))
	table, before := w.GP64(), w.GP64()
	b.mask, b.rows = w.YMM(), n
	w.LEAQ(masks, table)
	w.MOVQ(n, before)
	w.NEGQ(before)
	w.movp(operand.Mem{Base: table, Index: before, Scale: uint8(w.Size), Disp: vectorBytes}, b.mask)
	w.band(b)
	w.Label(done)
	w.end()
}

// band writes whole rows of the band, square after square.
func (w *Writer) band(b band) {
	header, left, cell, end := w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(b.cols, header)
	w.MOVQ(b.ncols, left)
	w.MOVQ(b.dst, cell)
	w.LEAQ(at(b.dst, b.stride, 0), end)

	square, some, ready := w.label("square"), w.label("some"), w.label("ready")
	v := w.ymms(w.Per)
	w.Label(square)
	w.CMPQ(left, imm(w.Per))
	w.JL(ref(some))
	for k, r := range v {
		w.column(b, header, k, r)
	}
	w.JMP(ref(ready))
	w.Label(some) // the columns that are left, none perhaps, and zeros for the padding
	w.zero(v...)
	for k, r := range v[:w.Per-1] {
		w.CMPQ(left, imm(k))
		w.JLE(ref(ready))
		w.column(b, header, k, r)
	}
	w.Label(ready)
	w.storeRows(b, cell, w.square(v))
	w.ADDQ(imm(w.Per*sliceHeader), header)
	w.SUBQ(imm(w.Per), left)
	w.ADDQ(imm(vectorBytes), cell)
	w.CMPQ(cell, end)
	w.JB(ref(square))
}

// column loads the band's elements of column k after header.
func (w *Writer) column(b band, header reg.GPVirtual, k int, dst reg.VecVirtual) {
	base := w.GP64()
	w.MOVQ(mem(header, k*sliceHeader), base)
	if b.mask == nil {
		w.movp(at(base, b.offset, 0), dst)
	} else {
		w.maskLoad(at(base, b.offset, 0), b.mask, dst)
	}
}

// storeRows stores v[k] to row k of the band, as far as it has that row.
func (w *Writer) storeRows(b band, cell reg.GPVirtual, v []reg.VecVirtual) {
	row, stored := w.GP64(), w.label("stored")
	w.MOVQ(cell, row)
	for k, r := range v {
		if b.rows != nil {
			w.CMPQ(b.rows, imm(k))
			w.JBE(ref(stored))
		}
		w.movp(r, mem(row, 0))
		if k < len(v)-1 {
			w.ADDQ(b.stride, row)
		}
	}
	w.Label(stored)
}

// square transposes the square whose columns are in v and returns its rows.
func (w *Writer) square(v []reg.VecVirtual) []reg.VecVirtual {
	if w.Size == 8 {
		return w.square4(v)
	}
	// Pairs of columns, then quadruples, within each half; then the halves are exchanged.
	t, u := w.ymms(8), make([]reg.VecVirtual, 8)
	for k := 0; k < 8; k += 2 {
		w.VUNPCKLPS(v[k+1], v[k], t[k])
		w.VUNPCKHPS(v[k+1], v[k], t[k+1])
	}
	for k := 0; k < 8; k += 4 {
		for half := range 2 {
			lo, hi := w.YMM(), w.YMM()
			w.VSHUFPS(operand.U8(0x44), t[k+2+half], t[k+half], lo)
			w.VSHUFPS(operand.U8(0xee), t[k+2+half], t[k+half], hi)
			u[k+2*half], u[k+2*half+1] = lo, hi
		}
	}
	rows := make([]reg.VecVirtual, 8)
	for k := range 4 {
		rows[k], rows[k+4] = w.YMM(), w.YMM()
		w.VPERM2F128(operand.U8(0x20), u[k+4], u[k], rows[k])
		w.VPERM2F128(operand.U8(0x31), u[k+4], u[k], rows[k+4])
	}
	return rows
}

func (w *Writer) square4(v []reg.VecVirtual) []reg.VecVirtual {
	t, rows := w.ymms(4), w.ymms(4)
	for k := 0; k < 4; k += 2 {
		w.VUNPCKLPD(v[k+1], v[k], t[k])
		w.VUNPCKHPD(v[k+1], v[k], t[k+1])
	}
	for k := range 2 {
		w.VPERM2F128(operand.U8(0x20), t[k+2], t[k], rows[k])
		w.VPERM2F128(operand.U8(0x31), t[k+2], t[k], rows[k+2])
	}
	return rows
}
