package amd64

import (
	"fmt"

	"github.com/mmcloughlin/avo/reg"
)

// A tile has two vectors of columns. Six rows, as in BLIS's kernels for Haswell and Zen, fill AVX2's registers with 12
// accumulators; AVX-512 has room for 24. They hide the latency of the fma, and each k loads 2 vectors and a broadcast for
// each row, fewer than the load ports can take.
const tileVectors = 2

// tileShape returns MR and NR.
func (w *Writer) tileShape() (mr, nr int) {
	if w.ISA.Bytes == vectorBytes {
		return 6, tileVectors * w.Per
	}
	return 12, tileVectors * 2 * w.Per
}

func (w *Writer) tile() {
	mr, nr := w.tileShape()
	w.begin("Tile", "func(a, b, c []T, ldc int)", fmt.Sprintf("adds the product of two packed panels to a tile of %d by %d.", mr, nr))
	a := w.GP64()
	w.Load(w.Param("a").Base(), a)
	b, n := w.slice("b")
	c, ldc := w.GP64(), w.GP64()
	w.Load(w.Param("c").Base(), c)
	w.Load(w.Param("ldc"), ldc)
	w.SHLQ(imm(w.log2()), ldc)

	acc := make([][]reg.VecVirtual, mr)
	for i := range acc {
		acc[i] = w.full(tileVectors)
		w.zero(acc[i]...)
	}
	loop, done := w.label("k"), w.label("done")
	w.CMPQ(n, imm(nr))
	w.JB(ref(done))
	w.Label(loop)
	v := w.full(tileVectors)
	for j, r := range v {
		w.movp(mem(b, j*w.ISA.Bytes), r)
	}
	for i := range acc {
		s := w.full(1)[0]
		w.broadcast(mem(a, i*w.Size), s)
		for j, r := range v {
			w.fmap(r, s, acc[i][j])
		}
	}
	w.ADDQ(imm(mr*w.Size), a)
	w.ADDQ(imm(tileVectors*w.ISA.Bytes), b)
	w.SUBQ(imm(nr), n)
	w.CMPQ(n, imm(nr))
	w.JAE(ref(loop))

	w.Label(done)
	for i := range acc {
		for j, r := range acc[i] {
			w.addp(mem(c, j*w.ISA.Bytes), r, r)
			w.movp(r, mem(c, j*w.ISA.Bytes))
		}
		if i < mr-1 {
			w.ADDQ(ldc, c)
		}
	}
	w.end()
}
