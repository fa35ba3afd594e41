package arm64

// A band is as many rows as a vector has elements, or one, and the place of its columns.
type band struct {
	dst    gp // its first row
	stride gp // bytes of a row
	cols   gp // the slices of the columns
	ncols  gp
	offset gp // of the band in a column, in bytes
}

// transpose writes Transpose, with squares in registers. The outer loop is over rows, so that each is written once from
// left to right, while every column is read forwards. The last rows, fewer than a band, are written element by element.
func (w *Writer) transpose() {
	w.begin("Transpose", 0)
	b := band{dst: w.load(w.param("dst").Base()), stride: w.bytes(w.param("stride")), offset: w.gp()}
	b.cols, b.ncols = w.slice("cols")
	n := w.gp()
	w.op("MOVD", mem{b.cols, 8}, n)
	w.op("MOVD", "ZR", b.offset)

	loop, tail, done := w.label("rows"), w.label("tail"), w.label("done")
	w.here(loop)
	w.op("CMP", imm(w.per()), n)
	w.op("BLO", tail)
	w.band(b)
	w.op("ADD", shifted(b.stride, 4-w.log2()), b.dst)
	w.op("ADD", imm(vectorBytes), b.offset)
	w.op("SUB", imm(w.per()), n)
	w.op("B", loop)

	w.here(tail)
	w.op("CBZ", n, done)
	w.row(b)
	w.op("ADD", b.stride, b.dst)
	w.op("ADD", imm(w.Size), b.offset)
	w.op("SUB", imm(1), n)
	w.op("B", tail)
	w.here(done)
	w.op("RET")
}

// A walker goes along a row of the destination.
type walker struct {
	header, left gp // the next column's slice, and how many are left
	cell, end    gp
}

func (w *Writer) walker(b band) walker {
	k := walker{w.gp(), w.gp(), w.gp(), w.gp()}
	w.op("MOVD", b.cols, k.header)
	w.op("MOVD", b.ncols, k.left)
	w.op("MOVD", b.dst, k.cell)
	w.op("ADD", b.stride, b.dst, k.end)
	return k
}

// band writes whole rows of the band, two squares at a time.
func (w *Writer) band(b band) {
	defer w.scope()()
	k := w.walker(b)
	square, some, ready := w.label("square"), w.label("some"), w.label("ready")
	per := w.per()
	v := w.vecs(2 * per)
	w.here(square)
	w.op("CMP", imm(2*per), k.left)
	w.op("BLT", some)
	for c, r := range v {
		w.column(b, k.header, c, r)
	}
	w.op("B", ready)
	w.here(some) // the columns that are left, none perhaps, and zeros for the padding
	w.zero(v...)
	for c, r := range v[:2*per-1] {
		w.op("CMP", imm(c), k.left)
		w.op("BLE", ready)
		w.column(b, k.header, c, r)
	}
	w.here(ready)
	left, right := w.square(v[:per]), w.square(v[per:])
	row := w.gp()
	w.op("MOVD", k.cell, row)
	for i := range left {
		w.st(mem{row, 0}, left[i], right[i])
		if i < per-1 {
			w.op("ADD", b.stride, row)
		}
	}
	w.op("ADD", imm(2*per*sliceHeader), k.header)
	w.op("SUB", imm(2*per), k.left)
	w.op("ADD", imm(rowBytes), k.cell)
	w.op("CMP", k.end, k.cell)
	w.op("BLO", square)
}

// column loads the band's elements of column c after header.
func (w *Writer) column(b band, header gp, c int, dst vec) {
	defer w.scope()()
	base := w.gp()
	w.op("MOVD", mem{header, c * sliceHeader}, base)
	w.op("ADD", b.offset, base)
	w.ld(mem{base, 0}, dst)
}

// row writes one row.
func (w *Writer) row(b band) {
	defer w.scope()()
	k := w.walker(b)
	element, pad, done := w.label("element"), w.label("pad"), w.label("written")
	p, v := w.gp(), w.vec()
	w.here(element)
	w.op("MOVD.P", mem{k.header, sliceHeader}, p)
	w.op("ADD", b.offset, p)
	w.movs(mem{p, 0}, v.f())
	w.op("FMOV"+w.letter+".P", v.f(), mem{k.cell, w.Size})
	w.op("SUB", imm(1), k.left)
	w.op("CBNZ", k.left, element)
	w.zero(v)
	w.here(pad)
	w.op("CMP", k.end, k.cell)
	w.op("BHS", done)
	w.op("FMOV"+w.letter+".P", v.f(), mem{k.cell, w.Size})
	w.op("B", pad)
	w.here(done)
}

// square transposes the square whose columns are in v and returns its rows. It overwrites v.
func (w *Writer) square(v []vec) []vec {
	// Pairs of columns, then pairs of pairs.
	t := w.vecs(4)
	for k := 0; k < 4; k += 2 {
		w.op("VTRN1", w.whole(v[k+1]), w.whole(v[k]), w.whole(t[k]))
		w.op("VTRN2", w.whole(v[k+1]), w.whole(v[k]), w.whole(t[k+1]))
	}
	w.inFloat64(func() {
		for k := range 2 {
			w.op("VTRN1", w.whole(t[k+2]), w.whole(t[k]), w.whole(v[k]))
			w.op("VTRN2", w.whole(t[k+2]), w.whole(t[k]), w.whole(v[k+2]))
		}
	})
	return v
}
