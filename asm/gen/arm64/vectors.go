package arm64

// dot writes Dot. Eight vectors are the lanes.
func (w *Writer) dot() {
	w.begin("Dot", 0)
	x, n := w.slice("x")
	y := w.load(w.param("y").Base())
	acc := w.vecs(accs)
	w.zero(acc...)

	loop, tail, folded := w.label("loop"), w.label("tail"), w.label("fold")
	w.op("CMP", imm(accs*w.per()), n)
	w.op("BLO", tail)
	w.here(loop)
	for k := 0; k < accs; k += 2 {
		w.mulAdd(mem{x, k * vectorBytes}, mem{y, k * vectorBytes}, acc[k:k+2])
	}
	w.op("ADD", imm(accs*vectorBytes), x)
	w.op("ADD", imm(accs*vectorBytes), y)
	w.op("SUB", imm(accs*w.per()), n)
	w.op("CMP", imm(accs*w.per()), n)
	w.op("BHS", loop)

	w.here(tail)
	w.op("CBZ", n, folded)
	w.dotTail(x, y, n, acc)
	w.here(folded)
	w.movs(w.fold(acc).f(), w.result(0))
	w.op("RET")
}

// mulAdd adds products of vectors in memory to acc.
func (w *Writer) mulAdd(x, y mem, acc []vec) {
	defer w.scope()()
	vx, vy := w.vecs(len(acc)), w.vecs(len(acc))
	w.ld(x, vx...)
	w.ld(y, vy...)
	for k, a := range acc {
		w.fma(vx[k], vy[k], a)
	}
}

// dotTail adds the products of the last n elements, fewer than a full round. Whole vectors go to the first
// accumulators, and the rest with zeros beyond it to the next. That is padding enough (see fold).
func (w *Writer) dotTail(x, y, n gp, acc []vec) {
	defer w.scope()()
	px, py, left := w.gp(), w.gp(), w.gp()
	w.op("AND", imm(accs*w.per()-w.per()), n, left)
	w.op("ADD", shifted(left, w.log2()), x, px)
	w.op("ADD", shifted(left, w.log2()), y, py)
	vx, vy := w.vec(), w.vec()
	w.part(px, n, vx)
	w.part(py, n, vy)

	parts, done := make([]string, accs), w.label("added")
	for k := range parts {
		parts[k] = w.label("part")
	}
	for k, a := range acc[:accs-1] {
		w.op("CBZ", left, parts[k])
		w.mulAdd(mem{x, k * vectorBytes}, mem{y, k * vectorBytes}, []vec{a})
		w.op("SUB", imm(w.per()), left)
	}
	for k := accs - 1; k >= 0; k-- {
		w.here(parts[k])
		w.fma(vx, vy, acc[k])
		if k > 0 {
			w.op("B", done)
		}
	}
	w.here(done)
}

// part loads the first n%per elements at p, and zeros beyond them, whose memory it doesn't touch. It moves p.
func (w *Writer) part(p, n gp, dst vec) {
	one, done := w.label("one"), w.label("loaded")
	w.zero(dst)
	if w.Size == 4 {
		w.op("TBZ", imm(1), n, one)
		w.op("FMOVD.P", mem{p, 8}, dst.f())
		w.op("TBZ", imm(0), n, done)
		w.op("VLD1", mem{p, 0}, dst.lane("S", 2))
		w.op("B", done)
		w.here(one)
	}
	w.op("TBZ", imm(0), n, done)
	w.movs(mem{p, 0}, dst.f())
	w.here(done)
}

// axpy writes Axpy: whole vectors, then single elements. Each element is one fma either way.
func (w *Writer) axpy() {
	w.begin("Axpy", 0)
	x, n := w.slice("x")
	y := w.load(w.param("y").Base())
	a := w.vec()
	w.movs(address(w.param("a")), a.f())

	for _, vectors := range []int{8, 1} {
		loop, next := w.label("loop"), w.label("next")
		w.op("CMP", imm(vectors*w.per()), n)
		w.op("BLO", next)
		w.here(loop)
		w.axpyVectors(x, y, a, vectors)
		w.op("ADD", imm(vectors*vectorBytes), x)
		w.op("ADD", imm(vectors*vectorBytes), y)
		w.op("SUB", imm(vectors*w.per()), n)
		w.op("CMP", imm(vectors*w.per()), n)
		w.op("BHS", loop)
		w.here(next)
	}

	loop, done := w.label("loop"), w.label("done")
	vx, vy := w.vec(), w.vec()
	w.op("CBZ", n, done)
	w.here(loop)
	w.op("FMOV"+w.letter+".P", mem{x, w.Size}, vx.f())
	w.movs(mem{y, 0}, vy.f())
	w.op("FMADD"+w.letter, vx.f(), vy.f(), a.f(), vy.f())
	w.op("FMOV"+w.letter+".P", vy.f(), mem{y, w.Size})
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, loop)
	w.here(done)
	w.op("RET")
}

// axpyVectors adds a, in lane 0, times vectors at x to those at y.
func (w *Writer) axpyVectors(x, y gp, a vec, vectors int) {
	defer w.scope()()
	vx, vy := w.vecs(vectors), w.vecs(vectors)
	w.ld(mem{x, 0}, vx...)
	w.ld(mem{y, 0}, vy...)
	for k := range vx {
		w.fmaLane(vx[k], a, 0, vy[k])
	}
	w.st(mem{y, 0}, vy...)
}

// axpy4 writes Axpy4, four vectors of y at a time.
func (w *Writer) axpy4() {
	w.begin("Axpy4", 0)
	from, header := w.load(w.param("a").Base()), w.load(w.param("x").Base())
	y, n := w.slice("y")
	a, x := w.vecs(4), make([]gp, 4)
	for k := range x {
		x[k] = w.gp()
		w.movs(mem{from, k * w.Size}, a[k].f())
		w.op("MOVD", mem{header, k * 24}, x[k])
	}
	for _, vectors := range []int{4, 1} {
		loop, next := w.label("loop"), w.label("next")
		w.op("CMP", imm(vectors*w.per()), n)
		w.op("BLO", next)
		w.here(loop)
		done := w.scope()
		vx, vy := w.vecs(vectors), w.vecs(vectors)
		w.ld(mem{y, 0}, vy...)
		for k := range x {
			w.ld(mem{x[k], 0}, vx...)
			for j := range vy {
				w.fmaLane(vx[j], a[k], 0, vy[j])
			}
			w.op("ADD", imm(vectors*vectorBytes), x[k])
		}
		w.st(mem{y, 0}, vy...)
		done()
		w.op("ADD", imm(vectors*vectorBytes), y)
		w.op("SUB", imm(vectors*w.per()), n)
		w.op("CMP", imm(vectors*w.per()), n)
		w.op("BHS", loop)
		w.here(next)
	}

	loop, done := w.label("loop"), w.label("done")
	vx, vy := w.vec(), w.vec()
	w.op("CBZ", n, done)
	w.here(loop)
	w.movs(mem{y, 0}, vy.f())
	for k := range x {
		w.op("FMOV"+w.letter+".P", mem{x[k], w.Size}, vx.f())
		w.op("FMADD"+w.letter, vx.f(), vy.f(), a[k].f(), vy.f())
	}
	w.op("FMOV"+w.letter+".P", vy.f(), mem{y, w.Size})
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, loop)
	w.here(done)
	w.op("RET")
}

// firstMistake writes FirstMistake: four vectors at a time until one has a product that isn't above zero, then single
// elements.
func (w *Writer) firstMistake() {
	w.begin("FirstMistake", 0)
	y, n := w.slice("y")
	s, all := w.load(w.param("scores").Base()), w.load(w.param("y").Len())
	lo, hi := w.gp(), w.gp()
	const vectors = 4
	vy, vs := w.vecs(vectors), w.vecs(vectors)

	loop, single, done := w.label("loop"), w.label("single"), w.label("done")
	w.here(loop)
	w.op("CMP", imm(vectors*w.per()), n)
	w.op("BLO", single)
	w.ld(mem{y, 0}, vy...)
	w.ld(mem{s, 0}, vs...)
	for k := range vy {
		w.mul(vy[k], vs[k], vy[k])
		w.notAbove(vy[k], vy[k])
		if k > 0 {
			w.or(vy[0], vy[k], vy[0])
		}
	}
	w.op("VMOV", vy[0].lane("D", 0), lo)
	w.op("VMOV", vy[0].lane("D", 1), hi)
	w.op("ORR", hi, lo)
	w.op("CBNZ", lo, single)
	w.op("ADD", imm(vectors*vectorBytes), y)
	w.op("ADD", imm(vectors*vectorBytes), s)
	w.op("SUB", imm(vectors*w.per()), n)
	w.op("B", loop)

	w.here(single)
	w.op("CBZ", n, done)
	w.movs(mem{y, 0}, vy[0].f())
	w.movs(mem{s, 0}, vs[0].f())
	w.mul(vy[0], vs[0], vy[0])
	w.notAbove(vy[0], vy[0])
	w.op("VMOV", vy[0].lane(w.letter, 0), lo)
	w.op("CBNZ", lo, done)
	w.op("ADD", imm(w.Size), y)
	w.op("ADD", imm(w.Size), s)
	w.op("SUB", imm(1), n)
	w.op("B", single)

	w.here(done)
	w.op("SUB", n, all)
	w.op("MOVD", all, w.result(0))
	w.op("RET")
}

// maxSquaredNorm writes MaxSquaredNorm with 16 float64 lanes. A float32 element is widened first.
func (w *Writer) maxSquaredNorm() {
	w.begin("MaxSquaredNorm", 0)
	x, n := w.slice("x")
	stride := w.load(w.param("stride"))
	left := w.gp()
	best := w.vec()
	w.zero(best)

	row, done := w.label("row"), w.label("done")
	w.here(row)
	w.op("CMP", stride, n)
	w.op("BLO", done)
	w.op("MOVD", stride, left)
	s := w.squares(x, left)
	w.op("FMAXNMD", s.f(), best.f(), best.f())
	w.op("SUB", stride, n)
	w.op("B", row)

	w.here(done)
	w.op("FMOVD", best.f(), w.result(0))
	w.op("RET")
}

// squares returns the sum of the squares of left elements at x, and advances x beyond them: first all accumulators, then
// the rest of the row, whose vectors go to the first ones.
func (w *Writer) squares(x, left gp) (s vec) {
	acc, step, rest, folded := w.vecs(accs), w.label("step"), w.label("rest"), w.label("fold")
	w.zero(acc...)
	const lanes = 2 * accs
	w.here(step)
	w.op("CMP", imm(lanes), left)
	w.op("BLO", rest)
	w.addSquares(x, acc)
	w.op("SUB", imm(lanes), left)
	w.op("B", step)

	w.here(rest)
	unit := rowBytes / w.Size
	for k := unit; k < lanes; k += unit {
		w.op("CBZ", left, folded)
		w.addSquares(x, acc[(k-unit)/2:k/2])
		w.op("SUB", imm(unit), left)
	}
	w.here(folded)
	w.inFloat64(func() { s = w.fold(acc) })
	return s
}

// addSquares adds the squares of the elements at x, two for each accumulator, and advances x beyond them.
func (w *Writer) addSquares(x gp, acc []vec) {
	defer w.scope()()
	v := w.vecs(len(acc) * 2 / w.per())
	w.ld(mem{x, 0}, v...)
	w.op("ADD", imm(len(v)*vectorBytes), x)
	if w.Size == 4 {
		wide := w.vecs(len(acc))
		for k, r := range v {
			w.widen(r, wide[2*k], wide[2*k+1])
		}
		v = wide
	}
	w.inFloat64(func() {
		for k, a := range acc {
			w.fma(v[k], v[k], a)
		}
	})
}

// inFloat64 has f write instructions of float64.
func (w *Writer) inFloat64(f func()) {
	t := w.Type
	w.Type = Types[1]
	f()
	w.Type = t
}

// standardize writes Standardize: four elements at a time, then single ones.
func (w *Writer) standardize() {
	w.begin("Standardize", 0)
	x, n := w.slice("x")
	dst := w.load(w.param("dst").Base())
	center, scale, narrow := w.vec(), w.vec(), w.vec()
	wide := w.vecs(2)
	w.inFloat64(func() {
		w.repeat("center", center)
		w.repeat("scale", scale)
	})
	loop, rest, done := w.label("loop"), w.label("rest"), w.label("done")
	w.here(loop)
	w.op("CMP", imm(4), n)
	w.op("BLO", rest)
	if w.Size == 4 {
		w.ld(mem{x, 0}, narrow)
		w.widen(narrow, wide[0], wide[1])
	} else {
		w.ld(mem{x, 0}, wide...)
	}
	w.inFloat64(func() {
		for _, v := range wide {
			w.sub(v, center, v)
			w.div(v, scale, v)
		}
	})
	w.narrow(wide[0], wide[1], narrow)
	w.st(mem{dst, 0}, narrow)
	w.op("ADD", imm(4*w.Size), x)
	w.op("ADD", imm(4*4), dst)
	w.op("SUB", imm(4), n)
	w.op("B", loop)
	w.here(rest)
	w.op("CBZ", n, done)
	w.movs(mem{x, 0}, wide[0].f())
	if w.Size == 4 {
		w.op("FCVTSD", wide[0].f(), wide[0].f())
	}
	w.op("FSUBD", center.f(), wide[0].f(), wide[0].f())
	w.op("FDIVD", scale.f(), wide[0].f(), wide[0].f())
	w.op("FCVTDS", wide[0].f(), wide[0].f())
	w.op("FMOVS", wide[0].f(), mem{dst, 0})
	w.op("ADD", imm(w.Size), x)
	w.op("ADD", imm(4), dst)
	w.op("SUB", imm(1), n)
	w.op("B", rest)
	w.here(done)
	w.op("RET")
}
