package arm64

// epochAdaptive writes EpochAdaptive, four columns at a time.
func (w *Writer) epochAdaptive() {
	w.begin("EpochAdaptive", 0)
	x := w.load(w.param("x").Base())
	y, n := w.slice("y")
	v := visitor{Writer: w, updates: w.gp()}
	v.log, v.room = w.slice("log")
	ws := inMemory(w.load(w.param("w").Base()), w.bytes(w.param("w").Len()))
	weights, r := w.load(w.param("weights").Base()), w.gp()
	w.op("MOVD", "ZR", r)
	w.op("MOVD", "ZR", v.updates)
	var e *elements
	var table string
	w.inFloat64(func() { e, table = w.elements(1) })
	row, next, full, done := w.label("row"), w.label("next"), w.label("full"), w.label("done")
	w.op("CBZ", n, done)
	w.here(row)
	slope := w.vec()
	w.slopeOf(e, x, mem{y, 0}, ws, slope, next)
	unweighted := w.label("unweighted")
	w.op("CBZ", weights, unweighted)
	factor := w.vec()
	w.op("FMOVD", indexed(weights, r, 3), factor.f())
	w.op("FMULD", factor.f(), slope.f(), slope.f())
	w.here(unweighted)
	w.op("FCMPD", "$(0.0)", slope.f())
	w.op("BEQ", next)
	w.adapt(slope, x, ws)
	w.op("MOVW", r, indexed(v.log, v.updates, 2))
	w.op("ADD", imm(1), v.updates)
	w.op("CMP", v.room, v.updates)
	w.op("BEQ", full)
	w.here(next)
	w.op("ADD", ws.size, x)
	w.op("ADD", imm(w.Size), y)
	w.op("ADD", imm(1), r)
	w.op("CMP", n, r)
	w.op("BLO", row)
	w.op("B", done)
	w.here(full)
	w.op("ADD", imm(1), r)
	w.here(done)
	w.op("MOVD", r, w.result(0))
	w.op("MOVD", v.updates, w.result(1))
	w.op("RET")
	w.inFloat64(func() { e.data(table) })
}

// slopeOf sets slope to the derivative of the loss by the score of the row at x. Without a loss it jumps to next.
func (w *Writer) slopeOf(e *elements, x gp, y mem, ws weights, slope vec, next string) {
	defer w.scope()()
	margin, label, hinge, logistic, signed := w.vec(), w.vec(), w.gp(), w.label("logistic"), w.label("signed")
	w.marginOf(x, y, ws, margin, label)
	w.op("MOVBU", address(w.param("hinge")), hinge)
	w.op("CBZ", hinge, logistic)
	w.op("FMOVD", "$1.0", slope.f())
	w.op("FCMPD", slope.f(), margin.f())
	w.op("BGE", next)
	w.op("BVS", next)
	w.op("B", signed)
	w.here(logistic)
	w.op("FNEGD", margin.f(), margin.f())
	w.inFloat64(func() {
		e.free = nil
		for r := vec(w.vs); r < 32; r++ {
			e.free = append(e.free, r)
		}
		s := e.sigmoidOf(func() lanes {
			v := e.newLanes()
			w.op("VMOV", margin.bytes(), v[0].bytes())
			return v
		})
		w.op("FMOVD", s[0].f(), slope.f())
	})
	w.here(signed)
	w.op("FNMULD", label.f(), slope.f(), slope.f())
}

// marginOf sets label to the label at y, and margin to its product with the score of the row at x, both in float64.
func (w *Writer) marginOf(x gp, y mem, ws weights, margin, label vec) {
	defer w.scope()()
	s := w.score(x, ws, false)
	w.movs(y, label.f())
	w.op("FMULS", label.f(), s.f(), s.f()) // exact, since the label is -1 or 1
	w.op("FCVTSD", s.f(), margin.f())
	w.op("FCVTSD", label.f(), label.f())
}

// adapt updates all columns by the row at x.
func (w *Writer) adapt(slope vec, x gp, ws weights) {
	defer w.scope()()
	from, to, left := w.gp(), w.gp(), w.gp()
	w.op("MOVD", x, from)
	w.op("MOVD", ws.base, to)
	w.op("LSR", imm(2), ws.size, left)
	var bases []gp
	for _, name := range []string{"z", "n", "root", "l1", "l2"} {
		bases = append(bases, w.load(w.param(name).Base()))
	}
	all, c, zero := w.vec(), constants{w.vec(), w.vec(), w.vec()}, w.vec()
	w.zero(zero)
	w.inFloat64(func() {
		w.op("VDUP", slope.lane("D", 0), w.whole(all))
		w.repeat("inverse", c.inverse)
		w.repeat("beta", c.beta)
		w.negate(zero, c.sign)
	})
	loop := w.label("columns")
	w.here(loop)
	floats, xs, old, states := w.vec(), w.vecs(2), w.vecs(2), make([][]vec, len(bases))
	w.ld(mem{from, 0}, floats)
	w.widen(floats, xs[0], xs[1])
	w.ld(mem{to, 0}, floats)
	w.widen(floats, old[0], old[1])
	for i, base := range bases {
		states[i] = w.vecs(2)
		w.ld(mem{base, 0}, states[i]...)
	}
	w.inFloat64(func() {
		for i := range 2 {
			w.adaptPair(columns{xs[i], old[i], states[0][i], states[1][i], states[2][i], states[3][i], states[4][i]}, all, zero, c)
		}
	})
	for i, base := range bases {
		if i < 3 {
			w.st(mem{base, 0}, states[i]...)
		}
		w.op("ADD", imm(4*8), base)
	}
	w.narrow(old[0], old[1], floats)
	w.st(mem{to, 0}, floats)
	w.op("ADD", imm(4*4), from)
	w.op("ADD", imm(4*4), to)
	w.op("SUBS", imm(4), left)
	w.op("BNE", loop)
}

// repeat loads a parameter of float64 into both lanes.
func (w *Writer) repeat(param string, dst vec) {
	w.op("FMOVD", address(w.param(param)), dst.f())
	w.op("VDUP", dst.lane("D", 0), w.whole(dst))
}

// columns are the vectors of two columns: the row, the weights and the state, which adaptPair replaces, and the penalties.
type columns struct{ x, weight, z, n, root, l1, l2 vec }

// constants are in both lanes: 1/alpha, beta, and the sign bit.
type constants struct{ inverse, beta, sign vec }

// adaptPair updates two columns.
func (w *Writer) adaptPair(s columns, slope, zero vec, c constants) {
	defer w.scope()()
	unseen, g, n, root, z := w.vec(), w.vec(), w.vec(), w.vec(), w.vec()
	keep := func(value, state vec) { // state becomes value unless x is 0
		defer w.scope()()
		selected := w.vec()
		w.op("VMOV", unseen.bytes(), selected.bytes())
		w.choose(value, state, selected)
		w.op("VMOV", selected.bytes(), state.bytes())
	}
	w.equal(s.x, zero, unseen)
	w.mul(slope, s.x, g)
	w.mul(g, g, n)
	w.add(s.n, n, n)
	w.sqrt(n, root)
	w.sub(root, s.root, z)
	w.mul(c.inverse, z, z)
	w.mul(s.weight, z, z)
	w.sub(g, z, z)
	w.add(s.z, z, z)
	keep(n, s.n)
	keep(root, s.root)
	keep(z, s.z)

	w.abs(z, g)
	w.less(s.l1, g, n) // n selects the weights beyond the penalty
	w.sub(g, s.l1, g)
	w.add(c.beta, root, root)
	w.mul(c.inverse, root, root)
	w.add(s.l2, root, root)
	w.div(g, root, g)
	w.and(c.sign, z, z)
	w.exclusive(c.sign, z, z)
	w.exclusive(z, g, g)
	w.and(n, g, g)
	keep(g, s.weight)
}
