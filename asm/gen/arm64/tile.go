package arm64

import "fmt"

// The tile is 8 rows by 3 vectors of columns: its 24 accumulators, a column of a and a row of b fill the registers, and
// hide the latency of the fma on four pipes. Each k loads 5 vectors for 24 fma (7 of float64), since the fma takes an
// element of a where it stands.
const (
	tileRows    = 8
	tileVectors = 3
)

func (w *Writer) tile() {
	nr := tileVectors * w.per()
	w.begin("Tile", "func(a, b, c []T, ldc int)",
		fmt.Sprintf("adds the product of two packed panels to a tile of %d by %d.", tileRows, nr), 0)
	a := w.load(w.param("a").Base())
	b, n := w.slice("b")
	c, ldc := w.load(w.param("c").Base()), w.bytes(w.param("ldc"))

	acc := make([][]vec, tileRows)
	for i := range acc {
		acc[i] = w.vecs(tileVectors)
		w.zero(acc[i]...)
	}
	loop, done := w.label("k"), w.label("done")
	w.op("CMP", imm(nr), n)
	w.op("BLO", done)
	w.here(loop)
	va, vb := w.vecs(tileRows/w.per()), w.vecs(tileVectors)
	w.ld(mem{a, 0}, va...)
	w.ld(mem{b, 0}, vb...)
	for i := range acc {
		for j, r := range vb {
			w.fmaLane(r, va[i/w.per()], i%w.per(), acc[i][j])
		}
	}
	w.op("ADD", imm(tileRows*w.Size), a)
	w.op("ADD", imm(tileVectors*vectorBytes), b)
	w.op("SUB", imm(nr), n)
	w.op("CMP", imm(nr), n)
	w.op("BHS", loop)

	w.here(done)
	for i := range acc {
		w.ld(mem{c, 0}, vb...)
		for j, r := range acc[i] {
			w.add(r, vb[j], vb[j])
		}
		w.st(mem{c, 0}, vb...)
		if i < tileRows-1 {
			w.op("ADD", ldc, c)
		}
	}
	w.op("RET")
}
