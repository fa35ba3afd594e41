package arm64

// weights are w of a row kernel. The kernel has one variant, with w in registers, for each length of a row up to
// inRegisters. Another variant is for longer rows, with w in memory.
type weights struct {
	regs []vec // vectors of w, or none
	base gp    // its memory
	size gp    // its bytes, which are those of a row
}

// variants calls body once for each variant. The length of w selects the variant's code. body falls out of its end.
func (w *Writer) variants(done string, body func(weights)) {
	ws := weights{base: w.load(w.param("w").Base()), size: w.bytes(w.param("w").Len())}
	for size := rowBytes; size <= inRegisters; size += rowBytes {
		free, next := w.scope(), w.label("wider")
		w.op("CMP", imm(size), ws.size)
		w.op("BNE", next)
		ws.regs = w.vecs(size / vectorBytes)
		w.ld(mem{ws.base, 0}, ws.regs...)
		body(ws)
		w.op("B", done)
		w.here(next)
		free()
	}
	body(inMemory(ws.base, ws.size))
}

// inMemory returns the weights at base, of size bytes.
func inMemory(base, size gp) weights { return weights{nil, base, size} }

// keep writes weights that are in registers back to memory.
func (w *Writer) keep(ws weights) { w.st(mem{ws.base, 0}, ws.regs...) }

// score returns the dot product of the row at x with the weights in lane 0 of a register. Without exact, a zero has any
// sign, which doesn't matter to a comparison.
func (w *Writer) score(x gp, ws weights, exact bool) vec {
	if ws.regs == nil {
		return w.scoreMemory(x, ws, exact)
	}
	padding := len(ws.regs)%accs != 0
	acc := w.vecs(min(accs, len(ws.regs)))
	for k := 0; k < len(ws.regs); k += 2 {
		m, weights := mem{x, k * vectorBytes}, ws.regs[k:k+2]
		switch {
		case k >= accs:
			w.mulAddRegs(m, weights, acc[k-accs:])
		case exact && !padding: // a product of -0 counts
			w.zero(acc[k : k+2]...)
			w.mulAddRegs(m, weights, acc[k:])
		default:
			w.ld(m, acc[k:k+2]...)
			w.mul(weights[0], acc[k], acc[k])
			w.mul(weights[1], acc[k+1], acc[k+1])
		}
	}
	s := w.fold(acc)
	if exact && padding {
		w.addZero(s)
	}
	return s
}

// mulAddRegs adds products of vectors in memory with weights to the first of acc.
func (w *Writer) mulAddRegs(x mem, weights, acc []vec) {
	defer w.scope()()
	v := w.vecs(len(weights))
	w.ld(x, v...)
	for k, r := range weights {
		w.fma(v[k], r, acc[k])
	}
}

// addZero turns a scalar of -0 into +0.
func (w *Writer) addZero(s vec) {
	defer w.scope()()
	zero := w.vec()
	w.zero(zero)
	w.adds(zero, s, s)
}

// scoreMemory is score for weights in memory: rounds of all accumulators, then the rest of the row.
func (w *Writer) scoreMemory(x gp, ws weights, exact bool) vec {
	acc := w.vecs(accs)
	w.zero(acc...)
	px, pw, left := w.gp(), w.gp(), w.gp()
	w.op("MOVD", x, px)
	w.op("MOVD", ws.base, pw)
	w.op("MOVD", ws.size, left)
	round, rest, folded, done := w.label("round"), w.label("rest"), w.label("fold"), w.label("done")
	w.op("CMP", imm(accs*vectorBytes), left)
	w.op("BLO", rest)
	w.here(round)
	for k := 0; k < accs; k += 2 {
		w.mulAdd(mem{px, k * vectorBytes}, mem{pw, k * vectorBytes}, acc[k:k+2])
	}
	w.op("ADD", imm(accs*vectorBytes), px)
	w.op("ADD", imm(accs*vectorBytes), pw)
	w.op("SUB", imm(accs*vectorBytes), left)
	w.op("CMP", imm(accs*vectorBytes), left)
	w.op("BHS", round)

	w.here(rest)
	for k := 0; k < accs-2; k += 2 {
		w.op("CBZ", left, folded)
		w.mulAdd(mem{px, k * vectorBytes}, mem{pw, k * vectorBytes}, acc[k:k+2])
		w.op("SUB", imm(rowBytes), left)
	}
	w.here(folded)
	s := w.fold(acc)
	if exact {
		w.op("TST", imm(accs*vectorBytes-1), ws.size)
		w.op("BEQ", done)
		w.addZero(s)
		w.here(done)
	}
	return s
}

// scores writes Scores, one row after the other.
func (w *Writer) scores() {
	w.begin("Scores", 0)
	x := w.load(w.param("x").Base())
	out, n := w.slice("out")
	done := w.label("done")
	w.op("CBZ", n, done)
	w.variants(done, func(ws weights) {
		row := w.label("row")
		w.here(row)
		s := w.score(x, ws, true)
		w.op("FMOV"+w.letter+".P", s.f(), mem{out, w.Size})
		w.op("ADD", ws.size, x)
		w.op("SUB", imm(1), n)
		w.op("CBNZ", n, row)
	})
	w.here(done)
	w.op("RET")
}

// A visitor is what the two epochs share: the test of a row and the update of w.
type visitor struct {
	*Writer
	eta, margin, sign  vec // in lane 0
	log, room, updates gp
}

func (w *Writer) visitor() visitor {
	v := visitor{Writer: w, eta: w.vec(), margin: w.vec(), sign: w.vec(), updates: w.gp()}
	v.log, v.room = w.slice("log")
	w.movs(address(w.param("eta")), v.eta.f())
	w.movs(address(w.param("margin")), v.margin.f())
	w.op("MOVD", "$1<<"+map[int]string{4: "31", 8: "63"}[w.Size], v.updates)
	w.movs(v.updates, v.sign.f())
	w.op("MOVD", "ZR", v.updates)
	return v
}

// test jumps to wrong if the row at x, whose label is at y, is a mistake: the score with y's sign is <= margin.
// The condition LS is false for a NaN.
func (v visitor) test(x gp, y mem, ws weights, wrong string) {
	defer v.scope()()
	label := v.vec()
	v.movs(y, label.f())
	v.op("VAND", v.sign.bytes(), label.bytes(), label.bytes())
	s := v.score(x, ws, false)
	v.op("VEOR", label.bytes(), s.bytes(), s.bytes())
	v.op("FCMP"+v.letter, v.margin.f(), s.f())
	v.op("BLS", wrong)
}

// update adds eta times the label at y times the row at x to w, and logs the position. It jumps to full if the log is
// full.
func (v visitor) update(x gp, y mem, ws weights, position gp, full string) {
	defer v.scope()()
	a := v.vec()
	v.movs(y, a.f())
	v.op("FMUL"+v.letter, v.eta.f(), a.f(), a.f())
	v.addRow(x, a, ws, position, full)
}

// addRow adds a, in lane 0, times the row at x to w, and logs the position. It jumps to full if the log is full.
func (v visitor) addRow(x gp, a vec, ws weights, position gp, full string) {
	if ws.regs == nil {
		v.updateMemory(x, a, ws)
	}
	row := v.vecs(2)
	for k := 0; k < len(ws.regs); k += 2 {
		v.ld(mem{x, k * vectorBytes}, row...)
		v.fmaLane(row[0], a, 0, ws.regs[k])
		v.fmaLane(row[1], a, 0, ws.regs[k+1])
	}
	v.op("MOVW", position, indexed(v.log, v.updates, 2))
	v.op("ADD", imm(1), v.updates)
	v.op("CMP", v.room, v.updates)
	v.op("BEQ", full)
}

// updateMemory adds a, in lane 0, times the row at x to weights in memory.
func (v visitor) updateMemory(x gp, a vec, ws weights) {
	px, pw, end := v.gp(), v.gp(), v.gp()
	v.op("MOVD", x, px)
	v.op("MOVD", ws.base, pw)
	v.op("ADD", ws.size, pw, end)
	loop := v.label("add")
	v.here(loop)
	v.axpyVectors(px, pw, a, 2)
	v.op("ADD", imm(rowBytes), px)
	v.op("ADD", imm(rowBytes), pw)
	v.op("CMP", end, pw)
	v.op("BLO", loop)
}

// epoch writes Epoch.
func (w *Writer) epoch() {
	w.begin("Epoch", 0)
	w.epochOf(func(v visitor, x gp, y mem, ws weights, position gp) {})
}

// epochAveraged writes EpochAveraged. late stays in memory: the registers hold w, and no score waits for late.
func (w *Writer) epochAveraged() {
	w.begin("EpochAveraged", 0)
	late, visits := w.load(w.param("late").Base()), w.load(w.param("visits"))
	w.epochOf(func(v visitor, x gp, y mem, ws weights, position gp) {
		defer w.scope()()
		before, c, label := w.gp(), w.vec(), w.vec()
		w.op("ADD", position, visits, before)
		w.op("SCVTF"+w.letter, before, c.f())
		w.op("FMUL"+w.letter, v.eta.f(), c.f(), c.f())
		w.movs(y, label.f())
		w.op("FMUL"+w.letter, label.f(), c.f(), c.f())
		v.updateMemory(x, c, inMemory(late, ws.size))
	})
}

// epochOf writes a plain branch on the mistake. The predictor is right for most rows, so that many rows are in flight.
// The update stands outside of the loop, after the code that also writes for a mistake.
func (w *Writer) epochOf(also func(v visitor, x gp, y mem, ws weights, position gp)) {
	x := w.load(w.param("x").Base())
	y, n := w.slice("y")
	v := w.visitor()
	r := w.gp()
	w.op("MOVD", "ZR", r)
	done := w.label("done")
	w.op("CBZ", n, done)
	w.variants(done, func(ws weights) {
		row, next, wrong, full, stop := w.label("row"), w.label("next"), w.label("wrong"), w.label("full"), w.label("stop")
		w.here(row)
		v.test(x, mem{y, 0}, ws, wrong)
		w.here(next)
		w.op("ADD", ws.size, x)
		w.op("ADD", imm(w.Size), y)
		w.op("ADD", imm(1), r)
		w.op("CMP", n, r)
		w.op("BLO", row)
		w.op("B", stop)

		w.here(wrong)
		also(v, x, mem{y, 0}, ws, r)
		v.update(x, mem{y, 0}, ws, r, full)
		w.op("B", next)
		w.here(full)
		w.op("ADD", imm(1), r)
		w.here(stop)
		w.keep(ws)
	})
	w.here(done)
	w.op("MOVD", r, w.result(0))
	w.op("MOVD", v.updates, w.result(1))
	w.op("RET")
}

// epochPassive writes EpochPassive, with w in memory: a score and a squared norm at once need most registers.
func (w *Writer) epochPassive() {
	w.begin("EpochPassive", 0)
	x := w.load(w.param("x").Base())
	y, n := w.slice("y")
	v := visitor{Writer: w, updates: w.gp()}
	v.log, v.room = w.slice("log")
	ws := inMemory(w.load(w.param("w").Base()), w.bytes(w.param("w").Len()))
	r, one, slack, most := w.gp(), w.vec(), w.vec(), w.vec()
	w.op("FMOVD", "$1.0", one.f())
	w.op("FMOVD", address(w.param("slack")), slack.f())
	w.op("FMOVD", address(w.param("most")), most.f())
	w.op("MOVD", "ZR", r)
	w.op("MOVD", "ZR", v.updates)
	row, next, full, stop := w.label("row"), w.label("next"), w.label("full"), w.label("stop")
	w.op("CBZ", n, stop)
	w.here(row)
	loss := w.vec()
	w.passiveLoss(x, mem{y, 0}, ws, one, loss)
	w.op("FCMPD", "$(0.0)", loss.f())
	w.op("BLE", next)
	w.op("BVS", next)
	square, size := w.rowSquares(x, ws), w.vec()
	w.op("FCMPD", "$(0.0)", square.f())
	w.op("BEQ", next)
	w.op("BVS", next)
	w.op("FADDD", slack.f(), square.f(), square.f())
	w.op("FDIVD", square.f(), loss.f(), size.f())
	w.op("FMIND", size.f(), most.f(), size.f())
	w.op("FCMPD", "$(0.0)", size.f())
	w.op("BEQ", next)
	w.op("FCVTDS", size.f(), size.f())
	w.movs(mem{y, 0}, square.f())
	w.op("FMULS", square.f(), size.f(), size.f())
	v.addRow(x, size, ws, r, full)
	w.here(next)
	w.op("ADD", ws.size, x)
	w.op("ADD", imm(w.Size), y)
	w.op("ADD", imm(1), r)
	w.op("CMP", n, r)
	w.op("BLO", row)
	w.op("B", stop)
	w.here(full)
	w.op("ADD", imm(1), r)
	w.here(stop)
	w.op("MOVD", r, w.result(0))
	w.op("MOVD", v.updates, w.result(1))
	w.op("RET")
}

// passiveLoss sets loss to 1 - y s in float64, where s is the score of the row at x.
func (w *Writer) passiveLoss(x gp, y mem, ws weights, one, loss vec) {
	defer w.scope()()
	s, label := w.score(x, ws, false), w.vec()
	w.movs(y, label.f())
	w.op("FMULS", label.f(), s.f(), s.f()) // exact, since the label is -1 or 1
	w.op("FCVTSD", s.f(), s.f())
	w.op("FSUBD", s.f(), one.f(), loss.f())
}

// rowSquares returns the squared norm of the row at x in float64, as MaxSquaredNorm computes it.
func (w *Writer) rowSquares(x gp, ws weights) vec {
	square := w.vec()
	defer w.scope()()
	at, left := w.gp(), w.gp()
	w.op("MOVD", x, at)
	w.op("LSR", imm(w.log2()), ws.size, left)
	s := w.squares(at, left)
	w.op("FMOVD", s.f(), square.f())
	return square
}
