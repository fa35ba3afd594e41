package arm64

const (
	cacheLine     = 64
	prefetchRow   = 16 // number of visits ahead at which a row is fetched to the first-level cache
	prefetchLines = 8  // most lines of a row that are fetched ahead; the processor's own prefetcher follows
)

// epochIndexed writes the loop of epoch. It computes the address of each row from its number.
func (w *Writer) epochIndexed() {
	w.begin("EpochIndexed", 0)
	rows := rows{Writer: w, x: w.load(w.param("x").Base()), y: w.load(w.param("y").Base())}
	rows.idx, rows.n = w.slice("idx")
	rows.ahead = w.load(w.param("ahead").Base())
	rows.end = w.bytes(w.param("ahead").Len())
	w.op("ADD", rows.ahead, rows.end)
	v := w.visitor()
	i := w.gp()
	w.op("MOVD", "ZR", i)
	done := w.label("done")
	w.op("CBZ", rows.n, done)
	w.variants(done, func(ws weights) {
		row, next, wrong, full, stop := w.label("row"), w.label("next"), w.label("wrong"), w.label("full"), w.label("stop")
		w.here(row)
		rows.prefetch(i, ws)
		x, label := rows.locate(i, ws)
		v.test(x, label, ws, wrong)
		w.here(next)
		w.op("ADD", imm(1), i)
		w.op("CMP", rows.n, i)
		w.op("BLO", row)
		w.op("B", stop)

		w.here(wrong)
		v.update(x, label, ws, i, full)
		w.op("B", next)
		w.here(full)
		w.op("ADD", imm(1), i)
		w.here(stop)
		w.keep(ws)
	})
	w.here(done)
	w.op("MOVD", i, w.result(0))
	w.op("MOVD", v.updates, w.result(1))
	w.op("RET")
}

// rows is what EpochIndexed walks over.
type rows struct {
	*Writer
	x, y       gp // the slices of slices
	idx, n     gp
	ahead, end gp
}

// locate returns the address of row idx[i] and where its label is.
func (r rows) locate(i gp, ws weights) (x gp, label mem) {
	x, label = r.gp(), mem{r.gp(), 0}
	defer r.scope()()
	number, rowGroup := r.gp(), r.gp()
	r.op("MOVWU", indexed(r.idx, i, 2), number)
	r.rowGroup(number, rowGroup)
	r.op("ADD", r.y, rowGroup, label.base)
	r.op("MOVD", mem{label.base, 0}, label.base)
	r.op("ADD", shifted(number, r.log2()), label.base)
	r.address(number, rowGroup, ws, x)
	return x, label
}

// rowGroup splits the number of a row into the distance of its group's slice and the number within the group.
func (r rows) rowGroup(number, rowGroup gp) {
	r.op("LSR", imm(groupShift), number, rowGroup)
	r.op("ADD", shifted(rowGroup, 1), rowGroup)
	r.op("LSL", imm(3), rowGroup) // times sliceHeader
	r.op("AND", imm(1<<groupShift-1), number)
}

// address computes where row number of a group begins.
func (r rows) address(number, rowGroup gp, ws weights, x gp) {
	r.op("ADD", r.x, rowGroup)
	r.op("MOVD", mem{rowGroup, 0}, rowGroup)
	r.op("MADD", ws.size, rowGroup, number, x)
}

// prefetch fetches the next row of ahead, if there is one left, and the one that is visited soon.
func (r rows) prefetch(i gp, ws weights) {
	defer r.scope()()
	near, fetched := r.label("near"), r.label("fetched")
	r.op("CMP", r.end, r.ahead)
	r.op("BHS", near)
	r.prefetchAhead(ws)
	r.here(near)
	r.prefetchVisit(i, ws, fetched)
	r.here(fetched)
}

// prefetchAhead fetches a row to the second-level cache.
func (r rows) prefetchAhead(ws weights) {
	size := len(ws.regs) * vectorBytes
	for off := 0; off < size; off += cacheLine {
		r.op("PRFM", mem{r.ahead, off}, "PLDL2KEEP")
	}
	if size > 0 {
		r.op("ADD", ws.size, r.ahead)
		return
	}
	p, loop := r.gp(), r.label("fetch")
	r.op("MOVD", r.ahead, p)
	r.op("ADD", ws.size, r.ahead)
	r.here(loop)
	r.op("PRFM", mem{p, 0}, "PLDL2KEEP")
	r.op("ADD", imm(cacheLine), p)
	r.op("CMP", r.ahead, p)
	r.op("BLO", loop)
}

// prefetchVisit fetches the label and the first lines of a row that is visited soon to the first-level cache.
func (r rows) prefetchVisit(i gp, ws weights, none string) {
	soon := r.gp()
	r.op("ADD", imm(prefetchRow), i, soon)
	r.op("CMP", r.n, soon)
	r.op("BHS", none)
	x, label := r.locate(soon, ws)
	r.op("PRFM", label, "PLDL1KEEP")
	lines := prefetchLines
	if ws.regs != nil {
		lines = (len(ws.regs)*vectorBytes + cacheLine - 1) / cacheLine
	}
	for k := range lines {
		r.op("PRFM", mem{x, k * cacheLine}, "PLDL1KEEP")
	}
}
