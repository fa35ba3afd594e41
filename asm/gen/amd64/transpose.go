package amd64

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A band is the rows to which squares of Per columns by Per rows are written.
type band struct {
	dst, stride reg.GPVirtual // the first row's address, and the bytes from one to the next
	offset      reg.GPVirtual // bytes from a column's start to the rows' first element
	mask        reg.VecVirtual
	rows        reg.GPVirtual // how many rows there are, if mask selects fewer than Per
}

// transpose writes Transpose, with squares in registers. The outer loop is over rows, so that each is written once from
// left to right. Every column is read forwards, a cache line of each at a time. The lines of all columns may fall into
// one set of the cache, and then none would last to be read twice.
func (w *Writer) transpose() {
	masks := w.masks()
	zeros := w.StaticGlobal("zeros" + w.Suffix)
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for k := 0; k < cacheLine; k += 8 {
		w.AddDatum(k, operand.U64(0))
	}
	w.begin("Transpose")
	var b band
	b.dst, b.stride = w.GP64(), w.GP64()
	w.Load(w.Param("dst").Base(), b.dst)
	w.Load(w.Param("stride"), b.stride)
	w.SHLQ(imm(w.log2()), b.stride)
	n, first := w.AllocLocal(8), w.GP64()
	w.Load(w.Param("cols").Base(), first)
	w.MOVQ(mem(first, 8), first)
	w.MOVQ(first, n)
	b.offset = w.GP64()
	w.XORQ(b.offset, b.offset)

	loop, tail, whole, done := w.label("rows"), w.label("tail"), w.label("whole"), w.label("done")
	rowEnd := w.AllocLocal(8)
	w.Label(loop)
	w.CMPQ(n, imm(cacheLine/w.Size))
	w.JB(ref(tail))
	w.lineBand(b, zeros, rowEnd)
	w.ADDQ(imm(cacheLine), b.offset)
	w.SUBQ(imm(cacheLine/w.Size), n)
	w.JMP(ref(loop))

	w.Label(tail) // up to Per rows at a time
	table, before, rows := w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(n, rows)
	w.TESTQ(rows, rows)
	w.JZ(ref(done))
	w.CMPQ(rows, imm(w.Per))
	w.JBE(ref(whole))
	w.MOVQ(operand.U32(w.Per), rows)
	w.Label(whole)
	b.mask, b.rows = w.YMM(), rows
	w.LEAQ(masks, table)
	w.MOVQ(rows, before)
	w.NEGQ(before)
	w.movp(operand.Mem{Base: table, Index: before, Scale: uint8(w.Size), Disp: vectorBytes}, b.mask)
	w.maskedBand(b)
	step := w.GP64()
	w.MOVQ(b.stride, step)
	w.SHLQ(imm(5-w.log2()), step) // times Per
	w.ADDQ(step, b.dst)
	w.ADDQ(imm(vectorBytes), b.offset)
	w.SUBQ(rows, n)
	w.JMP(ref(tail))
	w.Label(done)
	w.end()
}

// lineBand writes as many rows as a cache line of a column has, and advances dst beyond them. It needs all registers,
// so the end of the first row, rowEnd, lies on the stack.
func (w *Writer) lineBand(b band, zeros, rowEnd operand.Mem) {
	header, left, row := w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("cols").Base(), header)
	w.Load(w.Param("cols").Len(), left)
	w.LEAQ(at(b.dst, b.stride, 0), row)
	w.MOVQ(row, rowEnd)
	columns := make([]reg.GPVirtual, w.Per)
	for k := range columns {
		columns[k] = w.GP64()
	}

	square, ready := w.label("square"), w.label("ready")
	w.Label(square)
	w.LEAQ(zeros, columns[w.Per-1])
	w.SUBQ(b.offset, columns[w.Per-1])
	for _, c := range columns[:w.Per-1] {
		w.MOVQ(columns[w.Per-1], c)
	}
	for k, c := range columns { // the columns that are left, and zeros for the padding
		w.CMPQ(left, imm(k))
		w.JLE(ref(ready))
		w.MOVQ(mem(header, k*sliceHeader), c)
	}
	w.Label(ready)
	w.MOVQ(b.dst, row)
	for part := 0; part < cacheLine; part += vectorBytes / 2 {
		v := w.ymms(w.Per / 2)
		for k, r := range v {
			w.VBROADCASTF128(at(columns[k], b.offset, part), r)
			w.VINSERTF128(imm(1), at(columns[k+w.Per/2], b.offset, part), r, r)
		}
		for _, r := range w.columns(v) {
			w.movp(r, mem(row, 0))
			w.ADDQ(b.stride, row)
		}
	}
	w.ADDQ(imm(w.Per*sliceHeader), header)
	w.SUBQ(imm(w.Per), left)
	w.ADDQ(imm(vectorBytes), b.dst)
	w.CMPQ(b.dst, rowEnd)
	w.JB(ref(square))
	// row is below the last square, less than a row beyond the next band's first.
	w.ADDQ(imm(vectorBytes), row)
	w.SUBQ(b.stride, row)
	w.MOVQ(row, b.dst)
}

// maskedBand writes up to Per rows, square after square.
func (w *Writer) maskedBand(b band) {
	header, left, cell, end := w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("cols").Base(), header)
	w.Load(w.Param("cols").Len(), left)
	w.MOVQ(b.dst, cell)
	w.LEAQ(at(b.dst, b.stride, 0), end)

	square, ready := w.label("square"), w.label("ready")
	v := w.ymms(w.Per)
	w.Label(square)
	w.zero(v...)
	for k, r := range v { // the columns that are left, none perhaps, and zeros for the padding
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
	w.maskLoad(at(base, b.offset, 0), b.mask, dst)
}

// storeRows stores v[k] to row k of the band, as far as it has that row.
func (w *Writer) storeRows(b band, cell reg.GPVirtual, v []reg.VecVirtual) {
	row, stored := w.GP64(), w.label("stored")
	w.MOVQ(cell, row)
	for k, r := range v {
		w.CMPQ(b.rows, imm(k))
		w.JBE(ref(stored))
		w.movp(r, mem(row, 0))
		if k < len(v)-1 {
			w.ADDQ(b.stride, row)
		}
	}
	w.Label(stored)
}

// square transposes the square whose columns are in v and returns its rows.
func (w *Writer) square(v []reg.VecVirtual) []reg.VecVirtual {
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
