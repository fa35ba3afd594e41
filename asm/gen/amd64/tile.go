package amd64

import (
	"fmt"

	"github.com/mmcloughlin/avo/reg"
)

// The tile is 6 rows by 2 vectors, as in BLIS's kernels for Haswell and Zen: 12 accumulators hide the latency of the
// fma, and each k loads 2 vectors and 6 broadcasts for 12 of them, fewer than the load ports can take.
const (
	tileRows    = 6
	tileVectors = 2
)

// TileShape returns MR and NR of the element type.
func (t Type) TileShape() (mr, nr int) { return tileRows, tileVectors * t.Per }

func (w *Writer) tile() {
	mr, nr := w.TileShape()
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
		acc[i] = w.ymms(tileVectors)
		w.zero(acc[i]...)
	}
	loop, done := w.label("k"), w.label("done")
	w.CMPQ(n, imm(nr))
	w.JB(ref(done))
	w.Label(loop)
	v := w.ymms(tileVectors)
	for j, r := range v {
		w.movp(vec(b, j), r)
	}
	for i := range acc {
		s := w.YMM()
		w.broadcast(mem(a, i*w.Size), s)
		for j, r := range v {
			w.fmap(r, s, acc[i][j])
		}
	}
	w.ADDQ(imm(mr*w.Size), a)
	w.ADDQ(imm(tileVectors*vectorBytes), b)
	w.SUBQ(imm(nr), n)
	w.CMPQ(n, imm(nr))
	w.JAE(ref(loop))

	w.Label(done)
	for i := range acc {
		for j, r := range acc[i] {
			w.addp(vec(c, j), r, r)
			w.movp(r, vec(c, j))
		}
		if i < mr-1 {
			w.ADDQ(ldc, c)
		}
	}
	w.end()
}
