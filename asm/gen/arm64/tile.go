package arm64

// The tile is 8 rows by 3 vectors of columns. Its 24 accumulators, a column of a and a row of b fill the registers, and
// hide the latency of the fma on four pipes. Each k loads 5 vectors for 24 fma (7 of float64), since the fma takes a
// single element of a's vector.
const (
	tileRows    = 8
	tileVectors = 3
)

// tile writes Tile. A panel of b stays in the first-level cache while panels of a pass.
func (w *Writer) tile() {
	nr := tileVectors * w.per()
	w.begin("Tile", 0)
	a, end := w.slice("a")
	w.op("ADD", shifted(end, w.log2()), a, end)
	b, n := w.slice("b")
	c, ldc, grow, add := w.load(w.param("c").Base()), w.bytes(w.param("ldc")), w.bytes(w.param("grow")), w.gp()
	w.op("MOVBU", address(w.param("add")), add)
	row, left := w.gp(), w.gp()

	panel, loop, sum, next := w.label("panel"), w.label("k"), w.label("sum"), w.label("next")
	w.here(panel)
	p := w.product()
	w.op("MOVD", b, row)
	w.op("MOVD", n, left)
	w.here(loop)
	p.step(a, row)
	w.op("SUBS", imm(nr), left)
	w.op("BNE", loop)

	w.op("CBNZ", add, sum)
	for _, acc := range p.acc {
		w.st(mem{c, 0}, acc...)
		w.op("ADD", ldc, c)
		w.op("ADD", grow, ldc)
	}
	w.op("B", next)
	w.here(sum)
	for _, acc := range p.acc {
		w.ld(mem{c, 0}, p.row...)
		for j, r := range acc {
			w.add(r, p.row[j], p.row[j])
		}
		w.st(mem{c, 0}, p.row...)
		w.op("ADD", ldc, c)
		w.op("ADD", grow, ldc)
	}
	w.here(next)
	w.op("CMP", end, a)
	w.op("BLO", panel)
	w.op("RET")
}

// A product is the registers of a tile.
type product struct {
	*Writer
	acc         [][]vec // for each row of the tile
	column, row []vec   // of a and of b; free between steps
}

// product takes the registers and clears the accumulators.
func (w *Writer) product() product {
	acc := make([][]vec, tileRows)
	for i := range acc {
		acc[i] = w.vecs(tileVectors)
		w.zero(acc[i]...)
	}
	return product{w, acc, w.vecs(tileRows / w.per()), w.vecs(tileVectors)}
}

// step adds the products of the column at a and the row at b, and advances a and b beyond them.
func (p product) step(a, b gp) {
	p.ld(mem{a, 0}, p.column...)
	p.ld(mem{b, 0}, p.row...)
	for i, acc := range p.acc {
		for j, r := range p.row {
			p.fmaLane(r, p.column[i/p.per()], i%p.per(), acc[j])
		}
	}
	p.op("ADD", imm(tileRows*p.Size), a)
	p.op("ADD", imm(tileVectors*vectorBytes), b)
}
