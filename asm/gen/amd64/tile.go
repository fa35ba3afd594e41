package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileVectors is the number of vectors of columns in a tile. Six rows, as in BLIS's kernels for Haswell and Zen, fill
// AVX2's registers with 12 accumulators. AVX-512 has room for 24. They hide the latency of the fma. Each k loads 2
// vectors and a broadcast for each row, fewer than the load ports can take.
const tileVectors = 2

// Tiles are made for panels of b with 256 k, while 144 rows of a pass (package gram's KC and MC).
const (
	tileK   = 256
	allRows = 144
)

// tileShape returns MR and NR.
func (w *Writer) tileShape() (mr, nr int) {
	if w.ISA.Bytes == vectorBytes {
		return 6, tileVectors * w.Per
	}
	return 12, tileVectors * 2 * w.Per
}

// tile writes Tile. A panel of b stays in the first-level cache while panels of a pass. The next panel comes to the
// second-level cache. If c grows, the processor can't predict the next panel's rows. So tile prefetches them, two
// panels ahead.
func (w *Writer) tile() {
	mr, _ := w.tileShape()
	w.begin("Tile")
	a, end := w.slice("a")
	w.SHLQ(imm(w.log2()), end)
	w.ADDQ(a, end)
	b, n := w.slice("b")
	c, ldc, grow, add := w.GP64(), w.GP64(), w.GP64(), w.GP8()
	w.Load(w.Param("c").Base(), c)
	w.Load(w.Param("ldc"), ldc)
	w.SHLQ(imm(w.log2()), ldc)
	w.Load(w.Param("grow"), grow)
	w.SHLQ(imm(w.log2()), grow)
	w.Load(w.Param("add"), add)
	ahead, aheadEnd := w.GP64(), w.GP64() // the bytes that follow b are prefetched, as many as it has: mostly the next panel
	w.LEAQ(operand.Mem{Base: b, Index: n, Scale: uint8(w.Size)}, ahead)
	w.LEAQ(operand.Mem{Base: ahead, Index: n, Scale: uint8(w.Size)}, aheadEnd)

	next, nextLdc := w.GP64(), w.GP64() // the rows of c that are prefetched
	w.MOVQ(c, next)
	w.MOVQ(ldc, nextLdc)
	for range 2 {
		w.prefetchRows(next, nextLdc, grow)
	}

	panel, store, stored := w.label("panel"), w.label("store"), w.label("stored")
	w.Label(panel)
	acc := make([][]reg.VecVirtual, mr)
	for i := range acc {
		acc[i] = w.full(tileVectors)
		w.zero(acc[i]...)
	}
	w.prefetchRows(next, nextLdc, grow)
	w.prefetchPanel(ahead, aheadEnd)
	w.multiply(acc, a, b, n)

	w.TESTB(add, add)
	w.JZ(ref(store))
	w.storeTile(acc, c, ldc, grow, true)
	w.JMP(ref(stored))
	w.Label(store)
	w.storeTile(acc, c, ldc, grow, false)
	w.Label(stored)
	w.CMPQ(a, end)
	w.JB(ref(panel))
	w.end()
}

// prefetchPanel prefetches a part of a panel of b, and advances ahead. There is a part for each panel of a, since a
// core has few misses in flight, and a's loads need some.
func (w *Writer) prefetchPanel(ahead, end reg.GPVirtual) {
	mr, nr := w.tileShape()
	lines, fetch, fetched := w.GP64(), w.label("fetch"), w.label("fetched")
	w.MOVQ(operand.U32((tileK*nr*w.Size/cacheLine*mr+allRows-1)/allRows), lines)
	w.Label(fetch)
	w.CMPQ(ahead, end)
	w.JAE(ref(fetched))
	w.PREFETCHT1(mem(ahead, 0))
	w.ADDQ(imm(cacheLine), ahead)
	w.DECQ(lines)
	w.JNZ(ref(fetch))
	w.Label(fetched)
}

// multiply adds the products of a panel of a and the panel b, of n elements, to acc. It advances a beyond its panel.
func (w *Writer) multiply(acc [][]reg.VecVirtual, a, b, n reg.GPVirtual) {
	mr, nr := w.tileShape()
	row, left := w.GP64(), w.GP64()
	w.MOVQ(b, row)
	w.MOVQ(n, left)
	// Four k at a time: the end of a loop of few rounds can be predicted.
	for _, steps := range []int{4, 1} {
		loop, next := w.label("k"), w.label("next")
		w.CMPQ(left, imm(steps*nr))
		w.JB(ref(next))
		w.Label(loop)
		for k := range steps {
			v := w.full(tileVectors)
			for j, r := range v {
				w.movp(mem(row, (k*tileVectors+j)*w.ISA.Bytes), r)
			}
			for i := range acc {
				s := w.full(1)[0]
				w.broadcast(mem(a, (k*mr+i)*w.Size), s)
				for j, r := range v {
					w.fmap(r, s, acc[i][j])
				}
			}
		}
		w.ADDQ(imm(steps*mr*w.Size), a)
		w.ADDQ(imm(steps*tileVectors*w.ISA.Bytes), row)
		w.SUBQ(imm(steps*nr), left)
		w.CMPQ(left, imm(steps*nr))
		w.JAE(ref(loop))
		w.Label(next)
	}
}

// prefetchRows prefetches the rows of a tile at c, and advances c beyond them.
func (w *Writer) prefetchRows(c, ldc, grow reg.GPVirtual) {
	mr, nr := w.tileShape()
	for range mr {
		for j := 0; j < nr*w.Size; j += cacheLine {
			w.PREFETCHT0(mem(c, j))
		}
		w.PREFETCHT0(mem(c, nr*w.Size-1))
		w.ADDQ(ldc, c)
		w.ADDQ(grow, ldc)
	}
}

// storeTile stores a tile to c, or adds it, and advances c beyond it.
func (w *Writer) storeTile(acc [][]reg.VecVirtual, c, ldc, grow reg.GPVirtual, add bool) {
	for _, row := range acc {
		for j, r := range row {
			at := mem(c, j*w.ISA.Bytes)
			if add {
				w.addp(at, r, r)
			}
			w.movp(r, at)
		}
		w.ADDQ(ldc, c)
		w.ADDQ(grow, ldc)
	}
}
