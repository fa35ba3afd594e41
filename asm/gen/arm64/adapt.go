package arm64

// adapt writes Adapt, four columns at a time.
func (w *Writer) adapt() {
	w.begin("Adapt", 0)
	weights, left := w.slice("w")
	z, n, root := w.load(w.param("z").Base()), w.load(w.param("n").Base()), w.load(w.param("root").Base())
	x, from := w.load(w.param("x").Base()), w.load(w.param("rates").Base())
	lane := func(v vec) string { return "[" + w.whole(v) + "]" }
	slope, rates, sign, zero := w.vec(), w.vecs(4), w.vec(), w.vec()
	w.movs(address(w.param("slope")), slope.f())
	w.op("VDUP", slope.lane("D", 0), w.whole(slope))
	for _, r := range rates { // 1/alpha, beta, l1, l2
		w.op("VLD1R.P", mem{from, 8}, lane(r))
	}
	w.zero(zero)
	w.negate(zero, sign)

	loop, done := w.label("loop"), w.label("done")
	w.op("CBZ", left, done)
	w.here(loop)
	floats, pair, old := w.vec(), w.vecs(2), w.vecs(2)
	w.ld(mem{x, 0}, floats)
	w.widen(floats, pair[0], pair[1])
	w.ld(mem{weights, 0}, floats)
	w.widen(floats, old[0], old[1])
	sums, roots, states := w.vecs(2), w.vecs(2), w.vecs(2)
	w.ld(mem{n, 0}, sums...)
	w.ld(mem{root, 0}, roots...)
	w.ld(mem{z, 0}, states...)
	for i := range 2 {
		w.adaptPair(column{pair[i], old[i], sums[i], roots[i], states[i]}, slope, rates, sign, zero)
	}
	w.st(mem{n, 0}, sums...)
	w.st(mem{root, 0}, roots...)
	w.st(mem{z, 0}, states...)
	w.narrow(old[0], old[1], floats)
	w.st(mem{weights, 0}, floats)
	for _, base := range []gp{z, n, root} {
		w.op("ADD", imm(4*8), base)
	}
	w.op("ADD", imm(4*4), x)
	w.op("ADD", imm(4*4), weights)
	w.op("SUBS", imm(4), left)
	w.op("BNE", loop)
	w.here(done)
	w.op("RET")
}

// A column is the vectors of two columns: the row, and the state before and after the step.
type column struct{ x, weight, n, root, z vec }

// adaptPair replaces the state of two columns.
func (w *Writer) adaptPair(c column, slope vec, rates []vec, sign, zero vec) {
	defer w.scope()()
	unseen, g, n, root, z, beyond := w.vec(), w.vec(), w.vec(), w.vec(), w.vec(), w.vec()
	keep := func(value, state vec) { // state becomes value unless x is 0
		selected := w.vec()
		w.op("VMOV", unseen.bytes(), selected.bytes())
		w.choose(value, state, selected)
		w.op("VMOV", selected.bytes(), state.bytes())
	}
	w.equal(c.x, zero, unseen)
	w.mul(slope, c.x, g)
	w.mul(g, g, n)
	w.add(c.n, n, n)
	w.sqrt(n, root)
	w.sub(root, c.root, z)
	w.mul(rates[0], z, z)
	w.mul(c.weight, z, z)
	w.sub(g, z, z)
	w.add(c.z, z, z)
	keep(n, c.n)
	keep(root, c.root)
	keep(z, c.z)

	w.abs(z, g)
	w.less(rates[2], g, beyond)
	w.sub(g, rates[2], g)
	w.add(rates[1], root, root)
	w.mul(rates[0], root, root)
	w.add(rates[3], root, root)
	w.div(g, root, g)
	w.and(sign, z, z)
	w.exclusive(sign, z, z)
	w.exclusive(z, g, g)
	w.and(beyond, g, g)
	keep(g, c.weight)
}
