package arm64

// sparse is the rows of a kernel in CSR form, and the weights that they meet. Each element is one fused multiply-add to
// its lane, which lies on the stack.
type sparse struct {
	*Writer
	idx, val gp // elements of the block
	base, n  gp // weights and their number
	lanes    gp // points to the stack
}

// laneBytes is the size of the lanes of a score.
const laneBytes = accs * vectorBytes

// weightsOf loads the weights w, and points to the lanes.
func (w *Writer) weightsOf() *sparse {
	s := &sparse{Writer: w, lanes: w.gp()}
	s.base, s.n = w.slice("w")
	w.op("ADD", imm(aboveSP), "RSP", s.lanes)
	return s
}

// elements loads the bases of idx and val, which are slices.
func (s *sparse) elements() {
	s.idx, s.val = s.load(s.param("idx").Base()), s.load(s.param("val").Base())
}

// row points pi and pv to the columns and values of the row that begins where ptr points to, and sets left to its number
// of elements. It jumps to wrong unless the row lies within total elements.
func (s *sparse) row(ptr, pi, pv, left, total gp, wrong string) {
	defer s.scope()()
	k := s.gp()
	s.op("LDP", mem{ptr, 0}, "("+k.String()+", "+left.String()+")")
	s.op("CMP", total, left)
	s.op("BHI", wrong)
	s.op("SUBS", k, left)
	s.op("BLO", wrong)
	s.op("ADD", shifted(k, 2), s.idx, pi)
	s.op("ADD", shifted(k, s.log2()), s.val, pv)
}

// each calls step with every element, left of them, while pi and pv point to its column and value. step moves both on.
func (s *sparse) each(left gp, step func()) {
	const unrolled = 4
	loop, rest, done := s.label("loop"), s.label("rest"), s.label("done")
	one := s.label("one")
	s.op("SUBS", imm(unrolled), left)
	s.op("BLO", rest)
	s.here(loop)
	for range unrolled {
		step()
	}
	s.op("SUBS", imm(unrolled), left)
	s.op("BHS", loop)
	s.here(rest)
	s.op("ADDS", imm(unrolled), left)
	s.op("BEQ", done)
	s.here(one)
	step()
	s.op("SUBS", imm(1), left)
	s.op("BNE", one)
	s.here(done)
}

// column loads the column at pi. It jumps to wrong unless that is below n.
func (s *sparse) column(pi, c gp, wrong string) {
	s.op("MOVWU.P", mem{pi, 4}, c)
	if wrong != "" {
		s.op("CMP", s.n, c)
		s.op("BHS", wrong)
	}
}

// score returns the score of a row in lane 0. It changes pi, pv and left, and jumps to wrong at a column beyond the
// weights.
func (s *sparse) score(pi, pv, left gp, wrong string) vec {
	acc := s.vecs(accs)
	defer s.scope()()
	s.zero(acc[0])
	for i := 0; i < accs; i += 2 {
		s.st(mem{s.lanes, i * vectorBytes}, acc[0], acc[0])
	}
	c, j, weight, x, v, lane := s.gp(), s.gp(), s.gp(), s.vec(), s.vec(), s.vec()
	s.each(left, func() {
		s.column(pi, c, wrong)
		s.op("AND", imm(accs*s.per()-1), c, j)
		s.op("ADD", shifted(j, s.log2()), s.lanes, j)
		s.op("ADD", shifted(c, s.log2()), s.base, weight)
		s.op("FMOV"+s.letter+".P", mem{pv, s.Size}, x.f())
		s.movs(mem{weight, 0}, v.f())
		s.movs(mem{j, 0}, lane.f())
		s.op("FMADD"+s.letter, x.f(), lane.f(), v.f(), lane.f())
		s.movs(lane.f(), mem{j, 0})
	})
	s.ld(mem{s.lanes, 0}, acc...)
	return s.fold(acc)
}

// add adds a, in lane 0, times a row to the weights. It changes pi, pv and left. An empty wrong means that the columns
// are known to be below n.
func (s *sparse) add(a vec, pi, pv, left gp, wrong string) {
	defer s.scope()()
	c, weight, x, v := s.gp(), s.gp(), s.vec(), s.vec()
	s.each(left, func() {
		s.column(pi, c, wrong)
		s.op("ADD", shifted(c, s.log2()), s.base, weight)
		s.op("FMOV"+s.letter+".P", mem{pv, s.Size}, x.f())
		s.movs(mem{weight, 0}, v.f())
		s.op("FMADD"+s.letter, x.f(), v.f(), a.f(), v.f())
		s.movs(v.f(), mem{weight, 0})
	})
}

// sparseScores writes SparseScores.
func (w *Writer) sparseScores() {
	w.begin("SparseScores", laneBytes+aboveSP-8)
	s := w.weightsOf()
	s.elements()
	total, ptr := w.load(w.param("idx").Len()), w.load(w.param("ptr").Base())
	out, n := w.slice("out")
	all, pi, pv, left := w.load(w.param("out").Len()), w.gp(), w.gp(), w.gp()
	row, done := w.label("row"), w.label("end")
	w.op("CBZ", n, done)
	w.here(row)
	s.row(ptr, pi, pv, left, total, done)
	score := s.score(pi, pv, left, done)
	w.op("FMOV"+w.letter+".P", score.f(), mem{out, w.Size})
	w.op("ADD", imm(8), ptr)
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, row)
	w.here(done)
	w.op("SUB", n, all)
	w.op("MOVD", all, w.result(0))
	w.op("RET")
}

// sparseAdd writes SparseAdd.
func (w *Writer) sparseAdd() {
	w.begin("SparseAdd", 0)
	s := &sparse{Writer: w}
	s.base, s.n = w.slice("w")
	s.elements()
	a, left, first, done := w.vec(), w.load(w.param("idx").Len()), w.gp(), w.label("stop")
	w.movs(address(w.param("a")), a.f())
	w.op("MOVD", s.idx, first)
	full := w.label("full")
	s.add(a, s.idx, s.val, left, done)
	w.op("B", full)
	w.here(done) // the column that stopped it was read
	w.op("SUB", imm(4), s.idx)
	w.here(full)
	w.op("SUB", first, s.idx)
	w.op("LSR", imm(2), s.idx)
	w.op("MOVD", s.idx, w.result(0))
	w.op("RET")
}

// A sparseVisitor is what the two epochs share: the test of a row and the update of w.
type sparseVisitor struct {
	visitor
	*sparse
	pi, pv, left gp
}

func (w *Writer) sparseVisitor(s *sparse) *sparseVisitor {
	return &sparseVisitor{w.visitor(), s, w.gp(), w.gp(), w.gp()}
}

// test jumps to mistake if the row that begins where ptr points to is one, and to wrong if it isn't within the block
// and the weights. The condition LS is false for a NaN.
func (v *sparseVisitor) test(ptr gp, y mem, total gp, mistake, wrong string) {
	w := v.sparse
	defer w.scope()()
	v.row(ptr, v.pi, v.pv, v.left, total, wrong)
	score, label := v.score(v.pi, v.pv, v.left, wrong), w.vec()
	w.movs(y, label.f())
	w.op("VAND", v.sign.bytes(), label.bytes(), label.bytes())
	w.op("VEOR", label.bytes(), score.bytes(), score.bytes())
	w.op("FCMP"+w.letter, v.margin.f(), score.f())
	w.op("BLS", mistake)
}

// update adds eta times the label at y times the row to w, and logs the position. It jumps to full if the log is full.
func (v *sparseVisitor) update(ptr gp, y mem, total, position gp, full string) {
	w := v.sparse
	defer w.scope()()
	a := w.vec()
	w.movs(y, a.f())
	w.op("FMUL"+w.letter, v.eta.f(), a.f(), a.f())
	v.row(ptr, v.pi, v.pv, v.left, total, full)
	v.add(a, v.pi, v.pv, v.left, "")
	w.op("MOVW", position, indexed(v.log, v.updates, 2))
	w.op("ADD", imm(1), v.updates)
	w.op("CMP", v.room, v.updates)
	w.op("BEQ", full)
}

// end writes the results.
func (v *sparseVisitor) end(rows gp) {
	w := v.sparse
	w.op("MOVD", rows, w.result(0))
	w.op("MOVD", v.updates, w.result(1))
	w.op("RET")
}

// sparseEpoch writes SparseEpoch, in the form of epoch.
func (w *Writer) sparseEpoch() {
	w.begin("SparseEpoch", laneBytes+aboveSP-8)
	s := w.weightsOf()
	s.elements()
	total, ptr := w.load(w.param("idx").Len()), w.load(w.param("ptr").Base())
	y, n := w.slice("y")
	v := w.sparseVisitor(s)
	r := w.gp()
	w.op("MOVD", "ZR", r)
	row, next, wrong, full, done := w.label("row"), w.label("next"), w.label("wrong"), w.label("full"), w.label("end")
	w.op("CBZ", n, done)
	w.here(row)
	v.test(ptr, mem{y, 0}, total, wrong, done)
	w.here(next)
	w.op("ADD", imm(8), ptr)
	w.op("ADD", imm(w.Size), y)
	w.op("ADD", imm(1), r)
	w.op("CMP", n, r)
	w.op("BLO", row)
	w.op("B", done)
	w.here(wrong)
	v.update(ptr, mem{y, 0}, total, r, full)
	w.op("B", next)
	w.here(full)
	w.op("ADD", imm(1), r)
	w.here(done)
	v.end(r)
}

// sparseEpochIndexed writes SparseEpochIndexed. The bases of a row's group come from slices of slices.
func (w *Writer) sparseEpochIndexed() {
	w.begin("SparseEpochIndexed", laneBytes+aboveSP-8)
	s := w.weightsOf()
	s.idx, s.val = w.gp(), w.gp()
	rows, n := w.slice("rows")
	v := w.sparseVisitor(s)
	i, ptr, total, label := w.gp(), w.gp(), w.gp(), mem{w.gp(), 0}
	w.op("MOVD", "ZR", i)
	row, next, wrong, full, done := w.label("row"), w.label("next"), w.label("wrong"), w.label("full"), w.label("end")
	w.op("CBZ", n, done)
	w.here(row)
	w.sparseLocate(s, indexed(rows, i, 2), ptr, total, label.base)
	v.test(ptr, label, total, wrong, done)
	w.here(next)
	w.op("ADD", imm(1), i)
	w.op("CMP", n, i)
	w.op("BLO", row)
	w.op("B", done)
	w.here(wrong)
	v.update(ptr, label, total, i, full)
	w.op("B", next)
	w.here(full)
	w.op("ADD", imm(1), i)
	w.here(done)
	v.end(i)
}

// sparseLocate finds the row whose number is in memory: its group's elements, where ptr holds its first one, and where
// its label is.
func (w *Writer) sparseLocate(s *sparse, number string, ptr, total, label gp) {
	defer w.scope()()
	r, rowGroup, at := w.gp(), w.gp(), w.gp()
	w.op("MOVWU", number, r)
	w.op("LSR", imm(groupShift), r, rowGroup)
	w.op("AND", imm(1<<groupShift-1), r)
	w.op("ADD", shifted(rowGroup, 1), rowGroup)
	w.op("LSL", imm(3), rowGroup) // times sliceHeader
	base := func(name string, to gp) {
		w.op("MOVD", address(w.param(name).Base()), at)
		w.op("ADD", rowGroup, at)
		w.op("MOVD", mem{at, 0}, to)
	}
	base("idx", s.idx)
	w.op("MOVD", mem{at, 8}, total)
	base("val", s.val)
	base("ptr", ptr)
	w.op("ADD", shifted(r, 3), ptr)
	base("y", label)
	w.op("ADD", shifted(r, w.log2()), label)
}

// sparseScores8 writes SparseScores8. Each lane holds a sum for every candidate, two vectors or four.
func (w *Writer) sparseScores8() {
	const sums = 8
	vectors, lanes, shift := sums/w.per(), accs*w.per(), w.log2()+3
	w.begin("SparseScores8", lanes*sums*w.Size+aboveSP-8)
	s := w.weightsOf()
	w.op("LSR", imm(3), s.n)
	s.elements()
	total, ptr := w.load(w.param("idx").Len()), w.load(w.param("ptr").Base())
	out, n := w.slice("out")
	w.op("LSR", imm(3), n)
	all, pi, pv, left := w.gp(), w.gp(), w.gp(), w.gp()
	w.op("MOVD", n, all)
	row, done := w.label("row"), w.label("end")
	w.op("CBZ", n, done)
	w.here(row)
	s.row(ptr, pi, pv, left, total, done)
	x := w.vecs(vectors)
	sum, c, j := w.vecs(vectors), w.gp(), w.gp()
	a := w.vec()
	w.zero(a)
	for i := 0; i < lanes*vectors; i += 2 {
		w.st(mem{s.lanes, i * vectorBytes}, a, a)
	}
	s.each(left, func() {
		s.column(pi, c, done)
		w.op("AND", imm(lanes-1), c, j)
		w.op("ADD", shifted(j, shift), s.lanes, j)
		w.op("ADD", shifted(c, shift), s.base, c)
		w.op("FMOV"+w.letter+".P", mem{pv, w.Size}, a.f())
		w.ld(mem{c, 0}, x...)
		w.ld(mem{j, 0}, sum...)
		for v := range vectors {
			w.fmaLane(x[v], a, 0, sum[v])
		}
		w.st(mem{j, 0}, sum...)
	})
	for v := range vectors {
		w.st(mem{out, v * vectorBytes}, w.foldLanes(s.lanes, lanes, vectors, v))
	}
	w.op("ADD", imm(sums*w.Size), out)
	w.op("ADD", imm(8), ptr)
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, row)
	w.here(done)
	w.op("SUB", n, all)
	w.op("MOVD", all, w.result(0))
	w.op("RET")
}

// foldLanes folds vector v of the lanes on the stack: for h = L/2, L/4, ..., 1, lane j is the sum of lanes j and j+h.
func (w *Writer) foldLanes(base gp, lanes, vectors, v int) vec {
	defer w.scope()()
	sums, other, half := w.vecs(lanes/4), w.vec(), w.vec()
	lane := func(j int) mem { return mem{base, (j*vectors + v) * vectorBytes} }
	for j, sum := range sums {
		w.ld(lane(j), sum)
		w.ld(lane(j+lanes/2), other)
		w.add(other, sum, sum)
		w.ld(lane(j+lanes/4), other)
		w.ld(lane(j+lanes/4+lanes/2), half)
		w.add(half, other, other)
		w.add(other, sum, sum)
	}
	for h := len(sums) / 2; h > 0; h /= 2 {
		for j := range h {
			w.add(sums[j+h], sums[j], sums[j])
		}
	}
	return sums[0]
}
