package arm64

const (
	blockRow   = 32 * 8 // bytes of a row of sums
	updateRows = 8      // of a tile, by two vectors of columns: 6 loads for 16 fma
)

// rankKUpdate writes RankKUpdate: one row of c, or tiles along the rows of c, up to the diagonal unless square is set.
func (w *Writer) rankKUpdate() {
	w.begin("RankKUpdate", 0)
	a := w.load(w.param("a").Base())
	b, n := w.slice("b")
	w.op("LSR", imm(5), n)
	c, rows, square := w.load(w.param("c").Base()), w.load(w.param("rows")), w.gp()
	width, step := w.gp(), w.gp() // columns that are to be computed, and how many more there are in the next rows
	group, tile, loop, part, several := w.label("group"), w.label("tile"), w.label("k"), w.label("part"), w.label("several")
	w.op("SUBS", imm(1), rows, width)
	w.op("BNE", several)
	w.updateRow(a, b, c, n)
	w.op("RET")
	w.here(several)
	w.op("MOVBU", address(w.param("square")), square)
	w.op("MOVD", imm(updateRows), width)
	w.op("MOVD", width, step)
	w.op("CBZ", square, part)
	w.op("MOVD", imm(blockRow/w.Size), width)
	w.op("MOVD", "ZR", step)
	w.here(part)

	from, to, left := w.gp(), w.gp(), w.gp()
	w.here(group)
	w.op("MOVD", b, from)
	w.op("MOVD", c, to)
	w.op("MOVD", width, left)
	w.here(tile)
	w.updateTile(loop, a, from, to, n)
	w.op("ADD", imm(2*vectorBytes), from)
	w.op("ADD", imm(2*vectorBytes), to)
	w.op("SUBS", imm(2*w.per()), left)
	w.op("BNE", tile)
	w.op("ADD", imm(updateRows*w.Size), a)
	w.op("ADD", imm(updateRows*blockRow), c)
	w.op("ADD", step, width)
	w.op("SUBS", imm(updateRows), rows)
	w.op("BGT", group)
	w.op("RET")
}

// updateRow adds the products of one column of n rows at a and all of b to the first row of c.
func (w *Writer) updateRow(a, b, c, n gp) {
	defer w.scope()()
	acc := w.vecs(blockRow / vectorBytes)
	w.zero(acc...)
	column, row, loop := w.vec(), w.vecs(2), w.label("row")
	w.here(loop)
	w.ld(mem{a, 0}, column)
	for j := 0; j < len(acc); j += 2 {
		w.ld(mem{b, j * vectorBytes}, row...)
		w.fmaLane(row[0], column, 0, acc[j])
		w.fmaLane(row[1], column, 0, acc[j+1])
	}
	w.op("ADD", imm(blockRow), a)
	w.op("ADD", imm(blockRow), b)
	w.op("SUBS", imm(1), n)
	w.op("BNE", loop)
	for j := 0; j < len(acc); j += 2 {
		w.ld(mem{c, j * vectorBytes}, row...)
		w.add(acc[j], row[0], row[0])
		w.add(acc[j+1], row[1], row[1])
		w.st(mem{c, j * vectorBytes}, row...)
	}
}

// updateTile adds the products of the columns at a and two vectors of columns at from, over n rows, to the tile at to.
func (w *Writer) updateTile(loop string, a, from, to, n gp) {
	acc := make([][]vec, updateRows)
	for i := range acc {
		acc[i] = w.vecs(2)
		w.zero(acc[i]...)
	}
	column, row := w.vecs(updateRows/w.per()), w.vecs(2)
	x, y, k := w.gp(), w.gp(), w.gp()
	w.op("MOVD", a, x)
	w.op("MOVD", from, y)
	w.op("MOVD", n, k)
	w.here(loop)
	w.ld(mem{x, 0}, column...)
	w.ld(mem{y, 0}, row...)
	for i := range acc {
		for j, r := range row {
			w.fmaLane(r, column[i/w.per()], i%w.per(), acc[i][j])
		}
	}
	w.op("ADD", imm(blockRow), x)
	w.op("ADD", imm(blockRow), y)
	w.op("SUBS", imm(1), k)
	w.op("BNE", loop)
	w.op("MOVD", to, x)
	for i := range acc {
		w.ld(mem{x, 0}, row...)
		for j, r := range acc[i] {
			w.add(r, row[j], row[j])
		}
		w.st(mem{x, 0}, row...)
		w.op("ADD", imm(blockRow), x)
	}
}

// scaleRows writes ScaleRows, a row at a time, four columns at a time.
func (w *Writer) scaleRows() {
	w.begin("ScaleRows", 0)
	dst, x := w.load(w.param("dst").Base()), w.load(w.param("x").Base())
	s, n := w.slice("s")
	stride, cols := w.bytes(w.param("stride")), w.load(w.param("cols"))
	from, to, left := w.gp(), w.gp(), w.gp()
	v, weight, pair := w.vec(), w.vec(), w.vecs(2)
	row, loop, done := w.label("row"), w.label("loop"), w.label("done")
	w.op("CBZ", n, done)
	w.here(row)
	w.inFloat64(func() {
		w.op("VLD1R.P", mem{s, w.Size}, "["+w.whole(weight)+"]")
		w.sqrt(weight, weight)
	})
	w.op("MOVD", x, from)
	w.op("MOVD", dst, to)
	w.op("MOVD", cols, left)
	w.here(loop)
	w.ld(mem{from, 0}, v)
	w.widen(v, pair[0], pair[1])
	w.inFloat64(func() {
		for _, r := range pair {
			w.mul(r, weight, r)
		}
	})
	w.st(mem{to, 0}, pair...)
	w.op("ADD", imm(4*w.Size), from)
	w.op("ADD", imm(2*vectorBytes), to)
	w.op("SUBS", imm(4), left)
	w.op("BNE", loop)
	w.op("ADD", stride, x)
	w.op("ADD", imm(blockRow), dst)
	w.op("SUBS", imm(1), n)
	w.op("BNE", row)
	w.here(done)
	w.op("RET")
}
